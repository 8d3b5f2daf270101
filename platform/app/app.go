// Package app assembles the server of one region from its configuration: the API listener, the operations listener, and
// everything behind them. `plaza serve` runs one, `plaza dev` and the tests run three in one process.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// Region is the server of one region. It holds its two ports from New on and serves while Run runs.
type Region struct {
	cfg     config.Config
	log     *slog.Logger
	metrics *telemetry.Metrics
	ready   *readiness
	api     listener
	ops     listener
	parts   *parts
}

// Option changes how a Region is assembled.
type Option func(*options)

type options struct {
	handler http.Handler
	checks  []Check
	fault   func() error
}

// WithHandler serves handler instead of the API of the configuration. No database and no key is opened then.
func WithHandler(handler http.Handler) Option { return func(o *options) { o.handler = handler } }

// WithChecks adds readiness checks.
func WithChecks(checks ...Check) Option {
	return func(o *options) { o.checks = append(o.checks, checks...) }
}

// WithStoreFault calls fault before each transaction is sent; its error stands for the database's. Tests inject 40001 so.
func WithStoreFault(fault func() error) Option { return func(o *options) { o.fault = fault } }

// New opens the listeners, the keys and the database pools. It does not wait for the database: /readyz says whether it
// answers. Errors are *ListenError for a port, *config.Error for a setting, and the key files' own.
func New(ctx context.Context, cfg config.Config, log *slog.Logger, opts ...Option) (*Region, error) {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	log = log.With("region", cfg.Region.String())
	r := &Region{cfg: cfg, log: log, metrics: telemetry.NewMetrics(string(cfg.NetworkID), cfg.Region)}
	// Ports first: a port that is taken is the mistake people make, and nothing needs to be undone for it.
	if err := r.listen(); err != nil {
		return nil, err
	}
	r.ready = newReadiness(o.checks)
	var err error
	if r.parts, err = r.assemble(ctx, o); err != nil {
		return nil, errors.Join(err, r.api.close(), r.ops.close())
	}
	r.api.server = r.apiServer(r.ready.lettingGo(r.parts.handler))
	if r.parts.drain != nil {
		r.api.server.RegisterOnShutdown(r.parts.drain)
	}
	r.ops.server = r.opsServer(opsHandler(r.ready, r.metrics, r.parts.report))
	return r, nil
}

func (r *Region) listen() error {
	var err error
	if r.api, err = listen("listen", r.cfg.Listen); err != nil {
		return err
	}
	if r.ops, err = listen("ops-listen", r.cfg.OpsListen); err != nil {
		return errors.Join(err, r.api.close())
	}
	return nil
}

// Code returns the region that is served.
func (r *Region) Code() region.Code { return r.cfg.Region }

// APIAddr returns the address of the API, host:port, with the port that was taken for port 0.
func (r *Region) APIAddr() string { return r.api.Addr().String() }

// OpsAddr returns the address of operations, as APIAddr does.
func (r *Region) OpsAddr() string { return r.ops.Addr().String() }

// Ready runs the readiness checks, as /readyz does.
func (r *Region) Ready(ctx context.Context) Readiness { return r.ready.check(ctx) }

// Metrics returns the server's metrics.
func (r *Region) Metrics() *telemetry.Metrics { return r.metrics }

// Run serves until ctx ends and then drains: /readyz turns 503 at once; after the drain delay, in which load balancers
// take note, no new connection is accepted; requests that are under way get the shutdown timeout to finish. The error is
// nil after such an end, and tells of a listener or a background worker that failed by itself otherwise. A Region runs once.
func (r *Region) Run(ctx context.Context) error {
	failed := make(chan error, 2+len(r.parts.workers))
	r.ops.serve(failed)
	r.api.serve(failed)
	stopWorkers := r.startWorkers(ctx, failed)
	r.log.InfoContext(ctx, "serving", "api", r.APIAddr(), "operations", r.OpsAddr())
	var err error
	select {
	case <-ctx.Done():
		r.drain(ctx)
	case err = <-failed:
	}
	ctx = context.WithoutCancel(ctx)
	r.shutdown(ctx, r.api)
	stopWorkers() // after the API: what its last requests left in the outbox can still go out
	r.parts.close()
	r.shutdown(ctx, r.ops)
	r.log.InfoContext(ctx, "stopped")
	return err
}

// Close gives up what New opened, for a Region that is never run.
func (r *Region) Close() error {
	r.parts.close()
	return errors.Join(r.api.close(), r.ops.close())
}

// startWorkers runs the background workers until stop, which waits for them to end.
func (r *Region) startWorkers(ctx context.Context, failed chan<- error) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	for _, w := range r.parts.workers {
		go func() {
			defer func() { ended <- struct{}{} }()
			if err := w.run(ctx); err != nil && ctx.Err() == nil {
				failed <- fmt.Errorf("%s: %w", w.name, err)
			}
		}()
	}
	return func() {
		cancel()
		for range r.parts.workers {
			<-ended
		}
	}
}

func (r *Region) drain(ctx context.Context) {
	r.ready.drain()
	r.log.InfoContext(ctx, "draining", "delay", r.cfg.DrainDelay.Std().String())
	<-time.After(r.cfg.DrainDelay.Std())
}

func (r *Region) shutdown(ctx context.Context, l listener) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.ShutdownTimeout.Std())
	defer cancel()
	if err := l.server.Shutdown(ctx); err != nil {
		r.log.WarnContext(ctx, "requests were cut off", "listener", l.setting, "error", err)
		_ = l.server.Close()
	}
}

// ListenError is a port that could not be had.
type ListenError struct {
	Setting string // the setting that names the address: "listen" or "ops-listen"
	Addr    string
	Err     error
}

// Error names the address and the setting.
func (e *ListenError) Error() string {
	reason := e.Err
	if op, ok := errors.AsType[*net.OpError](e.Err); ok {
		reason = op.Err // its own text would name the address again
	}
	return fmt.Sprintf("cannot listen on %s (--%s): %v", e.Addr, e.Setting, reason)
}

// Unwrap returns the cause, such as syscall.EADDRINUSE.
func (e *ListenError) Unwrap() error { return e.Err }
