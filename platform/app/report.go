package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/delivery"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/telemetry"
)

const (
	// probeEvery is the interval at which databases are probed and their state is read.
	probeEvery = 5 * time.Second
	// placementEvery is the interval of placement checks, placementAgain the interval after a check that did not
	// succeed.
	placementEvery   = 5 * time.Minute
	placementAgain   = 30 * time.Second
	placementTimeout = 30 * time.Second
)

// report is the status of the server, as shown by /statusz and the metrics. The state of the databases is read in the
// background; while a database does not respond, the last known state and its time are kept.
type report struct {
	*dependencies
	started       time.Time
	build         telemetry.Build
	now           func() time.Time
	ask           func(context.Context) // asks the homes, unless they were asked a moment ago
	draining      func() bool
	warnsInsecure bool
	level         *slog.LevelVar // nil if the level cannot be changed
	hooks         *hooks
	// placed is db.CheckPlacement, which is called for CockroachDB only, because it opens a connection.
	placed func(context.Context) (db.Placement, error)

	mu         sync.Mutex // guards the fields below
	moderation statusz.Moderation
	secureMode statusz.SecureMode
	managed    statusz.Hooks
	placement  statusz.Placement
	backlog    *store.Backlog
	placedAt   time.Time // when the placement was last known
}

func newReport(d *dependencies, hooks *hooks, draining func() bool, ask func(context.Context)) *report {
	cfg := d.cfg
	r := &report{
		dependencies: d, started: time.Now().UTC(), build: telemetry.BuildInfo(), now: time.Now, ask: ask, draining: draining, hooks: hooks,
		placed: func(ctx context.Context) (db.Placement, error) {
			if engine, err := d.store.Engine(ctx, cfg.Region); err != nil || engine != db.CockroachDB {
				return db.Placement{Engine: engine}, cmp.Or(err, db.ErrNoPlacement)
			}
			return db.CheckPlacement(ctx, cfg.DatabaseURLs()[cfg.Region], db.Layout{
				Localities: cfg.Localities(), Primary: cfg.PrimaryRegion, Survive: string(cfg.Survive),
			})
		},
	}
	r.placement = r.unknownPlacement(statusz.ReasonNotCheckedYet)
	return r
}

// workers returns the workers that update the report. They do not wait for the schema, because the report says whether
// it is missing.
func (r *report) workers() []worker {
	return []worker{
		{name: "report", run: func(ctx context.Context) error { return every(ctx, probeEvery, r.ask, r.refresh, r.readBacklog) }},
		{name: "placement", run: r.watchPlacement},
	}
}

// every runs steps immediately and then repeatedly with a pause in between, until ctx ends.
func every(ctx context.Context, pause time.Duration, steps ...func(context.Context)) error {
	for {
		for _, step := range steps {
			step(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// schema returns what the server's own home has said about the schema.
func (r *report) schema() statusz.Schema {
	schema := statusz.Schema{Required: db.TargetVersion()}
	state, _ := r.homes.last(r.cfg.Region)
	if state.err != nil {
		schema.Error = reasonOf(state.err)
	}
	if !state.asOf.IsZero() {
		schema.Current, schema.AsOf = state.status.SchemaVersion, state.asOf.UTC().Truncate(time.Microsecond)
	}
	return schema
}

// refresh reads the settings and webhooks in force: the requests and events in this region use the same rows. It takes no longer than a
// check of /readyz.
func (r *report) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.store.Limits().Check)
	defer cancel()
	began := r.time()
	var s network.Settings
	var list []network.Webhook
	reads := r.store.NewReadBatch()
	reads.Settings(r.cfg.Region, &s)
	reads.Webhooks(r.cfg.Region, &list)
	err := reads.Run(ctx)
	hooks, hooksErr := statusz.Hooks{}, err
	if err == nil {
		hooks, hooksErr = r.hooks.dispatcher.Managed(delivery.Ordered(list), s, []byte(r.cfg.DirectoryKey.Reveal()))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if began.Before(r.moderation.AsOf) || began.Before(r.managed.AsOf) {
		return // a concurrent read has newer data
	}
	if hooksErr != nil {
		r.managed.Error = reasonOf(hooksErr)
	} else {
		hooks.AsOf = began
		r.managed = hooks
	}
	if err != nil {
		r.moderation.Error = reasonOf(err)
		return
	}
	r.moderation = statusz.Moderation{
		IsWhitelistEnabled: s.IsWhitelistEnabled, IsReportEnabled: s.IsReportEnabled, FlagLimit: s.FlagLimit,
		FlagHideLimit: s.FlagHideLimit, Generation: s.Generation, AsOf: began,
	}
	r.moderation.Digest = r.moderation.Hash()
	r.setSecureMode(ctx, s.IsSecureModeEnabled, began)
}

// setSecureMode stores whether secure mode is on, and logs a warning when it is found to be off.
func (r *report) setSecureMode(ctx context.Context, enabled bool, at time.Time) {
	known, was := !r.secureMode.AsOf.IsZero(), r.secureMode.Enabled
	r.secureMode = statusz.SecureMode{Enabled: enabled, AsOf: at}
	if enabled {
		return
	}
	r.secureMode.Warning = statusz.WarningInsecure
	if r.warnsInsecure && (!known || was) {
		r.log.WarnContext(ctx, "secure mode is off", "warning", statusz.WarningInsecure)
	}
}

func (r *report) readBacklog(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.StatementTimeout.Std())
	defer cancel()
	backlog, err := r.store.Backlog(ctx, r.cfg.Region)
	if err != nil {
		return // the known ages keep growing, which is intended
	}
	for _, home := range r.evacuation.Regions() {
		if b, err := r.store.Backlog(ctx, home); err == nil { // a home whose database is lost as well has no background work
			backlog = backlog.Earliest(b)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.backlog = &backlog
}

// watchPlacement checks the placement periodically, more often while it is not as configured.
func (r *report) watchPlacement(ctx context.Context) error {
	for {
		pause := placementEvery
		if p := r.readPlacement(ctx); p.State == statusz.NotPinned || p.Reason == statusz.ReasonCheckFailed {
			pause = placementAgain
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

func (r *report) readPlacement(ctx context.Context) statusz.Placement {
	ctx, cancel := context.WithTimeout(ctx, placementTimeout)
	defer cancel()
	found, err := r.placed(ctx)
	p := r.placementOf(found, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.placement = p
	if p.State != statusz.Unknown {
		r.placedAt = p.CheckedAt
	}
	return p
}

// placementOf returns the status for the result of a placement check.
func (r *report) placementOf(found db.Placement, err error) statusz.Placement {
	p := r.unknownPlacement(statusz.ReasonCheckFailed)
	p.Engine, p.CheckedAt = string(found.Engine), r.time()
	switch {
	case errors.Is(err, db.ErrNoPlacement):
		p.Reason = statusz.ReasonNoPlacement
		return p
	case errors.Is(err, db.ErrNotRegional):
		p.Reason, p.Message = statusz.ReasonNotRegional, "not regional: "+err.Error()
		return p
	case err != nil:
		p.Message = reasonOf(err)
		return p
	}
	p.State, p.Reason = statusz.Pinned, statusz.ReasonAllTablesPinned
	if r.cfg.Survive == "region" {
		p.Message = "the replicas of all rows are in all regions, because the database survives the loss of a region"
	}
	for _, t := range found.Misplaced {
		p.NotPinned = append(p.NotPinned, statusz.TableNotPinned(t))
		p.State = statusz.NotPinned
		if t.Table != "" {
			p.Reason = statusz.ReasonTablesNotPinned
		} else if p.Reason == statusz.ReasonAllTablesPinned {
			p.Reason = statusz.ReasonDatabaseRegionsDiffer
		}
	}
	return p
}

func (r *report) unknownPlacement(reason string) statusz.Placement {
	want := statusz.PlacementWanted{Localities: map[string]string{}, Primary: string(r.cfg.PrimaryRegion), Survive: string(r.cfg.Survive)}
	for home, locality := range r.cfg.Localities() {
		want.Localities[home.String()] = locality
	}
	return statusz.Placement{
		State: statusz.Unknown, Reason: reason, Want: want, Tables: len(db.Tables()), NotPinned: []statusz.TableNotPinned{},
	}
}

// time returns the current time in the precision of the report.
func (r *report) time() time.Time { return r.now().UTC().Truncate(time.Microsecond) }

// status returns the current report.
func (r *report) status() statusz.Status {
	now := r.now()
	keys := statusz.Keys{
		Server: keyFile(r.serverKeys.Status(), now), API: keyFile(r.apiKeys.Status(), now), Signing: keyFile(r.signing.Status(), now),
	}
	control, evacuated := controlStatus(r.control, now), evacuatedStatus(r.evacuation, now)
	total, failed := r.counts.Read()
	r.mu.Lock()
	defer r.mu.Unlock()
	return statusz.Status{
		Region: r.cfg.Region.String(), NetworkID: string(r.cfg.NetworkID),
		Version: r.build.Version, Revision: r.build.Revision, StartedAt: r.started, Draining: r.draining(),
		Schema: r.schema(), Keys: keys, Moderation: r.moderation, SecureMode: r.secureMode, Placement: r.placement,
		Configuration: statusz.Configuration{Hash: r.cfg.Hash()}, Control: control, LogLevel: r.logLevel(),
		Evacuated: evacuated, Hooks: new(r.managed), Requests: &statusz.Requests{Total: total, Failed: failed},
	}
}

func controlStatus(c *auth.Control, now time.Time) *statusz.Control {
	if c == nil {
		return nil
	}
	s := keyFile(c.Status(), now)
	status := &statusz.Control{Certificate: s.Keys[0], LoadedAt: s.LoadedAt, CheckedAt: s.CheckedAt, Error: s.Error}
	for _, authority := range c.Authorities() {
		status.Authorities = append(status.Authorities,
			statusz.Key{ID: authority.ID, NotAfter: authority.NotAfter.UTC(), Valid: authority.ValidAt(now)})
	}
	return status
}

// evacuatedStatus describes the evacuated regions; nil if the server has no file of them.
func evacuatedStatus(e *auth.Evacuation, now time.Time) *statusz.Evacuated {
	if e == nil {
		return nil
	}
	regions, file := e.Status()
	status := &statusz.Evacuated{
		Regions: []statusz.EvacuatedRegion{}, LoadedAt: file.LoadedAt.UTC(), CheckedAt: file.CheckedAt.UTC(),
		Error: file.Error,
	}
	for _, code := range slices.Sorted(maps.Keys(regions)) {
		keys := keyFile(auth.FileStatus{Keys: regions[code]}, now).Keys
		status.Regions = append(status.Regions, statusz.EvacuatedRegion{Region: code.String(), ServerKeys: keys})
	}
	return status
}

func keyFile(s auth.FileStatus, now time.Time) statusz.KeyFile {
	f := statusz.KeyFile{Keys: []statusz.Key{}, LoadedAt: s.LoadedAt.UTC(), CheckedAt: s.CheckedAt.UTC(), Error: s.Error}
	for _, key := range s.Keys {
		f.Keys = append(f.Keys, statusz.Key{ID: key.ID, NotAfter: key.NotAfter.UTC(), Valid: key.ValidAt(now)})
	}
	return f
}

// snapshot returns the current report for the metrics.
func (r *report) snapshot() telemetry.Snapshot {
	s := telemetry.Snapshot{Status: r.status(), Databases: map[string]bool{}}
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, home := range region.All() {
		if state, asked := r.homes.last(home); asked {
			s.Databases[home.String()] = state.err == nil
		}
	}
	s.PlacementChecked = r.placedAt
	if r.certificate != nil {
		s.CertificateEnd = r.certificate.NotAfter()
	}
	if r.backlog != nil {
		s.OutboxAge, s.ScheduleDelay = since(r.backlog.OldestOutbox, now), since(r.backlog.OldestScheduled, now)
	}
	return s
}

// since returns the time elapsed since t, or 0 if t is zero or in the future.
func since(t, now time.Time) *time.Duration {
	age := time.Duration(0)
	if !t.IsZero() {
		age = max(0, now.Sub(t))
	}
	return &age
}
