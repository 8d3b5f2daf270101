package media

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/messaging"
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
	HasChannel      bool   // whether a live channel with the same id exists
	Metadata        []byte // JSON
	PlatformName    string
	PlatformVersion string
	PlaybackKey     string
	IngestKey       string
	PostID          string // the post that it is attached to; empty if not attached
	TargetType      string // of that post: community, user or content
	TargetPublicID  string
	ParentID        string // empty if it is not a child
	ChildIDs        []string
	Recordings      []StreamRecording
	Moderation      Moderation
	BannedIDs       []string // internal ids of the viewers who are banned, sorted
	StartedAt       *time.Time
	EndedAt         *time.Time
	CreatedAt       time.Time
	UpdatedAt       time.Time
	DeletedAt       *time.Time
}

// StreamRecording is one recording in its formats; missing formats are nil.
type StreamRecording struct {
	FLV  *RecordingFile `json:"flv,omitempty"`
	MP4  *RecordingFile `json:"mp4,omitempty"`
	M3U8 *RecordingFile `json:"m3u8,omitempty"`
}

// RecordingFile is a recording in one format.
type RecordingFile struct {
	URL       string  `json:"url"`
	Duration  float64 `json:"duration"`  // seconds
	StartTime float64 `json:"startTime"` // seconds since 1970
	StopTime  float64 `json:"stopTime"`
}

// Moderation contains the moderation findings of a stream or room; ID is empty if there are none.
type Moderation struct {
	ID              string            `json:"id,omitempty"`
	FlagLabels      []ModerationLabel `json:"flagLabels,omitempty"`
	TerminateLabels []ModerationLabel `json:"terminateLabels,omitempty"`
	CreatedAt       time.Time         `json:"createdAt"`
	UpdatedAt       time.Time         `json:"updatedAt"`
}

// ModerationLabel is one moderation finding.
type ModerationLabel struct {
	Category   string    `json:"category"`
	Threshold  float64   `json:"threshold"`
	DetectedAt time.Time `json:"detectedAt"`
}

var streamColumns = db.Columns[VideoStream]()

// MaxChildStreams is the maximum number of children of a stream or room.
const MaxChildStreams = 20

// MaxStreamBans is the maximum number of viewers who are banned from a stream.
const MaxStreamBans = 1000

var (
	sqlStreamsByID    = db.Register("videoStreams.byID", `SELECT `+streamColumns+` FROM video_streams WHERE home = $1 AND id = ANY($2::text[])`)
	sqlStreamChildren = db.Register("videoStreams.children", `SELECT `+streamColumns+` FROM video_streams WHERE home = $1
		AND parent_id = ANY($2::text[])`)
	sqlStreamInsert = db.Register("videoStreams.insert", `INSERT INTO video_streams (home, id, creator_id, creator_public_id, title, description,
		thumbnail_file_id,
		status, resolution, is_secure, channel_enabled, has_channel, metadata, platform_name, platform_version, playback_key, ingest_key,
		parent_id, created_at,
		updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::boolean, $11::boolean, $12::boolean, $13::jsonb, $14, $15, $16, $17, $18, $19, $19)`)
	sqlStreamGuard = db.Register("videoStreams.guardLive", `SELECT 1 / count(*) FROM video_streams WHERE home = $1 AND id = $2 AND deleted_at
		IS NULL`)
	sqlStreamGuardParent = db.Register("videoStreams.guardParent", `SELECT 1 / count(*) FROM video_streams WHERE home = $1 AND id = $2 AND creator_id
		= $3
		AND parent_id = '' AND cardinality(child_ids) < $4::bigint AND deleted_at IS NULL`)
	sqlStreamAddChild = db.Register("videoStreams.adopt", `UPDATE video_streams SET child_ids = array_append(child_ids, $3), updated_at = $4
		WHERE home = $1 AND id = $2`).Updates(core.SharedStreams, 2)
	sqlStreamRemoveChild = db.Register("videoStreams.disown", `UPDATE video_streams SET child_ids = array_remove(child_ids, $3), updated_at = $4
		WHERE home = $1 AND id = $2`).Updates(core.SharedStreams, 2)
	sqlStreamUpdate = db.Register("videoStreams.update", `UPDATE video_streams SET title = COALESCE($3::text, title),
		description = COALESCE($4::text, description),
		thumbnail_file_id = COALESCE($5::text, thumbnail_file_id), resolution = COALESCE($6::text, resolution), metadata = COALESCE($7::jsonb,
		metadata),
		updated_at = $8 WHERE home = $1 AND id = $2`).Updates(core.SharedStreams, 2)
	sqlStreamUpdateHasChannel = db.Register("videoStreams.channel", `UPDATE video_streams SET has_channel = true, updated_at = $3 WHERE home = $1
		AND id = $2`).Updates(core.SharedStreams, 2)
	sqlStreamDelete = db.Register("videoStreams.delete",
		`UPDATE video_streams SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`).Updates(core.SharedStreams, 2)
	sqlStreamAttach = db.Register("videoStreams.attach",
		content.AttachStatement("video_streams", `, target_type = $4, target_public_id = $5`)).Updates(core.SharedStreams, 2)
	sqlStreamDetach = db.Register("videoStreams.detach", `UPDATE video_streams SET post_id = '', target_type = '', target_public_id = ''
		WHERE home = $1 AND id = $2 AND post_id = $3`).Updates(core.SharedStreams, 2)
	sqlStreamGuardStatus = db.Register("videoStreams.guardState", `SELECT 1 / count(*) FROM video_streams WHERE home = $1 AND id = $2
		AND status = ANY($3::text[])
		AND deleted_at IS NULL`)
	sqlStreamTransition = db.Register("videoStreams.move", `UPDATE video_streams SET status = $3, started_at = COALESCE($4::timestamptz, started_at),
		ended_at = COALESCE($5::timestamptz, ended_at), platform_name = COALESCE($6::text, platform_name),
		platform_version = COALESCE($7::text, platform_version), recordings = COALESCE($8::jsonb, recordings), updated_at = $9
		WHERE home = $1 AND id = $2`).Updates(core.SharedStreams, 2)
	sqlStreamGuardModeration = db.Register("videoStreams.guardModeration", `SELECT 1 / count(*) FROM video_streams WHERE home = $1 AND id = $2
		AND moderation = $3::jsonb`)
	sqlStreamGuardBans = db.Register("videoStreams.guardBans", `SELECT 1 / count(*) FROM video_streams WHERE home = $1 AND id = $2
		AND banned_ids = $3::text[]
		AND deleted_at IS NULL`)
	sqlStreamUpdateBans = db.Register("videoStreams.ban", `UPDATE video_streams SET banned_ids = $3::text[], updated_at = $4 WHERE home = $1
		AND id = $2`).Updates(core.SharedStreams, 2)
	sqlStreamUpdateModeration = db.Register("videoStreams.moderate", `UPDATE video_streams SET moderation = $3::jsonb, updated_at = $4
		WHERE home = $1 AND id = $2`).Updates(core.SharedStreams, 2)
)

// VideoStreams reads streams of any homes, including deleted ones, in no particular order.
func (r ReadBatch) VideoStreams(ids []string, into *[]VideoStream) {
	core.ReadMany(r.ReadBatch, ids, sqlStreamsByID, into)
}

// VideoStream reads one stream; nil if there is none.
func (r ReadBatch) VideoStream(id string, into **VideoStream) {
	r.AddAt(id, sqlStreamsByID, db.Row(into), []string{id})
}

// ChildStreams reads the children of streams of any homes, including deleted ones, in no particular order.
func (r ReadBatch) ChildStreams(parentIDs []string, into *[]VideoStream) {
	core.ReadMany(r.ReadBatch, parentIDs, sqlStreamChildren, into)
}

// InsertVideoStream inserts a stream. A retry after a lost connection inserts it once. The transaction fails with
// noParent if the parent has another creator, is deleted, is a child itself or has the maximum number of children.
func (w Tx) InsertVideoStream(s VideoStream, noParent error) {
	w.IdempotentBy("video_streams_pkey")
	if s.ParentID != "" {
		w.Guard(sqlStreamGuardParent, noParent, s.ParentID, s.CreatorID, MaxChildStreams)
	}
	w.Exec(sqlStreamInsert, s.ID, s.CreatorID, s.CreatorPublicID, s.Title, s.Description, s.ThumbnailFileID, s.Status, s.Resolution,
		s.IsSecure,
		s.ChannelEnabled, s.HasChannel, s.Metadata, s.PlatformName, s.PlatformVersion, s.PlaybackKey, s.IngestKey, s.ParentID, s.CreatedAt)
	w.InsertFileUses(core.FileUse{ObjectID: s.ID, Kind: core.UseStream, AuthorID: s.CreatorID}, []string{s.ThumbnailFileID})
	if s.ParentID != "" {
		w.Exec(sqlStreamAddChild, s.ParentID, s.ID, s.CreatedAt)
	}
}

// StreamChange contains the fields of a stream to change; nil fields are unchanged.
type StreamChange struct {
	EditorID                                        string // internal id; empty for an administrator
	Title, Description, ThumbnailFileID, Resolution *string
	Metadata                                        []byte // JSON
}

// UpdateVideoStream changes a stream. The transaction fails with gone if it is deleted.
func (w Tx) UpdateVideoStream(id string, c StreamChange, now time.Time, gone error) {
	w.Guard(sqlStreamGuard, gone, id)
	w.Exec(sqlStreamUpdate, id, c.Title, c.Description, c.ThumbnailFileID, c.Resolution, c.Metadata, now)
	w.ReplaceFile(core.FileUse{ObjectID: id, Kind: core.UseStream, AuthorID: c.EditorID}, c.ThumbnailFileID)
}

// DeleteVideoStream marks a stream and its live channel as deleted and removes it from its parent. The transaction
// fails with gone if it is deleted already.
func (w Tx) DeleteVideoStream(s VideoStream, now time.Time, gone error) {
	w.Guard(sqlStreamGuard, gone, s.ID)
	w.Exec(sqlStreamDelete, s.ID, now)
	if s.HasChannel {
		w.Exec(messaging.ChannelDelete, s.ID, now, s.CreatorPublicID)
	}
	if s.ParentID != "" {
		w.Exec(sqlStreamRemoveChild, s.ParentID, s.ID, now)
	}
}

// UpdateVideoStreamHasChannel records that the stream has a live channel, which is inserted separately. The transaction
// fails with gone if the stream is deleted.
func (w Tx) UpdateVideoStreamHasChannel(id string, now time.Time, gone error) {
	w.Guard(sqlStreamGuard, gone, id)
	w.Exec(sqlStreamUpdateHasChannel, id, now)
}

// AttachVideoStream attaches a stream and its live channel to a post. The transaction fails with refusal if the stream
// is deleted or attached to another post.
func (w Tx) AttachVideoStream(id, postID, targetType, targetPublicID string, refusal error) {
	w.Guard(sqlStreamAttach, refusal, id, postID, targetType, targetPublicID)
	w.Exec(messaging.ChannelAttach, id, postID)
}

// DetachVideoStream detaches a stream and its live channel from a post, if it is attached to it.
func (w Tx) DetachVideoStream(id, postID string) {
	w.Exec(sqlStreamDetach, id, postID)
	w.Exec(messaging.ChannelDetach, id, postID)
}

// StreamTransition is a change of a stream's status; nil fields are unchanged.
type StreamTransition struct {
	ID                            string
	From                          []string // the allowed current statuses
	To                            string
	StartedAt, EndedAt            *time.Time
	PlatformName, PlatformVersion *string
	Recordings                    []StreamRecording
}

// TransitionVideoStream changes the status of a stream. The transaction fails with refusal if the status is not in
// From.
func (w Tx) TransitionVideoStream(m StreamTransition, now time.Time, refusal error) {
	w.Guard(sqlStreamGuardStatus, refusal, m.ID, m.From)
	w.Exec(sqlStreamTransition, m.ID, m.To, m.StartedAt, m.EndedAt, m.PlatformName, m.PlatformVersion, jsonOrNil(m.Recordings), now)
}

// ModerateVideoStream replaces the moderation findings of a stream. The transaction fails with conflict if they are not
// the ones that were read.
func (w Tx) ModerateVideoStream(id string, old, current Moderation, now time.Time, conflict error) {
	w.Guard(sqlStreamGuardModeration, conflict, id, moderationJSON(old))
	w.Exec(sqlStreamUpdateModeration, id, moderationJSON(current), now)
}

// UpdateStreamBans replaces the viewers who are banned from a stream. The transaction fails with conflict if they are not the
// ones that were read or the stream is deleted.
func (w Tx) UpdateStreamBans(id string, old, changed []string, now time.Time, conflict error) {
	w.Guard(sqlStreamGuardBans, conflict, id, core.EmptyIfNil(old))
	w.Exec(sqlStreamUpdateBans, id, core.EmptyIfNil(changed), now)
}

// SelectVideoStream reads a stream after the preceding statements.
func (w Tx) SelectVideoStream(id string, into **VideoStream) {
	w.Query(sqlStreamsByID, db.Row(into), []string{id})
}

// moderationJSON returns the stored form of moderation findings.
func moderationJSON(m Moderation) []byte {
	if m.ID == "" {
		return []byte("{}")
	}
	return core.PlainJSON(m)
}

// jsonOrNil returns the JSON of a list, nil for an empty one.
func jsonOrNil[T any](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	return core.PlainJSON(list)
}
