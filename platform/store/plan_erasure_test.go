package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/people"
)

// Most erasures are done.
var _ = planned((*collector).collectErasures,
	`INSERT INTO erasures (home, id, public_id, requested_by, state, due_at, requested_at, updated_at)
		SELECT HOME(n), ID(u, n, n), '', '', CASE WHEN n % 50 = 0 THEN 'running' ELSE 'done' END, AT(n, 60), AT(n, 60), AT(n, 60)
		FROM generate_series(1, 20000) AS n`,
)

func (c *collector) collectErasures() {
	var erasure *lifecycle.Erasure
	var rows []lifecycle.ErasureRow
	var n int64
	user := userID(3)
	c.reads(func(r *store.ReadBatch) { r.Erasure(user, &erasure) })
	c.reads(func(r *store.ReadBatch) {
		r.DueErasure(region.US, lifecycle.ErasureRunning, worldStart.Add(20_000*time.Minute), &erasure)
	})
	c.reads(func(r *store.ReadBatch) { r.OutboxRowsOf(region.US, user, &n) })
	c.write(func(w *store.Tx) {
		w.EraseUser(user, worldStart)
		w.InsertErasure(lifecycle.Erasure{ID: region.NewID(region.US)}, worldStart)
		w.UpdateErasure(lifecycle.Erasure{
			ID: user, State: lifecycle.ErasureRunning, Erased: []byte("{}"), Homes: []byte("{}"),
			Progress: lifecycle.Progress{Version: 1, DueAt: worldStart},
		}, worldStart)
	})
	c.write(func(w *store.Tx) { w.DeleteDirectoryEntry(people.DirectoryEntry{Hash: []byte("x"), UserID: user}) })
	c.write(func(w *store.Tx) { w.EraseOwned(user) })
	c.write(func(w *store.Tx) { w.EraseEvents(user, 100, 600) })
	for _, walk := range lifecycle.ErasureWalks {
		key := walk.Start()
		c.reads(func(r *store.ReadBatch) { r.ErasurePage(walk, region.US, user, nil, pageRows, pageRows, &rows) })
		c.write(func(w *store.Tx) { w.EraseRow(walk, user, key) })
		c.write(func(w *store.Tx) { w.ReplaceJSON(walk, lifecycle.ErasureRow{Key: key, JSON: "[]"}, []byte("[]")) })
	}
}
