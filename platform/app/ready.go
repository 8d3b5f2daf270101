package app

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/statusz"
)

// Check is a readiness check.
type Check struct {
	// Name identifies the check for humans: "schema", "database us".
	Name string
	// Advisory checks are reported but do not affect readiness: an unavailable home only affects its own users.
	Advisory bool
	// Run returns nil or a reason that an operator can act on. It returns when its context ends.
	Run func(context.Context) error
}

// Readiness is the response of /readyz.
type Readiness = statusz.Readiness

// readiness runs the checks.
type readiness struct {
	checks   []Check
	limit    time.Duration // see limits.Limits.Check
	draining atomic.Bool
}

func newReadiness(checks []Check, limit time.Duration) *readiness {
	r := &readiness{limit: limit}
	r.add(Check{Name: "server", Run: r.serving})
	r.add(checks...)
	return r
}

// add adds checks. It must not be called after the server has started.
func (r *readiness) add(checks ...Check) { r.checks = append(r.checks, checks...) }

// drain makes the server permanently unready.
func (r *readiness) drain() { r.draining.Store(true) }

// closeWhileDraining closes clients' connections while the server drains, so that their next request uses a new
// connection, to another server. Otherwise a client might send a request while the server closes the idle connection,
// and it would fail without the client knowing whether it was processed.
func (r *readiness) closeWhileDraining(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, req)
	})
}

func (r *readiness) serving(context.Context) error {
	if r.draining.Load() {
		return errors.New("draining: the server is shutting down")
	}
	return nil
}

// check runs all checks concurrently.
func (r *readiness) check(ctx context.Context) Readiness {
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	answer := Readiness{Ready: true, Checks: make([]statusz.CheckResult, len(r.checks))}
	var wg sync.WaitGroup
	for i, c := range r.checks {
		wg.Go(func() { answer.Checks[i] = c.result(ctx) })
	}
	wg.Wait()
	for _, c := range answer.Checks {
		answer.Ready = answer.Ready && (c.Ready || c.Advisory)
	}
	return answer
}

// err returns nil if the server is ready, for gRPC health checks.
func (r *readiness) err(ctx context.Context) error {
	if state := r.check(ctx); !state.Ready {
		return errors.New(state.String())
	}
	return nil
}

func (c Check) result(ctx context.Context) statusz.CheckResult {
	result := statusz.CheckResult{Name: c.Name, Ready: true, Advisory: c.Advisory}
	if err := c.Run(ctx); err != nil {
		result.Ready, result.Reason = false, reasonOf(err)
	}
	return result
}

// reasonOf returns a one-line reason for the operator: for an error worded for clients, its cause.
func reasonOf(err error) string {
	var worded *fail.Error
	if errors.As(err, &worded) && worded.Unwrap() != nil {
		err = worded.Unwrap()
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
