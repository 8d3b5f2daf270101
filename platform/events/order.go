package events

import (
	"context"
	"errors"
	"slices"

	"github.com/plaza-social/plaza/platform/groupcommit"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/network"
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
	rows []core.OutboxRow
}

// newKeyReads returns the queue of reads of each home. Requests that arrive during a read share the next one.
func newKeyReads(st *store.Store) *groupcommit.Queue[region.Code, *keyRead] {
	commit := func(ctx context.Context, home region.Code, reads []*keyRead) []error {
		keys := make([]string, len(reads))
		for i, r := range reads {
			keys[i] = r.key
		}
		slices.Sort(keys)
		byKey, err := st.OutboxRowsOfKeys(network.WithoutIdempotency(ctx), home, slices.Compact(keys), maxOfKey)
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
func (o *Outbox) ordered(row core.OutboxRow) bool {
	return row.OrderKey != "" && (row.Attempts == 0 || o.now().Sub(row.CreatedAt) < Retention)
}

// deliverKeyNow delivers the rows of a key, one of which the caller has just committed. If this server is delivering rows of the key
// already, it goes on with those. Failed deliveries are left to the workers.
func (o *Outbox) deliverKeyNow(ctx context.Context, home region.Code, key string) {
	if !o.busy.start(home, key) {
		return
	}
	o.deliverOrLeave(ctx, home, key)
	o.finishKey(ctx, home, key)
}

// drainKey delivers the rows of a key some of which are due, and postpones these if an earlier one fails. It reports whether it did:
// not if this server is delivering rows of the key.
func (o *Outbox) drainKey(ctx context.Context, home region.Code, key string, due []core.OutboxRow) (drained bool, err error) {
	if len(due) == 0 || !o.busy.start(home, key) {
		return false, nil
	}
	first, failed := o.deliverKey(ctx, home, key)
	o.finishKey(ctx, home, key)
	switch {
	case failed == nil:
		return true, nil
	case first == nil:
		return true, failed
	case errors.Is(failed, errHeld):
		return true, o.store.DelayOutboxRows(ctx, home, due, "", first.NotBefore)
	}
	waiting := slices.DeleteFunc(due, func(row core.OutboxRow) bool { return row.ID == first.ID })
	return true, o.postpone(ctx, home, *first, append(waiting, *first), failed)
}

// finishKey ends a delivery of the rows of a key. Those that were committed during it are delivered in the background.
func (o *Outbox) finishKey(ctx context.Context, home region.Code, key string) {
	if o.busy.finish(home, key) {
		return
	}
	go func() {
		for finished := false; !finished; finished = o.busy.finish(home, key) {
			bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.store.Limits().DeliverNow)
			o.deliverOrLeave(bounded, home, key)
			cancel()
		}
	}()
}

// deliverOrLeave delivers the rows of a key, and leaves them to the workers if that fails.
func (o *Outbox) deliverOrLeave(ctx context.Context, home region.Code, key string) {
	if _, err := o.deliverKey(ctx, home, key); err != nil {
		o.leave(home)
	}
}

// deliverKey delivers the rows of a key until there are none or one fails. It returns that row with its error; an error without a row
// is one of reading or deleting rows.
func (o *Outbox) deliverKey(ctx context.Context, home region.Code, key string) (failed *core.OutboxRow, err error) {
	for {
		read := &keyRead{key: key}
		if err := o.reads.Add(ctx, home, read); err != nil {
			return nil, err
		}
		rows := slices.DeleteFunc(read.rows, func(row core.OutboxRow) bool { return !o.ordered(row) || o.deletions.has(row) })
		done, err := o.handleInOrder(ctx, rows)
		for _, row := range rows[:done] {
			o.deletions.add(ctx, home, row)
		}
		if err != nil {
			return &rows[done], err
		}
		if done == 0 || len(read.rows) < maxOfKey {
			return nil, nil
		}
		// The next page must not begin with the same rows: wait until they are deleted.
		if err := o.deletions.queue.Add(ctx, home, rows[done-1]); err != nil {
			return nil, err
		}
	}
}

// handleInOrder delivers rows and returns how many were delivered before one failed.
func (o *Outbox) handleInOrder(ctx context.Context, rows []core.OutboxRow) (done int, err error) {
	if len(rows) > 0 && rows[0].Attempts > 0 && rows[0].NotBefore.After(o.now()) {
		return 0, errHeld
	}
	for done < len(rows) {
		run := o.run(rows[done:])
		if len(run) > 1 && o.handle(ctx, run...) == nil {
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
func (o *Outbox) run(rows []core.OutboxRow) []core.OutboxRow {
	if !o.handlerOf(rows[0].Topic).together {
		return rows[:1]
	}
	if i := slices.IndexFunc(rows, func(row core.OutboxRow) bool { return row.Topic != rows[0].Topic }); i > 0 {
		return rows[:i]
	}
	return rows
}
