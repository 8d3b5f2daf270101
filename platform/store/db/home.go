package db

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/fairqueue"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
)

// home is the database of one region. It has its own pool, so that statements that hang in an unreachable region do not
// use up other regions' connections, and its own breaker, so that calls fail fast once the region is known to be
// unreachable.
type home struct {
	code       region.Code
	address    dburl.URL
	pool       *pgxpool.Pool
	dial       pgconn.DialFunc  // of connections that do not wait for others to be opened
	queue      *fairqueue.Queue // of the pool's connections
	locked     *fairqueue.Queue // of the connections of reads that wait for locks, see readLocked
	hot        hotRows
	shards     shards
	breaker    breaker
	timeout    time.Duration
	limits     limits.Limits
	background context.Context // canceled by DB.Close
	after      func(time.Duration) <-chan time.Time
	checking   atomic.Bool
	answered   atomic.Pointer[time.Time] // when the home last answered; nil before the first time
	status     atomic.Pointer[Status]    // the last one; nil before the first
	// lockedWaits is the number of reads that returned their connection because a row was locked.
	lockedWaits atomic.Int64
}

// errHomeUnavailable is the cause of the error that an open breaker returns.
var errHomeUnavailable = errors.New("the home did not answer a moment ago")

// roundTrip calls trip unless the breaker is open, and reports the result to the breaker once, even if trip retries.
// It maps the error of an unreachable home to fail.Unavailable.
func (h *home) roundTrip(ctx context.Context, trip func() error) error {
	if !h.breaker.allow() {
		return h.unavailable(errHomeUnavailable)
	}
	start := time.Now()
	check := time.AfterFunc(h.slow(), func() { h.check(start) }) //nolint:contextcheck // the check may outlive the call
	err := trip()
	check.Stop()
	return h.record(ctx, err, start, time.Now())
}

// slow returns when a round trip counts as slow.
func (h *home) slow() time.Duration { return min(h.timeout/2, h.limits.SlowTrip) }

// check finds out, for a round trip that has taken long, whether the home responds at all: otherwise the time-out of a
// transaction that waits for a lock would open the breaker. It does nothing if the home has answered since start, or if
// another check is running.
func (h *home) check(start time.Time) {
	if h.answeredSince(start) || !h.checking.CompareAndSwap(false, true) {
		return
	}
	defer h.checking.Store(false)
	if h.responds() {
		h.success(time.Now())
	}
}

// responds reports whether the home responds on a connection of the pool that is idle, or on a new one if there is none.
// A new one for each check would cost a slow database more than the statements that it is slow with.
func (h *home) responds() bool {
	idle := h.pool.AcquireAllIdle(h.background)
	if len(idle) == 0 {
		return h.probe()
	}
	for _, conn := range idle[1:] {
		conn.Release()
	}
	defer idle[0].Release()
	ctx, cancel := context.WithTimeout(h.background, h.timeout)
	defer cancel()
	err := h.readSetting(ctx, idle[0].Conn())
	return err == nil || !unresponsive(err) && h.probe() // the home may have ended the session a while ago
}

func (h *home) answeredSince(start time.Time) bool {
	answered := h.answered.Load()
	return answered != nil && answered.After(start)
}

// errPoolBusy is the error of a call that got no connection, because other calls used all of them.
var errPoolBusy = errors.New("all database connections are in use")

// acquire returns a connection of the pool, and the function that returns it to the pool. While all are in use, they are
// shared fairly between users.
func (h *home) acquire(ctx context.Context) (*pgxpool.Conn, func(), error) {
	leave, err := h.queue.Acquire(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errPoolBusy, err)
	}
	conn, err := h.pool.Acquire(ctx)
	if err != nil {
		leave()
		if ctx.Err() != nil && h.pool.Stat().AcquiredConns() >= h.pool.Stat().MaxConns() {
			err = fmt.Errorf("%w: %w", errPoolBusy, err)
		}
		return nil, nil, h.address.Clean(err)
	}
	return conn, func() { conn.Release(); leave() }, nil
}

// lateness is how much later than its time limit a call may end. A call that ends later waited for this server.
const lateness = 500 * time.Millisecond

// ownLoad reports whether a failed call says more about the load of this server than about the home: there was no
// connection for it, the home has answered other calls or a check since, its timer fired late, or it had little time left
// when it was sent.
func (h *home) ownLoad(err error, start, end time.Time) bool {
	tooShort := errors.Is(err, context.DeadlineExceeded) && end.Sub(start) < h.slow()*3/2
	return tooShort || errors.Is(err, errPoolBusy) || h.answeredSince(start) || end.Sub(start) > h.timeout+lateness
}

// record reports the result of a round trip to the breaker and maps the error of an unreachable home. ctx is the
// caller's context without the DB's timeout: the early cancellation of a caller says nothing about the home, nor does
// the load of this server.
func (h *home) record(ctx context.Context, err error, start, end time.Time) error {
	canceledEarly := ctx.Err() != nil && end.Sub(start) < h.limits.CanceledTrip
	switch {
	case err == nil:
		h.success(end)
		return nil
	case canceledEarly: // other calls may succeed
	case unresponsive(err) || errors.Is(err, context.Canceled):
		if !h.ownLoad(err, start, end) {
			h.openBreaker() //nolint:contextcheck // the probe outlives the call that starts it
		}
	case unreachable(err): // one lost connection: other calls may succeed
	default:
		h.success(end) // the home responded with an error
		return err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	return h.unavailable(err)
}

// success records that the home has answered.
func (h *home) success(now time.Time) {
	h.answered.Store(&now)
	h.breaker.success()
}

func (h *home) unavailable(cause error) error {
	return fail.Unavailable(fmt.Sprintf("home region %s did not answer in time", h.code), cause)
}

// probeInterval is the time between two probes of a home whose breaker is open.
const probeInterval = time.Second

// openBreaker opens the breaker and starts the probe, unless it is already running.
func (h *home) openBreaker() {
	if h.breaker.failure() {
		go h.probeUntilClosed()
	}
}

// probeUntilClosed probes the home until its breaker is closed or the DB is closed.
func (h *home) probeUntilClosed() {
	for h.breaker.keepProbing() {
		select {
		case <-h.background.Done():
			return
		case <-h.after(probeInterval):
		}
		if h.probe() {
			h.breaker.success()
		}
	}
}

// The statement of probes reads from a table: a CockroachDB node may respond although the rows of the home are
// unavailable. Its rows rarely change, so that it does not wait for a lock.
var probeStatement = Register("store.probe", `SELECT name FROM settings WHERE home = $1 ORDER BY name LIMIT 1`)

// probe reports whether the home responds. It opens a new connection, because all connections of the pool may be stuck.
func (h *home) probe() bool {
	ctx, cancel := context.WithTimeout(h.background, h.timeout)
	defer cancel()
	config := h.pool.Config().ConnConfig
	config.DialFunc = h.dial
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return !unresponsive(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	return h.readSetting(ctx, conn) == nil
}

// readSetting reads a row of the home, if there is one.
func (h *home) readSetting(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, probeStatement.SQL, string(h.code))
	if isUndefinedTable(err) {
		return nil // the schema has not been migrated
	}
	return err
}
