package events

import (
	"context"
	"errors"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/plaza-social/plaza/platform/groupcommit"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// Rows with the same key are delivered in the order in which they were written. The server that wrote one of them, or a worker, reads
// the rows of the key and delivers the earlier ones first, so that no row needs to wait for another server. While the first row
// fails, the others wait with it: workers read none of them before its next attempt. Rows of other keys are not concerned. A row
// that has failed for Retention is given up: it is still tried, but the others do not wait for it any more.

const (
	maxOfKey   = 100    // rows of a key that are delivered at a time
	maxReads   = 64     // keys that one statement group reads
	maxReading = 10_000 // keys that wait to be read
)

// keyRead is a request for the first rows of a key.
type keyRead struct {
	key  string
	rows []store.OutboxRow
}

// newKeyReads returns the queue of reads of each home. Requests that arrive during a read share the next one.
func newKeyReads(st *store.Store) *groupcommit.Queue[region.Code, *keyRead] {
	commit := func(ctx context.Context, home region.Code, reads []*keyRead) []error {
		keys := make([]string, len(reads))
		for i, r := range reads {
			keys[i] = r.key
		}
		slices.Sort(keys)
		byKey, err := st.OutboxRowsOfKeys(store.WithoutIdempotency(ctx), home, slices.Compact(keys), maxOfKey)
		for _, r := range reads {
			r.rows = byKey[r.key]
		}
		return groupcommit.Each(err, len(reads))
	}
	return &groupcommit.Queue[region.Code, *keyRead]{Max: maxReads, MaxWaiting: maxReading, Commit: commit}
}

// errHeld means that the first row of a key waits for its next attempt.
var errHeld = errors.New("the first row of the key has failed and is tried again later")

// ordered reports whether a row is delivered in the order of its key.
func (o *Outbox) ordered(row store.OutboxRow) bool {
	return row.OrderKey != "" && (row.Attempts == 0 || o.now().Sub(row.CreatedAt) < Retention)
}

// deliverKeyNow delivers the rows of a key, one of which the caller has just committed. If this server is delivering rows of the key
// already, it goes on with those. Failed deliveries are left to the workers.
func (o *Outbox) deliverKeyNow(ctx context.Context, home region.Code, key string) {
	if !o.busy.begin(home, key) {
		return
	}
	if _, err := o.deliverKey(ctx, home, key); err != nil {
		o.leave(home)
	}
	if o.busy.again(home, key) {
		go o.deliverRest(context.WithoutCancel(ctx), home, key)
	}
}

// deliverRest delivers the rows of a key that were committed during a delivery, until there are none.
func (o *Outbox) deliverRest(ctx context.Context, home region.Code, key string) {
	for more := true; more; more = o.busy.again(home, key) {
		bounded, cancel := context.WithTimeout(ctx, o.store.Limits().DeliverNow)
		if _, err := o.deliverKey(bounded, home, key); err != nil {
			o.leave(home)
		}
		cancel()
	}
}

// drainKey delivers the rows of a key some of which are due, and postpones these if an earlier one fails. It reports whether it did:
// not if this server is delivering rows of the key.
func (o *Outbox) drainKey(ctx context.Context, home region.Code, key string, due []store.OutboxRow) (drained bool, err error) {
	if len(due) == 0 || !o.busy.begin(home, key) {
		return false, nil
	}
	head, failed := o.deliverKey(ctx, home, key)
	if o.busy.again(home, key) {
		go o.deliverRest(context.WithoutCancel(ctx), home, key)
	}
	switch {
	case failed == nil:
		return true, nil
	case head == nil:
		return true, failed
	case errors.Is(failed, errHeld):
		return true, o.store.DelayOutboxRows(ctx, home, due, "", head.NotBefore)
	}
	waiting := slices.DeleteFunc(due, func(row store.OutboxRow) bool { return row.ID == head.ID })
	return true, o.postpone(ctx, home, *head, append(waiting, *head), failed)
}

// deliverKey delivers the rows of a key until there are none or one fails, which it returns.
func (o *Outbox) deliverKey(ctx context.Context, home region.Code, key string) (head *store.OutboxRow, err error) {
	for more := true; more; {
		read := &keyRead{key: key}
		if err := o.reads.Add(ctx, home, read); err != nil {
			return nil, err
		}
		rows := slices.DeleteFunc(read.rows, func(row store.OutboxRow) bool { return !o.ordered(row) || o.deletions.has(row) })
		done, err := o.handleInOrder(ctx, rows)
		for _, row := range rows[:done] {
			o.deletions.add(ctx, home, row)
		}
		if err != nil {
			return &rows[done], err
		}
		more = done > 0 && len(read.rows) == maxOfKey
		if more { // the next page must not begin with the same rows
			if err := o.deletions.queue.Add(ctx, home, rows[done-1]); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// handleInOrder delivers rows and returns how many were delivered before one failed.
func (o *Outbox) handleInOrder(ctx context.Context, rows []store.OutboxRow) (done int, err error) {
	if len(rows) > 0 && rows[0].Attempts > 0 && rows[0].NotBefore.After(o.now()) {
		return 0, errHeld
	}
	for done < len(rows) {
		run := o.run(rows[done:])
		if len(run) > 1 && o.handleRun(ctx, run) == nil {
			done += len(run)
			continue
		}
		if err := o.handle(ctx, rows[done]); err != nil {
			return done, err
		}
		done++
	}
	return done, nil
}

// run returns the first of rows that can be delivered together.
func (o *Outbox) run(rows []store.OutboxRow) []store.OutboxRow {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if o.runs[rows[0].Topic] == nil {
		return rows[:1]
	}
	if i := slices.IndexFunc(rows, func(row store.OutboxRow) bool { return row.Topic != rows[0].Topic }); i > 0 {
		return rows[:i]
	}
	return rows
}

// handleRun delivers rows together.
func (o *Outbox) handleRun(ctx context.Context, rows []store.OutboxRow) error {
	o.mu.RLock()
	h := o.runs[rows[0].Topic]
	o.mu.RUnlock()
	attempts := make([]trace.Span, len(rows))
	for i, row := range rows {
		_, attempts[i] = startDelivery(ctx, row)
	}
	err := h(ctx, rows)
	for _, attempt := range attempts {
		if err != nil {
			attempt.SetStatus(codes.Error, "")
		}
		attempt.End()
	}
	if err != nil {
		return err
	}
	o.deliveries.WithLabelValues(delivered).Add(float64(len(rows)))
	return nil
}

// busyKeys are the keys whose rows this server is delivering.
type busyKeys struct {
	mu   sync.Mutex
	keys map[busyKey]bool // true if there are more rows to deliver afterwards
}

type busyKey struct {
	home region.Code
	key  string
}

// begin reports whether the caller may deliver the rows of a key. Otherwise the delivery in progress goes on with the rows that
// the caller has committed.
func (b *busyKeys) begin(home region.Code, key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, busy := b.keys[busyKey{home, key}]; busy {
		b.keys[busyKey{home, key}] = true
		return false
	}
	if b.keys == nil {
		b.keys = map[busyKey]bool{}
	}
	b.keys[busyKey{home, key}] = false
	return true
}

// again ends a delivery, and reports whether the caller must begin another one.
func (b *busyKeys) again(home region.Code, key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keys[busyKey{home, key}] {
		b.keys[busyKey{home, key}] = false
		return true
	}
	delete(b.keys, busyKey{home, key})
	return false
}
