package messaging

import (
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The types of channels.
const (
	ChannelCommunity    = "community"
	ChannelBroadcast    = "broadcast"
	ChannelConversation = "conversation"
	ChannelLive         = "live"
)

// Channel is a row of channels. Its subchannels, messages and users are stored in its home.
type Channel struct {
	ID                string
	PublicID          string // the id that the client chose, or the id itself
	Type              string // community, broadcast, conversation or live
	CreatorID         string // internal id; empty for an administrator
	CreatorPublicID   string
	DisplayName       string
	AvatarFileID      string
	IsDistinct        bool // the only conversation of its users
	IsPublic          bool // all users can find and join it
	Tags              []string
	Metadata          []byte // JSON object
	NotificationMode  string // default, silent or subscribe
	AutoDeleteEnabled bool   // messages with AutoDeleteFlags flags are deleted
	AutoDeleteFlags   int64
	MutedUntil        *time.Time // only moderators may write until then; nil if not muted
	PostID            string     // the post, stream or room that a live channel belongs to
	VideoStreamID     string
	RoomID            string
	LastActivity      time.Time // see UpdateChannelActivity
	CreatedAt         time.Time
	UpdatedAt         time.Time
	DeletedAt         *time.Time
	DeletedBy         string // public id; empty for an administrator
}

// IsMuted reports whether only moderators may write.
func (c *Channel) IsMuted(now time.Time) bool {
	return c.MutedUntil != nil && now.Before(*c.MutedUntil)
}

var channelColumns = db.Columns[Channel]()

var (
	sqlChannelsByID  = db.Register("channels.byID", `SELECT `+channelColumns+` FROM channels WHERE home = $1 AND id = ANY($2::text[])`)
	sqlChannelInsert = db.Register("channels.insert", `INSERT INTO channels (home, id, public_id, type, creator_id, creator_public_id, display_name,
		name_key,
		avatar_file_id, is_distinct, is_public, tags, metadata, notification_mode, auto_delete_enabled, auto_delete_flags, muted_until, post_id,
		video_stream_id, room_id, last_activity, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::boolean, $11::boolean, $12::text[], $13::jsonb, $14, $15::boolean, $16::bigint,
		$17::timestamptz,
		$18, $19, $20, $21, $21, $21)`)
	sqlChannelUpdate = db.Register("channels.update", `UPDATE channels SET display_name = COALESCE($3::text, display_name),
		name_key = COALESCE($4::text, name_key), avatar_file_id = COALESCE($5::text, avatar_file_id), tags = COALESCE($6::text[], tags),
		metadata = COALESCE($7::jsonb, metadata), notification_mode = COALESCE($8::text, notification_mode),
		auto_delete_enabled = COALESCE($9::boolean, auto_delete_enabled), auto_delete_flags = COALESCE($10::bigint, auto_delete_flags),
		updated_at = $11 WHERE home = $1 AND id = $2`).Updates(core.SharedChannels, 2)
	sqlChannelMute = db.Register("channels.mute", `UPDATE channels SET muted_until = $3::timestamptz, updated_at = $4 WHERE home = $1
		AND id = $2`).Updates(core.SharedChannels, 2)
	// ChannelDelete marks the channel $2 as deleted.
	ChannelDelete = db.Register("channels.delete", `UPDATE channels SET deleted_at = $3, deleted_by = $4, updated_at = $3 WHERE home = $1
		AND id = $2`).Updates(core.SharedChannels, 2)
	// ChannelAttach attaches the live channel $2 to the post $3.
	ChannelAttach = db.Register("channels.attach",
		`UPDATE channels SET post_id = $3 WHERE home = $1 AND id = $2 AND post_id = ''`).Updates(core.SharedChannels, 2)
	// ChannelDetach undoes ChannelAttach.
	ChannelDetach = db.Register("channels.detach",
		`UPDATE channels SET post_id = '' WHERE home = $1 AND id = $2 AND post_id = $3`).Updates(core.SharedChannels, 2)
	sqlChannelGuard = db.Register("channels.guardLive", `SELECT 1 / count(*) FROM channels WHERE home = $1 AND id = $2 AND deleted_at
		IS NULL`)
	sqlChannelUpdateActivity = db.Register("channels.active", `UPDATE channels SET last_activity = $3 WHERE home = $1 AND id = $2
		AND last_activity < $4::timestamptz`).Updates(core.SharedChannels, 2)
)

// Channel reads one channel, including a deleted one; nil if there is none.
func (r ReadBatch) Channel(id string, into **Channel) {
	r.AddAt(id, sqlChannelsByID, db.Row(into), []string{id})
}

// Channels reads channels of any homes, including deleted ones, in no particular order.
func (r ReadBatch) Channels(ids []string, into *[]Channel) {
	core.ReadMany(r.ReadBatch, ids, sqlChannelsByID, into)
}

// privateNameKeyRunes is the length of the index key of a private channel's name. Like a person's name, it must not
// leave the region.
const privateNameKeyRunes = core.PersonNameKeyRunes

// InsertChannel inserts a channel; its users and its default subchannel are inserted separately. The transaction fails
// with taken if the id exists. If taken is nil, the id is new and a retry after a lost connection inserts the channel
// once.
func (w Tx) InsertChannel(c Channel, taken error, now time.Time) {
	insert := w.Exec(sqlChannelInsert, c.ID, c.PublicID, c.Type, c.CreatorID, c.CreatorPublicID, c.DisplayName,
		core.NameKey(c.DisplayName, keyRunes(c.IsPublic)), c.AvatarFileID, c.IsDistinct, c.IsPublic, core.EmptyIfNil(c.Tags),
		c.Metadata, c.NotificationMode, c.AutoDeleteEnabled, c.AutoDeleteFlags, c.MutedUntil, c.PostID, c.VideoStreamID, c.RoomID, now)
	if taken != nil {
		insert.OnConflict("channels_pkey", taken)
	} else {
		w.IdempotentBy("channels_pkey")
	}
	w.InsertFileUses(core.FileUse{ObjectID: c.ID, Kind: core.UseChannel, AuthorID: c.CreatorID}, []string{c.AvatarFileID})
}

// ChannelChange contains the fields of a channel to change; nil fields are unchanged.
type ChannelChange struct {
	EditorID                                    string // internal id; empty for an administrator
	DisplayName, AvatarFileID, NotificationMode *string
	AutoDeleteEnabled                           *bool
	AutoDeleteFlags                             *int64
	Tags                                        []string
	Metadata                                    []byte // JSON object
}

// UpdateChannel changes a channel. The transaction fails with 400400 if it is deleted.
func (w Tx) UpdateChannel(c Channel, change ChannelChange, now time.Time) {
	w.GuardChannel(c.ID, fail.NotFound())
	w.Exec(sqlChannelUpdate, c.ID, change.DisplayName, core.KeyOf(change.DisplayName, keyRunes(c.IsPublic)), change.AvatarFileID, change.Tags,
		change.Metadata, change.NotificationMode, change.AutoDeleteEnabled, change.AutoDeleteFlags, now)
	w.ReplaceFile(core.FileUse{ObjectID: c.ID, Kind: core.UseChannel, AuthorID: change.EditorID}, change.AvatarFileID)
}

// MuteChannel prevents all users except moderators from writing until a time; nil unmutes the channel. The transaction
// fails with 400400 if the channel is deleted.
func (w Tx) MuteChannel(id string, until *time.Time, now time.Time) {
	w.GuardChannel(id, fail.NotFound())
	w.Exec(sqlChannelMute, id, until, now)
}

// DeleteChannel marks a channel as deleted. The transaction fails with 400400 if it is deleted already.
func (w Tx) DeleteChannel(id, by string, now time.Time) {
	w.GuardChannel(id, fail.NotFound())
	w.Exec(ChannelDelete, id, now, by)
}

// GuardChannel makes the transaction fail with refusal if the channel does not exist or is deleted.
func (w Tx) GuardChannel(id string, refusal error) { w.Guard(sqlChannelGuard, refusal, id) }

// SelectChannel reads a channel after the preceding statements.
func (w Tx) SelectChannel(id string, into **Channel) {
	w.Query(sqlChannelsByID, db.Row(into), []string{id})
}

// activityGrain is the precision of last_activity. Every message calls UpdateChannelActivity, but only the first one in
// this interval updates the row, so that a busy channel contends on the row of its subchannel only.
const activityGrain = 5 * time.Second

// UpdateChannelActivity records the time of a message in a channel.
func (w Tx) UpdateChannelActivity(channelID string, at time.Time) {
	w.Exec(sqlChannelUpdateActivity, channelID, at, at.Add(-activityGrain))
}
