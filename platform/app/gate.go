package app

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
)

// gate rejects API requests until the database has the schema that the program requires. A server that is started
// before its migration waits, reports that on /readyz, and serves as soon as the migration is done.
type gate struct {
	next   http.Handler
	routes func(context.Context) error // returns nil once the server knows where moved users are
	once   sync.Once
	opened chan struct{} // closed when the gate is open
}

func newGate(next http.Handler, routes func(context.Context) error) *gate {
	return &gate{next: next, routes: routes, opened: make(chan struct{})}
}

func (g *gate) isOpen() bool {
	select {
	case <-g.opened:
		return true
	default:
		return false
	}
}

// check opens the gate if the schema is sufficient and the routes are known, which are not read before. The gate stays open.
// It then passes while no home responds, which says nothing about the schema.
func (g *gate) check(ctx context.Context, schema func(context.Context) error) error {
	err := schema(ctx)
	if g.isOpen() {
		if errors.Is(err, fail.Unavailable("", nil)) {
			return nil
		}
		return err
	}
	if err == nil {
		err = g.routes(ctx)
	}
	if err == nil {
		g.once.Do(func() { close(g.opened) })
	}
	return err
}

// watch calls ask, which checks, until the gate is open or ctx ends.
func (g *gate) watch(ctx context.Context, ask func(context.Context)) error {
	for !g.isOpen() {
		ask(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-g.opened:
		case <-time.After(readinessAge):
		}
	}
	return nil
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
