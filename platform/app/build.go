package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/push"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/telemetry"
	"github.com/plaza-social/plaza/platform/tracing"
)

// This file assembles a region's server. Dependencies are created here and passed down explicitly.

// parts are the components behind the listeners.
type parts struct {
	*dependencies
	handler http.Handler
	workers []worker
	close   func()
	drain   func()  // ends streams on shutdown; nil if there are none
	report  *report // nil if a handler was given
	jobs    []jobs.Job
}

// worker is a background task of the server.
type worker struct {
	name string
	run  func(context.Context) error // returns when its context ends; an earlier error stops the server
}

// dependencies are the dependencies of the services.
type dependencies struct {
	cfg        config.Config
	log        *slog.Logger
	metrics    *telemetry.Metrics
	tracing    *tracing.Tracing // nil if traces are not exported
	store      *store.Store
	homes      *homeStates
	issuer     *auth.Issuer
	serverKeys *auth.KeySet
	apiKeys    *auth.KeySet
	signing    *auth.Keyring
	evacuation *auth.Evacuation // nil if no file is configured
	storage    *storage.Storage
	control    *auth.Control // nil if there are no control endpoints
	counts     *edge.Counts
	// certificate is nil if the API is served without TLS.
	certificate *auth.Certificate
	publicURL   string // without trailing slash
	pace        movePace
	limits      limits.Limits
	now         func() time.Time            // of what ends or becomes due
	push        map[string]push.Sender      // by provider
	pushed      *push.Local                 // one of them; nil unless push-local is on
	ready       func(context.Context) error // returns nil if the server is ready; for gRPC health checks
}

// assemble opens the key files and the database pools and builds the API.
func (r *Region) assemble(ctx context.Context, o options) (*parts, error) {
	if o.handler != nil {
		return &parts{dependencies: &dependencies{}, handler: o.handler, close: func() {}}, nil
	}
	if err := r.cfg.CheckServe(); err != nil {
		return nil, err
	}
	certificate, err := r.openCertificate()
	if err != nil {
		return nil, err
	}
	// Log records with a request's context carry the request's id.
	log := slog.New(edge.LogHandler(r.log.Handler()))
	d := &dependencies{
		cfg: r.cfg, log: log, metrics: r.metrics, ready: r.ready.err, publicURL: r.publicURL(), pace: o.moves,
		limits: r.limits, now: o.now, counts: &edge.Counts{},
	}
	if err := errors.Join(d.openKeys(), d.openEvacuation(), d.openControl()); err != nil {
		return nil, err
	}
	if err := d.openStore(ctx, o); err != nil {
		return nil, err
	}
	d.certificate = certificate
	if d.tracing, err = tracing.New(ctx, string(r.cfg.NetworkID), r.cfg.Region, log); err != nil {
		d.close() //nolint:contextcheck // what is left of the traces is exported even if the context has ended
		return nil, &config.Error{Source: "environment", Reason: err.Error()}
	}
	built, err := r.build(ctx, d, o)
	if err != nil {
		d.close() //nolint:contextcheck // what is left of the traces is exported even if the context has ended
		return nil, err
	}
	return built, nil
}

// openEvacuation reads the file of evacuated regions, if one is configured.
func (d *dependencies) openEvacuation() error {
	if d.cfg.EvacuationFile == "" {
		return nil
	}
	var err error
	if d.evacuation, err = auth.OpenEvacuation(d.cfg.EvacuationFile, auth.WithLogger(d.log), auth.WithClock(d.now)); err != nil {
		return &config.Error{Source: "evacuation-file", Reason: err.Error()}
	}
	return nil
}

// openControl reads the certificate of the control endpoints, if there are any.
func (d *dependencies) openControl() error {
	if !d.cfg.HasControl() {
		return nil
	}
	var err error
	d.control, err = auth.OpenControl(d.cfg.ControlCertFile, d.cfg.ControlKeyFile, d.cfg.ControlCAFile, string(d.cfg.NetworkID),
		auth.WithLogger(d.log))
	if err != nil {
		return &config.Error{Source: "control-cert-file", Reason: err.Error()}
	}
	return nil
}

// openCertificate reads the certificate of the API, or returns nil if the API is served without TLS.
func (r *Region) openCertificate() (*auth.Certificate, error) {
	if !r.cfg.UsesTLS() {
		return nil, nil // nil is the certificate of a server without TLS
	}
	certificate, err := auth.OpenCertificate(r.cfg.TLSCertFile, r.cfg.TLSKeyFile, auth.WithLogger(r.log))
	if err != nil {
		return nil, &config.Error{Source: "tls-cert-file", Reason: err.Error()}
	}
	return certificate, nil
}

// millis returns the current time in UTC, truncated to milliseconds.
func (d *dependencies) millis() time.Time { return d.now().UTC().Truncate(time.Millisecond) }

// build builds the API on the open store.
func (r *Region) build(ctx context.Context, d *dependencies, o options) (*parts, error) {
	if err := errors.Join(d.openStorage(ctx), d.openPush()); err != nil {
		return nil, err
	}
	built, err := newAPI(d)
	if err != nil {
		return nil, err
	}
	announced := newAnnouncer(d.store, network.Server{
		ID: region.NewID(d.cfg.Region), Version: telemetry.BuildInfo().Version,
		Capabilities: []string{network.CapabilityMoves, network.CapabilityMoveRoutes, network.CapabilityErasures},
	}, d.cfg.Region, d.log)
	follow := newRoutes(announced, cmp.Or(d.pace.every, routesEvery), d.limits.Check)
	g := newGate(built.handler, follow.check)
	workers := slices.Concat(built.workers, []worker{{name: "announcement", run: announced.run}})
	for i, w := range workers {
		workers[i] = g.afterOpening(w)
	}
	r.ready.add(func(ctx context.Context) []Check {
		checks := d.databaseChecks(ctx, g)
		if g.isOpen() { // otherwise the server has not announced itself yet
			checks = append(checks, announced.check(r.ready.passed.Load()))
		}
		return checks
	})
	ask := func(ctx context.Context) { r.ready.check(ctx) }
	report := newReport(d, built.hooks, r.ready.draining, ask)
	report.warnsInsecure, report.level = !o.insecureKnown, o.logLevel
	if err := errors.Join(r.metrics.RegisterServer(report.snapshot), d.issuer.Register(r.metrics.Registerer())); err != nil {
		return nil, err
	}
	workers = append(append(workers, worker{name: "schema", run: func(ctx context.Context) error { return g.watch(ctx, ask) }},
		worker{name: "moved users", run: follow.run}), report.workers()...)
	closed := announced.withdrawBefore(d.close) //nolint:contextcheck // the server withdraws when its context has ended
	return &parts{
		dependencies: d, handler: g, workers: workers, close: closed, drain: built.realtime.Close, report: report,
		jobs: built.background.of(d.cfg.Region, d.storage),
	}, nil
}

func (d *dependencies) openKeys() error {
	var errs [3]error
	log, clock := auth.WithLogger(d.log), auth.WithClock(d.now)
	d.serverKeys, errs[0] = auth.OpenKeySet(d.cfg.ServerKeysFile, log, clock)
	d.apiKeys, errs[1] = auth.OpenKeySet(d.cfg.APIKeysFile, log, clock)
	d.signing, errs[2] = auth.OpenKeyring(d.cfg.SigningKeysFile, log, clock)
	for i, setting := range []string{"server-keys-file", "api-keys-file", "signing-keys-file"} {
		if errs[i] != nil {
			errs[i] = &config.Error{Source: setting, Reason: errs[i].Error()}
		}
	}
	d.issuer = auth.NewIssuer(string(d.cfg.NetworkID), d.signing, auth.WithIssuerClock(d.now),
		auth.WithAccessLifetime(d.cfg.AccessTokenTTL.Std()), auth.WithAuthLifetime(d.cfg.AuthTokenTTL.Std()))
	return errors.Join(errs[:]...)
}

func (d *dependencies) openStore(ctx context.Context, o options) error {
	var err error
	d.store, err = store.Open(ctx, db.Config{
		URLs:             d.cfg.DatabaseURLs(),
		PoolSize:         int32(d.cfg.PoolSize),
		StatementTimeout: d.cfg.StatementTimeout.Std(),
		Limits:           d.limits,
		Log:              d.log,
		Registry:         d.metrics.Registerer(),
		Fault:            o.fault,
		Sent:             o.sent,
		Refused:          o.refused,
	})
	if err == nil {
		d.homes = newHomeStates(d.store, db.NetworkIdentity(string(d.cfg.NetworkID), d.cfg.DirectoryKey.Reveal()))
	}
	return err
}
