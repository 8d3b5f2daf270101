package store

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// VideoStream is a row of video_streams.
type VideoStream struct {
	ID              string
	CreatorID       string // internal id
	CreatorPublicID string
	Title           string
	Description     string
	ThumbnailFileID string
	Status          string // idle, live, ended, recorded or error
	Resolution      string // SD, HD or FHD
	IsSecure        bool
	ChannelEnabled  bool
	HasChannel      bool   // there is a live channel of the stream's id
	Metadata        []byte // JSON
	PlatformName    string
	PlatformVersion string
	PlaybackKey     string
	IngestKey       string
	PostID          string // the post that carries it; empty before there is one
	ParentID        string // the stream whose child it is; empty for others
	ChildIDs        []string
	Recordings      []StreamRecording
	Moderation      Moderation
	StartedAt       *time.Time
	EndedAt         *time.Time
	CreatedAt       time.Time
	UpdatedAt       time.Time
	DeletedAt       *time.Time
}

// StreamRecording is one recording in its formats; a format that there is not is nil.
type StreamRecording struct {
	FLV  *RecordingFile `json:"flv,omitempty"`
	MP4  *RecordingFile `json:"mp4,omitempty"`
	M3U8 *RecordingFile `json:"m3u8,omitempty"`
}

// RecordingFile is one recording in one format.
type RecordingFile struct {
	URL       string  `json:"url"`
	Duration  float64 `json:"duration"`  // seconds
	StartTime float64 `json:"startTime"` // seconds since 1970
	StopTime  float64 `json:"stopTime"`
}

// Moderation is what moderation saw in a stream or room; without an ID it saw nothing.
type Moderation struct {
	ID              string            `json:"id,omitempty"`
	FlagLabels      []ModerationLabel `json:"flagLabels,omitempty"`
	TerminateLabels []ModerationLabel `json:"terminateLabels,omitempty"`
	CreatedAt       time.Time         `json:"createdAt"`
	UpdatedAt       time.Time         `json:"updatedAt"`
}

// ModerationLabel is one finding.
type ModerationLabel struct {
	Category   string    `json:"category"`
	Threshold  float64   `json:"threshold"`
	DetectedAt time.Time `json:"detectedAt"`
}

const streamColumns = `id, creator_id, creator_public_id, title, description, thumbnail_file_id, status, resolution, is_secure,
	channel_enabled, has_channel, metadata, platform_name, platform_version, playback_key, ingest_key, post_id, parent_id, child_ids, recordings,
	moderation, started_at, ended_at, created_at, updated_at, deleted_at`

func scanStream(rows pgx.Rows) (VideoStream, error) {
	var s VideoStream
	var recordings, moderation []byte
	err := rows.Scan(&s.ID, &s.CreatorID, &s.CreatorPublicID, &s.Title, &s.Description, &s.ThumbnailFileID, &s.Status, &s.Resolution, &s.IsSecure,
		&s.ChannelEnabled, &s.HasChannel, &s.Metadata, &s.PlatformName, &s.PlatformVersion, &s.PlaybackKey, &s.IngestKey, &s.PostID, &s.ParentID, &s.ChildIDs,
		&recordings, &moderation, &s.StartedAt, &s.EndedAt, &s.CreatedAt, &s.UpdatedAt, &s.DeletedAt)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(recordings, &s.Recordings); err != nil {
		return s, err
	}
	return s, json.Unmarshal(moderation, &s.Moderation)
}

// MaxChildStreams is how many children a stream may have, and a room too.
const MaxChildStreams = 20

var (
	sqlStreamsByID    = stmt("videoStreams.byID", `SELECT `+streamColumns+` FROM video_streams WHERE home = $1 AND id = ANY($2::text[])`)
	sqlStreamChildren = stmt("videoStreams.children", `SELECT `+streamColumns+` FROM video_streams WHERE home = $1 AND parent_id = ANY($2::text[])
		AND parent_id <> ''`)
	sqlStreamInsert = stmt("videoStreams.insert", `INSERT INTO video_streams (home, id, creator_id, creator_public_id, title, description, thumbnail_file_id,
		status, resolution, is_secure, channel_enabled, has_channel, metadata, platform_name, platform_version, playback_key, ingest_key, parent_id, created_at,
		updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::boolean, $11::boolean, $12::boolean, $13::jsonb, $14, $15, $16, $17, $18, $19, $19)`)
	sqlStreamLive   = stmt("videoStreams.guardLive", `SELECT 1 / count(*) FROM video_streams WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlStreamParent = stmt("videoStreams.guardParent", `SELECT 1 / count(*) FROM video_streams WHERE home = $1 AND id = $2 AND creator_id = $3
		AND parent_id = '' AND cardinality(child_ids) < $4::bigint AND deleted_at IS NULL`)
	sqlStreamAdopt  = stmt("videoStreams.adopt", `UPDATE video_streams SET child_ids = array_append(child_ids, $3), updated_at = $4 WHERE home = $1 AND id = $2`)
	sqlStreamDisown = stmt("videoStreams.disown", `UPDATE video_streams SET child_ids = array_remove(child_ids, $3), updated_at = $4 WHERE home = $1 AND id = $2`)
	sqlStreamUpdate = stmt("videoStreams.update", `UPDATE video_streams SET title = COALESCE($3::text, title), description = COALESCE($4::text, description),
		thumbnail_file_id = COALESCE($5::text, thumbnail_file_id), resolution = COALESCE($6::text, resolution), metadata = COALESCE($7::jsonb, metadata),
		updated_at = $8 WHERE home = $1 AND id = $2`)
	sqlStreamChannel = stmt("videoStreams.channel", `UPDATE video_streams SET has_channel = true, updated_at = $3 WHERE home = $1 AND id = $2`)
	sqlStreamDelete  = stmt("videoStreams.delete", `UPDATE video_streams SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`)
	sqlStreamAttach  = stmt("videoStreams.attach", `UPDATE video_streams SET post_id = $3 WHERE home = $1 AND id = $2 AND post_id = ''`)
	sqlStreamIn      = stmt("videoStreams.guardState", `SELECT 1 / count(*) FROM video_streams WHERE home = $1 AND id = $2 AND status = ANY($3::text[])
		AND deleted_at IS NULL`)
	sqlStreamMove = stmt("videoStreams.move", `UPDATE video_streams SET status = $3, started_at = COALESCE($4::timestamptz, started_at),
		ended_at = COALESCE($5::timestamptz, ended_at), platform_name = COALESCE($6::text, platform_name),
		platform_version = COALESCE($7::text, platform_version), recordings = COALESCE($8::jsonb, recordings), updated_at = $9
		WHERE home = $1 AND id = $2`)
	sqlStreamGuardModerated = stmt("videoStreams.guardModeration", `SELECT 1 / count(*) FROM video_streams WHERE home = $1 AND id = $2
		AND moderation = $3::jsonb`)
	sqlStreamModerate = stmt("videoStreams.moderate", `UPDATE video_streams SET moderation = $3::jsonb, updated_at = $4 WHERE home = $1 AND id = $2`)
)

// VideoStreams reads streams of any homes, deleted ones too; their order is not defined.
func (r *ReadBatch) VideoStreams(ids []string, into *[]VideoStream) {
	*into = nil
	for home, ids := range byHome(ids) {
		part := new([]VideoStream)
		r.add(home, sqlStreamsByID, scanAll(part, scanStream), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// VideoStream reads one stream; nil where there is none.
func (r *ReadBatch) VideoStream(id string, into **VideoStream) {
	if home, err := region.HomeOf(id); err == nil {
		r.add(home, sqlStreamsByID, scanOne(into, scanStream), []string{id})
	}
}

// ChildStreams reads the children of streams of any homes, deleted ones too; their order is not defined.
func (r *ReadBatch) ChildStreams(parentIDs []string, into *[]VideoStream) {
	*into = nil
	for home, ids := range byHome(parentIDs) {
		part := new([]VideoStream)
		r.add(home, sqlStreamChildren, scanAll(part, scanStream), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// InsertVideoStream inserts a stream; sent again after a lost connection it is stored once. Where it has a parent that is not its
// creator's, is gone, is a child itself or has as many children as it may, it is refused.
func (w *Tx) InsertVideoStream(s VideoStream, noParent error) {
	w.once = "video_streams_pkey"
	if s.ParentID != "" {
		w.guard(sqlStreamParent, noParent, s.ParentID, s.CreatorID, MaxChildStreams)
	}
	w.exec(sqlStreamInsert, s.ID, s.CreatorID, s.CreatorPublicID, s.Title, s.Description, s.ThumbnailFileID, s.Status, s.Resolution, s.IsSecure,
		s.ChannelEnabled, s.HasChannel, s.Metadata, s.PlatformName, s.PlatformVersion, s.PlaybackKey, s.IngestKey, s.ParentID, s.CreatedAt)
	if s.ParentID != "" {
		w.exec(sqlStreamAdopt, s.ParentID, s.ID, s.CreatedAt)
	}
}

// StreamChange holds what to change of what a stream says of itself; nil stays.
type StreamChange struct {
	Title, Description, ThumbnailFileID, Resolution *string
	Metadata                                        []byte // JSON
}

// UpdateVideoStream changes a stream; gone answers for one that is deleted.
func (w *Tx) UpdateVideoStream(id string, c StreamChange, now time.Time, gone error) {
	w.guard(sqlStreamLive, gone, id)
	w.exec(sqlStreamUpdate, id, c.Title, c.Description, c.ThumbnailFileID, c.Resolution, c.Metadata, now)
}

// DeleteVideoStream marks a stream deleted, and its live channel with it, and takes it out of its parent; gone answers where it is deleted already.
func (w *Tx) DeleteVideoStream(s VideoStream, now time.Time, gone error) {
	w.guard(sqlStreamLive, gone, s.ID)
	w.exec(sqlStreamDelete, s.ID, now)
	if s.HasChannel {
		w.exec(sqlChannelDelete, s.ID, now, s.CreatorPublicID)
	}
	if s.ParentID != "" {
		w.exec(sqlStreamDisown, s.ParentID, s.ID, now)
	}
}

// VideoStreamHasChannel notes that the stream has a live channel, which the transaction makes beside it; gone answers for one that is
// deleted.
func (w *Tx) VideoStreamHasChannel(id string, now time.Time, gone error) {
	w.guard(sqlStreamLive, gone, id)
	w.exec(sqlStreamChannel, id, now)
}

// AttachVideoStream makes a stream, and its live channel with it, part of a post, unless it is part of one already.
func (w *Tx) AttachVideoStream(id, postID string) {
	w.exec(sqlStreamAttach, id, postID)
	w.exec(sqlChannelAttach, id, postID)
}

// StreamMove is a transition; nil fields stay.
type StreamMove struct {
	ID                            string
	From                          []string // the states that it starts from
	To                            string
	StartedAt, EndedAt            *time.Time
	PlatformName, PlatformVersion *string
	Recordings                    []StreamRecording
}

// MoveVideoStream changes the state of a stream that is in one of the move's states; refusal answers for others.
func (w *Tx) MoveVideoStream(m StreamMove, now time.Time, refusal error) {
	w.guard(sqlStreamIn, refusal, m.ID, m.From)
	w.exec(sqlStreamMove, m.ID, m.To, m.StartedAt, m.EndedAt, m.PlatformName, m.PlatformVersion, jsonOrNil(m.Recordings), now)
}

// ModerateVideoStream puts what moderation saw in the place of what it had seen when the stream was read; changed answers
// where that is not so any more.
func (w *Tx) ModerateVideoStream(id string, old, seen Moderation, now time.Time, changed error) {
	w.guard(sqlStreamGuardModerated, changed, id, moderationJSON(old))
	w.exec(sqlStreamModerate, id, moderationJSON(seen), now)
}

// SelectVideoStream reads a stream as it stands once the statements before it have run.
func (w *Tx) SelectVideoStream(id string, into **VideoStream) {
	w.query(sqlStreamsByID, scanOne(into, scanStream), []string{id})
}

// moderationJSON is the text that a row holds.
func moderationJSON(m Moderation) []byte {
	if m.ID == "" {
		return []byte("{}")
	}
	return plainJSON(m)
}

// jsonOrNil is the JSON of a list, nil for none.
func jsonOrNil[T any](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	return plainJSON(list)
}

// plainJSON is the JSON of what holds texts, numbers and times alone.
func plainJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("store: " + err.Error()) // nothing in it can fail
	}
	return raw
}
