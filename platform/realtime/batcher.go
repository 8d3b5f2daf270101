package realtime

import (
	"context"
	"sync"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// maxBatch is the maximum number of events per transaction.
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
	event store.Event
	done  chan<- error
}

// add returns when the event is in the log. After an error the event may or may not be; adding it again is safe.
func (b *batcher) add(ctx context.Context, e store.Event) error {
	done := make(chan error, 1)
	b.mu.Lock()
	b.waiting = append(b.waiting, waiting{e, done})
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
	n := min(len(b.waiting), maxBatch)
	batch := b.waiting[:n:n]
	b.waiting = b.waiting[n:]
	b.busy = n > 0
	return batch
}

func (b *batcher) write(ctx context.Context, batch []waiting) error {
	all := make([]store.Event, len(batch))
	for i, w := range batch {
		all[i] = w.event
	}
	w := b.hub.Store.NewTx(b.home)
	w.InsertEvents(all, b.hub.Now())
	return w.Commit(ctx)
}
