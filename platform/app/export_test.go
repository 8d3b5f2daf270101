package app

import (
	"context"
	"net/http"
	"time"
)

// WithHandler serves handler instead of the API. No database or key file is opened.
func WithHandler(handler http.Handler) Option { return func(o *options) { o.handler = handler } }

// WithDrained lets the drain take until ended is closed, instead of the drain delay.
func WithDrained(ended <-chan time.Time) Option { return func(o *options) { o.drained = ended } }

// WithChecks adds readiness checks.
func WithChecks(checks ...Check) Option {
	return func(o *options) { o.checks = append(o.checks, checks...) }
}

// WithReadyClock sets the clock of the age of readiness results.
func WithReadyClock(now func() time.Time) Option { return func(o *options) { o.clock = now } }

// DrainJobs runs every lane of each background job once and returns the errors by job.
func (r *Region) DrainJobs(ctx context.Context) map[string]error {
	failed := map[string]error{}
	for _, job := range r.parts.jobs {
		if err := job.Once(ctx, r.cfg.Region); err != nil {
			failed[job.Name] = err
		}
	}
	return failed
}

// IdleConnections returns the number of connections to the API without a request.
func (r *Region) IdleConnections() int {
	l, ok := r.api.Listener.(*limitedListener)
	if !ok {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	idle := 0
	for _, a := range l.addresses {
		idle += a.idle.Len()
	}
	return idle
}
