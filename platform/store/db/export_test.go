package db

import (
	"context"
	"database/sql"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
)

// SetProbeTimer replaces the timer between two probes of an unreachable home.
func (d *DB) SetProbeTimer(after func(time.Duration) <-chan time.Time) {
	for _, h := range d.homes {
		h.after = after
	}
}

// SetProbeDial makes fail return the error of each connection of a probe, unless it is nil.
func (d *DB) SetProbeDial(code region.Code, fail func() error) {
	h := d.homes[code]
	dial := h.dial
	h.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if err := fail(); err != nil {
			return nil, err
		}
		return dial(ctx, network, address)
	}
}

// MinWait is how long a call must have waited before its cancellation counts as a failure of the home.
var MinWait = limits.Production().CanceledTrip

// CheckRelease is checkRelease.
var CheckRelease = checkRelease

// Record reports the result of a round trip that took a while to the breaker of a home.
func (d *DB) Record(ctx context.Context, code region.Code, err error, took time.Duration) error {
	start := time.Now()
	return d.homes[code].record(ctx, err, start, start.Add(took))
}

// AnsweredSince reports whether a home has answered after start.
func (d *DB) AnsweredSince(code region.Code, start time.Time) bool {
	return d.homes[code].answeredSince(start)
}

// Waiting returns how many calls wait for a connection to a home.
func (d *DB) Waiting(code region.Code) int { return d.homes[code].queue.Stats().Waiting }

// SetTimeout replaces the time limit of the batch.
func (b *Batch) SetTimeout(d time.Duration) { b.timeout = d }

// Probing reports whether the probe of a home is running.
func (d *DB) Probing(code region.Code) bool {
	b := &d.homes[code].breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.probing
}

// Responds reports whether a check of a home finds that it responds.
func (d *DB) Responds(code region.Code) bool { return d.homes[code].responds() }

// SetAnswered sets when a home last answered.
func (d *DB) SetAnswered(code region.Code, at time.Time) { d.homes[code].answered.Store(&at) }

// CountProbes returns a counter of the connections to a home that are opened outside of its pool.
func (d *DB) CountProbes(code region.Code) *atomic.Int64 {
	var count atomic.Int64
	h := d.homes[code]
	dial := h.dial
	h.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		count.Add(1)
		return dial(ctx, network, address)
	}
	return &count
}

// TakeConnections takes all connections of a home's pool. release returns them.
func (d *DB) TakeConnections(ctx context.Context, code region.Code) (release func(), err error) {
	pool := d.homes[code].pool
	var taken []*pgxpool.Conn
	for range pool.Config().MaxConns {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		taken = append(taken, conn)
	}
	return func() {
		for _, conn := range taken {
			conn.Release()
		}
	}, nil
}

// WithLease sets the duration of the lock's lease.
func (o MigrateOptions) WithLease(d time.Duration) MigrateOptions {
	o.test.lease = d
	return o
}

// WithInterval sets the time after which a step that still runs is reported.
func (o MigrateOptions) WithInterval(d time.Duration) MigrateOptions {
	o.test.every = d
	return o
}

// WithConnections changes the configuration of the connections.
func (o MigrateOptions) WithConnections(change func(*pgx.ConnConfig)) MigrateOptions {
	o.test.connect = change
	return o
}

// Unexported functions that are tested without CockroachDB.
var (
	InlineIndexes = inlineIndexes
	IsRegional    = isRegional
	RegionKey     = regionKey
	HomeRegion    = homeRegion
	Misplaced     = func(ctx context.Context, d *sql.DB, localities map[region.Code]string, survive string) ([]TablePlacement, error) {
		return misplaced(ctx, d, Layout{Localities: localities, Survive: survive})
	}
)

// MaxRowWaiters is the limit of the queue of a row.
const MaxRowWaiters = maxRowWaiters

// RowQueue is the queue of one row.
type RowQueue struct {
	hot hotRows
	row RowKey
}

// NewRowQueue returns the queue of a row of the first shared table.
func NewRowQueue(id string) *RowQueue {
	return &RowQueue{hotRows{rows: map[RowKey]*hotRow{}}, RowKey{sharedTables[0], id}}
}

// Enter waits for the row.
func (q *RowQueue) Enter(ctx context.Context) (leave func(), err error) {
	return q.hot.enter(ctx, q.row)
}

// Users returns how many transactions wait for the row or update it.
func (q *RowQueue) Users() int {
	q.hot.mu.Lock()
	defer q.hot.mu.Unlock()
	if r := q.hot.rows[q.row]; r != nil {
		return r.users
	}
	return 0
}

// TakeShards returns the shards of n concurrent transactions of one count.
func TakeShards(n int) (taken map[int64]bool, giveBack func()) {
	used := shards{used: map[RowKey]uint16{}}
	taken = map[int64]bool{}
	var all []func()
	for range n {
		shard, one := used.take(RowKey{sharedTables[0], "count"})
		taken[shard], all = true, append(all, one)
	}
	return taken, func() {
		for _, one := range all {
			one()
		}
		if len(used.used) > 0 {
			panic("shards are still in use")
		}
	}
}

// AsCockroach makes the sessions of a PostgreSQL be used as those of CockroachDB.
func AsCockroach(c *Config) { c.cockroach = func(*pgx.Conn) bool { return true } }

// ApplyBackupsTo is ApplyBackups with a connection.
var ApplyBackupsTo = applyBackups

// LockedReads returns how many reads of a home returned their connections because of a lock.
func (d *DB) LockedReads(code region.Code) int64 { return d.homes[code].lockedWaits.Load() }
