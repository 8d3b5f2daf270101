// Package app assembles the server of one region from its configuration: the API listener, the operations listener and
// their dependencies. `plaza serve` runs one server; `plaza dev` and the tests run three in one process.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/span"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// Region is the server of one region. New opens its ports; Run serves requests.
type Region struct {
	cfg     config.Config
	limits  limits.Limits
	log     *slog.Logger
	metrics *telemetry.Metrics
	ready   *readiness
	api     listener
	ops     listener
	control listener // its Listener is nil without control endpoints
	parts   *parts

	connState func(net.Conn, http.ConnState) // of the server of the API

	drained <-chan time.Time // ends the drain instead of the drain delay, for tests

	stopWorkers atomic.Pointer[func()] // set by Run
}

// Option configures how a Region is assembled.
type Option func(*options)

type options struct {
	handler       http.Handler     // instead of the API, for tests
	checks        []Check          // additional, for tests
	drained       <-chan time.Time // instead of the drain delay, for tests
	api, ops      net.Listener     // instead of those that the configuration names
	clock         func() time.Time // of the age of their results, for tests
	fault         func() error
	sent          func([]db.Queued)
	refused       func(db.Queued)
	insecureKnown bool
	moves         movePace
	limits        limits.Limits
	logLevel      *slog.LevelVar
	now           func() time.Time // of what ends or becomes due
}

// WithStoreFault calls fault before each transaction is sent and treats its error as one of the database. Tests use it
// to inject SQLSTATE 40001.
func WithStoreFault(fault func() error) Option { return func(o *options) { o.fault = fault } }

// WithMovePace sets the interval at which the server reads where moved users are, and how long the move of a user waits
// until every server knows. Tests shorten both.
func WithMovePace(every, settle time.Duration) Option {
	return func(o *options) { o.moves = movePace{every, settle} }
}

// WithTimeLimits replaces the time limits of production, for tests.
func WithTimeLimits(l limits.Limits) Option { return func(o *options) { o.limits = l } }

// WithSentTransactions calls sent with the statements of each transaction, for tests.
func WithSentTransactions(sent func([]db.Queued)) Option { return func(o *options) { o.sent = sent } }

// WithClock replaces the clock by which everything that the server keeps ends or becomes due, for tests. Time limits and rate limits keep
// that of the machine.
func WithClock(now func() time.Time) Option { return func(o *options) { o.now = now } }

// WithRefusedTransactions calls refused with the condition that made a transaction fail, for tests.
func WithRefusedTransactions(refused func(db.Queued)) Option {
	return func(o *options) { o.refused = refused }
}

// WithLogLevel lets the operator change the level of the log at run time. Without it, the level is that of the logger.
func WithLogLevel(level *slog.LevelVar) Option { return func(o *options) { o.logLevel = level } }

// WithInsecureModeAnnounced suppresses the log's warning about a network that is not in secure mode, for a program that
// tells its user itself.
func WithInsecureModeAnnounced() Option { return func(o *options) { o.insecureKnown = true } }

// WithListeners serves the API and the operations endpoints on open ports, instead of opening those of the configuration.
func WithListeners(api, ops net.Listener) Option {
	return func(o *options) { o.api, o.ops = api, ops }
}

// New opens the listeners, the key files and the database pools. It does not wait for the database; /readyz reports
// whether that responds. Errors are *ListenError for a port, *config.Error for a setting, or errors of the key files.
func New(ctx context.Context, cfg config.Config, log *slog.Logger, opts ...Option) (*Region, error) {
	o := options{limits: timeLimits(), now: time.Now}
	for _, opt := range opts {
		opt(&o)
	}
	log = log.With("region", cfg.Region.String())
	r := &Region{
		cfg: cfg, limits: o.limits, log: log, metrics: telemetry.NewMetrics(string(cfg.NetworkID), cfg.Region), drained: o.drained,
	}
	// Ports first: a port in use is the most common error, and nothing else needs to be released then.
	if err := r.listen(o); err != nil {
		return nil, err
	}
	r.ready = newReadiness(ctx, cfg.StatementTimeout.Std()+checkGrace, o.limits.Check)
	if o.clock != nil {
		r.ready.now = o.clock
	}
	r.ready.add(func(context.Context) []Check { return o.checks })
	var err error
	if r.parts, err = r.assemble(ctx, o); err != nil {
		return nil, errors.Join(err, r.closeListeners())
	}
	r.api.server = r.apiServer(r.ready.closeWhileDraining(r.parts.handler))
	if r.parts.drain != nil {
		r.api.server.RegisterOnShutdown(r.parts.drain)
	}
	r.ops.server = r.opsServer(opsHandler(r.ready, r.metrics, r.parts))
	if r.parts.control != nil {
		r.control.server = r.opsServer(controlHandler(r.parts.report, r.parts.handler, bool(r.cfg.Pprof)))
		r.control.server.TLSConfig = r.parts.control.TLSConfig()
	}
	return r, nil
}

func (r *Region) listen(o options) error {
	var err error
	if r.api, err = listen("listen", r.cfg.Listen, o.api); err != nil {
		return err
	}
	limited, err := limitConnections(r.api.Listener, connectionLimits{
		total: int(r.cfg.MaxConnections), perAddress: int(r.cfg.AddressConnections), proxies: r.cfg.TrustedProxies,
	}, r.metrics.Registerer())
	if err != nil {
		return errors.Join(err, r.api.close())
	}
	r.api.Listener, r.connState = limited, limited.observe
	if r.ops, err = listen("ops-listen", r.cfg.OpsListen, o.ops); err != nil {
		return errors.Join(err, r.api.close())
	}
	if !r.cfg.HasControl() {
		return nil
	}
	if r.control, err = listen("control-listen", r.cfg.ControlListen, nil); err != nil {
		return errors.Join(err, r.api.close(), r.ops.close())
	}
	return nil
}

func (r *Region) closeListeners() error {
	return errors.Join(r.api.close(), r.ops.close(), r.control.close())
}

// Code returns the region of the server.
func (r *Region) Code() region.Code { return r.cfg.Region }

// APIAddr returns the address of the API as host:port, with the actual port if it was configured as 0.
func (r *Region) APIAddr() string { return r.api.Addr().String() }

// OpsAddr returns the address of the operations listener, like APIAddr.
func (r *Region) OpsAddr() string { return r.ops.Addr().String() }

// ControlAddr returns the address of the control endpoints, like APIAddr, or "" if there are none.
func (r *Region) ControlAddr() string {
	if r.control.Listener == nil {
		return ""
	}
	return r.control.Addr().String()
}

// Limits returns the time limits of the server.
func (r *Region) Limits() limits.Limits { return r.limits }

// Ready returns the results of the readiness checks, as /readyz does.
func (r *Region) Ready(ctx context.Context) Readiness { return r.ready.check(ctx) }

// Metrics returns the server's metrics.
func (r *Region) Metrics() *telemetry.Metrics { return r.metrics }

// Run serves until ctx ends and then drains: /readyz returns 503 immediately; after the drain delay, which gives load
// balancers time to react, new connections are rejected; requests in progress may take until the shutdown timeout. Run
// returns nil after draining, and the error of a listener or background worker that failed. It must be called only
// once.
func (r *Region) Run(ctx context.Context) error {
	failed := make(chan error, 3+len(r.parts.workers))
	r.ops.serve(failed)
	if r.control.server != nil {
		r.control.serve(failed)
	}
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
	stopWorkers() // after the API, so that outbox rows of its last requests can still be delivered
	r.ready.close()
	r.parts.close()
	r.shutdown(ctx, r.ops)
	if r.control.server != nil {
		r.shutdown(ctx, r.control)
	}
	r.log.InfoContext(ctx, "stopped")
	return err
}

// Close releases what New opened. It is for a Region on which Run is never called.
func (r *Region) Close() error {
	r.ready.close()
	r.parts.close()
	return r.closeListeners()
}

// startWorkers starts the background workers. stop stops them and waits for them; it may be called again.
func (r *Region) startWorkers(ctx context.Context, failed chan<- error) (stop func()) {
	ctx, cancel := context.WithCancel(span.WithTracer(context.WithoutCancel(ctx), r.parts.tracing.Tracer()))
	var running sync.WaitGroup
	stop = func() {
		cancel()
		running.Wait()
	}
	r.stopWorkers.Store(&stop)
	for _, w := range r.parts.workers {
		running.Go(func() {
			if err := w.run(ctx); err != nil && ctx.Err() == nil {
				failed <- fmt.Errorf("%s: %w", w.name, err)
			}
		})
	}
	return stop
}

// StopWorkers stops the background work of a server that runs, for tests of what its requests do.
func (r *Region) StopWorkers() { (*r.stopWorkers.Load())() }

func (r *Region) drain(ctx context.Context) {
	r.ready.drain()
	r.log.InfoContext(ctx, "draining", "delay", r.cfg.DrainDelay.Std().String())
	if r.drained == nil {
		r.drained = time.After(r.cfg.DrainDelay.Std())
	}
	<-r.drained
}

func (r *Region) shutdown(ctx context.Context, l listener) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.ShutdownTimeout.Std())
	defer cancel()
	if err := l.server.Shutdown(ctx); err != nil {
		r.log.WarnContext(ctx, "requests were aborted", "listener", l.setting, "error", err)
		_ = l.server.Close()
	}
}

// ListenError is the error of a port that could not be opened.
type ListenError struct {
	Setting string // the setting that names the address: "listen", "ops-listen" or "control-listen"
	Addr    string
	Err     error
}

// Error states the address and the setting.
func (e *ListenError) Error() string {
	reason := e.Err
	if op, ok := errors.AsType[*net.OpError](e.Err); ok {
		reason = op.Err // its own text would repeat the address
	}
	return fmt.Sprintf("cannot listen on %s (--%s): %v", e.Addr, e.Setting, reason)
}

// Unwrap returns the cause, such as syscall.EADDRINUSE.
func (e *ListenError) Unwrap() error { return e.Err }

// timeLimits returns the limits of servers that users reach.
func timeLimits() limits.Limits {
	l := limits.Production()
	if defence.Off(defence.CancelGrace) {
		l.CancelGrace = 0
	}
	return l
}
