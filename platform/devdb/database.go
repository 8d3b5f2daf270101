package devdb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plaza-social/plaza/platform/dburl"
)

const (
	duplicateDatabase = "42P04" // CREATE DATABASE with an existing name
	syntaxError       = "42601" // a clause that this version of PostgreSQL does not know
)

// CreateDatabase creates an empty database on the server of serverURL, unless it exists, and returns its URL.
func CreateDatabase(ctx context.Context, serverURL, name string) (string, error) {
	return CloneDatabase(ctx, serverURL, name, "")
}

// CloneDatabase creates a copy of the database template, which must not have connections, and returns its URL. Only
// PostgreSQL supports it. If template is empty, the database is empty.
func CloneDatabase(ctx context.Context, serverURL, name, template string) (string, error) {
	var url string
	err := withConn(ctx, serverURL, func(conn *pgx.Conn) (err error) {
		url, err = CloneOn(ctx, conn, serverURL, name, template)
		return err
	})
	return url, err
}

// CloneOn is CloneDatabase on a connection to the server of serverURL.
func CloneOn(ctx context.Context, conn *pgx.Conn, serverURL, name, template string) (string, error) {
	clause := ""
	if template != "" {
		// Copying the files takes a seventh of the time of copying the pages through the log. Older versions of PostgreSQL
		// than 15 have no other way and no such clause.
		clause = " TEMPLATE " + pgx.Identifier{template}.Sanitize() + " STRATEGY file_copy"
	}
	create := "CREATE DATABASE " + pgx.Identifier{name}.Sanitize()
	_, err := conn.Exec(ctx, create+clause)
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok && pgErr.Code == syntaxError {
		_, err = conn.Exec(ctx, create+strings.TrimSuffix(clause, " STRATEGY file_copy"))
	}
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); err != nil && (!ok || pgErr.Code != duplicateDatabase) {
		return "", fmt.Errorf("creating database %s: %w", name, err)
	}
	return withDatabase(serverURL, name)
}

// DropDatabase drops the database name from the server of serverURL, which must be the URL of another database. It
// closes the sessions of the dropped database.
func DropDatabase(ctx context.Context, serverURL, name string) error {
	return withConn(ctx, serverURL, func(conn *pgx.Conn) error {
		cockroach, err := isCockroach(ctx, conn)
		if err != nil {
			return err
		}
		return DropOn(ctx, conn, name, cockroach)
	})
}

// DropOn is DropDatabase on a connection to another database of the server, which may be CockroachDB.
func DropOn(ctx context.Context, conn *pgx.Conn, name string, cockroach bool) error {
	how := " WITH (FORCE)"
	if cockroach {
		how = " CASCADE"
	}
	_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+how)
	return err
}

// IsCockroach reports whether the server at url is CockroachDB.
func IsCockroach(ctx context.Context, url string) (bool, error) {
	var cockroach bool
	err := withConn(ctx, url, func(conn *pgx.Conn) (err error) {
		cockroach, err = isCockroach(ctx, conn)
		return err
	})
	return cockroach, err
}

func isCockroach(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var version string
	err := conn.QueryRow(ctx, "SELECT version()").Scan(&version)
	return strings.HasPrefix(version, "CockroachDB"), err
}

func execOn(ctx context.Context, url, sql string) error {
	return withConn(ctx, url, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sql)
		return err
	})
}

func withConn(ctx context.Context, url string, use func(*pgx.Conn) error) error {
	address, err := dburl.Parse(url)
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, address.Reveal())
	if _, refused := errors.AsType[*pgconn.ParseConfigError](err); refused {
		return errors.New(address.Redact(err.Error())) // it contains the URL with its password
	}
	if err != nil {
		return address.Clean(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	return use(conn)
}

// withDatabase returns serverURL with another database name.
func withDatabase(serverURL, name string) (string, error) {
	u, err := url.Parse(serverURL)
	if err != nil || u.Scheme == "" {
		return "", errors.New("the database URL is invalid (postgresql://user:password@host:port/database)")
	}
	u.Path = "/" + name
	return u.String(), nil
}

// startExternal uses an existing server. Ephemeral data is stored in a separate database on it.
func startExternal(ctx context.Context, opts Options, address dburl.URL) (*DB, error) {
	serverURL := address.Reveal()
	if err := execOn(ctx, serverURL, "SELECT 1"); err != nil {
		return nil, fmt.Errorf("PLAZA_DATABASE_URL: %w", err)
	}
	if !opts.Ephemeral {
		return &DB{engine: External, url: serverURL, stop: func(context.Context) error { return nil }}, nil
	}
	name := DatabaseName + "_" + randomHex(6)
	own, err := CreateDatabase(ctx, serverURL, name)
	if err != nil {
		return nil, err
	}
	drop := func(ctx context.Context) error { return DropDatabase(ctx, serverURL, name) }
	return &DB{engine: External, url: own, stop: drop}, nil
}

// waitFor waits until the server at url responds, ctx ends or died is closed.
func waitFor(ctx context.Context, url string, died <-chan struct{}) error {
	const pause = 25 * time.Millisecond
	for {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := execOn(attempt, url, "SELECT 1")
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-died:
			return errors.New("the server exited during startup")
		case <-ctx.Done():
			return fmt.Errorf("the server does not respond: %w", errors.Join(ctx.Err(), err))
		case <-time.After(pause):
		}
	}
}

func randomHex(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // crypto/rand.Read never fails: it crashes the program instead
	return hex.EncodeToString(raw)
}
