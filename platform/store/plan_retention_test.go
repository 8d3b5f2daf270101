package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

var _ = planned((*collector).collectRetention)

func (c *collector) collectRetention() {
	var rows []lifecycle.Expired
	var feeds []string
	var n int64
	before := worldStart.Add(20_000 * time.Minute)
	for _, read := range []lifecycle.ExpiredRows{
		lifecycle.ExpiredPosts, lifecycle.ExpiredStories, lifecycle.ExpiredComments,
		lifecycle.ExpiredMessages,
	} {
		c.reads(func(r *store.ReadBatch) { r.ExpiredRows(read, region.US, before, pageRows, &rows) })
	}
	c.reads(func(r *store.ReadBatch) { r.MessageFeedsAfter(region.US, "", pageRows, &feeds) })
	for _, n := range eachSizes {
		c.reads(func(r *store.ReadBatch) {
			r.OldMessages(region.US, repeated(n, worldID("f", 3, 3), worldID("f", 6, 6)), before, pageRows, &rows)
		})
	}
	c.reads(func(r *store.ReadBatch) { r.OldestAuditEvent(region.US, &rows) })
	c.write(func(w *store.Tx) {
		w.EmptyComments([]string{commentID(3)}, before)
		w.DeleteOldMessages([]lifecycle.Expired{}, before)
		w.DeleteAuditEvents(before, 10, &n)
	})
}
