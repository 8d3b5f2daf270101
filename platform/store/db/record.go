package db

import (
	"context"
	"slices"
	"sync/atomic"
)

// record is what the first transaction of a context stores in addition to its own changes.
type record struct {
	queue func(head, tail *Tx)
	state atomic.Int32
}

// The states of a record.
const (
	recordOpen   int32 = iota
	recordQueued       // a transaction with it is running
	recordStored       // it was committed, or may have been
)

type recordKey struct{}

// WithRecord returns a context of which one transaction, the first that is committed, stores a record of the request:
// queue adds the statements before and after those of the transaction. If it adds none, the next transaction is asked.
// stored reports whether the record was committed or may have been. The statements of a record must be safe to repeat.
func WithRecord(ctx context.Context, queue func(head, tail *Tx)) (with context.Context, stored func() bool) {
	r := &record{queue: queue}
	return context.WithValue(ctx, recordKey{}, r), func() bool { return r.state.Load() == recordStored }
}

// WithoutRecord excludes the transaction from the records and prologues of requests, because what it changes is not what
// the request is for, such as a claim of an id that an unfinished request leaves behind without consequence.
func (t *Tx) WithoutRecord() { t.unrecorded = true }

// addRecord adds the record of ctx to t, unless another transaction has stored it.
func (t *Tx) addRecord(ctx context.Context) *record {
	r, _ := ctx.Value(recordKey{}).(*record)
	if r == nil || t.unrecorded || !r.state.CompareAndSwap(recordOpen, recordQueued) {
		return nil
	}
	head, tail := &Tx{db: t.db, home: t.home}, &Tx{db: t.db, home: t.home}
	r.queue(head, tail)
	if len(head.steps)+len(tail.steps) == 0 {
		r.state.Store(recordOpen)
		return nil
	}
	t.steps = slices.Concat(head.steps, t.steps, tail.steps)
	return r
}

// end stores the result of the transaction with the record.
func (r *record) end(refusal, err error) {
	switch {
	case r == nil:
	case maybeStored(refusal, err):
		r.state.Store(recordStored)
	default:
		r.state.Store(recordOpen)
	}
}

// HasOwnStatements reports whether ctx adds statements to the transactions of its request, so that other requests must
// not share them.
func (d *DB) HasOwnStatements(ctx context.Context) bool {
	if p, _ := ctx.Value(prologueKey{}).(*prologue); p != nil {
		return true
	}
	r, _ := ctx.Value(recordKey{}).(*record)
	if r == nil || r.state.Load() != recordOpen {
		return false
	}
	head, tail := &Tx{db: d}, &Tx{db: d}
	r.queue(head, tail)
	return len(head.steps)+len(tail.steps) > 0
}
