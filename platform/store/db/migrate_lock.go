package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/pressly/goose/v3/lock"
)

// lockMigrations waits until no other migration runs, and prevents others until unlock is called. The lock is a row with
// a lease, because the advisory locks of PostgreSQL have no effect on CockroachDB: the lease of a migration that was
// killed runs out, as does that of one that could not unlock.
func lockMigrations(ctx context.Context, db *sql.DB, opts MigrateOptions, report *reporter) (unlock func(), err error) {
	locker, err := newMigrationLock(opts)
	if err != nil {
		return nil, err
	}
	report.waiting("another migration, or the lease of one that was interrupted")
	if err := locker.Lock(ctx, db); err != nil {
		return nil, fmt.Errorf("lock the schema: %w", err)
	}
	return func() { _ = locker.Unlock(ctx, db) }, nil
}

// lockPoll is the time between two attempts to take the lock.
const lockPoll = time.Second

func newMigrationLock(opts MigrateOptions) (lock.Locker, error) {
	return lock.NewPostgresTableLocker(
		lock.WithTableLeaseDuration(opts.test.lease),
		lock.WithTableHeartbeatInterval(opts.test.lease/3),
		lock.WithTableLockTimeout(min(lockPoll, opts.test.lease), math.MaxUint64), // until ctx is done
		lock.WithTableUnlockTimeout(min(lockPoll, opts.test.lease), 3),
		lock.WithTableRetryPolicy(heldByAnother),
		lock.WithTableLogger(slog.New(slog.DiscardHandler)))
}

// heldByAnother reports whether the lock could not be taken because another migration holds it, for which goose has no
// error value, or because of a conflict with one.
func heldByAnother(err error) bool {
	if sqlState(err) == "" {
		return !unreachable(err) && !errors.Is(err, driver.ErrBadConn)
	}
	return retryable(err)
}
