package db_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// failWith raises an SQLSTATE, which is $2.
const failWith = `SELECT raise_state($2) WHERE $1 <> ''`

// TestInteractive runs a transaction that reads before it writes, with the protocol of either database. PostgreSQL
// understands CockroachDB's, apart from the snapshot after a conflict, which the test does not need.
func TestInteractive(t *testing.T) {
	url := dbtest.New(t)
	conn := connect(t, url)
	for _, sql := range []string{makeThings, `CREATE FUNCTION raise_state(state text) RETURNS int LANGUAGE plpgsql AS
		$$BEGIN RAISE EXCEPTION 'forced' USING ERRCODE = state; END$$`} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	for name, use := range map[string]func(*db.Config){"CockroachDB": db.AsCockroach, "PostgreSQL": func(*db.Config) {}} {
		t.Run(name, func(t *testing.T) {
			s := open(t, url, use)
			exec := func(ctx context.Context, tx *db.InteractiveTx, sql string, args ...any) error {
				queued := s.NewTx(region.US)
				queued.Exec(raw(sql), args...)
				return tx.Send(ctx, queued)
			}
			type function func(ctx context.Context, tx *db.InteractiveTx, attempt int) error
			runIn := func(ctx context.Context, id string, f function) (attempts int, err error) {
				err = s.RunInteractive(ctx, region.US, func(ctx context.Context, tx *db.InteractiveTx) error {
					attempts++
					if err := exec(ctx, tx, addThing, id+name, id+name); err != nil {
						return err
					}
					return f(ctx, tx, attempts)
				})
				return attempts, err
			}
			run := func(id string, f function) (attempts int, err error) { return runIn(t.Context(), id, f) }
			forced := func(code string, until int) function {
				return func(ctx context.Context, tx *db.InteractiveTx, attempt int) error {
					if attempt > until {
						return nil
					}
					return exec(ctx, tx, failWith, code)
				}
			}
			requireStored := func(id string, want int) {
				var n int
				require.NoError(t, s.RunInteractive(t.Context(), region.US, func(ctx context.Context, tx *db.InteractiveTx) error {
					count := s.NewTx(region.US)
					count.Query(raw(`SELECT count(*) FROM things WHERE home = $1 AND id = $2`), scanRow(&n), id+name)
					return tx.Send(ctx, count)
				}))
				require.Equal(t, want, n)
			}

			attempts, err := run("conflicts", forced("40001", 2))
			require.NoError(t, err)
			require.Equal(t, 3, attempts)
			requireStored("conflicts", 1)

			attempts, err = run("refused", func(context.Context, *db.InteractiveTx, int) error { return refused })
			require.ErrorIs(t, err, refused)
			require.Equal(t, 1, attempts)
			requireStored("refused", 0)

			_, err = run("broken", forced("22012", 1))
			require.ErrorContains(t, err, "22012")
			requireStored("broken", 0)

			_, err = run("swallowed", func(ctx context.Context, tx *db.InteractiveTx, _ int) error {
				_ = exec(ctx, tx, failWith, "22012")
				return nil
			})
			require.Error(t, err, "the database rolls back what failed")
			requireStored("swallowed", 0)

			attempts, err = run("endless", forced("40001", 1000))
			require.Error(t, err)
			require.Greater(t, attempts, 1)
			require.Less(t, attempts, 1000)
			requireStored("endless", 0)

			_, err = runIn(briefly(t), "late", func(ctx context.Context, tx *db.InteractiveTx, _ int) error {
				return exec(ctx, tx, `SELECT pg_sleep(600) WHERE $1 <> ''`)
			})
			require.ErrorIs(t, err, fail.Unavailable("", nil))
			requireStored("late", 0)

			ctx, cancel := context.WithCancel(t.Context())
			attempts, err = runIn(ctx, "given up", func(ctx context.Context, tx *db.InteractiveTx, attempt int) error {
				if attempt == 3 {
					cancel()
				}
				return exec(ctx, tx, failWith, "40001")
			})
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, 3, attempts, "the time limit includes retries")
			requireStored("given up", 0)

			ctx, cancel = context.WithCancel(t.Context())
			err = s.RunInteractive(ctx, region.US, func(context.Context, *db.InteractiveTx) error {
				cancel()
				return errors.New("the caller has left")
			})
			require.Error(t, err)
			requireStored("canceled", 0)
		})
	}
}
