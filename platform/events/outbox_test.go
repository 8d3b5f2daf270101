package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// patience is how long tests wait for what must happen. Only a test that fails waits that long.
const patience = 2 * time.Minute

var (
	start     = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	quiet     = slog.New(slog.DiscardHandler)
	errBroken = errors.New("broken")
)

// topic is the topic of the tests' rows. Their payload is a string.
const topic = "test"

// office is an outbox with a fake clock and a handler that records deliveries.
type office struct {
	*events.Outbox
	t     *testing.T
	store *store.Store
	clock atomic.Int64 // milliseconds after start
	fault atomic.Pointer[error]

	mu        sync.Mutex
	delivered []string
	refuse    func(payload string) error
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, refuse: func(string) error { return nil }}
	var err error
	o.store, err = store.Open(t.Context(), db.Config{
		URLs: map[region.Code]string{"": dbtest.New(t)}, Log: quiet, StatementTimeout: patience, Fault: func() error {
			if err := o.fault.Load(); err != nil {
				return *err
			}
			return nil
		},
	})
	require.NoError(t, err)
	t.Cleanup(o.store.Close)
	o.Outbox = o.worker()
	return o
}

// worker returns another worker on the same rows.
func (o *office) worker() *events.Outbox {
	w := events.NewOutbox(o.store, o.now, quiet)
	w.Handle(topic, o.handle)
	return w
}

func (o *office) now() time.Time { return start.Add(time.Duration(o.clock.Load()) * time.Millisecond) }

func (o *office) handle(_ context.Context, row core.OutboxRow) error {
	var payload string
	if err := json.Unmarshal(row.Payload, &payload); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.refuse(payload); err != nil {
		return err
	}
	o.delivered = append(o.delivered, payload)
	return nil
}

// take returns the payloads delivered since the last call, sorted.
func (o *office) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	taken := slices.Sorted(slices.Values(o.delivered))
	o.delivered = nil
	return taken
}

// emit commits rows of a topic in us that a worker may take after the grace period.
func (o *office) emit(topic string, payloads ...string) []core.OutboxRow {
	o.t.Helper()
	w := o.store.NewTx(region.US)
	var rows []core.OutboxRow
	for _, p := range payloads {
		rows = append(rows, w.Emit(topic, p, start, o.FirstTry()))
	}
	require.NoError(o.t, w.Commit(o.t.Context()))
	return rows
}

// drain lets a worker drain every lane.
func (o *office) drain(w *events.Outbox) {
	o.t.Helper()
	require.NoError(o.t, w.Job().Once(o.t.Context(), region.US))
}

// left returns the number of rows, due or not.
func (o *office) left() int {
	o.t.Helper()
	n := 0
	due, err := o.store.DueOutboxRows(o.t.Context(), region.US, []int64{0, 1, 2, 3}, time.Time{}, start.Add(1000*time.Hour))
	require.NoError(o.t, err)
	for _, rows := range due {
		n += len(rows)
	}
	return n
}

func TestDeliver(t *testing.T) {
	o := newOffice(t)
	rows := o.emit(topic, "a", "b", "c")
	o.refuse = func(payload string) error {
		if payload == "b" {
			return errBroken
		}
		return nil
	}
	o.Deliver(t.Context(), region.US, rows...)
	require.Equal(t, []string{"a", "c"}, o.take())
	require.Eventually(t, func() bool { return o.left() == 1 }, patience, time.Millisecond, "the failed row is left to a worker")
	o.Deliver(t.Context(), region.US)
	require.Empty(t, o.take())
}

// TestDeliverWithUnavailableHome blocks one delivery until the time limit: the others succeed.
func TestDeliverWithUnavailableHome(t *testing.T) {
	o := newOffice(t)
	o.Handle("hangs", func(ctx context.Context, _ core.OutboxRow) error {
		<-ctx.Done()
		return ctx.Err()
	})
	rows := append(o.emit("hangs", "lost"), o.emit(topic, "a")...)
	o.Deliver(t.Context(), region.US, rows...)
	require.Equal(t, []string{"a"}, o.take())
	require.GreaterOrEqual(t, o.left(), 1)
}

func TestWorkersRespectGrace(t *testing.T) {
	o := newOffice(t)
	o.emit(topic, "a")
	o.clock.Store(events.Grace.Milliseconds() - 1)
	o.drain(o.Outbox)
	require.Empty(t, o.take())
	o.clock.Add(1)
	o.drain(o.Outbox)
	require.Equal(t, []string{"a"}, o.take())
	require.Zero(t, o.left())
}

func TestBackOff(t *testing.T) {
	o := newOffice(t)
	o.emit(topic, "a")
	o.refuse = func(string) error { return errBroken }
	tries := func() int {
		n := 0
		o.refuse = func(string) error { n++; return errBroken }
		o.drain(o.Outbox)
		return n
	}
	o.clock.Store(events.Grace.Milliseconds())
	require.Equal(t, 1, tries())
	for _, seconds := range []int64{1, 2, 4, 8, 16, 32, 60, 60, 60} {
		o.clock.Add(seconds*1000 - 1)
		require.Zero(t, tries(), "before %d s have elapsed", seconds)
		o.clock.Add(1)
		require.Equal(t, 1, tries(), "after %d s", seconds)
	}
	o.refuse = func(string) error { return nil }
	o.clock.Add(60_000)
	o.drain(o.Outbox)
	require.Equal(t, []string{"a"}, o.take())
	require.Zero(t, o.left())
}

// TestAtLeastOnce fails to record a delivery: the row is delivered again.
func TestAtLeastOnce(t *testing.T) {
	o := newOffice(t)
	o.emit(topic, "a")
	o.clock.Store(time.Hour.Milliseconds())
	o.fault.Store(&errBroken)
	_ = o.Job().Once(t.Context(), region.US)
	require.Equal(t, []string{"a"}, o.take())
	require.Equal(t, 1, o.left())
	o.fault.Store(nil)
	o.drain(o.Outbox)
	require.Equal(t, []string{"a"}, o.take())
	require.Zero(t, o.left())
}

func TestTopicWithoutHandler(t *testing.T) {
	o := newOffice(t)
	o.emit("unknown topic", "x")
	o.emit(topic, "a", "b", "c", "d", "e")
	o.clock.Store(time.Hour.Milliseconds())
	o.drain(o.Outbox)
	require.Equal(t, []string{"a", "b", "c", "d", "e"}, o.take())
	require.Equal(t, 1, o.left(), "the row is kept")
}

// TestTwoWorkers lets two workers drain the same rows: each row is delivered at least once and then removed.
func TestTwoWorkers(t *testing.T) {
	o := newOffice(t)
	var payloads []string
	for i := range 60 {
		payloads = append(payloads, string(rune('0'+i)))
	}
	o.emit(topic, payloads...)
	o.clock.Store(time.Hour.Milliseconds())
	var all sync.WaitGroup
	for range 2 {
		w := o.worker()
		all.Go(func() {
			if err := w.Job().Once(t.Context(), region.US); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, slices.Sorted(slices.Values(payloads)), slices.Compact(o.take()))
	require.Zero(t, o.left())
}

// TestJob runs the workers on the real clock. They ignore rows of other homes.
func TestJob(t *testing.T) {
	o := newOffice(t)
	o.emit(topic, "a", "b", "c")
	w := o.store.NewTx(region.EU)
	w.Emit(topic, "of eu", start, start)
	require.NoError(t, w.Commit(t.Context()))
	o.clock.Store(time.Hour.Milliseconds())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		o.Job().Run(ctx, region.US)
		close(ended)
	}()
	require.Eventually(t, func() bool { return o.left() == 0 }, patience, time.Millisecond)
	stop()
	<-ended
	require.Equal(t, []string{"a", "b", "c"}, o.take())
}

// TestWorkersAreWoken lets deliveries fail at first: the workers, whose interval never elapses, try them again when they are due.
func TestWorkersAreWoken(t *testing.T) {
	for name, emit := range map[string]func(o *office) []core.OutboxRow{
		"a row":         func(o *office) []core.OutboxRow { return o.emit(topic, "a") },
		"rows in order": func(o *office) []core.OutboxRow { return o.emitInOrder("key", "a", "b") },
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			ctx, stop := context.WithCancel(t.Context())
			var ended sync.WaitGroup
			defer ended.Wait()
			defer stop()
			job := o.Job()
			job.Every = time.Hour
			polled, first := make(chan struct{}), sync.Once{}
			poll := job.Poll
			job.Poll = func(ctx context.Context, home region.Code, lanes []int64) (map[int64]jobs.Work, error) {
				defer first.Do(func() { close(polled) })
				o.clock.Add(time.Hour.Milliseconds()) // everything is due
				return poll(ctx, home, lanes)
			}
			tries := 0
			o.refuse = func(string) error {
				if tries++; tries <= 2 { // the server that wrote them, and a worker
					return errBroken
				}
				return nil
			}
			ended.Go(func() { job.Run(ctx, region.US) })
			<-polled // before there are rows
			o.Deliver(t.Context(), region.US, emit(o)...)
			require.Eventually(t, func() bool { return o.left() == 0 }, patience, 10*time.Millisecond)
		})
	}
}

// TestDeliveriesAreCounted delivers two rows, of which one is refused at first.
func TestDeliveriesAreCounted(t *testing.T) {
	o := newOffice(t)
	registry := prometheus.NewRegistry()
	require.NoError(t, o.Register(registry))
	o.refuse = func(payload string) error {
		if payload == "b" {
			return errors.New("refused")
		}
		return nil
	}
	o.Deliver(t.Context(), region.US, o.emit(topic, "a", "b")...)
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP plaza_outbox_deliveries_total Attempts of this server to deliver a row of the outbox, by result: delivered, failed.
# TYPE plaza_outbox_deliveries_total counter
plaza_outbox_deliveries_total{result="delivered"} 1
plaza_outbox_deliveries_total{result="failed"} 1
`)))
}
