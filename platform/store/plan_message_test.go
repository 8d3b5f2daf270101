package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// A channel of home us has 5,000 subchannels; one of them has 60,000 messages, every tenth of them a reply to the same
// one.
var _ = planned((*collector).collectMessages,
	`INSERT INTO message_feeds (home, id, entity_id, last_segment, is_own, name, channel_public_id, channel_type, creator_id,
		creator_public_id,
			last_message_at, edited_at, created_at, updated_at, deleted_at)
		SELECT 'us', ID(w, n, 3), ID(x, 3, 3), 60000, true, 'subchannel', 'channel', 'community', ID(u, 3, 3), 'user-3', AT(n, 5), AT(n, 5),
		AT(n, 5), AT(n, 5),
			CASE WHEN n % 19 = 5 THEN AT(n, 5) END FROM generate_series(1, 5000) AS n`,
	`INSERT INTO messages (home, id, feed_id, channel_id, channel_public_id, channel_type, parent_id, creator_id, creator_public_id,
		reference_id,
			reference_hash, segment, data_type, data, file_id, metadata, tags, mentions, flaggers, flag_count, created_at, updated_at, edited_at,
			deleted_at)
		SELECT 'us', ID(y, n, 3), ID(w, 3, 3), ID(x, 3, 3), 'channel', 'community', CASE WHEN n % 10 = 6 THEN ID(y, 15, 3) ELSE '' END,
			ID(u, 1 + n % 30000, 1 + n % 30000), 'user-' || (1 + n % 30000)::text, 'LOCAL_' || n::text, decode(md5('LOCAL_' || n::text), 'hex'), n,
			CASE WHEN n % 30 IN (0, 6) THEN 'image' ELSE 'text' END,
			'{"text": "hello"}', '', '{}', CASE WHEN n % 31 = 0 THEN ARRAY['tag'] ELSE ARRAY[]::text[] END, '[]', '{}', CASE WHEN n % 300 IN (0, 6)
			THEN 1 ELSE 0 END,
			AT(n, 5), AT(n, 5), AT(n, 5), CASE WHEN n % 19 = 7 THEN AT(n, 5) END FROM generate_series(1, 60000) AS n`,
)

func messageID(n int) string { return worldID("y", n, 3) }

// messageWorld is when the message n was written.
func messageWorld(n int) time.Time { return worldStart.Add(time.Duration(n) * 5 * time.Second) }

func (c *collector) collectMessages() {
	feed, channel := worldID("w", 3, 3), worldID("x", 3, 3)
	c.collectMessageReads(feed)
	c.collectMessageLists(feed)
	var feeds []messaging.MessageFeed
	both(2500*5/7, func(desc bool, at time.Time, after string) {
		for _, deleted := range []core.Deleted{core.DeletedAny, core.DeletedOnly, core.DeletedNone} {
			l := messaging.MessageFeedList{
				ChannelID: channel, Deleted: deleted, WithoutDefault: true, Desc: desc, After: at, AfterID: after,
				Limit: pageRows,
			}
			c.reads(func(r *store.ReadBatch) { r.ListMessageFeeds(l, &feeds) })
		}
	})
	c.windows("messageFeeds.list")
	c.collectMessageWrites(feed, channel)
}

func (c *collector) collectMessageReads(feed string) {
	id := messageID(30_000)
	var found *messaging.Message
	var rows []messaging.Message
	var inFeed *messaging.MessageFeed
	var feeds []messaging.MessageFeed
	var channel *messaging.Channel
	var user *messaging.ChannelUser
	var ids []string
	var segments []int64
	var marks []messaging.ContentMarker
	c.reads(func(r *store.ReadBatch) { r.Message(id, &found) })
	c.reads(func(r *store.ReadBatch) { r.MessageHeads([]string{id, messageID(15), worldID("y", 4, 4)}, &rows) })
	c.reads(func(r *store.ReadBatch) { r.MessagesByID([]string{id, messageID(15), worldID("y", 4, 4)}, &rows) })
	c.reads(func(r *store.ReadBatch) { r.MessageByReference(feed, userID(30_000), "LOCAL_29999", &found) })
	for _, n := range eachSizes {
		c.reads(func(r *store.ReadBatch) { r.LastMessages(repeated(n, feed, worldID("w", 6, 3)), &rows) })
		c.reads(func(r *store.ReadBatch) { r.LastMessagesWithDeleted(repeated(n, feed, worldID("w", 6, 3)), &rows) })
		c.reads(func(r *store.ReadBatch) {
			r.SegmentsBefore(feed, repeated(n, messageWorld(59_000), messageWorld(7)), &segments)
		})
	}
	c.reads(func(r *store.ReadBatch) { r.SomeMessageIDs(feed, &ids) })
	c.reads(func(r *store.ReadBatch) { r.MessageFeedOf(id, &inFeed) })
	c.reads(func(r *store.ReadBatch) { r.MessageFeeds([]string{feed, worldID("w", 6, 3)}, &feeds) })
	c.reads(func(r *store.ReadBatch) { r.ChannelOfFeed(feed, &channel) })
	c.reads(func(r *store.ReadBatch) { r.ChannelOfMessage(id, &channel) })
	c.reads(func(r *store.ReadBatch) { r.ChannelUserOfFeed(feed, userID(3), &user) })
	c.reads(func(r *store.ReadBatch) { r.ChannelUserOfMessage(id, userID(3), &user) })
	message := messaging.FeedSegment{FeedID: worldID("f", 3, 3), Segment: 5, CreatorID: userID(3)}
	c.reads(func(r *store.ReadBatch) {
		r.ContentMarkers([]messaging.FeedSegment{message, {FeedID: feed, Segment: 7}}, &marks)
	})
	for _, read := range []bool{true, false} {
		for _, after := range []string{"", userID(9)} {
			l := messaging.MessageReaderList{Message: message, Read: read, AfterUser: after, Limit: pageRows}
			c.reads(func(r *store.ReadBatch) { r.ListMessageReaders(l, &ids) })
		}
	}
}

func (c *collector) collectMessageLists(feed string) {
	var rows []messaging.Message
	for _, desc := range []bool{true, false} {
		for _, flagged := range []core.Flagged{core.FlaggedAny, core.FlaggedOnly, core.FlaggedNone} {
			for _, parent := range []string{"every", "", messageID(15)} {
				for _, l := range []messaging.MessageList{
					{Deleted: core.DeletedAny},
					{Deleted: core.DeletedNone, IncludeTags: []string{"tag"}},
					{Deleted: core.DeletedOnly, ExcludeTags: []string{"tag"}},
					{Deleted: core.DeletedNone, Viewer: userID(3)},
					{Deleted: core.DeletedNone, DataType: "image"},
				} {
					l.FeedID, l.EveryLevel, l.ParentID, l.Flagged, l.Desc, l.After, l.Limit = feed, parent == "every", parent, flagged, desc, 30_000,
						pageRows
					if l.EveryLevel {
						l.ParentID = ""
					}
					c.reads(func(r *store.ReadBatch) { r.ListMessages(l, &rows) })
				}
			}
		}
	}
}

func (c *collector) collectMessageWrites(feed, channel string) {
	var found *messaging.Message
	var stored []messaging.Message
	var inFeed *messaging.MessageFeed
	later := messageWorld(60_001)
	m := messaging.Message{
		ID: region.NewID(region.US), FeedID: feed, ChannelID: channel, ParentID: messageID(15), CreatorID: userID(3), ReferenceID: "new",
		DataType: "text",
		Data:     []byte(`{}`), Metadata: []byte(`{}`), Mentions: []byte(`[]`), CreatedAt: later,
	}
	old := m
	old.ID = messageID(300)
	c.write(func(w *store.Tx) {
		w.GuardMessage(m.ParentID, core.ErrConflict)
		w.InsertMessages([]messaging.Message{m}, core.ErrConflict, core.ErrConflict, &stored)
		w.SelectMessage(m.ID, &found)
		w.UpdateMessage(old, later)
		w.RecomputeMessageFlags(old.ID)
		w.DeleteMessage(old, later)
		w.PurgeMessages([]string{old.ID, messageID(301)})
		w.RenameMessageFeed(feed, "x", later, core.ErrConflict)
		w.InsertMessageFeed(messaging.MessageFeed{ID: region.NewID(region.US), EntityID: channel, CreatedAt: later})
		w.SelectMessageFeed(feed, &inFeed)
		w.DeleteMessageFeed(feed, later, core.ErrConflict)
		w.PurgeMessageFeed(feed)
	})
}
