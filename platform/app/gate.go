package app

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// gate keeps the API shut until the database has the schema that this program needs. A server that starts before its
// migration waits here, with /readyz saying for what, and serves as soon as it can.
type gate struct {
	next   http.Handler
	schema func(context.Context) error // nil when the schema will do
	once   sync.Once
	opened chan struct{} // closed when the gate is open
}

func newGate(next http.Handler, schema func(context.Context) error) *gate {
	return &gate{next: next, schema: schema, opened: make(chan struct{})}
}

func (g *gate) isOpen() bool {
	select {
	case <-g.opened:
		return true
	default:
		return false
	}
}

// gatePause is the time between two looks at the schema.
const gatePause = 500 * time.Millisecond

// check opens the gate when the schema will do. The gate never shuts again, and the database is not asked again either: a
// schema does not go back.
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

// watch looks until the gate is open or ctx ends.
func (g *gate) watch(ctx context.Context) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, checkTimeout)
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

// behind makes a worker wait for the gate: it works on tables, too.
func (g *gate) behind(w worker) worker {
	return worker{name: w.name, run: func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return nil
		case <-g.opened:
			return w.run(ctx)
		}
	}}
}

// ServeHTTP serves the API, or the interface's error body with 503 while the gate is shut.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.isOpen() {
		g.next.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, `{"status":"error","code":500000,"message":"Unexpected error"}`)
}
