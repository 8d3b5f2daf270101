package db

import (
	"context"
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/fairqueue"
)

// Shards is the number of rows that a count is distributed over.
const Shards = 16

type anyShard struct{}

// AnyShard is the argument for the shard of a count that Commit replaces by one that no other transaction of this server
// is using. It must be the last part of the key of a statement that UpdatesFirst.
var AnyShard any = anyShard{}

// maxRowWaiters bounds the transactions of this server that wait for the same row.
const maxRowWaiters = 256

// errRowBusy is the cause of the error for transactions that waited for a row in vain, or for which the queue was full.
var errRowBusy = errors.New("other transactions of this server update the same row")

// hotRows bounds the transactions that this server has in flight for each row of a shared table. A database runs
// transactions of one row one after the other in any case: more of them would occupy connections while they wait, and
// most would have to be retried.
type hotRows struct {
	mu   sync.Mutex
	rows map[RowKey]*hotRow
}

// hotRow is a row that transactions update, or the shards of the counts of one reference.
type hotRow struct {
	queue *fairqueue.Queue
	users int    // transactions that wait or are in flight
	free  uint16 // the shards that are not in use, a bit each
}

// claim waits until the transaction with these steps may be sent, and replaces AnyShard in them. Rows are claimed in the
// order of the locks. The caller must call release exactly once, unless err is not nil.
func (h *hotRows) claim(ctx context.Context, steps []Step, m *metrics, home string) (release func(), err error) {
	rows, counts := claimed(steps)
	var releases []func()
	release = func() {
		for _, r := range slices.Backward(releases) {
			r()
		}
	}
	if len(rows)+len(counts) == 0 {
		return release, nil
	}
	began := time.Now()
	for _, row := range rows {
		_, done, err := h.enter(ctx, row, 1)
		if err != nil {
			release()
			m.rowRejections.WithLabelValues(home).Inc()
			return nil, err
		}
		releases = append(releases, done)
	}
	for _, row := range counts {
		shard, done, err := h.enter(ctx, row, Shards)
		if err != nil {
			release()
			m.rowRejections.WithLabelValues(home).Inc()
			return nil, err
		}
		releases = append(releases, done)
		setShard(steps, row, shard)
	}
	m.rowWait.WithLabelValues(home).Observe(time.Since(began).Seconds())
	return release, nil
}

// claimed returns the rows that the steps lock, other than counts, and the references of counts that may use any shard,
// both in the order of the locks.
func claimed(steps []Step) (rows, counts []RowKey) {
	for i := range steps {
		s := &steps[i]
		switch ref, ok := s.anyShardOf(); {
		case ok:
			counts = append(counts, ref)
		case s.statement.Update != nil && !s.statement.Update.Table.IsSharded:
			rows = append(rows, s.rows()...)
		}
	}
	slices.SortFunc(rows, compareRows)
	slices.SortFunc(counts, compareRows)
	return slices.Compact(rows), slices.Compact(counts)
}

// anyShardOf returns the reference of the count that the step adds to, if it may use any shard.
func (s *Step) anyShardOf() (RowKey, bool) {
	u := s.statement.Update
	if u == nil || !u.Table.IsSharded || len(u.Key) == 0 || s.args[u.Key[len(u.Key)-1]-1] != AnyShard {
		return RowKey{}, false
	}
	ref, _ := s.args[u.Key[0]-1].(string)
	return RowKey{u.Table, ref}, true
}

func setShard(steps []Step, ref RowKey, shard int64) {
	for i := range steps {
		s := &steps[i]
		if of, ok := s.anyShardOf(); ok && of == ref {
			key := s.statement.Update.Key
			s.args[key[len(key)-1]-1] = shard
		}
	}
}

// enter waits until the row is in use by fewer than limit transactions and returns a shard that none of them uses.
func (h *hotRows) enter(ctx context.Context, row RowKey, limit int) (shard int64, leave func(), err error) {
	r := h.join(row, limit)
	if r == nil {
		return 0, nil, rowBusy(ctx, errRowBusy)
	}
	release, err := r.queue.Acquire(ctx)
	if err != nil {
		h.quit(row, r)
		return 0, nil, rowBusy(ctx, errors.Join(errRowBusy, err))
	}
	shard = h.takeShard(r)
	return shard, func() {
		h.returnShard(r, shard)
		release()
		h.quit(row, r)
	}, nil
}

// join returns the queue of a row, or nil if it is full.
func (h *hotRows) join(row RowKey, limit int) *hotRow {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.rows[row]
	if r == nil {
		r = &hotRow{queue: fairqueue.New(limit), free: 1<<Shards - 1}
		h.rows[row] = r
	}
	if r.users >= limit+maxRowWaiters {
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

// takeShard returns a random free shard.
func (h *hotRows) takeShard(r *hotRow) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	turn := rand.IntN(Shards) //nolint:gosec // the shard need not be a secret
	shard := (bits.TrailingZeros16(bits.RotateLeft16(r.free, -turn)) + turn) % Shards
	r.free &^= 1 << shard
	return int64(shard)
}

func (h *hotRows) returnShard(r *hotRow, shard int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.free |= 1 << shard
}

// rowBusy returns the error of a transaction that was not sent.
func rowBusy(ctx context.Context, cause error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	return fail.Unavailable("too many requests change the same object; try again later", cause)
}
