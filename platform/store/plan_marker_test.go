package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// A user of home us belongs to 300 feeds; a feed of home us has 10,000 users and 10,000 messages.
var _ = planned((*collector).collectMarkers,
	`INSERT INTO message_feeds (home, id, entity_id, last_segment, created_at, updated_at)
		SELECT HOME(n), ID(f, n, n), ID(f, n, n), n, AT(n, 5), AT(n, 5) FROM generate_series(1, 10000) AS n`,
	`INSERT INTO message_feed_segments (home, feed_id, message_id, segment, creator_id, created_at)
		SELECT 'us', ID(f, 3, 3), ID(g, n, 3), n, '', AT(n, 5) FROM generate_series(1, 10000) AS n`,
	`INSERT INTO user_markers (home, user_id, last_sync_at, created_at, updated_at)
		SELECT HOME(n), ID(u, n, n), AT(n, 5), AT(n, 5), AT(n, 5) FROM generate_series(1, 30000) AS n`,
	`INSERT INTO user_feed_markers (home, user_id, feed_id, entity_id, last_segment, read_to, delivered_to, last_mention, is_deleted,
		created_at, updated_at)
		SELECT 'us', ID(u, n, n), ID(f, 3, 3), ID(f, 3, 3), 10, 5, 5, 0, false, AT(n, 5), AT(n, 5) FROM generate_series(3, 30000, 3) AS n`,
	`INSERT INTO user_feed_markers (home, user_id, feed_id, entity_id, last_segment, read_to, delivered_to, last_mention, is_deleted,
		created_at, updated_at)
		SELECT 'us', ID(u, 3, 3), ID(f, n, n), ID(f, (n % 10), (n % 10)), 10, 5, 5, 0, false, AT(n, 5), AT(n, 5) FROM generate_series(4, 303)
		AS n`,
)

func (c *collector) collectMarkers() {
	user, feed := userID(3), worldID("f", 3, 3)
	var found *messaging.MessageFeed
	var segment int64
	var marks []messaging.FeedMarker
	var entities []messaging.EntityMarker
	var sum *messaging.UserMarker
	c.reads(func(r *store.ReadBatch) { r.MessageFeed(feed, &found) })
	c.reads(func(r *store.ReadBatch) { r.SegmentOf(feed, worldID("g", 7, 3), &segment) })
	c.reads(func(r *store.ReadBatch) { r.FeedMarkers(user, []string{feed, worldID("f", 6, 6)}, &marks) })
	for _, n := range eachSizes {
		c.reads(func(r *store.ReadBatch) { r.FeedMarkersOfEntities(user, repeated(n, feed), &marks) })
	}
	for _, after := range []time.Time{{}, worldStart.Add(1000 * time.Second)} {
		c.reads(func(r *store.ReadBatch) { r.ChangedFeedMarkers(user, after, pageRows, &marks) })
	}
	c.reads(func(r *store.ReadBatch) { r.EntityMarkers(user, []string{feed, worldID("f", 6, 6)}, &entities) })
	c.reads(func(r *store.ReadBatch) { r.UserMarker(user, &sum) })
	c.reads(func(r *store.ReadBatch) { r.FeedMarkersOfUsers(region.US, feed, []string{user, userID(6)}, &marks) })
	c.reads(func(r *store.ReadBatch) { r.LiveFeedMarkers(region.US, feed, pageRows, &marks) })
	message := messaging.FeedSegment{FeedID: feed, EntityID: feed, MessageID: region.NewID(region.US), Segment: 10_001, CreatorID: user}
	later := worldStart.Add(time.Hour)
	c.write(func(w *store.Tx) {
		w.AdvanceMessageFeed(message, later, core.ErrConflict)
		w.SelectMessageFeed(feed, &found)
		w.UpdateReadPosition(user, feed, 7, 8, later)
		w.UpdateReadingUntil(user, feed, &later)
		w.DeleteFeedMarker(user, feed, later)
		w.DeleteMessageFeed(feed, later, core.ErrConflict)
		w.UpdateLastSync(user, later, later)
	})
	moves := messaging.MarkerMoves{
		FeedID: feed, EntityID: feed, LastSegment: 10_001, Moved: []messaging.MarkerMove{
			messaging.MarkerAdvance{UserID: user, Mentioned: true}.MoveTo(10_001), {UserID: userID(6), ReadTo: 4},
		},
		Inserted: []messaging.MarkerMove{{UserID: region.NewID(region.US), ReadTo: 4}},
	}
	c.write(func(w *store.Tx) { w.MoveFeedMarkers(moves, later) })
}
