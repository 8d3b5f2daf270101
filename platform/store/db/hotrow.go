package db

import (
	"context"
	"errors"
	"sync"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/fairqueue"
)

// maxRowWaiters bounds the transactions of this server that wait for the same row.
const maxRowWaiters = 256

// errRowBusy is the cause of the error for transactions whose time limit ended while they waited for a row, or for which the queue was
// full.
var errRowBusy = errors.New("other transactions of this server update the same row")

// hotRows runs the transactions of this server that lock the same row first one after the other. The database does so in
// any case: more of them would occupy connections while they wait, and most would have to be retried. Other rows that they
// lock have no queue, because a transaction that waits for one row must not hold up those that update another.
type hotRows struct {
	mu   sync.Mutex
	rows map[RowKey]*hotRow
}

// hotRow is a row that transactions update.
type hotRow struct {
	queue *fairqueue.Queue
	users int // transactions that wait or are in flight
}

// enter waits until no other transaction updates the row.
func (h *hotRows) enter(ctx context.Context, row RowKey) (leave func(), err error) {
	r := h.join(row)
	if r == nil {
		return nil, rowBusy(ctx, errRowBusy)
	}
	release, err := r.queue.Acquire(ctx)
	if err != nil {
		h.quit(row, r)
		return nil, rowBusy(ctx, errors.Join(errRowBusy, err))
	}
	return func() {
		release()
		h.quit(row, r)
	}, nil
}

// join returns the queue of a row, or nil if it is full.
func (h *hotRows) join(row RowKey) *hotRow {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.rows[row]
	if r == nil {
		r = &hotRow{queue: fairqueue.New(1)}
		h.rows[row] = r
	}
	if r.users > maxRowWaiters {
		return nil
	}
	r.users++
	return r
}

func (h *hotRows) quit(row RowKey, r *hotRow) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.users--; r.users == 0 {
		delete(h.rows, row)
	}
}

// rowBusy returns the error of a transaction that was not sent.
func rowBusy(ctx context.Context, cause error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	return fail.Unavailable("too many requests change the same object; try again later", cause)
}
