package devdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// startAttempts is the number of attempts to start the server: another program can take the free port first, and the
// shared memory of a killed server can stay in use for a moment.
const startAttempts = 3

// startPostgres starts PostgreSQL on the cluster in dir.
func startPostgres(ctx context.Context, opts Options, dir string, installs []install) (*DB, error) {
	c, err := openCluster(dir, opts, installs)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.handle.Close() }() // the server has its own descriptor
	data := filepath.Join(c.folder, dataName)
	if err := stopOrphan(ctx, opts.Log, data, filepath.Join(data, pidName)); err != nil {
		return nil, err
	}
	if err := c.ensure(ctx); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		db, err := c.serve(ctx, dir)
		if err == nil || attempt == startAttempts || ctx.Err() != nil {
			return db, err
		}
		opts.Log.WarnContext(ctx, "retrying to start the database", "error", err)
		pause(ctx, 300*time.Millisecond)
	}
}

// pause sleeps for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// serve starts the server on a free port and waits until its database exists.
func (c *cluster) serve(ctx context.Context, dir string) (*DB, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	server, err := c.run(port, dir) //nolint:contextcheck // the server outlives the call that starts it
	if err != nil {
		return nil, err
	}
	own, err := c.ready(ctx, port, server)
	if err != nil {
		err = fmt.Errorf("starting PostgreSQL: %w: %s", err, logTail(c.folder))
		return nil, errors.Join(err, stopPostgres(server)(ctx))
	}
	c.log.InfoContext(ctx, "database is ready", "engine", PostgreSQL, "port", port, "pid", server.pid())
	return &DB{engine: PostgreSQL, url: own, stop: stopPostgres(server), died: server.done}, nil
}

func (c *cluster) run(port int, dir string) (*process, error) {
	out, err := openLog(c.folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	args := []string{"-D", c.path(dataName), "-p", strconv.Itoa(port)}
	for _, s := range c.settings() {
		args = append(args, "-c", s)
	}
	cmd := c.command("postgres", args...)
	cmd.Stdout, cmd.Stderr = out, out
	server, err := spawn(cmd)
	if err != nil {
		return nil, err
	}
	leftovers := "" // removed when the server exits
	if c.ephemeral {
		leftovers = dir
	}
	if server.guard, err = startGuard(leftovers, server.pid()); err != nil {
		return nil, errors.Join(err, stopPostgres(server)(context.Background()))
	}
	return server, nil
}

func (c *cluster) settings() []string {
	settings := []string{
		"listen_addresses=127.0.0.1",
		"unix_socket_directories=", // TCP only: tests use proxies, and a socket would need a directory
		"max_connections=300",      // three regions with a pool per home
		"shared_buffers=128MB",
		"jit=off", // statements are short: compilation costs more than it saves
		"timezone=UTC", "log_timezone=UTC",
		"log_min_messages=warning",
		// Statements and error details contain user content, which must not be logged.
		"log_min_error_statement=panic", "log_error_verbosity=terse",
	}
	settings = append(settings, c.extra...)
	if !c.ephemeral {
		return append(settings, "fsync=on", "synchronous_commit=on", "full_page_writes=on") // acknowledged commits are durable
	}
	return append(settings, "fsync=off", "synchronous_commit=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0",
		"max_wal_size=128MB",  // the folder may be in memory
		"max_connections=800") // the tests of two packages run at once, with several networks each
}

// ready waits for the server and returns the URL of its database.
func (c *cluster) ready(ctx context.Context, port int, server *process) (string, error) {
	password, err := c.password()
	if err != nil {
		return "", err
	}
	u := url.URL{
		Scheme: "postgresql", User: url.UserPassword(superuser, password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: "/postgres", RawQuery: "sslmode=disable",
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // recovery after a crash can take a while
	defer cancel()
	if err := waitFor(ctx, u.String(), server.done); err != nil {
		return "", err
	}
	return CreateDatabase(ctx, u.String(), DatabaseName)
}

// stopPostgres returns a function that stops the server: fast shutdown first, then immediate shutdown.
func stopPostgres(server *process) func(context.Context) error {
	return func(ctx context.Context) error {
		defer server.guard.release()
		return server.stop(ctx, syscall.SIGINT, syscall.SIGQUIT)
	}
}

// freePort returns a port that is currently free.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}
