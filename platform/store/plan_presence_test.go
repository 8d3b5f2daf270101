package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/people"
)

// 2,000 users watch a room of home us, and others are where few are. Every tenth presence has ended, most of them in rooms.
var _ = planned((*collector).collectPresences,
	`INSERT INTO presences (home, place, user_id, joined_at, until)
		SELECT 'us', ID(vr, 3, 3), ID(u, n, n), AT(n, 3), CASE WHEN n % 10 = 0 THEN AT(n, 3) ELSE '2030-01-01'::timestamptz END
		FROM generate_series(1, 2000) AS n`,
	`INSERT INTO presences (home, place, user_id, joined_at, until)
		SELECT HOME(n), ID(vr, n, n), ID(u, n, n), AT(n, 3), CASE WHEN n % 10 = 0 THEN AT(n, 3) ELSE '2030-01-01'::timestamptz END
		FROM generate_series(4, 20000) AS n`,
)

func (c *collector) collectPresences() {
	room, now := worldID("vr", 3, 3), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	var present []people.Presence
	c.reads(func(r *store.ReadBatch) { r.ListPresences(room, now, 200, &present) })
	c.reads(func(r *store.ReadBatch) {
		r.PresencesAmong(room, []string{userID(3), userID(6), userID(12)}, now, &present)
	})
	c.reads(func(r *store.ReadBatch) { r.CountPresences(room, now, new(int64)) })
	var beats []people.Presence
	for i := range 20 {
		beats = append(beats, people.Presence{Place: room, UserID: userID(3 + 9*i), JoinedAt: now, Until: now.Add(time.Minute)})
	}
	c.write(func(w *store.Tx) { w.RenewPresences(beats) })
	c.write(func(w *store.Tx) { w.SweepPresences(worldStart.Add(500*time.Second), new(int64)) })
}
