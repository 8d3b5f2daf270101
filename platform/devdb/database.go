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
)

// duplicateDatabase is the SQLSTATE of CREATE DATABASE for a name that exists.
const duplicateDatabase = "42P04"

// CreateDatabase makes an empty database on the server of serverURL and returns its URL. An existing one is left as it is.
func CreateDatabase(ctx context.Context, serverURL, name string) (string, error) {
	return createDatabase(ctx, serverURL, name, "")
}

// CloneDatabase makes a database that starts as a copy of the database template, which nobody may be connected to. Only
// PostgreSQL can do it.
func CloneDatabase(ctx context.Context, serverURL, name, template string) (string, error) {
	return createDatabase(ctx, serverURL, name, " TEMPLATE "+pgx.Identifier{template}.Sanitize())
}

func createDatabase(ctx context.Context, serverURL, name, clause string) (string, error) {
	err := execOn(ctx, serverURL, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+clause)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && pgErr.Code == duplicateDatabase {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("creating the database %s: %w", name, err)
	}
	return withDatabase(serverURL, name)
}

// DropDatabase removes the database name from the server of serverURL, which must be the URL of another database. Sessions
// that still use it are ended.
func DropDatabase(ctx context.Context, serverURL, name string) error {
	cockroach, err := IsCockroach(ctx, serverURL)
	if err != nil {
		return err
	}
	how := " WITH (FORCE)"
	if cockroach {
		how = " CASCADE"
	}
	return execOn(ctx, serverURL, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+how)
}

// IsCockroach reports whether the server of url is CockroachDB.
func IsCockroach(ctx context.Context, url string) (bool, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close(ctx) }()
	var version string
	err = conn.QueryRow(ctx, "SELECT version()").Scan(&version)
	return strings.HasPrefix(version, "CockroachDB"), err
}

func execOn(ctx context.Context, url, sql string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, sql)
	return err
}

// withDatabase returns serverURL with another database in it.
func withDatabase(serverURL, name string) (string, error) {
	u, err := url.Parse(serverURL)
	if err != nil || u.Scheme == "" {
		return "", errors.New("the database address is not a URL (postgresql://user:password@host:port/database)")
	}
	u.Path = "/" + name
	return u.String(), nil
}

// startExternal uses a database that is there. Ephemeral data gets a database of its own beside it.
func startExternal(ctx context.Context, opts Options, serverURL string) (*DB, error) {
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

// waitFor asks the server of url until it answers, ctx ends or died is closed.
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
			return errors.New("the server ended while starting")
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w", errors.Join(ctx.Err(), err))
		case <-time.After(pause):
		}
	}
}

func randomHex(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // crypto/rand.Read never fails: it ends the program instead
	return hex.EncodeToString(raw)
}
