// Package events delivers outbox rows: changes that a transaction makes at one home and that must reach other homes.
//
// The server that wrote a row delivers it immediately; background workers retry failed deliveries. A row may be
// delivered more than once, so handlers must be idempotent.
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
)

// Handler delivers one outbox row. If it returns an error, delivery is retried later.
type Handler func(ctx context.Context, row store.OutboxRow) error

// Outbox delivers outbox rows to the handlers of their topics.
type Outbox struct {
	store    *store.Store
	now      func() time.Time
	log      *slog.Logger
	mu       sync.RWMutex
	handlers map[string]Handler
	soon     chan struct{} // semaphore of DeliverSoon

	deliveries *prometheus.CounterVec

	deletions map[region.Code]*groupcommit.Queue[store.OutboxRow]
}

// NewOutbox returns an outbox without handlers.
func NewOutbox(st *store.Store, now func() time.Time, log *slog.Logger) *Outbox {
	o := &Outbox{
		store: st, now: now, log: log, handlers: map[string]Handler{}, soon: make(chan struct{}, maxSoon),
		deletions: map[region.Code]*groupcommit.Queue[store.OutboxRow]{}, deliveries: newDeliveries(),
	}
	for _, home := range region.All() {
		o.deletions[home] = newDeletions(st, home)
	}
	return o
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

// Handle registers the handler of a topic.
func (o *Outbox) Handle(topic string, h Handler) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.handlers[topic] = h
}

// Grace is how long workers leave a new row to the server that wrote it.
const Grace = 500 * time.Millisecond

// deliverNow limits how long a request waits for other homes after its transaction was committed.
const deliverNow = 400 * time.Millisecond

// Deliver delivers rows that the caller has just committed in home, so that other homes see the change immediately.
// Failed deliveries are left to the workers: the transaction is committed, and the caller's response does not depend on
// them.
func (o *Outbox) Deliver(ctx context.Context, home region.Code, rows ...store.OutboxRow) {
	if len(rows) == 0 {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, deliverNow)
	defer cancel()
	var done []store.OutboxRow
	var mu sync.Mutex
	var g sync.WaitGroup // an unavailable home must not delay the others
	for _, row := range rows {
		g.Go(func() {
			if err := o.handle(bounded, row); err == nil {
				mu.Lock()
				defer mu.Unlock()
				done = append(done, row)
			}
		})
	}
	g.Wait()
	for _, row := range done {
		o.deletions[home].Go(ctx, row)
	}
}

// maxSoon is the maximum number of concurrent deliveries by DeliverSoon.
const maxSoon = 64

// DeliverSoon calls Deliver in the background. If too many deliveries are in progress, the rows are left to the
// workers.
func (o *Outbox) DeliverSoon(ctx context.Context, home region.Code, rows ...store.OutboxRow) {
	if len(rows) == 0 {
		return
	}
	select {
	case o.soon <- struct{}{}:
	default:
		return
	}
	go func() {
		defer func() { <-o.soon }()
		o.Deliver(context.WithoutCancel(ctx), home, rows...)
	}()
}

func (o *Outbox) handle(ctx context.Context, row store.OutboxRow) error {
	o.mu.RLock()
	h := o.handlers[row.Topic]
	o.mu.RUnlock()
	if h == nil {
		return fmt.Errorf("no handler for outbox topic %q", row.Topic)
	}
	ctx, traced := span.Continue(ctx, row.Trace, "deliver "+row.Topic, trace.SpanKindConsumer, func() []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("plaza.topic", row.Topic), attribute.Int64("plaza.attempts", row.Attempts)}
	})
	defer traced.End()
	if err := h(ctx, row); err != nil {
		traced.SetStatus(codes.Error, "")
		o.deliveries.WithLabelValues(notDelivered).Inc()
		return err
	}
	o.deliveries.WithLabelValues(delivered).Inc()
	return nil
}

// interval is how often workers poll for due rows.
const interval = 250 * time.Millisecond

// Job returns the job that retries undelivered rows, after 1, 2, 4 … 60 seconds.
func (o *Outbox) Job() jobs.Job {
	return jobs.Job{Name: "outbox", Lanes: store.OutboxLanes, Every: interval, Log: o.log, Drain: func(ctx context.Context, home region.Code, lane int64) (bool, error) {
		return false, o.Drain(ctx, home, lane)
	}}
}

// Drain delivers the rows that are due in one lane.
func (o *Outbox) Drain(ctx context.Context, home region.Code, lane int64) error {
	rows, err := o.store.DueOutboxRows(ctx, home, lane, o.now())
	if err != nil || len(rows) == 0 {
		return err
	}
	var done []store.OutboxRow
	for _, row := range rows {
		err := o.handle(ctx, row)
		if err == nil {
			done = append(done, row)
			continue
		}
		o.log.WarnContext(ctx, "outbox row not delivered", "home", home, "topic", row.Topic, "attempts", row.Attempts+1, "error", err)
		if err := o.store.DelayOutboxRow(ctx, home, row, o.now().Add(backOff(row.Attempts))); err != nil {
			return err
		}
	}
	if len(done) == 0 {
		return nil
	}
	return o.store.DeleteOutboxRows(ctx, home, done)
}

func backOff(attempts int64) time.Duration {
	return min(time.Second<<min(attempts, 6), time.Minute)
}

// FirstTry returns when workers may first deliver a row that is written now.
func (o *Outbox) FirstTry() time.Time { return o.now().Add(Grace) }
