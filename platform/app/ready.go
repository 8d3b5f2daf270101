package app

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/statusz"
)

const (
	// readinessAge is how long the results of the checks are used. Callers in that time cost the database nothing.
	readinessAge = time.Second
	// checkGrace is how much longer than a statement a check may take.
	checkGrace = time.Second
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

// readiness runs the checks for all who ask: probes, gRPC health checks, the status of the server and the server itself. At most
// one run is in progress, and its results are used for readinessAge. A run belongs to none of its callers, so that it
// continues when one leaves or has waited for long enough.
type readiness struct {
	checks func(context.Context) []Check // returns the checks of a run, which share what they ask the database
	limit  time.Duration                 // of a run
	wait   time.Duration                 // of a caller, see limits.Limits.Check
	now    func() time.Time
	ctx    context.Context // of the runs
	cancel context.CancelFunc

	drained chan struct{} // closed when the server drains
	once    sync.Once

	passed atomic.Bool // whether all checks of the latest run that has ended passed, apart from advisory ones

	mu     sync.Mutex
	latest *checkRun // nil before the first run
}

// newReadiness returns the readiness of a server without checks. limit bounds a run, and wait how long a caller waits for one.
func newReadiness(ctx context.Context, limit, wait time.Duration) *readiness {
	r := &readiness{
		checks: func(context.Context) []Check { return nil }, limit: limit, wait: wait, now: time.Now, drained: make(chan struct{}),
	}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return r
}

// add adds the checks that begin returns for each run. It must not be called after the server has started.
func (r *readiness) add(begin func(context.Context) []Check) {
	before := r.checks
	r.checks = func(ctx context.Context) []Check { return append(before(ctx), begin(ctx)...) }
}

// drain makes the server permanently unready, at once: that the server drains is no result of a run.
func (r *readiness) drain() { r.once.Do(func() { close(r.drained) }) }

func (r *readiness) draining() bool {
	select {
	case <-r.drained:
		return true
	default:
		return false
	}
}

// close ends the run in progress and waits for it. There are no further ones.
func (r *readiness) close() {
	r.drain()
	r.cancel()
	r.mu.Lock()
	run := r.latest
	r.mu.Unlock()
	if run != nil {
		<-run.done
	}
}

// closeWhileDraining closes clients' connections while the server drains, so that their next request uses a new
// connection, to another server. Otherwise a client might send a request while the server closes the idle connection,
// and it would fail without the client knowing whether it was processed.
func (r *readiness) closeWhileDraining(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.draining() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, req)
	})
}

func (r *readiness) serving(context.Context) error {
	if r.draining() {
		return errors.New("draining: the server is shutting down")
	}
	return nil
}

// check returns the results of the latest run, which it starts or waits for if need be. Checks that have not answered when the
// caller has waited for long enough have failed.
func (r *readiness) check(ctx context.Context) Readiness {
	run := r.run() //nolint:contextcheck // a run belongs to none of its callers
	if run != nil {
		r.await(ctx, run)
	}
	answer := Readiness{Ready: true, Checks: []statusz.CheckResult{Check{Name: "server", Run: r.serving}.result(ctx)}}
	if run != nil {
		answer.Checks = append(answer.Checks, run.answers()...)
	}
	answer.Ready = allPass(answer.Checks)
	return answer
}

// allPass reports whether all results are good, apart from advisory ones.
func allPass(results []statusz.CheckResult) bool {
	return !slices.ContainsFunc(results, func(c statusz.CheckResult) bool { return !c.Ready && !c.Advisory })
}

// await waits until the run has ended, the server drains or the caller leaves, or it has waited for long enough.
func (r *readiness) await(ctx context.Context, run *checkRun) {
	ctx, cancel := context.WithTimeout(ctx, r.wait)
	defer cancel()
	select {
	case <-run.done:
	case <-r.drained:
	case <-ctx.Done():
	}
}

// run returns the run in progress, or the latest one if its results are still used, or a new one. While the server drains,
// there are no new ones; the result is nil if there was none.
func (r *readiness) run() *checkRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.latest != nil && r.latest.usable(r.now()) || r.draining() {
		return r.latest
	}
	r.latest = &checkRun{done: make(chan struct{})}
	r.latest.start(r)
	return r.latest
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
