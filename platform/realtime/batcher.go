package realtime

import (
	"context"
	"errors"
	"sync"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// maxBatch is the number of events per transaction; more only if they were added together.
const maxBatch = 100

// batcher appends events to the log of a home. Transactions on a log are serialized, so the events of a server are
// batched: events that arrive during a transaction are written together in the next one.
type batcher struct {
	hub  *Hub
	home region.Code
	wake func()

	mu      sync.Mutex
	waiting []waiting
	busy    bool
}

type waiting struct {
	events []store.Event
	done   chan<- error
}

// add returns when the events are in the log. After an error they may or may not be; adding them again is safe.
func (b *batcher) add(ctx context.Context, list ...store.Event) error {
	done := make(chan error, 1)
	b.mu.Lock()
	b.waiting = append(b.waiting, waiting{list, done})
	if !b.busy {
		b.busy = true
		go b.work(context.WithoutCancel(ctx)) // the batch may contain events of other callers
	}
	b.mu.Unlock()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// work writes batches until no events are waiting.
func (b *batcher) work(ctx context.Context) {
	for batch := b.next(); len(batch) > 0; batch = b.next() {
		err := b.write(ctx, batch)
		for _, w := range batch {
			w.done <- err
		}
		if err == nil {
			b.wake()
		}
	}
}

func (b *batcher) next() []waiting {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, size := 0, 0
	for n < len(b.waiting) && (n == 0 || size+len(b.waiting[n].events) <= maxBatch) {
		size += len(b.waiting[n].events)
		n++
	}
	batch := b.waiting[:n:n]
	b.waiting = b.waiting[n:]
	b.busy = n > 0
	return batch
}

func (b *batcher) write(ctx context.Context, batch []waiting) error {
	var all []store.Event
	for _, w := range batch {
		all = append(all, w.events...)
	}
	w := b.hub.Store.NewTx(b.home)
	w.InsertEvents(all, b.hub.Now())
	err := w.Commit(ctx)
	if errors.Is(err, store.ErrEventExists) { // of a delivery whose success was not recorded
		w = b.hub.Store.NewTx(b.home)
		w.InsertMissingEvents(all, b.hub.Now())
		err = w.Commit(ctx)
	}
	return err
}
