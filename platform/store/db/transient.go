package db

import (
	"context"
	"database/sql/driver"
	"errors"
)

// Transient reports whether a retry of the operation may succeed without intervention: the database is unreachable,
// overloaded or restarting, or ctx was done. It is false for a wrong
// password, a missing database or a rejected migration step.
func Transient(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	state := sqlState(err)
	if state == "" {
		return unreachable(err) || retryable(err) || errors.Is(err, driver.ErrBadConn)
	}
	switch state[:2] {
	case classConnectionException, classTransactionRollback, classInsufficientResources, classOperatorIntervention:
		return true
	}
	return state == stateLockNotAvailable
}
