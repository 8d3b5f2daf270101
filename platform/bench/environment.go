package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/devdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The network under test: one region's server, and data whose home is there.
const (
	home      = region.US
	networkID = "0123456789abcdef01234567"
)

// environment consists of the running database and servers.
type environment struct {
	dir     string
	engine  *devdb.DB
	version string // of the engine
	data    *data
	apiKey  string
	servers []*server // plaza, and the other one if there is one
}

// plaza returns the server that is measured.
func (e *environment) plaza() *server { return e.servers[0] }

// newEnvironment starts and fills the database and starts the servers.
func newEnvironment(ctx context.Context, o options, p *progress) (e *environment, err error) {
	e = &environment{}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.stop(ctx))
		}
	}()
	if e.dir, err = os.MkdirTemp("", "plaza-bench-"); err != nil {
		return e, err
	}
	binary, err := e.build(ctx, p)
	if err != nil {
		return e, err
	}
	p.sayf("starting the database")
	if e.engine, err = devdb.Start(ctx, devdb.Options{Ephemeral: true, Settings: statementSettings}); err != nil {
		return e, err
	}
	if err := db.Migrate(ctx, db.MigrateOptions{URL: e.engine.URL()}); err != nil {
		return e, err
	}
	if err := e.makeKeys(); err != nil {
		return e, err
	}
	if err := e.fill(ctx, p); err != nil {
		return e, err
	}
	programs := []string{binary}
	if o.against != "" {
		programs = append(programs, o.against)
	}
	databases, err := e.openDatabases(ctx, len(programs))
	if err != nil {
		return e, err
	}
	p.sayf("starting the servers")
	for i, program := range programs {
		s, err := e.start(ctx, serverNames[i], program, databases[i])
		if err != nil {
			return e, err
		}
		e.servers = append(e.servers, s)
	}
	return e, nil
}

func (e *environment) path(name string) string { return filepath.Join(e.dir, name) }

// build builds plaza from this source tree.
func (e *environment) build(ctx context.Context, p *progress) (binary string, err error) {
	p.sayf("building plaza")
	binary = e.path("plaza")
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "disable_grpc_modules", "-o", binary,
		"github.com/plaza-social/plaza/platform/cmd/plaza")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building plaza: %w\n%s", err, output)
	}
	return binary, nil
}

func (e *environment) makeKeys() error {
	_, serverErr := auth.GenerateKeySet(e.path("server-keys.json"), "bench")
	apiKey, apiErr := auth.GenerateKeySet(e.path("api-keys.json"), "bench")
	e.apiKey = apiKey
	return errors.Join(serverErr, apiErr, auth.GenerateKeyring(e.path("signing-keys.json")))
}

// fill creates the data.
func (e *environment) fill(ctx context.Context, p *progress) error {
	st, issuer, err := e.openStore(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	much := benchmarkAmounts()
	p.sayf("filling the database: %d posts, %d comments, %d users", much.posts(), much.comments(), much.users)
	if e.data, err = seed(ctx, st, issuer, much); err != nil {
		return err
	}
	e.data.apiKey = e.apiKey
	conn, err := pgx.Connect(ctx, e.engine.URL())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := conn.QueryRow(ctx, "SELECT version()").Scan(&e.version); err != nil {
		return err
	}
	return e.analyse(ctx, conn)
}

// openStore opens the database to write data, and returns the issuer of the users' tokens.
func (e *environment) openStore(ctx context.Context) (*store.Store, *auth.Issuer, error) {
	ring, err := auth.OpenKeyring(e.path("signing-keys.json"))
	if err != nil {
		return nil, nil, err
	}
	st, err := store.Open(ctx, db.Config{URLs: map[region.Code]string{"": e.engine.URL()}, StatementTimeout: time.Minute})
	return st, auth.NewIssuer(networkID, ring), err
}

// analyse updates the database's statistics, so that query plans are stable. CockroachDB updates them itself.
func (e *environment) analyse(ctx context.Context, conn *pgx.Conn) error {
	if strings.HasPrefix(e.version, "CockroachDB") {
		return nil
	}
	_, err := conn.Exec(ctx, "VACUUM ANALYZE")
	return err
}

// stop stops everything, even if ctx has ended.
func (e *environment) stop(ctx context.Context) error {
	var errs []error
	for _, s := range e.servers {
		errs = append(errs, s.stop(), s.database.conn.Close(ctx))
	}
	if e.engine != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		errs = append(errs, e.engine.Stop(ctx))
	}
	return errors.Join(append(errs, os.RemoveAll(e.dir))...)
}
