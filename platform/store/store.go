// Package store holds all SQL of the platform: one file a noun, over pools that belong to one home each.
//
// Reads are gathered in a Reads and writes in a Write: each is one round trip to each home it touches. A statement
// never touches two homes, and a Write is one transaction in one home; what has to change elsewhere leaves through the
// outbox.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/plaza-social/plaza/platform/region"
)

// Config says how to reach the rows of each home.
type Config struct {
	// URLs of the database by home; "" stands for the address of every home that is not named.
	URLs map[region.Code]string
	// PoolSize is the most connections to each home; 8 when zero.
	PoolSize int32
	// StatementTimeout ends a round trip to a home that does not answer; 3 s when zero.
	StatementTimeout time.Duration
	// Log takes what the store has to say; the default logger when nil.
	Log *slog.Logger
	// Registry takes the store's metrics; none when nil.
	Registry prometheus.Registerer
	// Fault is called before each transaction is sent, and its error stands for the database's. Tests inject 40001 with it.
	Fault func() error
}

// Store reaches the rows of every home.
type Store struct {
	homes   map[region.Code]*home
	timeout time.Duration
	log     *slog.Logger
	metrics *metrics
	fault   func() error
	end     context.CancelFunc // of what runs in the background
}

// Open prepares the pools. It does not wait for the database: Ping says whether it answers.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.StatementTimeout == 0 {
		cfg.StatementTimeout = 3 * time.Second
	}
	if cfg.PoolSize == 0 {
		cfg.PoolSize = 8
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Fault == nil {
		cfg.Fault = func() error { return nil }
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	s := &Store{homes: map[region.Code]*home{}, timeout: cfg.StatementTimeout, log: cfg.Log, fault: cfg.Fault, end: end}
	for _, code := range region.All() {
		pool, err := openPool(ctx, cfg, code)
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("database of home %s: %w", code, err)
		}
		s.homes[code] = &home{code: code, pool: pool, timeout: cfg.StatementTimeout, life: life, after: time.After}
	}
	var err error
	s.metrics, err = newMetrics(cfg.Registry, s)
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func openPool(ctx context.Context, cfg Config, code region.Code) (*pgxpool.Pool, error) {
	address := cfg.URLs[code]
	if address == "" {
		address = cfg.URLs[""]
	}
	if address == "" {
		return nil, errors.New("no address")
	}
	pc, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, errors.New("the address is not a database URL") // pgx's text would show the password
	}
	pc.MaxConns = cfg.PoolSize
	pc.MaxConnLifetime = time.Hour
	pc.MaxConnLifetimeJitter = 10 * time.Minute
	pc.MaxConnIdleTime = 10 * time.Minute
	pc.ConnConfig.ConnectTimeout = cfg.StatementTimeout
	// The server gives up a little after the client: the client's deadline is the one that people see.
	grace := cfg.StatementTimeout + time.Second
	pc.ConnConfig.RuntimeParams["statement_timeout"] = strconv.FormatInt(grace.Milliseconds(), 10)
	pc.ConnConfig.RuntimeParams["application_name"] = "plaza-" + string(code)
	return pgxpool.NewWithConfig(ctx, pc)
}

// closePatience bounds what Close waits for connections to end in an orderly way.
const closePatience = 5 * time.Second

// Close ends every connection. Those of a home that does not answer are left to themselves after a while.
func (s *Store) Close() {
	s.end()
	var all sync.WaitGroup
	for _, h := range s.homes {
		all.Go(h.pool.Close)
	}
	closed := make(chan struct{})
	go func() { all.Wait(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(closePatience):
	}
}

var sqlPing = stmt("store.ping", `SELECT 1`)

// Ping asks one home for an answer, whether it is known to be away or not.
func (s *Store) Ping(ctx context.Context, code region.Code) error {
	h := s.homes[code]
	bounded, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	start := time.Now()
	_, err := h.pool.Exec(bounded, sqlPing.SQL)
	return h.judge(ctx, err, time.Since(start))
}

// RedactURL returns address without its password, for people and logs.
func RedactURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(not a URL)"
	}
	return u.Redacted()
}
