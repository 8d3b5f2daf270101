package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

// Most exports are ready.
var _ = planned((*collector).collectExports,
	`INSERT INTO user_exports (home, id, public_id, requested_by, state, due_at, requested_at, updated_at)
		SELECT HOME(n), ID(u, n, n), '', '', CASE WHEN n % 50 = 0 THEN 'collecting' ELSE 'ready' END, AT(n, 60), AT(n, 60), AT(n, 60)
		FROM generate_series(1, 20000) AS n`,
)

func (c *collector) collectExports() {
	var export *lifecycle.Export
	var rows []lifecycle.ExportRow
	user := userID(3)
	now := worldStart.Add(20_000 * time.Minute)
	c.reads(func(r *store.ReadBatch) { r.Export(user, &export) })
	c.reads(func(r *store.ReadBatch) { r.DueExport(region.US, lifecycle.ExportCollecting, now, &export) })
	row := lifecycle.Export{
		ID: user, State: lifecycle.ExportPacking, Exported: []byte("{}"),
		Progress: lifecycle.Progress{Version: 1, DueAt: worldStart},
	}
	c.write(func(w *store.Tx) {
		w.StartExport(lifecycle.Export{ID: region.NewID(region.US)}, now, now.Add(-time.Hour), &export)
	})
	c.write(func(w *store.Tx) { w.UpdateExport(row, now) })
	c.write(func(w *store.Tx) { w.DeleteExport(row, now, now) })
	c.write(func(w *store.Tx) { w.EraseExport(user, now, now) })
	for _, table := range lifecycle.ExportTables {
		c.reads(func(r *store.ReadBatch) { r.ExportPage(table, region.US, user, nil, pageRows, &rows) })
	}
}
