// Package events delivers what transactions left in the outbox: changes that have to reach another home.
//
// The server that wrote a row delivers it at once; workers pick up what did not arrive. A row may be delivered twice, so
// every handler is safe to run again.
package events

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// Handler delivers one outbox row of one topic. An error leaves the row for a later try.
type Handler func(ctx context.Context, row store.OutboxRow) error

// Outbox delivers rows by topic.
type Outbox struct {
	store    *store.Store
	now      func() time.Time
	log      *slog.Logger
	mu       sync.RWMutex
	handlers map[string]Handler
	soon     chan struct{} // one place for each delivery under way that nobody waits for
}

// NewOutbox makes an outbox without handlers.
func NewOutbox(st *store.Store, now func() time.Time, log *slog.Logger) *Outbox {
	return &Outbox{store: st, now: now, log: log, handlers: map[string]Handler{}, soon: make(chan struct{}, maxSoon)}
}

// Handle registers the handler of a topic.
func (o *Outbox) Handle(topic string, h Handler) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.handlers[topic] = h
}

// Grace is how long the writer of a row has to deliver it before a worker takes it.
const Grace = 500 * time.Millisecond

// deliverNow bounds what a request waits for another home after its own transaction is stored.
const deliverNow = 400 * time.Millisecond

// Deliver delivers rows that the caller has just committed in home, so that the change is seen elsewhere at once. What
// fails is left to the workers: the transaction is stored, and the caller's answer does not depend on it.
func (o *Outbox) Deliver(ctx context.Context, home region.Code, rows ...store.OutboxRow) {
	if len(rows) == 0 {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, deliverNow)
	defer cancel()
	done := map[int64][]string{}
	var mu sync.Mutex
	var g sync.WaitGroup // one home that is away must not use up the time of the others
	for _, row := range rows {
		g.Go(func() {
			if err := o.handle(bounded, row); err == nil {
				mu.Lock()
				defer mu.Unlock()
				done[row.Lane] = append(done[row.Lane], row.ID)
			}
		})
	}
	g.Wait()
	for lane, ids := range done {
		_ = o.store.OutboxDone(bounded, home, lane, ids)
	}
}

// maxSoon bounds the deliveries under way that nobody waits for.
const maxSoon = 64

// DeliverSoon is Deliver without waiting for it: for what the caller's answer does not depend on. With too many under way,
// the rows are left to the workers.
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
	return h(ctx, row)
}

// Run works on the outbox of home until ctx is done: what nobody delivered is tried again, after 1, 2, 4 … 60 seconds.
func (o *Outbox) Run(ctx context.Context, home region.Code) {
	var g sync.WaitGroup
	for lane := range int64(store.OutboxLanes) {
		g.Go(func() { o.runLane(ctx, home, lane) })
	}
	g.Wait()
}

// interval is how often a worker looks for rows.
const interval = 250 * time.Millisecond

func (o *Outbox) runLane(ctx context.Context, home region.Code, lane int64) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := o.Drain(ctx, home, lane); err != nil && ctx.Err() == nil {
			o.log.WarnContext(ctx, "outbox not readable", "home", home, "lane", lane, "error", err)
		}
	}
}

// Drain delivers what is due in one lane.
func (o *Outbox) Drain(ctx context.Context, home region.Code, lane int64) error {
	rows, err := o.store.OutboxDue(ctx, home, lane, o.now())
	if err != nil || len(rows) == 0 {
		return err
	}
	var done []string
	for _, row := range rows {
		err := o.handle(ctx, row)
		if err == nil {
			done = append(done, row.ID)
			continue
		}
		o.log.WarnContext(ctx, "outbox row not delivered", "home", home, "topic", row.Topic, "attempts", row.Attempts+1, "error", err)
		if err := o.store.OutboxRetry(ctx, home, row, o.now().Add(backOff(row.Attempts))); err != nil {
			return err
		}
	}
	if len(done) == 0 {
		return nil
	}
	return o.store.OutboxDone(ctx, home, lane, done)
}

func backOff(attempts int64) time.Duration {
	return min(time.Second<<min(attempts, 6), time.Minute)
}

// FirstTry is when a worker may take a row that is written now.
func (o *Outbox) FirstTry() time.Time { return o.now().Add(Grace) }
