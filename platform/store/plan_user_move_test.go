package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

// Most moves are done. The user with the most moved ids has 5000.
var _ = planned((*collector).collectUserMoves,
	`INSERT INTO user_moves (home, id, from_home, to_home, state, due_at, requested_at, updated_at)
		SELECT HOME(n), ID(u, n, n), 'us', 'eu', CASE WHEN n % 50 = 0 THEN 'collecting' ELSE 'done' END, AT(n, 60), AT(n, 60), AT(n, 60)
		FROM generate_series(1, 20000) AS n`,
	`INSERT INTO user_homes (home, user_id, from_home, to_home, state, ids, version, seq)
		SELECT HOME(n), ID(u, n, n), 'us', 'eu', 'done', 1, 1, n FROM generate_series(1, 20000) AS n`,
	`INSERT INTO moved_ids (home, user_id, id, kind) SELECT HOME(n), ID(u, n % 300, n % 300), ID(x, n, n), 'post' FROM generate_series(1,
		20000) AS n`,
)

func (c *collector) collectUserMoves() {
	var move *lifecycle.UserMove
	var n int64
	var ids []lifecycle.MovedID
	var rows []lifecycle.MoveRow
	user := userID(3)
	now := worldStart.Add(20_000 * time.Minute)
	row := lifecycle.UserMove{
		ID: user, FromHome: region.US, ToHome: region.EU, State: db.MoveFrozen, Moved: []byte("{}"),
		Progress: lifecycle.Progress{Version: 1, DueAt: now},
	}
	c.reads(func(r *store.ReadBatch) { r.UserMove(user, &move) })
	c.reads(func(r *store.ReadBatch) { r.DueUserMove(region.US, db.MoveCollecting, now, &move) })
	c.reads(func(r *store.ReadBatch) { r.CountUserMoves(region.US, db.MoveCollecting, new(lifecycle.MoveCount)) })
	c.reads(func(r *store.ReadBatch) { r.MovedIDs(region.US, user, "", pageRows, &ids) })
	c.reads(func(r *store.ReadBatch) { r.CountMovedIDs(region.US, user, &n) })
	c.write(func(w *store.Tx) { w.StartUserMove(row, now, &move) })
	c.write(func(w *store.Tx) { w.UpdateUserMove(row, now) })
	c.write(func(w *store.Tx) {
		w.SetRoute(db.Route{UserID: user, Home: region.US, To: region.EU, State: db.MoveFrozen, Version: 2}, 10)
	})
	c.write(func(w *store.Tx) { w.SetErasureRoute(user, region.EU, lifecycle.RouteErasing, 2) })
	c.write(func(w *store.Tx) { w.InsertMovedIDs(user, "post", []string{region.NewID(region.US)}) })
	c.reads(func(r *store.ReadBatch) {
		r.UnknownMovedIDs(region.US, user, []string{user, region.NewID(region.US)}, new([]string))
	})
	c.byName("userHomes.after", "us", 19_000, pageRows)
	c.byName("userHomes.ids", "us", user)
	for _, source := range lifecycle.MoveSources {
		c.reads(func(r *store.ReadBatch) { r.MoveRows(source, region.US, user, nil, pageRows, &rows) })
	}
	for _, table := range lifecycle.MoveTables {
		c.write(func(w *store.Tx) { w.MoveTable(table, []string{user}, region.EU, &n) })
	}
	c.write(func(w *store.Tx) { w.MoveFlagItems([]string{user}, region.EU, &n) })
	c.reads(func(r *store.ReadBatch) { r.StorySeenRows(region.US, user, nil, pageRows, &rows) })
	c.write(func(w *store.Tx) { w.MoveStorySeen(user, []string{user}, region.EU, &n) })
	c.write(func(w *store.Tx) { w.RestartExport(user, now) })
}
