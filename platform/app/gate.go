package app

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// gate rejects API requests until the database has the schema that the program requires. A server that is started
// before its migration waits, reports that on /readyz, and serves as soon as the migration is done.
type gate struct {
	next   http.Handler
	schema func(context.Context) error // returns nil if the schema is sufficient
	limit  time.Duration               // see limits.Limits.Check
	once   sync.Once
	opened chan struct{} // closed when the gate is open
}

func newGate(next http.Handler, limit time.Duration, schema func(context.Context) error) *gate {
	return &gate{next: next, limit: limit, schema: schema, opened: make(chan struct{})}
}

func (g *gate) isOpen() bool {
	select {
	case <-g.opened:
		return true
	default:
		return false
	}
}

// gatePause is the interval between two schema checks.
const gatePause = 500 * time.Millisecond

// check opens the gate if the schema is sufficient. The gate stays open, and the schema is not checked again, because
// migrations are never reverted.
func (g *gate) check(ctx context.Context) error {
	if g.isOpen() {
		return nil
	}
	err := g.schema(ctx)
	if err == nil {
		g.once.Do(func() { close(g.opened) })
	}
	return err
}

// watch checks until the gate is open or ctx ends.
func (g *gate) watch(ctx context.Context) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, g.limit)
		err := g.check(attempt)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(gatePause):
		}
	}
}

// afterOpening returns a worker that starts when the gate is open, because workers use tables, too.
func (g *gate) afterOpening(w worker) worker {
	return worker{name: w.name, run: func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return nil
		case <-g.opened:
			return w.run(ctx)
		}
	}}
}

// ServeHTTP serves the API, or responds with 503 and an error body while the gate is closed.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.isOpen() {
		g.next.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, `{"status":"error","code":500000,"message":"Unexpected error"}`)
}
