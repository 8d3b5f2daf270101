package db_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/store/db"
)

// killer ends the connections of a migration like the end of its process: nothing that it sends afterwards arrives.
type killer struct {
	step   int  // at which it ends them, counted from 1
	before bool // before the step's effect instead of after it

	mu    sync.Mutex
	conns []net.Conn
	dead  bool
	steps int // so far
}

func (k *killer) apply(cfg *pgx.ConnConfig) {
	dial := cfg.DialFunc
	cfg.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.dead {
			return nil, errors.New("killed")
		}
		conn, err := dial(ctx, network, address)
		if err == nil {
			k.conns = append(k.conns, conn)
		}
		return conn, err
	}
	cfg.Tracer = k
}

func changesSchema(sql string) bool {
	isChange := func(start string) bool { return strings.Contains(sql, start) }
	return slices.ContainsFunc([]string{"CREATE ", "ALTER TABLE ", "DROP INDEX "}, isChange) && !strings.Contains(sql, "goose_")
}

func (k *killer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	if !changesSchema(q.SQL) {
		return ctx
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.steps++
	k.endIf(k.steps == k.step && k.before)
	return context.WithValue(ctx, k, true)
}

func (k *killer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.endIf(ctx.Value(k) != nil && k.steps == k.step && !k.before)
}

func (k *killer) endIf(now bool) {
	if !now {
		return
	}
	k.dead = true
	for _, conn := range k.conns {
		_ = conn.Close()
	}
}

// TestMigrateContinues kills a migration at each of its steps, before and after the step's effect, of which the database
// then has no record, and continues it with another one.
func TestMigrateContinues(t *testing.T) {
	url := testdb.New(t)
	killAt := func(step int, before bool) {
		k := &killer{step: step, before: before}
		opts := db.MigrateOptions{URL: url}.WithLease(20 * time.Millisecond).WithConnections(k.apply)
		require.Error(t, db.Migrate(t.Context(), opts))
		require.True(t, k.dead)
	}
	for i, m := range db.RenderedMigrations(db.PostgreSQL) {
		killAt(1+min(i, 1), true) // the first one repeats and records the step before
		current, _, err := db.MigrationStatus(t.Context(), url)
		require.NoError(t, err)
		require.Less(t, current, m.Version)
		killAt(1, false)
	}
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}.WithLease(time.Second)))
	requireMigrated(t, url)
}

// slowStep makes the first step of a migration wait until the test calls free.
func slowStep(t *testing.T, url string) (free func()) {
	t.Helper()
	if testdb.Cockroach(t) {
		t.Skip("CREATE TABLE does not wait for another transaction that has created the table")
	}
	conn := connect(t, url)
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "CREATE TABLE directory (home TEXT)")
	require.NoError(t, err)
	return func() { require.NoError(t, tx.Rollback(context.WithoutCancel(t.Context()))) }
}

func TestMigrateReportsASlowStep(t *testing.T) {
	url := testdb.New(t)
	free := sync.OnceFunc(slowStep(t, url))
	var seen []db.ProgressState
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url, Progress: func(p db.Progress) {
		if p.Step <= 1 && p.State != db.StepWaiting {
			require.Equal(t, "01001_directory.sql", p.Name)
			require.Equal(t, 1, p.Step)
			seen = append(seen, p.State)
			free()
		}
	}}.WithInterval(100*time.Millisecond)))
	require.Equal(t, db.StepRunning, seen[0])
	require.Equal(t, db.StepDone, seen[len(seen)-1])
}

func TestMigrateBoundsStatements(t *testing.T) {
	url := testdb.New(t)
	free := slowStep(t, url)
	err := db.Migrate(t.Context(), db.MigrateOptions{URL: url, StatementTimeout: 200 * time.Millisecond})
	require.True(t, db.Transient(err))
	free()
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}))
	requireMigrated(t, url)
}

func TestMigrateWaitsForAnother(t *testing.T) {
	url := testdb.New(t)
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}))
	conn := connect(t, url)
	_,
		err := conn.Exec(t.Context(), "UPDATE goose_lock SET locked = true, locked_by = 'another', lease_expires_at = now() + INTERVAL '1 hour'")
	require.NoError(t, err)
	waited := false
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url, Progress: func(p db.Progress) {
		require.Equal(t, db.StepWaiting, p.State)
		require.Contains(t, p.Name, "another migration")
		waited = true
		_, err := conn.Exec(t.Context(), "UPDATE goose_lock SET lease_expires_at = now()")
		require.NoError(t, err)
	}}.WithLease(10*time.Millisecond).WithInterval(100*time.Millisecond)))
	require.True(t, waited)
}
