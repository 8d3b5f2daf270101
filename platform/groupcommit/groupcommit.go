// Package groupcommit processes items in groups: those that arrive while a group is being processed form the next one. One
// at a time they cost what they did before; under load they share transactions.
package groupcommit

import (
	"context"
	"errors"
	"sync"
)

// ErrFull is the error of an item for which there is no room.
var ErrFull = errors.New("too many items are waiting")

// Queue is a queue of items. Its fields must not change after the first call. It is safe for concurrent use.
type Queue[T any] struct {
	// Commit processes a group. It returns the error of each item, or nil if there are none. Its context has the values of one of
	// the callers, and no deadline.
	Commit func(ctx context.Context, items []T) []error
	// Size returns the size of an item; nil if each has the size 1.
	Size func(T) int
	// Max is the maximum size of a group. A larger item is a group of its own.
	Max int
	// MaxWaiting is the maximum number of items that wait.
	MaxWaiting int

	mu      sync.Mutex
	waiting []waiting[T]
	busy    bool
}

type waiting[T any] struct {
	item T
	done chan<- error // nil if the caller does not wait
}

// Add returns when an item has been processed. If ctx ends before, the item may still be processed.
func (q *Queue[T]) Add(ctx context.Context, item T) error {
	done := make(chan error, 1)
	if !q.add(ctx, waiting[T]{item, done}) {
		return ErrFull
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Go processes an item in the background. It reports whether there was room.
func (q *Queue[T]) Go(ctx context.Context, item T) bool { return q.add(ctx, waiting[T]{item: item}) }

func (q *Queue[T]) add(ctx context.Context, w waiting[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= q.MaxWaiting {
		return false
	}
	q.waiting = append(q.waiting, w)
	if !q.busy {
		q.busy = true
		go q.work(context.WithoutCancel(ctx)) // a group may contain items of other callers
	}
	return true
}

// work processes groups until no items are waiting.
func (q *Queue[T]) work(ctx context.Context) {
	for group := q.next(); len(group) > 0; group = q.next() {
		items := make([]T, len(group))
		for i, w := range group {
			items[i] = w.item
		}
		errs := q.Commit(ctx, items)
		for i, w := range group {
			var err error
			if errs != nil {
				err = errs[i]
			}
			if w.done != nil {
				w.done <- err
			}
		}
	}
}

func (q *Queue[T]) next() []waiting[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size := 0, 0
	for n < len(q.waiting) && (n == 0 || size+q.size(q.waiting[n].item) <= q.Max) {
		size += q.size(q.waiting[n].item)
		n++
	}
	group := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	q.busy = n > 0
	return group
}

func (q *Queue[T]) size(item T) int {
	if q.Size == nil {
		return 1
	}
	return q.Size(item)
}

// Each returns err for each of n items, nil if there is none.
func Each(err error, n int) []error {
	if err == nil {
		return nil
	}
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}
