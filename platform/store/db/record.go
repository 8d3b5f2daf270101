package db

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/plaza-social/plaza/platform/region"
)

// addition is what transactions of a context send in addition to their own statements.
type addition struct {
	queue func(head, tail *Tx)
	state atomic.Int32
}

// The states of an addition.
const (
	additionOpen   int32 = iota
	additionQueued       // the only transaction with it is running
	additionStored       // a transaction with it was committed, or may have been
)

// additionKey is the key of an addition in its context, to one transaction or to all of them.
type additionKey struct{ once bool }

func withAddition(ctx context.Context, key additionKey, queue func(head, tail *Tx)) (with context.Context, stored func() bool) {
	a := &addition{queue: queue}
	return context.WithValue(ctx, key, a), func() bool { return a.state.Load() == additionStored }
}

// WithRecord returns a context of which one transaction, the first that is committed, stores a record of the request:
// queue adds the statements before and after those of the transaction. If it adds none, the next transaction is asked.
// stored reports whether the record was committed or may have been. The statements of a record must be safe to repeat.
func WithRecord(ctx context.Context, queue func(head, tail *Tx)) (with context.Context, stored func() bool) {
	return withAddition(ctx, additionKey{once: true}, queue)
}

// WithPrologue returns a context whose transactions, except those without a record, begin with the statements that queue
// adds. committed reports whether any of them was committed or may have been.
func WithPrologue(ctx context.Context, queue func(*Tx)) (with context.Context, committed func() bool) {
	return withAddition(ctx, additionKey{}, func(head, _ *Tx) { queue(head) })
}

// WithoutPrologue returns a context whose transactions have neither a prologue nor a record.
func WithoutPrologue(ctx context.Context) context.Context {
	return context.WithValue(context.WithValue(ctx, additionKey{}, nil), additionKey{once: true}, nil)
}

// WithoutRecord excludes the transaction from the records and prologues of requests, because what it changes is not what
// the request is for, such as a claim of an id that an unfinished request leaves behind without consequence.
func (t *Tx) WithoutRecord() { t.unrecorded = true }

// addTo adds the record of ctx to t, unless another transaction has stored it, and the prologue of ctx.
func (t *Tx) addTo(ctx context.Context) (added []*addition) {
	for _, key := range []additionKey{{once: true}, {}} {
		a, _ := ctx.Value(key).(*addition)
		if a == nil || t.unrecorded || key.once && !a.state.CompareAndSwap(additionOpen, additionQueued) {
			continue
		}
		head, tail := a.steps(t.db, t.home)
		if key.once && len(head)+len(tail) == 0 {
			a.state.Store(additionOpen)
			continue
		}
		t.steps = slices.Concat(head, t.steps, tail)
		added = append(added, a)
	}
	return added
}

// steps returns the statements before and after those of a transaction.
func (a *addition) steps(d *DB, home region.Code) (head, tail []Step) {
	first, last := &Tx{db: d, home: home}, &Tx{db: d, home: home}
	a.queue(first, last)
	return first.steps, last.steps
}

// end stores the result of a transaction with the addition.
func (a *addition) end(refusal, err error) {
	if maybeStored(refusal, err) {
		a.state.Store(additionStored)
		return
	}
	a.state.CompareAndSwap(additionQueued, additionOpen)
}

// maybeStored reports whether a transaction with this result may be committed. Only a refusal, or an error that is not
// the connection's, means for certain that nothing was stored.
func maybeStored(refusal, err error) bool {
	return refusal == nil && (err == nil || unreachable(err))
}

// HasOwnStatements reports whether ctx adds statements to the transactions of its request, so that other requests must
// not share them.
func (d *DB) HasOwnStatements(ctx context.Context) bool {
	if ctx.Value(additionKey{}) != nil {
		return true
	}
	a, _ := ctx.Value(additionKey{once: true}).(*addition)
	if a == nil || a.state.Load() != additionOpen {
		return false
	}
	head, tail := a.steps(d, "")
	return len(head)+len(tail) > 0
}
