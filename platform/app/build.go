package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/realtime"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// This file is the one place where a region's server is put together: what opens here is passed down, and nothing below
// looks for it anywhere else.

// parts is what stands behind the listeners.
type parts struct {
	handler http.Handler
	workers []worker
	close   func()
	drain   func()  // ends what has no end of its own; nil where there is nothing
	report  *report // nil for a handler that is served in place of the API
}

// worker is something that runs in the background while the server does.
type worker struct {
	name string
	run  func(context.Context) error // until its context ends; an error before that ends the server
}

// dependencies is what the services are made of.
type dependencies struct {
	cfg        config.Config
	log        *slog.Logger
	metrics    *telemetry.Metrics
	store      *store.Store
	issuer     *auth.Issuer
	serverKeys *auth.KeySet
	apiKeys    *auth.KeySet
	signing    *auth.Keyring
	realtime   *realtime.Hub
	storage    *storage.Storage
	publicURL  string                      // without a slash at its end
	ready      func(context.Context) error // nil while the server is ready, for gRPC health checks
}

// assemble opens the keys and the database pools and builds the API on them.
func (r *Region) assemble(ctx context.Context, o options) (*parts, error) {
	if o.handler != nil {
		return &parts{handler: o.handler, close: func() {}}, nil
	}
	if err := r.cfg.CheckServe(); err != nil {
		return nil, err
	}
	// Every line that is logged with a request's context carries the request's id.
	log := slog.New(edge.LogHandler(r.log.Handler()))
	d := &dependencies{cfg: r.cfg, log: log, metrics: r.metrics, ready: r.ready.err, publicURL: r.publicURL()}
	if err := d.openKeys(); err != nil {
		return nil, err
	}
	if err := d.openStore(ctx, o.fault); err != nil {
		return nil, err
	}
	if err := d.openStorage(ctx); err != nil {
		d.close()
		return nil, err
	}
	handler, workers, err := newAPI(d)
	if err != nil {
		d.close()
		return nil, err
	}
	g := newGate(handler, d.checkSchema)
	for i, w := range workers {
		workers[i] = g.behind(w)
	}
	r.ready.add(Check{Name: "schema", Run: g.check})
	r.ready.add(d.databaseChecks()...)
	told := newReport(d, r.ready.draining.Load)
	if err := r.metrics.RegisterServer(told.snapshot); err != nil {
		d.close()
		return nil, err
	}
	workers = append(append(workers, worker{name: "schema", run: g.watch}), told.workers()...)
	return &parts{handler: g, workers: workers, close: d.close, drain: d.realtime.Close, report: told}, nil
}

func (d *dependencies) openKeys() error {
	var errs [3]error
	var ring *auth.Keyring
	log := auth.WithLogger(d.log)
	d.serverKeys, errs[0] = auth.OpenKeySet(d.cfg.ServerKeysFile, log)
	d.apiKeys, errs[1] = auth.OpenKeySet(d.cfg.APIKeysFile, log)
	ring, errs[2] = auth.OpenKeyring(d.cfg.SigningKeysFile, log)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	d.signing = ring
	d.issuer = auth.NewIssuer(string(d.cfg.NetworkID), ring,
		auth.WithAccessLifetime(d.cfg.AccessTokenTTL.Std()), auth.WithAuthLifetime(d.cfg.AuthTokenTTL.Std()))
	return nil
}

func (d *dependencies) openStore(ctx context.Context, fault func() error) error {
	var err error
	d.store, err = store.Open(ctx, store.Config{
		URLs:             d.cfg.DatabaseURLs(),
		PoolSize:         int32(d.cfg.PoolSize),
		StatementTimeout: d.cfg.StatementTimeout.Std(),
		Log:              d.log,
		Registry:         d.metrics.Registerer(),
		Fault:            fault,
	})
	return err
}

// databaseChecks looks at each home. The server needs that of its own region; it works for the homes that answer when
// another does not, so the others are advice.
func (d *dependencies) databaseChecks() []Check {
	var checks []Check
	for _, home := range region.All() {
		checks = append(checks, Check{
			Name:     "database " + home.String(),
			Advisory: home != d.cfg.Region,
			Run:      func(ctx context.Context) error { return d.store.Ping(ctx, home) },
		})
	}
	return checks
}

// checkSchema refuses a schema that is older than the program. A newer one is fine: migrations expand first and contract
// only when no older program is left.
func (d *dependencies) checkSchema(ctx context.Context) error {
	current, target, err := store.MigrationStatus(ctx, d.cfg.DatabaseURLs()[d.cfg.Region])
	if err != nil {
		return err
	}
	if current < target {
		return fmt.Errorf("database at %d, program needs %d: run plaza migrate up", current, target)
	}
	return nil
}
