package db

import (
	"context"
	"errors"
	"time"
)

// On CockroachDB, unlike on PostgreSQL, a read waits for a transaction that has locked or changed a row that it reads. The readers of
// one such row could use all connections of its home, so that unrelated requests fail. Each session therefore has a short
// lock_timeout, which CockroachDB applies to reads as well. A read that exceeds it returns its connection and is repeated; all reads
// of a home that are repeated for this reason share lockedReads connections. Transactions wait for locks without that limit: a
// repeated one would lose its place, and those of a server that lock the same row first use one connection together, see hotRows.

// errRowLocked is the cause of the error for reads whose time limit ended while another transaction had locked a row.
var errRowLocked = errors.New("another transaction has locked a row that is read")

// sqlWaitForLocks lifts the session's lock_timeout in a transaction.
const sqlWaitForLocks = "SET LOCAL lock_timeout = 0"

// lockedReads returns how many connections of a pool may be used by reads that wait for locks: a quarter, at least one.
func lockedReads(poolSize int32) int { return max(1, int(poolSize)/4) }

// readLocked repeats a read until the rows that it reads are not locked.
func (h *home) readLocked(ctx context.Context, queries []query) error {
	h.success(time.Now()) // the home did respond
	h.lockedWaits.Add(1)
	leave, err := h.locked.Acquire(ctx)
	if err != nil {
		return rowBusy(ctx, errRowLocked)
	}
	defer leave()
	for {
		err := sendQueries(ctx, h, queries)
		switch {
		case sqlState(err) == stateLockNotAvailable:
			h.success(time.Now())
		case err != nil && ctx.Err() != nil:
			return rowBusy(ctx, errRowLocked)
		default:
			return err
		}
	}
}
