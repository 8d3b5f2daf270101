package media

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/messaging"
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
	HasChannel      bool   // whether a live channel with the same id exists
	Metadata        []byte // JSON
	Participants    []RoomParticipant
	OnStageIDs      []string // internal ids of the participants who send, sorted
	PlaybackKey     string
	PostID          string // the post that it is attached to; empty if not attached
	TargetType      string // of that post: community or user
	TargetID        string // internal id
	TargetPublicID  string
	ParentID        string // empty if it is not a child
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
	Key                  string `json:"key"` // stream key
	CanManageProductTags bool   `json:"canManageProductTags"`
}

// RoomRecording is a recording of a room.
type RoomRecording struct {
	URL          string `json:"url"`
	ThumbnailURL string `json:"thumbnailUrl"`
}

var roomColumns = db.Columns[Room]()

var (
	sqlRoomsByID    = db.Register("rooms.byID", `SELECT `+roomColumns+` FROM rooms WHERE home = $1 AND id = ANY($2::text[])`)
	sqlRoomChildren = db.Register("rooms.children", `SELECT `+roomColumns+` FROM rooms WHERE home = $1 AND parent_id = ANY($2::text[])`)
	sqlRoomInsert   = db.Register("rooms.insert", `INSERT INTO rooms (home, id, creator_id, creator_public_id, type, title, description,
		thumbnail_file_id, status,
		live_chat_enabled, has_channel, metadata, participants, playback_key, parent_id, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::boolean, $11::boolean, $12::jsonb, $13::jsonb, $14, $15, $16, $16)`)
	sqlRoomGuard       = db.Register("rooms.guardLive", `SELECT 1 / count(*) FROM rooms WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlRoomGuardParent = db.Register("rooms.guardParent", `SELECT 1 / count(*) FROM rooms WHERE home = $1 AND id = $2 AND creator_id = $3
		AND parent_id = ''
		AND cardinality(child_ids) < $4::bigint AND deleted_at IS NULL`)
	sqlRoomAddChild = db.Register("rooms.adopt", `UPDATE rooms SET child_ids = array_append(child_ids, $3), updated_at = $4 WHERE home = $1 AND id
		= $2`).Updates(core.SharedRooms, 2)
	sqlRoomRemoveChild = db.Register("rooms.disown", `UPDATE rooms SET child_ids = array_remove(child_ids, $3), updated_at = $4 WHERE home = $1
		AND id = $2`).Updates(core.SharedRooms, 2)
	sqlRoomUpdate = db.Register("rooms.update", `UPDATE rooms SET title = COALESCE($3::text, title), description = COALESCE($4::text, description),
		thumbnail_file_id = COALESCE($5::text, thumbnail_file_id), live_chat_enabled = COALESCE($6::boolean, live_chat_enabled),
		metadata = COALESCE($7::jsonb, metadata), updated_at = $8 WHERE home = $1 AND id = $2`).Updates(core.SharedRooms, 2)
	sqlRoomUpdateHasChannel = db.Register("rooms.channel",
		`UPDATE rooms SET has_channel = true, updated_at = $3 WHERE home = $1 AND id = $2`).Updates(core.SharedRooms, 2)
	sqlRoomDelete = db.Register("rooms.delete",
		`UPDATE rooms SET deleted_at = $3, deleted_by = $4, updated_at = $3 WHERE home = $1 AND id = $2`).Updates(core.SharedRooms, 2)
	sqlRoomAttach = db.Register("rooms.attach", content.AttachStatement("rooms", `, target_type = $4, target_id = $5, target_public_id = $6`)).Updates(core.SharedRooms,
		2)
	sqlRoomDetach = db.Register("rooms.detach", `UPDATE rooms SET post_id = '', target_type = '', target_id = '', target_public_id = ''
		WHERE home = $1 AND id = $2 AND post_id = $3`).Updates(core.SharedRooms, 2)
	sqlRoomGuardStatus = db.Register("rooms.guardState", `SELECT 1 / count(*) FROM rooms WHERE home = $1 AND id = $2 AND status = ANY($3::text[])
		AND deleted_at IS NULL`)
	sqlRoomTransition = db.Register("rooms.move", `UPDATE rooms SET status = $3, live_at = COALESCE(live_at, $4::timestamptz),
		ended_at = COALESCE($5::timestamptz, ended_at),
		recorded_at = COALESCE($6::timestamptz, recorded_at), recordings = COALESCE($7::jsonb, recordings), updated_at = $8 WHERE home = $1
		AND id = $2`).Updates(core.SharedRooms, 2)
	sqlRoomGuardParticipants = db.Register("rooms.guardParticipants", `SELECT 1 / count(*) FROM rooms WHERE home = $1 AND id = $2
		AND participants = $3::jsonb
		AND deleted_at IS NULL`)
	sqlRoomUpdateParticipants = db.Register("rooms.participants", `UPDATE rooms SET participants = $3::jsonb, updated_at = $4 WHERE home = $1 AND id
		= $2`).Updates(core.SharedRooms, 2)
	sqlRoomGuardStage = db.Register("rooms.guardStage", `SELECT 1 / count(*) FROM rooms WHERE home = $1 AND id = $2
		AND on_stage_ids = $3::text[]`)
	sqlRoomUpdateStage = db.Register("rooms.stage",
		`UPDATE rooms SET on_stage_ids = $3::text[] WHERE home = $1 AND id = $2`).Updates(core.SharedRooms, 2)
	sqlRoomGuardModeration = db.Register("rooms.guardModeration", `SELECT 1 / count(*) FROM rooms WHERE home = $1 AND id = $2
		AND moderation = $3::jsonb`)
	sqlRoomUpdateModeration = db.Register("rooms.moderate",
		`UPDATE rooms SET moderation = $3::jsonb, updated_at = $4 WHERE home = $1 AND id = $2`).Updates(core.SharedRooms, 2)
)

// Rooms reads rooms of any homes, including deleted ones, in no particular order.
func (r ReadBatch) Rooms(ids []string, into *[]Room) {
	core.ReadMany(r.ReadBatch, ids, sqlRoomsByID, into)
}

// Room reads one room; nil if there is none.
func (r ReadBatch) Room(id string, into **Room) {
	r.AddAt(id, sqlRoomsByID, db.Row(into), []string{id})
}

// ChildRooms reads the children of rooms of any homes, including deleted ones, in no particular order.
func (r ReadBatch) ChildRooms(parentIDs []string, into *[]Room) {
	core.ReadMany(r.ReadBatch, parentIDs, sqlRoomChildren, into)
}

// InsertRoom inserts a room. A retry after a lost connection inserts it once. The transaction fails with noParent if
// the parent has another creator, is deleted, is a child itself or has the maximum number of children.
func (w Tx) InsertRoom(r Room, noParent error) {
	w.IdempotentBy("rooms_pkey")
	if r.ParentID != "" {
		w.Guard(sqlRoomGuardParent, noParent, r.ParentID, r.CreatorID, MaxChildStreams)
	}
	w.Exec(sqlRoomInsert, r.ID, r.CreatorID, r.CreatorPublicID, r.Type, r.Title, r.Description, r.ThumbnailFileID, r.Status, r.LiveChatEnabled,
		r.HasChannel, r.Metadata, core.PlainJSON(r.Participants), r.PlaybackKey, r.ParentID, r.CreatedAt)
	w.InsertFileUses(core.FileUse{ObjectID: r.ID, Kind: core.UseRoom, AuthorID: r.CreatorID}, []string{r.ThumbnailFileID})
	if r.ParentID != "" {
		w.Exec(sqlRoomAddChild, r.ParentID, r.ID, r.CreatedAt)
	}
}

// RoomChange contains the fields of a room to change; nil fields are unchanged.
type RoomChange struct {
	EditorID                            string // internal id; empty for an administrator
	Title, Description, ThumbnailFileID *string
	LiveChatEnabled                     *bool
	Metadata                            []byte // JSON
}

// UpdateRoom changes a room. The transaction fails with gone if it is deleted.
func (w Tx) UpdateRoom(id string, c RoomChange, now time.Time, gone error) {
	w.Guard(sqlRoomGuard, gone, id)
	w.Exec(sqlRoomUpdate, id, c.Title, c.Description, c.ThumbnailFileID, c.LiveChatEnabled, c.Metadata, now)
	w.ReplaceFile(core.FileUse{ObjectID: id, Kind: core.UseRoom, AuthorID: c.EditorID}, c.ThumbnailFileID)
}

// DeleteRoom marks a room and its live channel as deleted and removes it from its parent. The transaction fails with
// gone if it is deleted already.
func (w Tx) DeleteRoom(r Room, by string, now time.Time, gone error) {
	w.Guard(sqlRoomGuard, gone, r.ID)
	w.Exec(sqlRoomDelete, r.ID, now, by)
	if r.HasChannel {
		w.Exec(messaging.ChannelDelete, r.ID, now, by)
	}
	if r.ParentID != "" {
		w.Exec(sqlRoomRemoveChild, r.ParentID, r.ID, now)
	}
}

// UpdateRoomHasChannel records that the room has a live channel, which is inserted separately. The transaction fails
// with gone if the room is deleted.
func (w Tx) UpdateRoomHasChannel(id string, now time.Time, gone error) {
	w.Guard(sqlRoomGuard, gone, id)
	w.Exec(sqlRoomUpdateHasChannel, id, now)
}

// AttachRoom attaches a room and its live channel to a post. The transaction fails with refusal if the room is deleted
// or attached to another post.
func (w Tx) AttachRoom(id, postID, targetType, targetID, targetPublicID string, refusal error) {
	w.Guard(sqlRoomAttach, refusal, id, postID, targetType, targetID, targetPublicID)
	w.Exec(messaging.ChannelAttach, id, postID)
}

// DetachRoom detaches a room and its live channel from a post, if it is attached to it.
func (w Tx) DetachRoom(id, postID string) {
	w.Exec(sqlRoomDetach, id, postID)
	w.Exec(messaging.ChannelDetach, id, postID)
}

// GuardRoomIn makes the transaction fail with refusal if the room is deleted or its status is not in states.
func (w Tx) GuardRoomIn(id string, states []string, refusal error) {
	w.Guard(sqlRoomGuardStatus, refusal, id, states)
}

// RoomTransition is a change of a room's status; nil fields are unchanged, and LiveAt is only set once.
type RoomTransition struct {
	ID                          string
	From                        []string // the allowed current statuses
	To                          string
	LiveAt, EndedAt, RecordedAt *time.Time
	Recordings                  []RoomRecording
}

// TransitionRoom changes the status of a room. The transaction fails with refusal if the status is not in From.
func (w Tx) TransitionRoom(m RoomTransition, now time.Time, refusal error) {
	w.Guard(sqlRoomGuardStatus, refusal, m.ID, m.From)
	w.Exec(sqlRoomTransition, m.ID, m.To, m.LiveAt, m.EndedAt, m.RecordedAt, jsonOrNil(m.Recordings), now)
}

// UpdateParticipants replaces the participants of a room. The transaction fails with conflict if they are not the ones
// that were read or the room is deleted.
func (w Tx) UpdateParticipants(id string, old, changed []RoomParticipant, now time.Time, conflict error) {
	w.Guard(sqlRoomGuardParticipants, conflict, id, core.PlainJSON(old))
	w.Exec(sqlRoomUpdateParticipants, id, core.PlainJSON(changed), now)
}

// UpdateStage replaces the participants who send to a room. The transaction fails with conflict if they are not the ones that
// were read.
func (w Tx) UpdateStage(id string, old, changed []string, conflict error) {
	w.Guard(sqlRoomGuardStage, conflict, id, core.EmptyIfNil(old))
	w.Exec(sqlRoomUpdateStage, id, core.EmptyIfNil(changed))
}

// ModerateRoom replaces the moderation findings of a room. The transaction fails with conflict if they are not the ones
// that were read.
func (w Tx) ModerateRoom(id string, old, current Moderation, now time.Time, conflict error) {
	w.Guard(sqlRoomGuardModeration, conflict, id, moderationJSON(old))
	w.Exec(sqlRoomUpdateModeration, id, moderationJSON(current), now)
}

// SelectRoom reads a room after the preceding statements.
func (w Tx) SelectRoom(id string, into **Room) {
	w.Query(sqlRoomsByID, db.Row(into), []string{id})
}
