package store_test

import (
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// There are far more backfills than any version has.
var _ = planned((*collector).collectBackfills,
	`INSERT INTO backfills (home, name, due_at) SELECT HOME(n), 'backfill ' || n::text, AT(n, 60) FROM generate_series(1, 4000) AS n`,
)

func (c *collector) collectBackfills() {
	var b *store.Backfill
	var page []store.CounterShard
	row := store.Backfill{Name: "backfill 3", Progress: store.Progress{Version: 1, DueAt: worldStart}}
	c.reads(func(r *store.ReadBatch) { r.Backfill(region.US, row.Name, &b) })
	c.write(func(w *store.Tx) { w.InsertBackfill("backfill 0", worldStart) })
	c.write(func(w *store.Tx) { w.UpdateBackfill(row) })
	for _, after := range []store.CounterShard{{}, {Ref: postID(bigPost), Kind: store.CountComments, Shard: 3}} {
		c.reads(func(r *store.ReadBatch) { r.CounterShards(region.US, after, pageRows, &page) })
	}
	c.write(func(w *store.Tx) { w.RefillLatest(postID(bigPost), commentID(3)) })
}
