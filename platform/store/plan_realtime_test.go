package store_test

import (
	"encoding/json"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/eventlog"
)

// The log of home us has 60,000 events: half of them about the big community, the others about a user or a community
// each.
var _ = planned((*collector).collectRealtime,
	`INSERT INTO realtime_heads (home, last_seq, trimmed) SELECT h, 60000, 0 FROM unnest(ARRAY['us', 'eu', 'sg']) AS h`,
	`INSERT INTO realtime_events (home, seq, id, name, topic, sender_id, payload, sent_at, created_at)
		SELECT 'us', n, ID(e, n, 3), 'community.userAdded', CASE WHEN n % 2 = 0 THEN ID(c, 3, 3) ELSE ID(u, (1 + n % 30000), (1 + n % 30000)) END,
			ID(u, 3, 3), '{}', AT(n, 5), AT(n, 5) FROM generate_series(1, 60000) AS n`,
)

func (c *collector) collectRealtime() {
	var head eventlog.EventHead
	var found []eventlog.LoggedEvent
	var members, live []string
	users, sessions := make([]string, 100), make([]string, 100)
	for i := range users {
		users[i], sessions[i] = userID(3*i+3), worldID("s", 3*i+3, 3*i+3)
	}
	c.reads(func(r *store.ReadBatch) { r.EventHead(region.US, &head) })
	for _, after := range []int64{0, 30_000, 59_900} {
		span := eventlog.EventSpan{Home: region.US, After: after, To: 60_000, Limit: pageRows}
		c.reads(func(r *store.ReadBatch) { r.Events(span, &found) })
		c.reads(func(r *store.ReadBatch) { r.EventsOfTopics(span, []string{communityID(bigCommunity)}, &found) })
		for _, n := range eachSizes {
			c.reads(func(r *store.ReadBatch) {
				r.EventsOfTopics(span, repeated(n, userID(3), communityID(bigCommunity)), &found)
			})
		}
	}
	c.reads(func(r *store.ReadBatch) { r.MembersAmong(region.US, communityID(bigCommunity), users, &members) })
	c.reads(func(r *store.ReadBatch) { r.LiveSessions(region.US, users, sessions, &live) })
	event := eventlog.Event{
		ID: region.NewID(region.US), Name: "community.userAdded", Topic: communityID(3), Payload: json.RawMessage("{}"), SentAt: worldStart,
		Mirrors: []communities.MirroredMember{{
			UserID: userID(3), CommunityID: communityID(3), State: communities.StateMember, Version: 2,
			ChangedAt: worldStart,
		}},
	}
	c.write(func(w *store.Tx) { w.InsertEvents([]eventlog.Event{event}, worldStart) })
	c.write(func(w *store.Tx) { w.InsertMissingEvents([]eventlog.Event{event}, worldStart) })
	c.write(func(w *store.Tx) { w.SweepEvents(worldStart.Add(100_000), new(int64)) })
}
