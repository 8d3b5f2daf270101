package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

// home is one region's rows: a pool of its own, so that statements that hang for a lost region use up no other region's
// connections, and a breaker, so that they stop hanging once the loss is known.
type home struct {
	code    region.Code
	pool    *pgxpool.Pool
	breaker breaker
	timeout time.Duration
	life    context.Context // ends when the store is closed
	after   func(time.Duration) <-chan time.Time
}

// errAway is the cause of errors of a home that is known not to answer.
var errAway = errors.New("the home did not answer a moment ago")

func isUnexpectedEOF(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// patience is how long a call has to wait before its giving up tells something about the home.
const patience = time.Second

// roundTrip runs trip, unless the home is known to be away. It tells the breaker how that went, and turns the failure of a
// home that does not answer into a clear error. trip may try several times; together they are one round trip, so that the
// breaker hears of them once.
func (h *home) roundTrip(ctx context.Context, trip func() error) error {
	if !h.breaker.allow() {
		return h.unavailable(errAway)
	}
	start := time.Now()
	err := trip()
	return h.judge(ctx, err, time.Since(start))
}

// judge tells the breaker how a round trip went that took waited. ctx is the caller's own, without the store's time-out:
// a caller who gives up early says nothing about the home.
func (h *home) judge(ctx context.Context, err error, waited time.Duration) error {
	gaveUp := ctx.Err() != nil && waited < patience
	switch {
	case err == nil:
		h.breaker.success()
		return nil
	case (silent(err) || errors.Is(err, context.Canceled)) && !gaveUp:
		h.failure() //nolint:contextcheck // the watch outlives the call that begins it
	case unreachable(err) || gaveUp: // one connection ended, or the caller gave up: others may have better luck
	default:
		h.breaker.success() // it answered, if only with an error
		return err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	return h.unavailable(err)
}

func (h *home) unavailable(cause error) error {
	return fail.Unavailable(fmt.Sprintf("home region %s did not answer in time", h.code), cause)
}

// breaker lets calls to a lost home fail at once. While it is open, the home is asked in the background whether it is
// back: no caller waits for that.
type breaker struct {
	mu       sync.Mutex
	open     bool
	watching bool
}

// allow reports whether a call may try.
func (b *breaker) allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.open
}

// success closes the breaker.
func (b *breaker) success() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = false
}

// failure opens the breaker, and reports whether somebody has to begin to watch the home.
func (b *breaker) failure() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	begin := !b.watching
	b.open, b.watching = true, true
	return begin
}

// watched reports whether the breaker is open still; where it is not, the watch is over.
func (b *breaker) watched() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watching = b.open
	return b.open
}

// breakerPause is the time between two looks at a home that did not answer.
const breakerPause = time.Second

// failure leaves the home alone until it is back.
func (h *home) failure() {
	if h.breaker.failure() {
		go h.awaitReturn()
	}
}

// awaitReturn asks the home again and again until it answers or the store is closed.
func (h *home) awaitReturn() {
	for h.breaker.watched() {
		select {
		case <-h.life.Done():
			return
		case <-h.after(breakerPause):
		}
		if h.answers() {
			h.breaker.success()
		}
	}
}

// answers asks the home on a connection of its own: those of the pool may all be waiting for their end.
func (h *home) answers() bool {
	ctx, cancel := context.WithTimeout(h.life, h.timeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, h.pool.Config().ConnConfig)
	if err != nil {
		return !silent(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, sqlPing.SQL)
	return err == nil
}
