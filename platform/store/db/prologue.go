package db

import (
	"context"
	"slices"
	"sync/atomic"
)

// prologue is what every transaction of a context begins with.
type prologue struct {
	queue     func(*Tx)
	committed atomic.Bool // whether a transaction was committed, or may have been
}

type prologueKey struct{}

// WithPrologue returns a context whose transactions, except those without a record, begin with the statements that queue
// adds. committed reports whether any of them was committed or may have been.
func WithPrologue(ctx context.Context, queue func(*Tx)) (with context.Context, committed func() bool) {
	p := &prologue{queue: queue}
	return context.WithValue(ctx, prologueKey{}, p), p.committed.Load
}

// WithoutPrologue returns a context whose transactions have neither a prologue nor a record.
func WithoutPrologue(ctx context.Context) context.Context {
	return context.WithValue(context.WithValue(ctx, prologueKey{}, (*prologue)(nil)), recordKey{}, (*record)(nil))
}

// begin adds the prologue of ctx to t.
func (t *Tx) begin(ctx context.Context) *prologue {
	p, _ := ctx.Value(prologueKey{}).(*prologue)
	if p == nil || t.unrecorded {
		return nil
	}
	head := &Tx{db: t.db, home: t.home}
	p.queue(head)
	t.steps = slices.Concat(head.steps, t.steps)
	return p
}

// end stores the result of a transaction.
func (p *prologue) end(refusal, err error) {
	if p != nil && maybeStored(refusal, err) {
		p.committed.Store(true)
	}
}

// maybeStored reports whether a transaction with this result may be committed. Only a refusal, or an error that is not
// the connection's, means for certain that nothing was stored.
func maybeStored(refusal, err error) bool {
	return refusal == nil && (err == nil || unreachable(err))
}
