package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// Most erasures are done.
var _ = planned((*collector).collectErasures,
	`INSERT INTO erasures (home, id, public_id, requested_by, state, due_at, requested_at, updated_at)
		SELECT HOME(n), ID(u, n, n), '', '', CASE WHEN n % 50 = 0 THEN 'running' ELSE 'done' END, AT(n, 60), AT(n, 60), AT(n, 60)
		FROM generate_series(1, 20000) AS n`,
)

func (c *collector) collectErasures() {
	var erasure *store.Erasure
	var rows []store.ErasureRow
	var n int64
	user := userID(3)
	c.reads(func(r *store.ReadBatch) { r.Erasure(user, &erasure) })
	c.reads(func(r *store.ReadBatch) {
		r.DueErasure(region.US, store.ErasureRunning, worldStart.Add(20_000*time.Minute), &erasure)
	})
	c.reads(func(r *store.ReadBatch) { r.OutboxRowsOf(region.US, user, &n) })
	c.write(func(w *store.Tx) {
		w.EraseUser(user, worldStart)
		w.InsertErasure(store.Erasure{ID: region.NewID(region.US)}, worldStart)
		w.UpdateErasure(store.Erasure{
			ID: user, State: store.ErasureRunning, Erased: []byte("{}"), Homes: []byte("{}"),
			Progress: store.Progress{Version: 1, DueAt: worldStart},
		}, worldStart)
	})
	c.write(func(w *store.Tx) { w.DeleteDirectoryEntry(store.DirectoryEntry{Hash: []byte("x"), UserID: user}) })
	c.write(func(w *store.Tx) { w.EraseOwned(user) })
	c.write(func(w *store.Tx) { w.EraseEvents(user, 100, 600) })
	for _, walk := range store.ErasureWalks {
		key := walk.Start()
		c.reads(func(r *store.ReadBatch) { r.ErasurePage(walk, region.US, user, nil, pageRows, pageRows, &rows) })
		c.write(func(w *store.Tx) { w.EraseRow(walk, user, key) })
		if walk.HasJSON() {
			c.write(func(w *store.Tx) { w.ReplaceJSON(walk, store.ErasureRow{Key: key, JSON: "[]"}, []byte("[]")) })
		}
	}
}
