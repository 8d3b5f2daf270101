package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/notify"
)

// The user 3 has 400 items, one of them with 100 actors; every other user has one.
var _ = planned((*collector).collectTray,
	`INSERT INTO tray_items (home, user_id, id, kind, target_type, target_id, target_public_id, reference_type, reference_id,
			action_id, parent_id, root_id, comment_id, day, last_occurred_at)
		SELECT HOME(u), ID(u, u, u), ID(t, n, u), 'postReaction', 'user', ID(u, u, u), 'user-3', 'post', ID(p, n, u), '', '', '', '', AT(n, 7),
		AT(n, 7)
		FROM (SELECT n, CASE WHEN n <= 400 THEN 3 ELSE n END AS u FROM generate_series(1, 20000) AS n) AS i`,
	`INSERT INTO tray_actors (home, user_id, item_id, actor_id, acted_at)
		SELECT HOME(u), ID(u, u, u), ID(t, n, u), ID(u, (n + 1), (n + 1)), AT(n, 7)
		FROM (SELECT n, CASE WHEN n <= 400 THEN 3 ELSE n END AS u FROM generate_series(1, 20000) AS n) AS i`,
	`INSERT INTO tray_actors (home, user_id, item_id, actor_id, acted_at)
		SELECT HOME(3), ID(u, 3, 3), ID(t, 5, 3), ID(u, n, n), AT(n, 7) FROM generate_series(1000, 1100) AS n`,
	`INSERT INTO tray_seen (home, user_id, seen_at) SELECT HOME(n), ID(u, n, n), AT(n, 7) FROM generate_series(1, 20000) AS n`,
)

func (c *collector) collectTray() {
	reader, item := userID(3), worldID("t", 5, 3)
	var rows []notify.TrayRow
	both(1000, func(desc bool, at time.Time, id string) {
		c.reads(func(r *store.ReadBatch) {
			r.ListTray(notify.TrayList{UserID: reader, Desc: desc, After: at, AfterID: id, Limit: pageRows}, &rows)
		})
	})
	for _, n := range []int{1, 3, 9} {
		ids := make([]string, n)
		for i := range ids {
			ids[i] = worldID("t", 5+i, 3)
		}
		c.reads(func(r *store.ReadBatch) { r.TrayActors(reader, ids, new([]notify.TrayActor)) })
	}
	c.reads(func(r *store.ReadBatch) { r.TrayState(reader, new(notify.TrayState)) })
	c.write(func(w *store.Tx) {
		i := notify.TrayItem{UserID: reader, Kind: "postReaction", ReferenceID: postID(4)}
		i.Identify(worldStart)
		w.PutTrayActs(i.UserID, []notify.TrayAct{{Item: i, ActorID: userID(8)}, {Item: i, ActorID: userID(9)}})
	})
	c.write(func(w *store.Tx) { w.SeeTray(reader, worldStart, new(time.Time)) })
	c.write(func(w *store.Tx) { w.SeeTrayItem(reader, item, worldStart, new(*notify.TrayItem)) })
	c.write(func(w *store.Tx) { w.SweepTray(worldStart.Add(time.Hour), new(int64)) })
}
