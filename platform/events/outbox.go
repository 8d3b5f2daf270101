// Package events delivers outbox rows: changes that a transaction makes at one home and that must reach other homes.
//
// The server that wrote a row delivers it immediately; background workers retry failed deliveries. A row may be
// delivered more than once, so handlers must be idempotent. Rows with the same key are delivered in the order in which they
// were written, see order.go; the others in any order.
package events

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/plaza-social/plaza/platform/groupcommit"
	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/span"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
)

// Handler delivers one outbox row. If it returns an error, delivery is retried later.
type Handler func(ctx context.Context, row core.OutboxRow) error

// RunHandler delivers several outbox rows of one key and topic, in their order. If it returns an error, its rows are delivered again.
type RunHandler func(ctx context.Context, rows []core.OutboxRow) error

// Outbox delivers outbox rows to the handlers of their topics.
type Outbox struct {
	store    *store.Store
	now      func() time.Time
	log      *slog.Logger
	mu       sync.RWMutex
	handlers map[string]handler
	soon     chan struct{} // semaphore of DeliverSoon

	deliveries *prometheus.CounterVec

	deletions *deletions
	reads     *groupcommit.Queue[region.Code, *keyRead]
	polls     jobs.Positions
	wake      jobs.Wake
	busy      busyKeys
}

// NewOutbox returns an outbox without handlers.
func NewOutbox(st *store.Store, now func() time.Time, log *slog.Logger) *Outbox {
	return &Outbox{
		store: st, now: now, log: log, handlers: map[string]handler{}, soon: make(chan struct{}, maxSoon),
		deletions: newDeletions(st), reads: newKeyReads(st), deliveries: newDeliveries(),
	}
}

// The results of a delivery.
const (
	delivered    = "delivered"
	notDelivered = "failed"
)

func newDeliveries() *prometheus.CounterVec {
	deliveries := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "plaza_outbox_deliveries_total", Help: "Attempts of this server to deliver a row of the outbox, by result: delivered, failed.",
	}, []string{"result"})
	for _, result := range []string{delivered, notDelivered} {
		deliveries.WithLabelValues(result) // so that rates include the first
	}
	return deliveries
}

// Register registers the metrics of the outbox.
func (o *Outbox) Register(registerer prometheus.Registerer) error {
	return registerer.Register(o.deliveries)
}

// handler is the handler of a topic.
type handler struct {
	deliver  RunHandler
	together bool // several rows
}

// Handle registers the handler of a topic.
func (o *Outbox) Handle(topic string, h Handler) {
	o.register(topic, handler{deliver: func(ctx context.Context, rows []core.OutboxRow) error { return h(ctx, rows[0]) }})
}

// HandleRuns registers the handler of a topic whose rows may be delivered together.
func (o *Outbox) HandleRuns(topic string, h RunHandler) {
	o.register(topic, handler{deliver: h, together: true})
}

func (o *Outbox) register(topic string, h handler) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.handlers[topic] = h
}

func (o *Outbox) handlerOf(topic string) handler {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.handlers[topic]
}

// Grace is how long workers leave a new row to the server that wrote it.
const Grace = 500 * time.Millisecond

// Deliver delivers rows that the caller has just committed in home, so that other homes see the change immediately.
// Failed deliveries are left to the workers: the transaction is committed, and the caller's response does not depend on
// them.
func (o *Outbox) Deliver(ctx context.Context, home region.Code, rows ...core.OutboxRow) {
	if len(rows) == 0 {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, o.store.Limits().DeliverNow)
	defer cancel()
	var g sync.WaitGroup // an unavailable home must not delay the others
	keys := map[string]bool{}
	for _, row := range rows {
		switch {
		case row.OrderKey == "":
			g.Go(func() { o.deliverOne(bounded, home, row) })
		case !keys[row.OrderKey]:
			keys[row.OrderKey] = true
			g.Go(func() { o.deliverKeyNow(bounded, home, row.OrderKey) })
		}
	}
	g.Wait()
}

// deliverOne delivers a row without an order. A failed delivery is left to the workers.
func (o *Outbox) deliverOne(ctx context.Context, home region.Code, row core.OutboxRow) {
	if o.handle(ctx, row) != nil {
		o.leave(home)
		return
	}
	o.deletions.add(ctx, home, row)
}

// leave leaves rows that were written a moment ago to the workers: to that of this server when they may first try, if it works on
// the home, or to those of other servers at their interval.
func (o *Outbox) leave(home region.Code) { o.wake.After(home, Grace) }

// maxSoon is the maximum number of concurrent deliveries by DeliverSoon.
const maxSoon = 64

// DeliverSoon calls Deliver in the background. If too many deliveries are in progress, the rows are left to the
// workers.
func (o *Outbox) DeliverSoon(ctx context.Context, home region.Code, rows ...core.OutboxRow) {
	if len(rows) == 0 {
		return
	}
	select {
	case o.soon <- struct{}{}:
	default:
		o.leave(home)
		return
	}
	go func() {
		defer func() { <-o.soon }()
		o.Deliver(context.WithoutCancel(ctx), home, rows...)
	}()
}

// handle delivers rows of one topic.
func (o *Outbox) handle(ctx context.Context, rows ...core.OutboxRow) error {
	h := o.handlerOf(rows[0].Topic)
	if h.deliver == nil {
		return fmt.Errorf("no handler for outbox topic %q", rows[0].Topic)
	}
	within, first := startDelivery(ctx, rows[0])
	attempts := []trace.Span{first}
	for _, row := range rows[1:] {
		_, attempt := startDelivery(ctx, row)
		attempts = append(attempts, attempt)
	}
	if len(rows) > 1 { // perhaps of several requests
		within = ctx
	}
	err := h.deliver(within, rows)
	for _, attempt := range attempts {
		if err != nil {
			attempt.SetStatus(codes.Error, "")
		}
		attempt.End()
	}
	switch {
	case err == nil:
		o.deliveries.WithLabelValues(delivered).Add(float64(len(rows)))
	case len(rows) == 1: // several are delivered again, one at a time
		o.deliveries.WithLabelValues(notDelivered).Inc()
	}
	return err
}

// startDelivery starts the span of an attempt to deliver a row, in the trace of the request that wrote it.
func startDelivery(ctx context.Context, row core.OutboxRow) (context.Context, trace.Span) {
	return span.Continue(ctx, row.Trace, "deliver "+row.Topic, trace.SpanKindConsumer, func() []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("plaza.topic", row.Topic), attribute.Int64("plaza.attempts", row.Attempts)}
	})
}

// interval is how often workers look for rows although nothing has woken them: those of a server that has stopped, or of a server of
// another region.
const interval = time.Second

// Job returns the job that retries undelivered rows, after 1, 2, 4 … 60 seconds.
func (o *Outbox) Job() jobs.Job {
	return jobs.Job{Name: "outbox", Lanes: core.OutboxLanes, Every: interval, Wake: &o.wake, Log: o.log, Poll: o.poll}
}

// poll reads the rows that are due in some lanes.
func (o *Outbox) poll(ctx context.Context, home region.Code, lanes []int64) (map[int64]jobs.Work, error) {
	now := o.now()
	due, err := o.store.DueOutboxRows(ctx, home, lanes, o.polls.After(home, lanes), now)
	if err != nil {
		o.polls.Failed(home, lanes)
		return nil, err
	}
	return jobs.Polled(&o.polls, home, now, lanes, due, core.MaxDueOutboxRows,
		func(ctx context.Context, rows []core.OutboxRow) (bool, error) {
			return o.drain(ctx, home, rows)
		}), nil
}

// drain delivers due rows of one lane. It reports whether it has delivered or postponed any: not if all are those of keys that this
// server is delivering.
func (o *Outbox) drain(ctx context.Context, home region.Code, rows []core.OutboxRow) (worked bool, err error) {
	var done []core.OutboxRow
	due := map[string][]core.OutboxRow{} // by key
	for _, row := range rows {
		if o.ordered(row) {
			due[row.OrderKey] = append(due[row.OrderKey], row)
			continue
		}
		worked = true
		err := o.handle(ctx, row)
		if err == nil {
			done = append(done, row)
			continue
		}
		if err := o.postpone(ctx, home, row, []core.OutboxRow{row}, err); err != nil {
			return worked, err
		}
	}
	if len(done) > 0 {
		if err := o.store.DeleteOutboxRows(ctx, home, done); err != nil {
			return worked, err
		}
	}
	for _, row := range rows {
		drained, err := o.drainKey(ctx, home, row.OrderKey, due[row.OrderKey])
		if err != nil {
			return worked, err
		}
		worked = worked || drained
		delete(due, row.OrderKey)
	}
	return worked, nil
}

// postpone postpones a row whose delivery has failed, and rows that wait for it.
func (o *Outbox) postpone(ctx context.Context, home region.Code, failed core.OutboxRow, rows []core.OutboxRow, err error) error {
	o.log.WarnContext(ctx, "outbox row not delivered", "home", home, "topic", failed.Topic, "attempts", failed.Attempts+1, "error", err)
	pause := backOff(failed.Attempts)
	o.wake.After(home, pause)
	return o.store.DelayOutboxRows(ctx, home, rows, failed.ID, o.now().Add(pause))
}

func backOff(attempts int64) time.Duration {
	return min(time.Second<<min(attempts, 6), time.Minute)
}

// FirstTry returns when workers may first deliver a row that is written now.
func (o *Outbox) FirstTry() time.Time { return o.now().Add(Grace) }
