package store

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// Room is a row of rooms.
type Room struct {
	ID              string
	CreatorID       string // internal id
	CreatorPublicID string
	Type            string // directStreaming or coHosts
	Title           string
	Description     string
	ThumbnailFileID string
	Status          string // idle, live, waitingReconnect, ended, recorded, terminated or error
	LiveChatEnabled bool
	HasChannel      bool   // there is a live channel of the room's id
	Metadata        []byte // JSON
	Participants    []RoomParticipant
	PlaybackKey     string
	PostID          string // the post that carries it; empty before there is one
	TargetType      string // where that post stands: community or user
	TargetID        string // internal id
	TargetPublicID  string
	ParentID        string // the room whose child it is; empty for others
	ChildIDs        []string
	Recordings      []RoomRecording
	Moderation      Moderation
	LiveAt          *time.Time
	EndedAt         *time.Time
	RecordedAt      *time.Time
	CreatedAt       time.Time
	UpdatedAt       time.Time
	DeletedAt       *time.Time
	DeletedBy       string // public id; empty for an administrator
}

// RoomParticipant is the host or a co-host of a room.
type RoomParticipant struct {
	Type                 string `json:"type"`   // host or coHost
	UserID               string `json:"userId"` // internal id
	PublicID             string `json:"publicId"`
	Key                  string `json:"key"` // with which they send to the room
	CanManageProductTags bool   `json:"canManageProductTags"`
}

// RoomRecording is a recording of a room.
type RoomRecording struct {
	URL          string `json:"url"`
	ThumbnailURL string `json:"thumbnailUrl"`
}

const roomColumns = `id, creator_id, creator_public_id, type, title, description, thumbnail_file_id, status, live_chat_enabled, has_channel, metadata,
	participants, playback_key, post_id, target_type, target_id, target_public_id, parent_id, child_ids, recordings, moderation, live_at, ended_at,
	recorded_at, created_at, updated_at, deleted_at, deleted_by`

func scanRoom(rows pgx.Rows) (Room, error) {
	var r Room
	var participants, recordings, moderation []byte
	err := rows.Scan(&r.ID, &r.CreatorID, &r.CreatorPublicID, &r.Type, &r.Title, &r.Description, &r.ThumbnailFileID, &r.Status, &r.LiveChatEnabled,
		&r.HasChannel, &r.Metadata, &participants, &r.PlaybackKey, &r.PostID, &r.TargetType, &r.TargetID, &r.TargetPublicID, &r.ParentID, &r.ChildIDs,
		&recordings, &moderation, &r.LiveAt, &r.EndedAt, &r.RecordedAt, &r.CreatedAt, &r.UpdatedAt, &r.DeletedAt, &r.DeletedBy)
	for _, part := range []struct {
		raw  []byte
		into any
	}{{participants, &r.Participants}, {recordings, &r.Recordings}, {moderation, &r.Moderation}} {
		if err == nil {
			err = json.Unmarshal(part.raw, part.into)
		}
	}
	return r, err
}

var (
	sqlRoomsByID    = stmt("rooms.byID", `SELECT `+roomColumns+` FROM rooms WHERE home = $1 AND id = ANY($2::text[])`)
	sqlRoomChildren = stmt("rooms.children", `SELECT `+roomColumns+` FROM rooms WHERE home = $1 AND parent_id = ANY($2::text[]) AND parent_id <> ''`)
	sqlRoomInsert   = stmt("rooms.insert", `INSERT INTO rooms (home, id, creator_id, creator_public_id, type, title, description, thumbnail_file_id, status,
		live_chat_enabled, has_channel, metadata, participants, playback_key, parent_id, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::boolean, $11::boolean, $12::jsonb, $13::jsonb, $14, $15, $16, $16)`)
	sqlRoomLive   = stmt("rooms.guardLive", `SELECT 1 / count(*) FROM rooms WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlRoomParent = stmt("rooms.guardParent", `SELECT 1 / count(*) FROM rooms WHERE home = $1 AND id = $2 AND creator_id = $3 AND parent_id = ''
		AND cardinality(child_ids) < $4::bigint AND deleted_at IS NULL`)
	sqlRoomAdopt  = stmt("rooms.adopt", `UPDATE rooms SET child_ids = array_append(child_ids, $3), updated_at = $4 WHERE home = $1 AND id = $2`)
	sqlRoomDisown = stmt("rooms.disown", `UPDATE rooms SET child_ids = array_remove(child_ids, $3), updated_at = $4 WHERE home = $1 AND id = $2`)
	sqlRoomUpdate = stmt("rooms.update", `UPDATE rooms SET title = COALESCE($3::text, title), description = COALESCE($4::text, description),
		thumbnail_file_id = COALESCE($5::text, thumbnail_file_id), live_chat_enabled = COALESCE($6::boolean, live_chat_enabled),
		metadata = COALESCE($7::jsonb, metadata), updated_at = $8 WHERE home = $1 AND id = $2`)
	sqlRoomChannel = stmt("rooms.channel", `UPDATE rooms SET has_channel = true, updated_at = $3 WHERE home = $1 AND id = $2`)
	sqlRoomDelete  = stmt("rooms.delete", `UPDATE rooms SET deleted_at = $3, deleted_by = $4, updated_at = $3 WHERE home = $1 AND id = $2`)
	sqlRoomAttach  = stmt("rooms.attach", `UPDATE rooms SET post_id = $3, target_type = $4, target_id = $5, target_public_id = $6
		WHERE home = $1 AND id = $2 AND post_id = ''`)
	sqlRoomIn   = stmt("rooms.guardState", `SELECT 1 / count(*) FROM rooms WHERE home = $1 AND id = $2 AND status = ANY($3::text[]) AND deleted_at IS NULL`)
	sqlRoomMove = stmt("rooms.move", `UPDATE rooms SET status = $3, live_at = COALESCE(live_at, $4::timestamptz), ended_at = COALESCE($5::timestamptz, ended_at),
		recorded_at = COALESCE($6::timestamptz, recorded_at), recordings = COALESCE($7::jsonb, recordings), updated_at = $8 WHERE home = $1 AND id = $2`)
	sqlRoomGuardParticipants = stmt("rooms.guardParticipants", `SELECT 1 / count(*) FROM rooms WHERE home = $1 AND id = $2 AND participants = $3::jsonb
		AND deleted_at IS NULL`)
	sqlRoomParticipants   = stmt("rooms.participants", `UPDATE rooms SET participants = $3::jsonb, updated_at = $4 WHERE home = $1 AND id = $2`)
	sqlRoomGuardModerated = stmt("rooms.guardModeration", `SELECT 1 / count(*) FROM rooms WHERE home = $1 AND id = $2 AND moderation = $3::jsonb`)
	sqlRoomModerate       = stmt("rooms.moderate", `UPDATE rooms SET moderation = $3::jsonb, updated_at = $4 WHERE home = $1 AND id = $2`)
)

// Rooms reads rooms of any homes, deleted ones too; their order is not defined.
func (r *ReadBatch) Rooms(ids []string, into *[]Room) {
	*into = nil
	for home, ids := range byHome(ids) {
		part := new([]Room)
		r.add(home, sqlRoomsByID, scanAll(part, scanRoom), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// Room reads one room; nil where there is none.
func (r *ReadBatch) Room(id string, into **Room) {
	if home, err := region.HomeOf(id); err == nil {
		r.add(home, sqlRoomsByID, scanOne(into, scanRoom), []string{id})
	}
}

// ChildRooms reads the children of rooms of any homes, deleted ones too; their order is not defined.
func (r *ReadBatch) ChildRooms(parentIDs []string, into *[]Room) {
	*into = nil
	for home, ids := range byHome(parentIDs) {
		part := new([]Room)
		r.add(home, sqlRoomChildren, scanAll(part, scanRoom), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// InsertRoom inserts a room; sent again after a lost connection it is stored once. Where it has a parent that is not its
// creator's, is gone, is a child itself or has as many children as it may, it is refused.
func (w *Tx) InsertRoom(r Room, noParent error) {
	w.once = "rooms_pkey"
	if r.ParentID != "" {
		w.guard(sqlRoomParent, noParent, r.ParentID, r.CreatorID, MaxChildStreams)
	}
	w.exec(sqlRoomInsert, r.ID, r.CreatorID, r.CreatorPublicID, r.Type, r.Title, r.Description, r.ThumbnailFileID, r.Status, r.LiveChatEnabled,
		r.HasChannel, r.Metadata, plainJSON(r.Participants), r.PlaybackKey, r.ParentID, r.CreatedAt)
	if r.ParentID != "" {
		w.exec(sqlRoomAdopt, r.ParentID, r.ID, r.CreatedAt)
	}
}

// RoomChange holds what to change of what a room says of itself; nil stays.
type RoomChange struct {
	Title, Description, ThumbnailFileID *string
	LiveChatEnabled                     *bool
	Metadata                            []byte // JSON
}

// UpdateRoom changes a room; gone answers for one that is deleted.
func (w *Tx) UpdateRoom(id string, c RoomChange, now time.Time, gone error) {
	w.guard(sqlRoomLive, gone, id)
	w.exec(sqlRoomUpdate, id, c.Title, c.Description, c.ThumbnailFileID, c.LiveChatEnabled, c.Metadata, now)
}

// DeleteRoom marks a room deleted by somebody, and its live channel with it, and takes it out of its parent; gone answers where it is deleted already.
func (w *Tx) DeleteRoom(r Room, by string, now time.Time, gone error) {
	w.guard(sqlRoomLive, gone, r.ID)
	w.exec(sqlRoomDelete, r.ID, now, by)
	if r.HasChannel {
		w.exec(sqlChannelDelete, r.ID, now, by)
	}
	if r.ParentID != "" {
		w.exec(sqlRoomDisown, r.ParentID, r.ID, now)
	}
}

// RoomHasChannel notes that the room has a live channel, which the transaction makes beside it; gone answers for one that is deleted.
func (w *Tx) RoomHasChannel(id string, now time.Time, gone error) {
	w.guard(sqlRoomLive, gone, id)
	w.exec(sqlRoomChannel, id, now)
}

// AttachRoom makes a room, and its live channel with it, part of a post, unless it is part of one already.
func (w *Tx) AttachRoom(id, postID, targetType, targetID, targetPublicID string) {
	w.exec(sqlRoomAttach, id, postID, targetType, targetID, targetPublicID)
	w.exec(sqlChannelAttach, id, postID)
}

// GuardRoomIn refuses the transaction where the room is in none of the states, or deleted.
func (w *Tx) GuardRoomIn(id string, states []string, refusal error) {
	w.guard(sqlRoomIn, refusal, id, states)
}

// RoomMove is a transition; nil fields stay, and LiveAt stays once it is set.
type RoomMove struct {
	ID                          string
	From                        []string // the states that it starts from
	To                          string
	LiveAt, EndedAt, RecordedAt *time.Time
	Recordings                  []RoomRecording
}

// MoveRoom changes the state of a room that is in one of the move's states; refusal answers for others.
func (w *Tx) MoveRoom(m RoomMove, now time.Time, refusal error) {
	w.guard(sqlRoomIn, refusal, m.ID, m.From)
	w.exec(sqlRoomMove, m.ID, m.To, m.LiveAt, m.EndedAt, m.RecordedAt, jsonOrNil(m.Recordings), now)
}

// ChangeParticipants puts participants in the place of those of the room as it was read; changed answers where they are others
// by now, or the room is deleted.
func (w *Tx) ChangeParticipants(id string, old, changed []RoomParticipant, now time.Time, conflict error) {
	w.guard(sqlRoomGuardParticipants, conflict, id, plainJSON(old))
	w.exec(sqlRoomParticipants, id, plainJSON(changed), now)
}

// ModerateRoom puts what moderation saw in the place of what it had seen when the room was read; changed answers where that
// is not so any more.
func (w *Tx) ModerateRoom(id string, old, seen Moderation, now time.Time, changed error) {
	w.guard(sqlRoomGuardModerated, changed, id, moderationJSON(old))
	w.exec(sqlRoomModerate, id, moderationJSON(seen), now)
}

// SelectRoom reads a room as it stands once the statements before it have run.
func (w *Tx) SelectRoom(id string, into **Room) {
	w.query(sqlRoomsByID, scanOne(into, scanRoom), []string{id})
}
