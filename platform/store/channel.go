package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

// The types of channels.
const (
	ChannelCommunity    = "community"
	ChannelBroadcast    = "broadcast"
	ChannelConversation = "conversation"
	ChannelLive         = "live"
)

// Channel is a row of channels. What it is a chat of lives at its home: its subchannels, messages and users.
type Channel struct {
	ID                string
	PublicID          string // the id that the client chose, or the id itself
	Type              string // community, broadcast, conversation or live
	CreatorID         string // internal id; empty for an administrator
	CreatorPublicID   string
	DisplayName       string
	AvatarFileID      string
	IsDistinct        bool // the one conversation of its users
	IsPublic          bool // everybody finds it, and may join it
	Tags              []string
	Metadata          []byte // JSON object
	NotificationMode  string // default, silent or subscribe
	AutoDeleteEnabled bool   // messages with AutoDeleteFlags flags are deleted
	AutoDeleteFlags   int64
	MutedUntil        *time.Time // only moderators write until then; nil for nobody is muted
	PostID            string     // what a live channel is the chat of; a post, a stream or a room
	VideoStreamID     string
	RoomID            string
	LastActivity      time.Time // see ChannelActive
	CreatedAt         time.Time
	UpdatedAt         time.Time
	DeletedAt         *time.Time
	DeletedBy         string // public id; empty for an administrator
}

// IsMuted reports whether only moderators may write now.
func (c *Channel) IsMuted(now time.Time) bool {
	return c.MutedUntil != nil && now.Before(*c.MutedUntil)
}

const channelColumns = `id, public_id, type, creator_id, creator_public_id, display_name, avatar_file_id, is_distinct, is_public, tags, metadata,
	notification_mode, auto_delete_enabled, auto_delete_flags, muted_until, post_id, video_stream_id, room_id, last_activity, created_at,
	updated_at, deleted_at, deleted_by`

func scanChannel(rows pgx.Rows) (Channel, error) {
	var c Channel
	err := rows.Scan(&c.ID, &c.PublicID, &c.Type, &c.CreatorID, &c.CreatorPublicID, &c.DisplayName, &c.AvatarFileID, &c.IsDistinct, &c.IsPublic,
		&c.Tags, &c.Metadata, &c.NotificationMode, &c.AutoDeleteEnabled, &c.AutoDeleteFlags, &c.MutedUntil, &c.PostID, &c.VideoStreamID,
		&c.RoomID, &c.LastActivity, &c.CreatedAt, &c.UpdatedAt, &c.DeletedAt, &c.DeletedBy)
	return c, err
}

var (
	sqlChannelsByID  = stmt("channels.byID", `SELECT `+channelColumns+` FROM channels WHERE home = $1 AND id = ANY($2::text[])`)
	sqlChannelInsert = stmt("channels.insert", `INSERT INTO channels (home, id, public_id, type, creator_id, creator_public_id, display_name, name_key,
		avatar_file_id, is_distinct, is_public, tags, metadata, notification_mode, auto_delete_enabled, auto_delete_flags, muted_until, post_id,
		video_stream_id, room_id, last_activity, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::boolean, $11::boolean, $12::text[], $13::jsonb, $14, $15::boolean, $16::bigint, $17::timestamptz,
		$18, $19, $20, $21, $21, $21)`)
	sqlChannelUpdate = stmt("channels.update", `UPDATE channels SET display_name = COALESCE($3::text, display_name),
		name_key = COALESCE($4::text, name_key), avatar_file_id = COALESCE($5::text, avatar_file_id), tags = COALESCE($6::text[], tags),
		metadata = COALESCE($7::jsonb, metadata), notification_mode = COALESCE($8::text, notification_mode),
		auto_delete_enabled = COALESCE($9::boolean, auto_delete_enabled), auto_delete_flags = COALESCE($10::bigint, auto_delete_flags),
		updated_at = $11 WHERE home = $1 AND id = $2`)
	sqlChannelMute   = stmt("channels.mute", `UPDATE channels SET muted_until = $3::timestamptz, updated_at = $4 WHERE home = $1 AND id = $2`)
	sqlChannelDelete = stmt("channels.delete", `UPDATE channels SET deleted_at = $3, deleted_by = $4, updated_at = $3 WHERE home = $1 AND id = $2`)
	sqlChannelAttach = stmt("channels.attach", `UPDATE channels SET post_id = $3 WHERE home = $1 AND id = $2 AND post_id = ''`)
	sqlChannelLive   = stmt("channels.guardLive", `SELECT 1 / count(*) FROM channels WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlChannelActive = stmt("channels.active", `UPDATE channels SET last_activity = $3 WHERE home = $1 AND id = $2 AND last_activity < $4::timestamptz`)
)

// Channel reads one channel, a deleted one too; nil where there is none.
func (r *ReadBatch) Channel(id string, into **Channel) {
	if home, err := region.HomeOf(id); err == nil {
		r.add(home, sqlChannelsByID, scanOne(into, scanChannel), []string{id})
	}
}

// Channels reads channels of any homes, deleted ones too; their order is not defined.
func (r *ReadBatch) Channels(ids []string, into *[]Channel) {
	*into = nil
	for home, ids := range byHome(ids) {
		part := new([]Channel)
		r.add(home, sqlChannelsByID, scanAll(part, scanChannel), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// privateNameKeyRunes is how much of the name of a private channel stands in an index key: as little as of a person's.
const privateNameKeyRunes = userNameKeyRunes

func channelNameKey(name string, public bool) string {
	if public {
		return NameKey(name, PublicNameKeyRunes)
	}
	return NameKey(name, privateNameKeyRunes)
}

// InsertChannel inserts a channel. taken answers where its id has a channel already; nil stands for an id that nobody else can
// have, and then the channel is stored once even where the connection was lost. Its users and its first subchannel are
// added beside it.
func (w *Tx) InsertChannel(c Channel, taken error, now time.Time) {
	insert := w.exec(sqlChannelInsert, c.ID, c.PublicID, c.Type, c.CreatorID, c.CreatorPublicID, c.DisplayName,
		channelNameKey(c.DisplayName, c.IsPublic), c.AvatarFileID, c.IsDistinct, c.IsPublic, texts(c.Tags), c.Metadata, c.NotificationMode,
		c.AutoDeleteEnabled, c.AutoDeleteFlags, c.MutedUntil, c.PostID, c.VideoStreamID, c.RoomID, now)
	if taken != nil {
		insert.conflict("channels_pkey", taken)
	} else if w.once == "" {
		w.once = "channels_pkey"
	}
}

// ChannelChange holds the fields of a channel to change; nil ones stay.
type ChannelChange struct {
	DisplayName, AvatarFileID, NotificationMode *string
	AutoDeleteEnabled                           *bool
	AutoDeleteFlags                             *int64
	Tags                                        []string
	Metadata                                    []byte // JSON object
}

// UpdateChannel changes a channel; one that is gone makes the transaction fail with 400400.
func (w *Tx) UpdateChannel(c Channel, change ChannelChange, now time.Time) {
	var key *string
	if change.DisplayName != nil {
		k := channelNameKey(*change.DisplayName, c.IsPublic)
		key = &k
	}
	w.GuardChannel(c.ID, fail.NotFound())
	w.exec(sqlChannelUpdate, c.ID, change.DisplayName, key, change.AvatarFileID, change.Tags, change.Metadata, change.NotificationMode,
		change.AutoDeleteEnabled, change.AutoDeleteFlags, now)
}

// MuteChannel keeps everybody but moderators from writing until a time; nil lets them write again. One that is gone makes the
// transaction fail with 400400.
func (w *Tx) MuteChannel(id string, until *time.Time, now time.Time) {
	w.GuardChannel(id, fail.NotFound())
	w.exec(sqlChannelMute, id, until, now)
}

// DeleteChannel marks a channel deleted by somebody; one that is gone makes the transaction fail with 400400.
func (w *Tx) DeleteChannel(id, by string, now time.Time) {
	w.GuardChannel(id, fail.NotFound())
	w.exec(sqlChannelDelete, id, now, by)
}

// GuardChannel makes the transaction fail with refusal where the channel is not there or deleted.
func (w *Tx) GuardChannel(id string, refusal error) { w.guard(sqlChannelLive, refusal, id) }

// SelectChannel reads a channel as it stands once the statements before it have run.
func (w *Tx) SelectChannel(id string, into **Channel) {
	w.query(sqlChannelsByID, scanOne(into, scanChannel), []string{id})
}

// activityGrain is how far the last activity of a channel lags behind at most. Whoever writes a message calls ChannelActive, and
// within that time only the first one changes the row: a busy channel has one hot row, its subchannel's, and not two.
const activityGrain = 5 * time.Second

// ChannelActive notes that something was written in a channel.
func (w *Tx) ChannelActive(channelID string, at time.Time) {
	w.exec(sqlChannelActive, channelID, at, at.Add(-activityGrain))
}
