package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/devdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Time limits of plaza dev.
const (
	devReadyTimeout = time.Minute      // from the listeners to three ready servers
	devStopTimeout  = 30 * time.Second // for a clean shutdown of the database
)

// Default URLs of a media server on this machine, with the conventional ports of RTMP and HLS.
const (
	devIngestURL   = "rtmp://127.0.0.1:1935/live"
	devPlaybackURL = "http://127.0.0.1:8888/live"
)

// devOptions are the flags of plaza dev.
type devOptions struct {
	dataDir   string
	port      int
	ephemeral bool
	demo      bool
	rateLimit string // empty for that of the configuration
}

func newDev() *cobra.Command {
	var opts devOptions
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Serve all three regions on this machine, with a local database",
		Long: "Serve us, eu and sg on 127.0.0.1 until interrupted. The database is the one at PLAZA_DATABASE_URL, or a local\n" +
			"CockroachDB (COCKROACH_BINARY or cockroach in PATH) or PostgreSQL that is started and stopped with the program.\n" +
			"Data and keys are stored in the data directory. URLs and keys are printed and written to dev.json there. Not for\n" +
			"production: keys are stored in plain files.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return (&devNetwork{opts: opts, cmd: cmd}).run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.dataDir, "data-dir", ".plaza", "directory for data, keys and dev.json")
	flags.IntVar(&opts.port, "port", 8081,
		"port of us; eu and sg use the next two ports, operations endpoints these ports plus 1000; 0 means free ports")
	flags.BoolVar(&opts.ephemeral, "ephemeral", false,
		"start without data and remove new data at exit; existing data in the data directory is not touched")
	flags.BoolVar(&opts.demo, "demo", false, "fill the network with demo users and content")
	flags.StringVar(&opts.rateLimit, "rate-limit", "", "requests per user, like 100/5s; off for load tests; default: PLAZA_RATE_LIMIT")
	return cmd
}

// devNetwork is a running development network.
type devNetwork struct {
	opts    devOptions
	cmd     *cobra.Command
	log     *slog.Logger
	base    config.Config // shared by all regions
	dir     string        // directory of dev.json
	work    string        // directory of data and keys: dir or a temporary directory
	keys    devKeys
	ports   map[region.Code]devPorts
	servers []*app.Region
}

// run starts everything in order, serves until ctx ends, and stops everything in reverse order.
func (d *devNetwork) run(ctx context.Context) (err error) {
	go app.ManageMemory(ctx)
	if err := d.configure(); err != nil {
		return err
	}
	if err := d.openPorts(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.closePorts()) }()
	release, err := d.openFolders()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if d.keys, err = ensureDevKeys(d.work); err != nil {
		return err
	}
	db, err := devdb.Start(ctx, devdb.Options{Dir: d.work, Ephemeral: d.opts.ephemeral, Log: d.log})
	if err != nil {
		return interrupted(ctx, err)
	}
	defer func() { err = errors.Join(err, d.stopDatabase(ctx, db)) }()
	if err := d.migrate(ctx, db); err != nil {
		return interrupted(ctx, err)
	}
	return d.serve(ctx, db)
}

// interrupted returns nil instead of err if ctx has ended, because an interrupt is not an error.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// configure reads the settings shared by all regions from PLAZA_* variables, such as log level, limits and token
// lifetimes.
func (d *devNetwork) configure() error {
	if d.opts.port < 0 || d.opts.port+len(region.All())-1+opsOffset > 65535 {
		return &usageError{fmt.Errorf("flag --port: %d is too high: operations endpoints use the port plus %d", d.opts.port, opsOffset)}
	}
	if err := config.CheckEnvironment(os.Environ()); err != nil {
		return err
	}
	cfg, err := config.Load(nil, devEnv)
	if err != nil {
		return err
	}
	if d.opts.rateLimit != "" {
		if err := cfg.RateLimit.UnmarshalText([]byte(d.opts.rateLimit)); err != nil {
			return &config.Error{Source: "flag --rate-limit", Reason: err.Error()}
		}
	}
	d.base = cfg
	d.log, _ = newLogger(d.cmd, cfg)
	return nil
}

// devEnv is os.LookupEnv with defaults for development.
func devEnv(name string) (string, bool) {
	if text, ok := os.LookupEnv(name); ok {
		return text, true
	}
	text, ok := map[string]string{"PLAZA_LOG_FORMAT": "text", "PLAZA_LOG_LEVEL": "warn", "PLAZA_DRAIN_DELAY": "0s"}[name]
	return text, ok
}

// openFolders creates and locks the directories. release removes the data of an ephemeral network.
func (d *devNetwork) openFolders() (release func() error, err error) {
	if d.dir, err = filepath.Abs(d.opts.dataDir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the data directory: %w", err)
	}
	unlock, err := devdb.Lock(filepath.Join(d.dir, "plaza.lock"))
	if err != nil {
		return nil, fmt.Errorf("flag --data-dir: %w", err)
	}
	if err := removeDevFile(d.dir); err != nil { // clients take dev.json as a sign that the network is up
		return nil, errors.Join(err, unlock())
	}
	d.work = d.dir
	if !d.opts.ephemeral {
		return unlock, nil
	}
	if d.work, err = os.MkdirTemp("", "plaza-dev-"); err != nil {
		return nil, errors.Join(err, unlock())
	}
	return func() error { return errors.Join(removeDevFile(d.dir), os.RemoveAll(d.work), unlock()) }, nil
}

// migrate applies the migrations, and turns secure mode off in a new network, so that the first requests need no
// authToken.
func (d *devNetwork) migrate(ctx context.Context, server *devdb.DB) error {
	err := db.Migrate(ctx, db.MigrateOptions{
		URL:      server.URL(),
		Identity: db.NetworkIdentity(d.keys.networkID, d.keys.directoryKey.Reveal()),
		Layout:   db.Layout{Localities: d.base.Localities(), Primary: d.base.PrimaryRegion, Survive: string(d.base.Survive)},
		Progress: func(p db.Progress) {
			d.log.InfoContext(ctx, "migrate", "state", p.State, "step", p.Step, "of", p.Total, "name", p.Name, "elapsed", p.Elapsed)
		},
	})
	if err != nil {
		return err
	}
	return app.StartInsecure(ctx, server.URL())
}

// stopDatabase stops the database with a time limit that is independent of ctx, which may have ended.
func (d *devNetwork) stopDatabase(ctx context.Context, db *devdb.DB) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), devStopTimeout)
	defer cancel()
	return db.Stop(ctx)
}

// regionConfig returns the configuration of one region's server.
func (d *devNetwork) regionConfig(home region.Code, db *devdb.DB) config.Config {
	cfg := d.base
	cfg.Region = home
	cfg.NetworkID = config.NetworkID(d.keys.networkID)
	cfg.Listen = config.Address(d.ports[home].api.Addr().String())
	cfg.OpsListen = config.Address(d.ports[home].ops.Addr().String())
	cfg.DatabaseURL = dburl.MustParse(db.URL())
	if db.Engine() != devdb.External || d.opts.ephemeral {
		cfg.DatabaseURLUS, cfg.DatabaseURLEU, cfg.DatabaseURLSG = dburl.URL{}, dburl.URL{}, dburl.URL{} // they refer to another database
	}
	cfg.ServerKeysFile, cfg.APIKeysFile, cfg.SigningKeysFile = d.keys.files()
	cfg.DirectoryKey = d.keys.directoryKey
	cfg.MediaKey = cmp.Or(cfg.MediaKey, d.keys.mediaKey) // with a media server, streams and rooms can go live
	cfg.MediaIngestURL = cmp.Or(cfg.MediaIngestURL, devIngestURL)
	cfg.MediaPlaybackURL = cmp.Or(cfg.MediaPlaybackURL, devPlaybackURL)
	cfg.PushLocal = true
	cfg.TLSCertFile, cfg.TLSKeyFile = "", "" // the addresses in dev.json are http
	cfg.PublicURL = config.BaseURL("http://" + string(cfg.Listen))
	if len(cfg.StorageURLs()) == 0 {
		cfg.StorageURL = config.StorageURL("file://" + filepath.ToSlash(filepath.Join(d.work, "files")))
	}
	return cfg
}
