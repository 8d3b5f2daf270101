package events_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
)

// emitInOrder commits rows of a key in us, in a transaction each.
func (o *office) emitInOrder(key string, payloads ...string) []core.OutboxRow {
	o.t.Helper()
	var rows []core.OutboxRow
	for _, p := range payloads {
		w := o.store.NewTx(region.US)
		rows = append(rows, w.EmitInOrder(key, topic, p, o.now(), o.FirstTry()))
		require.NoError(o.t, w.Commit(o.t.Context()))
	}
	return rows
}

// takeInOrder returns the payloads delivered since the last call, in the order of their first deliveries.
func (o *office) takeInOrder() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var taken []string
	for _, p := range o.delivered {
		if !slices.Contains(taken, p) {
			taken = append(taken, p)
		}
	}
	o.delivered = nil
	return taken
}

// refuseOnly makes the handler refuse a payload; "" ends it.
func (o *office) refuseOnly(refused string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refuse = func(payload string) error {
		if payload == refused {
			return errBroken
		}
		return nil
	}
}

// waitsForDeletions returns when n rows are left.
func (o *office) waitsForDeletions(n int) {
	o.t.Helper()
	require.Eventually(o.t, func() bool { return o.left() == n }, patience, time.Millisecond)
}

func TestEarlierRowsOfTheKeyAreDeliveredFirst(t *testing.T) {
	o := newOffice(t)
	o.emitInOrder("k0", "a", "b") // by a server that was killed before it delivered them
	o.Deliver(t.Context(), region.US, o.emitInOrder("k0", "c")...)
	require.Equal(t, []string{"a", "b", "c"}, o.takeInOrder())
	o.waitsForDeletions(0)
}

// TestFailedRowHoldsItsKey lets the first row of a key fail: the later ones wait for it at both ways of delivery, those of other keys in
// the same lane and without a key do not.
func TestFailedRowHoldsItsKey(t *testing.T) {
	o := newOffice(t)
	o.refuseOnly("a")
	o.Deliver(t.Context(), region.US, o.emitInOrder("k0", "a")...)
	o.Deliver(t.Context(), region.US, o.emitInOrder("k0", "b")...)
	o.Deliver(t.Context(), region.US, append(o.emitInOrder("other0", "x"), o.emit(topic, "y")...)...)
	require.ElementsMatch(t, []string{"x", "y"}, o.takeInOrder())
	o.waitsForDeletions(2)

	o.emitInOrder("k0", "c")
	o.emitInOrder("other0", "z")
	o.clock.Store(events.Grace.Milliseconds())
	o.drain(o.Outbox)
	require.Equal(t, []string{"z"}, o.takeInOrder(), "a fails again, b and c wait")
	o.waitsForDeletions(3)

	o.refuseOnly("")
	o.Deliver(t.Context(), region.US, o.emitInOrder("k0", "d")...)
	require.Empty(t, o.takeInOrder(), "a is tried again in a second")
	o.clock.Add(1000)
	o.drain(o.Outbox)
	require.Equal(t, []string{"a", "b", "c", "d"}, o.takeInOrder())
	o.waitsForDeletions(0)
}

// TestRowsThatWaitAreNotRead lets 150 rows wait for a failed one, more than a worker reads at a time: a later row of the lane is delivered
// in the round after those that postponed them.
func TestRowsThatWaitAreNotRead(t *testing.T) {
	o := newOffice(t)
	o.refuseOnly("a")
	o.emitInOrder("k0", "a")
	for i := range 150 {
		o.emitInOrder("k0", fmt.Sprintf("b%03d", i))
	}
	o.clock.Add(1)
	o.emitInOrder("other0", "x")
	o.clock.Store(2 * events.Grace.Milliseconds())
	o.drain(o.Outbox)
	o.drain(o.Outbox)
	require.Equal(t, []string{"x"}, o.takeInOrder())
	o.refuseOnly("")
	o.clock.Add(2000)
	o.drain(o.Outbox)
	taken := o.takeInOrder()
	require.Len(t, taken, 151)
	require.True(t, slices.IsSorted(taken))
	o.waitsForDeletions(0)
}

// TestRowThatIsGivenUpReleasesItsKey lets a row fail for as long as the events are kept.
func TestRowThatIsGivenUpReleasesItsKey(t *testing.T) {
	o := newOffice(t)
	o.refuseOnly("a")
	o.emitInOrder("k0", "a", "b")
	o.clock.Store(events.Grace.Milliseconds())
	o.drain(o.Outbox)
	require.Empty(t, o.takeInOrder())
	o.clock.Store(events.Retention.Milliseconds())
	o.Deliver(t.Context(), region.US, o.emitInOrder("k0", "c")...)
	require.Equal(t, []string{"b", "c"}, o.takeInOrder())
	o.waitsForDeletions(1)
	o.refuseOnly("")
	o.drain(o.Outbox)
	require.Equal(t, []string{"a"}, o.takeInOrder(), "it is still tried")
	o.waitsForDeletions(0)
}

// TestManyGivenUpRowsOfAKey delivers a row of a key after as many rows that were given up as are read at a time.
func TestManyGivenUpRowsOfAKey(t *testing.T) {
	o := newOffice(t)
	var payloads []string
	for i := range 100 {
		payloads = append(payloads, fmt.Sprintf("a%03d", i))
	}
	for _, row := range o.emitInOrder("k0", payloads...) {
		require.NoError(t, o.store.DelayOutboxRows(t.Context(), region.US, []core.OutboxRow{row}, row.ID, row.NotBefore))
	}
	o.clock.Store(events.Retention.Milliseconds())
	o.Deliver(t.Context(), region.US, o.emitInOrder("k0", "b")...)
	for range 3 {
		o.clock.Add(events.Grace.Milliseconds())
		o.drain(o.Outbox)
	}
	o.waitsForDeletions(0)
	require.ElementsMatch(t, append(payloads, "b"), o.takeInOrder())
}

// TestOrderAmongServers lets two servers and their workers deliver rows of some keys while a third of the deliveries fail.
func TestOrderAmongServers(t *testing.T) {
	const keys, rows = 5, 30
	o := newOffice(t)
	tries := 0
	o.refuse = func(string) error {
		if tries++; tries%3 == 0 {
			return errBroken
		}
		return nil
	}
	servers := []*events.Outbox{o.Outbox, o.worker()}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all, workers sync.WaitGroup
	for _, s := range servers {
		workers.Go(func() { s.Job().Run(ctx, region.US) })
	}
	for k := range keys {
		all.Go(func() {
			for i := range rows {
				o.clock.Add(50)
				servers[i%2].Deliver(t.Context(), region.US, o.emitInOrder(fmt.Sprintf("k%d", k), fmt.Sprintf("%d-%03d", k, i))...)
			}
		})
	}
	all.Wait()
	require.Eventually(t, func() bool { o.clock.Add(1000); return o.left() == 0 }, patience, 10*time.Millisecond)
	stop()
	workers.Wait()
	taken := o.takeInOrder()
	require.Len(t, taken, keys*rows)
	for k := range keys {
		of := slices.DeleteFunc(slices.Clone(taken), func(p string) bool { return !strings.HasPrefix(p, fmt.Sprintf("%d-", k)) })
		require.True(t, slices.IsSorted(of), "%v", of)
	}
}

// TestRunsOfAKey delivers rows of a key that are handled together, one of which fails.
func TestRunsOfAKey(t *testing.T) {
	o := newOffice(t)
	var runs [][]string
	o.HandleRuns(topic, func(_ context.Context, rows []core.OutboxRow) error {
		var run []string
		for _, row := range rows {
			if string(row.Payload) == `"c"` {
				return errBroken
			}
			run = append(run, string(row.Payload))
		}
		runs = append(runs, run)
		return nil
	})
	o.emitInOrder("k0", "a", "b")
	o.Deliver(t.Context(), region.US, o.emitInOrder("k0", "b2")...)
	require.Equal(t, [][]string{{`"a"`, `"b"`, `"b2"`}}, runs)
	o.waitsForDeletions(0)
	o.Deliver(t.Context(), region.US, o.emitInOrder("k0", "b3", "c", "d")...)
	require.Equal(t, [][]string{{`"a"`, `"b"`, `"b2"`}, {`"b3"`}}, runs, "up to the one that failed")
	o.waitsForDeletions(2)
}
