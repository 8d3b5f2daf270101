// Package groupcommit processes items in groups: those that arrive while a group of their key is being processed form the next one. One
// at a time they cost what they did before; under load they share transactions.
package groupcommit

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrFull is the error of an item for which there is no room.
var ErrFull = errors.New("too many items are waiting")

// Queue is a queue of items for each key. Its fields must not change after the first call. It is safe for concurrent use.
type Queue[K comparable, T any] struct {
	// Commit processes a group. It returns the error of each item in the order of the items, which it must not change, or nil if there
	// are none. Its context has the values of one of the callers, and no deadline.
	Commit func(ctx context.Context, key K, items []T) []error
	// Size returns the size of an item; nil if each has the size 1.
	Size func(T) int
	// Max is the maximum size of a group. A larger item is a group of its own.
	Max int
	// MaxWaiting is the maximum number of items of a key that wait.
	MaxWaiting int
	// User returns whose item it is: the first items of all users come before the second ones. Nil if items are processed in
	// the order of their arrival.
	User func(T) string
	// DropsLeft is whether items are not processed whose callers have left.
	DropsLeft bool
	// Slots is a semaphore of the groups of all keys; nil if there is no limit.
	Slots chan struct{}

	mu      sync.Mutex
	waiting map[K][]waiting[T] // has a key for every group that is being processed
}

type waiting[T any] struct {
	item T
	left <-chan struct{} // closed when the caller has left
	done chan<- error    // nil if the caller does not wait
}

// Add returns when an item has been processed. If ctx ends before, the item may still be processed.
func (q *Queue[K, T]) Add(ctx context.Context, key K, item T) error {
	done := make(chan error, 1)
	if !q.add(ctx, key, waiting[T]{item, ctx.Done(), done}) {
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
func (q *Queue[K, T]) Go(ctx context.Context, key K, item T) bool {
	return q.add(ctx, key, waiting[T]{item: item})
}

func (q *Queue[K, T]) add(ctx context.Context, key K, w waiting[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		q.waiting = map[K][]waiting[T]{}
	}
	all, busy := q.waiting[key]
	if len(all) >= q.MaxWaiting {
		return false
	}
	q.waiting[key] = append(all, w)
	if !busy {
		go q.work(context.WithoutCancel(ctx), key) // a group may contain items of other callers
	}
	return true
}

// work processes groups until no items are waiting.
func (q *Queue[K, T]) work(ctx context.Context, key K) {
	for q.processNext(ctx, key) {
	}
}

// processNext processes the next group, and reports whether there was one.
func (q *Queue[K, T]) processNext(ctx context.Context, key K) bool {
	if q.Slots != nil {
		q.Slots <- struct{}{}
		defer func() { <-q.Slots }()
	}
	group := q.next(key)
	if len(group) == 0 {
		return false
	}
	items := make([]T, len(group))
	for i, w := range group {
		items[i] = w.item
	}
	errs := q.Commit(ctx, key, items)
	for i, w := range group {
		var err error
		if errs != nil {
			err = errs[i]
		}
		if w.done != nil {
			w.done <- err
		}
	}
	return true
}

func (q *Queue[K, T]) next(key K) []waiting[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.waiting[key]
	if q.DropsLeft {
		all = slices.DeleteFunc(all, waiting[T].hasLeft)
	}
	if q.User != nil {
		all = q.inTurns(all)
	}
	n, size := 0, 0
	for n < len(all) && (n == 0 || size+q.size(all[n].item) <= q.Max) {
		size += q.size(all[n].item)
		n++
	}
	if n == 0 {
		delete(q.waiting, key)
		return nil
	}
	q.waiting[key] = all[n:]
	return all[:n:n]
}

func (w waiting[T]) hasLeft() bool {
	select {
	case <-w.left:
		return true
	default:
		return false
	}
}

// inTurns returns items in the order in which their users take turns.
func (q *Queue[K, T]) inTurns(all []waiting[T]) []waiting[T] {
	sent, turns := map[string]int{}, [][]waiting[T]{}
	for _, w := range all {
		turn := sent[q.User(w.item)]
		sent[q.User(w.item)]++
		if turn == len(turns) {
			turns = append(turns, nil)
		}
		turns[turn] = append(turns[turn], w)
	}
	return slices.Concat(turns...)
}

func (q *Queue[K, T]) size(item T) int {
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
	return slices.Repeat([]error{err}, n)
}
