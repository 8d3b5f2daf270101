package app

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/statusz"
)

// checkRun is one run of the readiness checks.
type checkRun struct {
	done chan struct{} // closed when all checks have answered

	mu      sync.Mutex
	results []statusz.CheckResult
	ended   time.Time // zero while the run is in progress
}

// usable reports whether the results are used at a time.
func (c *checkRun) usable(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended.IsZero() || now.Sub(c.ended) < readinessAge
}

// answers returns the results so far.
func (c *checkRun) answers() []statusz.CheckResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.results)
}

// start runs all checks concurrently.
func (c *checkRun) start(r *readiness) {
	ctx, cancel := context.WithTimeout(r.ctx, r.limit)
	var all sync.WaitGroup
	checks := r.checks(ctx)
	for _, check := range checks {
		c.results = append(c.results, statusz.CheckResult{
			Name: check.Name, Advisory: check.Advisory, Reason: "has not answered within " + r.wait.String(),
		})
	}
	for i, check := range checks {
		all.Go(func() { c.put(i, check.result(ctx)) })
	}
	go func() {
		defer close(c.done)
		all.Wait()
		cancel()
		r.passed.Store(allPass(c.answers()))
		c.end(r.now())
	}()
}

func (c *checkRun) put(i int, result statusz.CheckResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results[i] = result
}

func (c *checkRun) end(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = at
}
