package messaging

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// MessageFeed is a row of message_feeds: a subchannel, or a feed of an external message store.
type MessageFeed struct {
	ID          string
	EntityID    string // the internal id of the channel
	LastSegment int64  // of the last message; 0 without messages
	// IsOwn is true for subchannels, whose messages are rows of messages. The fields from Name to EditedAt are only set
	// for them.
	IsOwn           bool
	Name            string
	ChannelPublicID string
	ChannelType     string
	CreatorID       string // internal id; empty for an administrator
	CreatorPublicID string
	LastMessageAt   time.Time // the creation time without messages
	EditedAt        time.Time
	CreatedAt       time.Time
	UpdatedAt       time.Time
	DeletedAt       *time.Time
}

// IsDefault reports whether it is the default subchannel, which every channel has and whose id is that of the channel.
func (f *MessageFeed) IsDefault() bool { return f.ID == f.EntityID }

var messageFeedColumns = db.Columns[MessageFeed]()

var (
	sqlMessageFeed  = db.Register("messageFeeds.byID", `SELECT `+messageFeedColumns+` FROM message_feeds WHERE home = $1 AND id = $2`)
	sqlMessageFeeds = db.Register("messageFeeds.byIDs", `SELECT `+messageFeedColumns+` FROM message_feeds WHERE home = $1
		AND id = ANY($2::text[]) AND is_own`)
	sqlMessageFeedOfMessage = db.Register("messageFeeds.ofMessage", `SELECT `+db.Prefixed("f", messageFeedColumns)+` FROM messages AS m
		JOIN message_feeds AS f ON f.home = $1 AND f.id = m.feed_id WHERE m.home = $1 AND m.id = $2`)
	sqlMessageFeedGuard = db.Register("messageFeeds.guardLive", `SELECT 1 / count(*) FROM message_feeds WHERE home = $1 AND id = $2 AND deleted_at
		IS NULL`)
	sqlMessageFeedDelete = db.Register("messageFeeds.delete",
		`UPDATE message_feeds SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`).Updates(core.SharedMessageFeeds, 2)
	// A feed of an external message store with this id becomes a subchannel and keeps its segments.
	sqlMessageFeedInsert = db.Register("messageFeeds.insert", `INSERT INTO message_feeds (home, id, entity_id, last_segment, is_own, name,
		channel_public_id,
			channel_type, creator_id, creator_public_id, last_message_at, edited_at, created_at, updated_at)
		VALUES ($1, $2, $3, 0, true, $4, $5, $6, $7, $8, $9, $9, $9, $9)
		ON CONFLICT (home, id) DO UPDATE SET is_own = true, entity_id = excluded.entity_id, name = excluded.name,
			channel_public_id = excluded.channel_public_id, channel_type = excluded.channel_type, creator_id = excluded.creator_id,
			creator_public_id = excluded.creator_public_id, last_message_at = excluded.last_message_at, edited_at = excluded.edited_at
		WHERE NOT message_feeds.is_own`).Updates(core.SharedMessageFeeds, 2)
	sqlMessageFeedRename = db.Register("messageFeeds.rename", `UPDATE message_feeds SET name = $3, edited_at = $4, updated_at = $4 WHERE home = $1
		AND id = $2`).Updates(core.SharedMessageFeeds, 2)
	sqlMessageFeedPurge = db.Register("messageFeeds.purge", `DELETE FROM message_feeds WHERE home = $1 AND id = $2 AND deleted_at IS NOT NULL
		AND is_own`).Updates(core.SharedMessageFeeds, 2)
	// The row stays locked until the end of the transaction, so that segments have no gaps.
	sqlMessageFeedNextSegment = db.Register("messageFeeds.next", `UPDATE message_feeds SET last_segment = last_segment + $4::bigint,
		last_message_at = GREATEST(last_message_at, $3), updated_at = GREATEST(updated_at, $3) WHERE home = $1 AND id = $2`).UpdatesFirst(
		core.SharedMessageFeeds, 2)
)

// MessageFeed reads a feed of either kind; nil if there is none.
func (r ReadBatch) MessageFeed(id string, into **MessageFeed) {
	r.AddAt(id, sqlMessageFeed, db.Row(into), id)
}

// MessageFeedOf reads the subchannel of a message; nil if there is none.
func (r ReadBatch) MessageFeedOf(messageID string, into **MessageFeed) {
	r.AddAt(messageID, sqlMessageFeedOfMessage, db.Row(into), messageID)
}

// MessageFeeds reads subchannels of any homes in no particular order.
func (r ReadBatch) MessageFeeds(ids []string, into *[]MessageFeed) {
	core.AddMany(r.ReadBatch, ids, sqlMessageFeeds, into)
}

// InsertMessageFeed inserts a subchannel unless it exists. It uses ID, EntityID, Name, ChannelPublicID, ChannelType,
// CreatorID, CreatorPublicID and CreatedAt. The default subchannel has the id of the channel and is inserted in the
// same transaction.
func (w Tx) InsertMessageFeed(f MessageFeed) {
	w.Exec(sqlMessageFeedInsert, f.ID, f.EntityID, f.Name, f.ChannelPublicID, f.ChannelType, f.CreatorID, f.CreatorPublicID, f.CreatedAt)
}

// RenameMessageFeed renames a subchannel. The transaction fails with gone if it is deleted.
func (w Tx) RenameMessageFeed(id, name string, now time.Time, gone error) {
	w.Guard(sqlMessageFeedGuard, gone, id)
	w.Exec(sqlMessageFeedRename, id, name, now)
}

// PurgeMessageFeed deletes the row of a subchannel that is marked as deleted. PurgeMessages must precede it.
func (w Tx) PurgeMessageFeed(id string) { w.Exec(sqlMessageFeedPurge, id) }

// SelectMessageFeed reads a feed after the preceding statements.
func (w Tx) SelectMessageFeed(id string, into **MessageFeed) {
	w.Query(sqlMessageFeed, db.Row(into), id)
}

// DeleteMessageFeed marks a feed of either kind as deleted. The transaction fails with gone if it does not exist or is
// deleted already.
func (w Tx) DeleteMessageFeed(id string, now time.Time, gone error) {
	w.Guard(sqlMessageFeedGuard, gone, id)
	w.Exec(sqlMessageFeedDelete, id, now)
}
