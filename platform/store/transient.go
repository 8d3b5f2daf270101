package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// Transient reports whether what failed may succeed when it is tried again without anybody's help: the database is away,
// busy or about to restart, somebody else holds the lease of the migration, or the caller ran out of time. A refused
// password, a missing database or a step that the database rejects is not.
func Transient(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	state := sqlState(err)
	if state == "" {
		return unreachable(err) || retryable(err) || errors.Is(err, driver.ErrBadConn) ||
			errors.Is(err, sql.ErrNoRows) // the lease was not to be had
	}
	switch state[:2] {
	case "08", "40", "53", "57": // connection, rollback, out of resources, operator intervention
		return true
	}
	return state == "55P03" // lock not available
}
