package realtime_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/edge/realtime"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
)

// BenchmarkLog appends events to the log of a home, 100 per outbox row.
func BenchmarkLog(b *testing.B) {
	w := newWorld(b, func(*realtime.Options) {})
	changes, senders := make([]events.Change, 100), make([]string, 100)
	for i := range changes {
		changes[i], senders[i] = w.deps.UserChange(w.user.ID), w.user.ID
	}
	var rows []core.OutboxRow
	for range b.N {
		tx := w.deps.Store.NewTx(region.EU)
		rows = append(rows, events.EmitChanges(tx, "user.updated", changes, senders, w.deps.Now())...)
		require.NoError(b, tx.Commit(b.Context()))
	}
	b.ResetTimer()
	for _, row := range rows {
		w.deps.Outbox.Deliver(b.Context(), region.EU, row)
	}
	b.ReportMetric(float64(100*b.N)/b.Elapsed().Seconds(), "events/s")
}
