package db

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// The SQLSTATE codes that the engine handles. Messages differ between PostgreSQL and CockroachDB and are never parsed.
const (
	stateSerializationFailure   = "40001"
	stateDeadlock               = "40P01"
	stateUniqueViolation        = "23505"
	stateDivisionByZero         = "22012"
	stateUndefinedTable         = "42P01"
	stateLockNotAvailable       = "55P03"
	stateQueryCanceled          = "57014"
	stateAdminShutdown          = "57P01"
	stateCrashShutdown          = "57P02"
	stateCannotConnectNow       = "57P03"
	stateTooManyConnections     = "53300"
	stateConnectionException    = "08000"
	stateConnectionDoesNotExist = "08003"
	stateConnectionFailure      = "08006"
	classConnectionException    = "08"
	classTransactionRollback    = "40"
	classInsufficientResources  = "53"
	classOperatorIntervention   = "57"
)

func sqlState(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code
	}
	return ""
}

// violatedConstraint returns the name of the unique constraint that was violated, or "" for other errors.
func violatedConstraint(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == stateUniqueViolation {
		return pg.ConstraintName
	}
	return ""
}

func isUndefinedTable(err error) bool { return sqlState(err) == stateUndefinedTable }

// retryable reports whether the transaction was not committed and a retry may succeed.
func retryable(err error) bool {
	switch sqlState(err) {
	case stateSerializationFailure, stateDeadlock:
		return true
	case "":
		return pgconn.SafeToRetry(err)
	}
	return false
}

// connectionLost reports whether the connection was closed: whether a transaction on it was committed is unknown.
func connectionLost(err error) bool {
	switch sqlState(err) {
	case stateAdminShutdown, stateCrashShutdown, stateConnectionFailure, stateConnectionDoesNotExist, stateConnectionException:
		return true
	case "":
		var netErr net.Error
		return errors.As(err, &netErr) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
	}
	return false
}

// unresponsive reports whether the database did not respond in time or accepts no connections. An SQL error or a lost
// connection does not count.
func unresponsive(err error) bool {
	switch sqlState(err) {
	case stateQueryCanceled, stateCannotConnectNow, stateTooManyConnections:
		return true
	case "":
		var connect *pgconn.ConnectError
		return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &connect) || pgconn.Timeout(err)
	}
	return false
}

// unreachable reports whether the database was unresponsive or the connection was lost.
func unreachable(err error) bool { return unresponsive(err) || connectionLost(err) }

// retryReasons are the SQLSTATE codes of retries; "connection" is a lost connection.
var retryReasons = []string{stateSerializationFailure, stateDeadlock, "connection"}

// retryReason returns why a transaction is retried.
func retryReason(err error) string {
	switch state := sqlState(err); state {
	case stateSerializationFailure, stateDeadlock:
		return state
	default:
		return "connection"
	}
}
