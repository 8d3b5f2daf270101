package store

import (
	"context"
	"errors"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATEs that the store acts on. Detail texts differ between the engines and are never parsed.
const (
	stateSerializationFailure = "40001"
	stateDeadlock             = "40P01"
	stateUniqueViolation      = "23505"
	stateDivisionByZero       = "22012"
	stateQueryCanceled        = "57014"
	stateAdminShutdown        = "57P01"
	stateCannotConnectNow     = "57P03"
	stateTooManyConnections   = "53300"
)

func sqlState(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code
	}
	return ""
}

// violated returns the name of the unique constraint that err is about, or nothing.
func violated(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == stateUniqueViolation {
		return pg.ConstraintName
	}
	return ""
}

// retryable errors mean that the transaction did not happen and that running it again can succeed.
func retryable(err error) bool {
	switch sqlState(err) {
	case stateSerializationFailure, stateDeadlock:
		return true
	case "":
		return pgconn.SafeToRetry(err)
	}
	return false
}

// lost errors mean that the connection ended: whether a transaction on it happened is not known.
func lost(err error) bool {
	switch sqlState(err) {
	case stateAdminShutdown, "57P02", "08006", "08003", "08000":
		return true
	case "":
		var netErr net.Error
		return errors.As(err, &netErr) || errors.Is(err, net.ErrClosed) || isUnexpectedEOF(err)
	}
	return false
}

// silent errors mean that the home's database does not answer, as opposed to answering with an error or dropping a
// connection.
func silent(err error) bool {
	switch sqlState(err) {
	case stateQueryCanceled, stateCannotConnectNow, stateTooManyConnections:
		return true
	case "":
		var connect *pgconn.ConnectError
		return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &connect) || pgconn.Timeout(err)
	}
	return false
}

// unreachable errors mean that there is no answer: silence, or a connection that ended.
func unreachable(err error) bool { return silent(err) || lost(err) }
