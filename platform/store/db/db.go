// Package db is the engine of the store: connection pools by home region, read batches, transactions with retries, the
// registry of statements, migrations and the placement of rows.
//
// A Batch and a Tx are one round trip to each home they touch. A statement never touches two homes, and a Tx is one
// transaction in one home; changes of other homes go through the outbox.
package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/fairqueue"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
)

// Config configures the connections to the homes.
type Config struct {
	// URLs are the database URLs by home. The URL of "" applies to every home that has none.
	URLs map[region.Code]string
	// PoolSize is the maximum number of connections to each home; 8 when zero.
	PoolSize int32
	// StatementTimeout bounds a round trip; 3 s when zero.
	StatementTimeout time.Duration
	// Limits are the time limits of the server; those of production when zero.
	Limits limits.Limits
	// Log is the logger; the default logger when nil.
	Log *slog.Logger
	// Registry registers the metrics; they are not registered when nil.
	Registry prometheus.Registerer
	// Fault is called before each transaction is sent; a non-nil error is handled as if the database had returned it.
	// Tests use it to inject serialization failures.
	Fault func() error
	// Sent is called with the statements of each transaction before they are sent, unless it is nil. Tests use it to check the order
	// of locks, and to change what a transaction depends on.
	Sent func([]Queued)
	// Refused is called with the condition that made a transaction fail, unless it is nil.
	Refused func(Queued)

	// cockroach reports whether a session is configured and used as those of CockroachDB; reportsCockroach when nil. Tests use
	// such sessions on PostgreSQL.
	cockroach func(*pgx.Conn) bool
}

// DB holds the connection pools of all homes.
type DB struct {
	homes     map[region.Code]*home
	timeout   time.Duration
	limits    limits.Limits
	log       *slog.Logger
	metrics   *metrics
	fault     func() error
	routes    *Routes
	sent      func([]Queued)
	refused   func(Queued)
	cockroach func(*pgx.Conn) bool // see Config.cockroach

	stop context.CancelFunc // stops the background probes
}

// Open creates the pools. It does not wait for the database; Status asks a home.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if cfg.StatementTimeout == 0 {
		cfg.StatementTimeout = 3 * time.Second
	}
	if cfg.PoolSize == 0 {
		cfg.PoolSize = 8
	}
	if cfg.Limits == (limits.Limits{}) {
		cfg.Limits = limits.Production()
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Fault == nil {
		cfg.Fault = func() error { return nil }
	}
	if cfg.cockroach == nil {
		cfg.cockroach = reportsCockroach
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	d := &DB{
		homes: map[region.Code]*home{}, timeout: cfg.StatementTimeout, limits: cfg.Limits, log: cfg.Log, fault: cfg.Fault, sent: cfg.Sent,
		refused:   cfg.Refused,
		cockroach: cfg.cockroach, routes: newRoutes(cfg.Limits), stop: stop,
	}
	for _, code := range region.All() {
		address, err := cfg.address(code)
		if err != nil {
			d.Close()
			return nil, fmt.Errorf("database of home %s: %w", code, err)
		}
		pool, dial, err := openPool(ctx, cfg, code, address)
		if err != nil {
			d.Close()
			return nil, fmt.Errorf("database of home %s: %w", code, err)
		}
		d.homes[code] = &home{
			code: code, address: address, pool: pool, dial: dial, hot: hotRows{rows: map[RowKey]*hotRow{}},
			queue: fairqueue.New(int(cfg.PoolSize)), locked: fairqueue.New(lockedReads(cfg.PoolSize)),
			shards:  shards{used: map[RowKey]uint16{}},
			timeout: cfg.StatementTimeout, limits: cfg.Limits, background: background, after: time.After,
		}
	}
	var err error
	d.metrics, err = newMetrics(cfg.Registry, d)
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// address returns the database URL of a home.
func (c Config) address(code region.Code) (dburl.URL, error) {
	text := cmp.Or(c.URLs[code], c.URLs[""])
	if text == "" {
		return dburl.URL{}, errors.New("no address")
	}
	return dburl.Parse(text)
}

// driverError returns the error with which the driver refuses a URL, as a text: the driver's error contains the URL with its password.
func driverError(address dburl.URL, err error) error { return errors.New(address.Redact(err.Error())) }

// planLifetime is how long a connection, and so a plan, is used. A plan that was made while the statistics of its tables
// were those of empty tables can read a whole index.
const planLifetime = 10 * time.Minute

// openPool returns the pool of a home, which opens few connections at once, and the function that dials without that limit.
func openPool(ctx context.Context, cfg Config, code region.Code, address dburl.URL) (*pgxpool.Pool, pgconn.DialFunc, error) {
	pc, err := pgxpool.ParseConfig(address.Reveal())
	if err != nil {
		return nil, nil, driverError(address, err)
	}
	pc.MaxConns = cfg.PoolSize
	pc.MaxConnLifetime = planLifetime
	pc.MaxConnLifetimeJitter = planLifetime / 5
	pc.MaxConnIdleTime = 10 * time.Minute
	pc.ConnConfig.ConnectTimeout = cfg.StatementTimeout
	pc.ConnConfig.BuildContextWatcherHandler = newCancellation(cfg.Limits.CancelGrace)
	// The server's timeout is longer than the client's, so that the client's error is the one that is reported.
	grace := cfg.StatementTimeout + time.Second
	pc.ConnConfig.RuntimeParams["statement_timeout"] = strconv.FormatInt(grace.Milliseconds(), 10)
	// Planning a statement for its arguments takes longer than most statements. TestPlans checks the generic plans of PostgreSQL;
	// configureSession sets what CockroachDB uses.
	pc.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	// Generic plans that are made while a table is empty stay in use while it grows, so they must use its indexes.
	pc.ConnConfig.RuntimeParams["enable_seqscan"] = "off"
	pc.ConnConfig.RuntimeParams["application_name"] = "plaza-" + string(code)
	opening := newConnecting(pc.ConnConfig.DialFunc, cfg.StatementTimeout)
	pc.ConnConfig.DialFunc = opening.open
	pc.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if cfg.cockroach(conn) {
			if err := configureSession(ctx, conn, cfg.Limits.ReadLock); err != nil {
				return err
			}
		}
		return opening.opened(ctx, conn)
	}
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	return pool, opening.dial, err
}

// Limits returns the time limits of the server.
func (d *DB) Limits() limits.Limits { return d.limits }

// Close closes all connections. It returns after Limits.CloseDatabases even if a home does not respond.
func (d *DB) Close() {
	d.stop()
	var pools sync.WaitGroup
	for _, h := range d.homes {
		pools.Go(h.pool.Close)
	}
	closed := make(chan struct{})
	go func() { pools.Wait(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(d.limits.CloseDatabases):
	}
}
