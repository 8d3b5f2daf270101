package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

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
}

// errAway is the cause of errors of a home that is known not to answer.
var errAway = errors.New("the home did not answer a moment ago")

func isUnexpectedEOF(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// acquire takes a connection, unless the home is known to be away.
func (h *home) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if !h.breaker.allow() {
		return nil, errAway
	}
	return h.pool.Acquire(ctx)
}

// judge tells the breaker how a round trip went, and turns a home that does not answer into a clear error.
func (h *home) judge(ctx context.Context, err error) error {
	switch {
	case err == nil:
		h.breaker.success()
		return nil
	case errors.Is(err, errAway):
		return h.unavailable(err)
	case errors.Is(ctx.Err(), context.Canceled):
		h.breaker.release()
		return context.Canceled
	case unreachable(err):
		h.breaker.failure()
		return h.unavailable(err)
	default:
		h.breaker.success() // it answered, if only with an error
		return err
	}
}

func (h *home) unavailable(cause error) error {
	return fail.Unavailable(fmt.Sprintf("home region %s did not answer in time", h.code), cause)
}

// breaker lets calls to a lost home fail at once: after a failure one call a second may try, the others are refused.
type breaker struct {
	mu      sync.Mutex
	now     func() time.Time
	open    bool
	probing bool
	retryAt time.Time
}

// breakerPause is how long a home that did not answer is left alone before one call tries again.
const breakerPause = time.Second

func (b *breaker) allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return true
	}
	if b.probing || b.now().Before(b.retryAt) {
		return false
	}
	b.probing = true
	return true
}

func (b *breaker) success() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open, b.probing = false, false
}

func (b *breaker) failure() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open, b.probing, b.retryAt = true, false, b.now().Add(breakerPause)
}

// release ends a probe that the caller gave up, which says nothing about the home.
func (b *breaker) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}
