package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
)

// checkTimeout ends a readiness check. It stays under the second that Kubernetes gives a probe by default, so that the
// answer names the check instead of being no answer.
const checkTimeout = 800 * time.Millisecond

// Check is one thing that a ready server needs.
type Check struct {
	// Name tells people what it is: "schema", "database us".
	Name string
	// Advisory checks are shown and do not make the server unready: another home that is away stops nobody whose data lives
	// in this one.
	Advisory bool
	// Run returns nil when all is well, or else the reason, in words an operator can act on. It ends with its context.
	Run func(context.Context) error
}

// Readiness is the answer of /readyz.
type Readiness struct {
	Ready  bool          `json:"ready"`
	Checks []CheckResult `json:"checks"`
}

// CheckResult is what one check said.
type CheckResult struct {
	Name     string `json:"name"`
	Ready    bool   `json:"ready"`
	Advisory bool   `json:"advisory,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// String returns the answer as text: what is not ready stands first, for people see the beginning of it in an event.
func (r Readiness) String() string {
	var bad, good strings.Builder
	for _, c := range r.Checks {
		switch {
		case c.Ready:
			fmt.Fprintf(&good, "%s: ok\n", c.Name)
		case c.Advisory:
			fmt.Fprintf(&bad, "%s: %s (the server stays ready)\n", c.Name, c.Reason)
		default:
			fmt.Fprintf(&bad, "%s: %s\n", c.Name, c.Reason)
		}
	}
	head := "ready\n"
	if !r.Ready {
		head = "not ready\n"
	}
	return head + bad.String() + good.String()
}

// readiness runs the checks.
type readiness struct {
	checks   []Check
	draining atomic.Bool
}

func newReadiness(checks []Check) *readiness {
	r := &readiness{}
	r.add(Check{Name: "server", Run: r.serving})
	r.add(checks...)
	return r
}

// add adds checks; all are added before the server runs.
func (r *readiness) add(checks ...Check) { r.checks = append(r.checks, checks...) }

// drain makes the server unready for good.
func (r *readiness) drain() { r.draining.Store(true) }

// lettingGo asks clients, once the end is near, not to use their connection again: their next request goes over a new one, to
// another server. Without that a request could be sent at the very moment at which the server closes an idle connection, and
// would fail though nobody knows whether it was carried out.
func (r *readiness) lettingGo(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, req)
	})
}

func (r *readiness) serving(context.Context) error {
	if r.draining.Load() {
		return errors.New("draining: the server is about to stop")
	}
	return nil
}

// check runs all checks at once.
func (r *readiness) check(ctx context.Context) Readiness {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	answer := Readiness{Ready: true, Checks: make([]CheckResult, len(r.checks))}
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

// err returns nil when the server is ready, for gRPC health checks.
func (r *readiness) err(ctx context.Context) error {
	if state := r.check(ctx); !state.Ready {
		return errors.New(state.String())
	}
	return nil
}

func (c Check) result(ctx context.Context) CheckResult {
	result := CheckResult{Name: c.Name, Ready: true, Advisory: c.Advisory}
	if err := c.Run(ctx); err != nil {
		result.Ready, result.Reason = false, reasonOf(err)
	}
	return result
}

// reasonOf returns what the operator needs in one line: for an error that was worded for clients, its cause.
func reasonOf(err error) string {
	var worded *fail.Error
	if errors.As(err, &worded) && worded.Unwrap() != nil {
		err = worded.Unwrap()
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
