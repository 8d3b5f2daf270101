package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// MessageFeed is a row of message_feeds: a subchannel of a channel, or a feed of an outside message store.
type MessageFeed struct {
	ID          string
	EntityID    string // the internal id of the channel
	LastSegment int64  // of the last message; 0 before the first
	// IsOwn tells the subchannels, whose messages are rows of messages. The fields down to EditedAt are theirs alone.
	IsOwn           bool
	Name            string
	ChannelPublicID string
	ChannelType     string
	CreatorID       string // internal id; empty for an administrator
	CreatorPublicID string
	LastMessageAt   time.Time // when it was made, before the first message
	EditedAt        time.Time
	CreatedAt       time.Time
	UpdatedAt       time.Time
	DeletedAt       *time.Time
}

// IsDefault reports whether it is the subchannel that every channel has: the one with the channel's own id.
func (f *MessageFeed) IsDefault() bool { return f.ID == f.EntityID }

const messageFeedColumns = `id, entity_id, last_segment, is_own, name, channel_public_id, channel_type, creator_id, creator_public_id,
	last_message_at, edited_at, created_at, updated_at, deleted_at`

func scanMessageFeed(rows pgx.Rows) (MessageFeed, error) {
	var f MessageFeed
	err := rows.Scan(&f.ID, &f.EntityID, &f.LastSegment, &f.IsOwn, &f.Name, &f.ChannelPublicID, &f.ChannelType, &f.CreatorID, &f.CreatorPublicID,
		&f.LastMessageAt, &f.EditedAt, &f.CreatedAt, &f.UpdatedAt, &f.DeletedAt)
	return f, err
}

var (
	sqlMessageFeed   = stmt("messageFeeds.byID", `SELECT `+messageFeedColumns+` FROM message_feeds WHERE home = $1 AND id = $2`)
	sqlMessageFeeds  = stmt("messageFeeds.byIDs", `SELECT `+messageFeedColumns+` FROM message_feeds WHERE home = $1 AND id = ANY($2::text[]) AND is_own`)
	sqlMessageFeedOf = stmt("messageFeeds.ofMessage", `SELECT `+prefixed("f", messageFeedColumns)+` FROM messages AS m
		JOIN message_feeds AS f ON f.home = $1 AND f.id = m.feed_id WHERE m.home = $1 AND m.id = $2`)
	sqlMessageFeedLive   = stmt("messageFeeds.guardLive", `SELECT 1 / count(*) FROM message_feeds WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlMessageFeedDelete = stmt("messageFeeds.delete", `UPDATE message_feeds SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`)
	// A feed that an outside message store told of by this id becomes a subchannel and goes on with its segments.
	sqlMessageFeedInsert = stmt("messageFeeds.insert", `INSERT INTO message_feeds (home, id, entity_id, last_segment, is_own, name, channel_public_id,
			channel_type, creator_id, creator_public_id, last_message_at, edited_at, created_at, updated_at)
		VALUES ($1, $2, $3, 0, true, $4, $5, $6, $7, $8, $9, $9, $9, $9)
		ON CONFLICT (home, id) DO UPDATE SET is_own = true, entity_id = excluded.entity_id, name = excluded.name,
			channel_public_id = excluded.channel_public_id, channel_type = excluded.channel_type, creator_id = excluded.creator_id,
			creator_public_id = excluded.creator_public_id, last_message_at = excluded.last_message_at, edited_at = excluded.edited_at
		WHERE NOT message_feeds.is_own`)
	sqlMessageFeedRename = stmt("messageFeeds.rename", `UPDATE message_feeds SET name = $3, edited_at = $4, updated_at = $4 WHERE home = $1 AND id = $2`)
	sqlMessageFeedPurge  = stmt("messageFeeds.purge", `DELETE FROM message_feeds WHERE home = $1 AND id = $2 AND deleted_at IS NOT NULL AND is_own`)
	// Whoever writes to a feed holds its row until the end of the transaction: that is what makes segments gapless.
	sqlMessageFeedNext = stmt("messageFeeds.next", `UPDATE message_feeds SET last_segment = last_segment + 1,
		last_message_at = GREATEST(last_message_at, $3), updated_at = GREATEST(updated_at, $3) WHERE home = $1 AND id = $2`)

	messageFeedLists = makeMessageFeedLists()
)

func makeMessageFeedLists() map[bool]*Statement {
	lists := map[bool]*Statement{}
	for desc, name := range map[bool]string{true: "Desc", false: "Asc"} {
		o := listOrder{name: name, desc: desc}
		lists[desc] = stmt("messageFeeds.list"+name, `SELECT `+messageFeedColumns+` FROM message_feeds WHERE home = $1 AND entity_id = $2 AND is_own
			AND `+o.after("last_message_at", "id", "$3::timestamptz", "$4")+` AND ($6::text = 'any' OR ($6::text = 'deleted') = (deleted_at IS NOT NULL))
			AND NOT ($7::boolean AND id = entity_id) ORDER BY `+o.by("last_message_at", "id")+` LIMIT $5::bigint`)
	}
	return lists
}

// MessageFeed reads a feed, of either kind; nil where there is none.
func (r *ReadBatch) MessageFeed(id string, into **MessageFeed) {
	if home, err := region.HomeOf(id); err == nil {
		r.add(home, sqlMessageFeed, scanOne(into, scanMessageFeed), id)
	}
}

// MessageFeedOf reads the subchannel of a message; nil where there is none.
func (r *ReadBatch) MessageFeedOf(messageID string, into **MessageFeed) {
	if home, err := region.HomeOf(messageID); err == nil {
		r.add(home, sqlMessageFeedOf, scanOne(into, scanMessageFeed), messageID)
	}
}

// MessageFeeds reads subchannels of any homes; their order is not defined.
func (r *ReadBatch) MessageFeeds(ids []string, into *[]MessageFeed) {
	for home, ids := range byHome(ids) {
		part := new([]MessageFeed)
		r.add(home, sqlMessageFeeds, scanAll(part, scanMessageFeed), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// MessageFeedList is a page of the subchannels of a channel, by their last message.
type MessageFeedList struct {
	ChannelID      string // internal id
	Deleted        Deleted
	WithoutDefault bool
	Desc           bool
	// The position after which the page starts.
	After   time.Time
	AfterID string
	Limit   int
}

// ListMessageFeeds reads up to Limit subchannels in the order of the list.
func (r *ReadBatch) ListMessageFeeds(l MessageFeedList, into *[]MessageFeed) {
	if home, err := region.HomeOf(l.ChannelID); err == nil {
		r.add(home, messageFeedLists[l.Desc], scanAll(into, scanMessageFeed), l.ChannelID, l.After, l.AfterID, l.Limit, string(l.Deleted), l.WithoutDefault)
	}
}

// InsertMessageFeed makes a subchannel: ID, EntityID, Name, ChannelPublicID, ChannelType, CreatorID, CreatorPublicID and
// CreatedAt count. The default one of a channel has the channel's id and is made in the transaction that makes the channel.
// One that is there already stays as it is.
func (w *Tx) InsertMessageFeed(f MessageFeed) {
	w.exec(sqlMessageFeedInsert, f.ID, f.EntityID, f.Name, f.ChannelPublicID, f.ChannelType, f.CreatorID, f.CreatorPublicID, f.CreatedAt)
}

// RenameMessageFeed renames a subchannel; gone answers where it is deleted.
func (w *Tx) RenameMessageFeed(id, name string, now time.Time, gone error) {
	w.guard(sqlMessageFeedLive, gone, id)
	w.exec(sqlMessageFeedRename, id, name, now)
}

// PurgeMessageFeed removes the row of a deleted subchannel for good. Its messages go first: see WipeMessages.
func (w *Tx) PurgeMessageFeed(id string) { w.exec(sqlMessageFeedPurge, id) }

// SelectMessageFeed reads a feed as it stands once the statements before it have run.
func (w *Tx) SelectMessageFeed(id string, into **MessageFeed) {
	w.query(sqlMessageFeed, scanOne(into, scanMessageFeed), id)
}

// DeleteFeed marks a feed, of either kind, deleted; gone answers where it is or there is none.
func (w *Tx) DeleteFeed(id string, now time.Time, gone error) {
	w.guard(sqlMessageFeedLive, gone, id)
	w.exec(sqlMessageFeedDelete, id, now)
}
