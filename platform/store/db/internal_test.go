package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

func TestErrorClasses(t *testing.T) {
	state := func(code string) error { return fmt.Errorf("statement: %w", &pgconn.PgError{Code: code}) }
	type classes struct{ retryable, lost, unresponsive bool }
	for name, tc := range map[string]struct {
		err  error
		want classes
	}{
		"no error":              {nil, classes{}},
		"serialization failure": {state("40001"), classes{retryable: true}},
		"deadlock":              {state("40P01"), classes{retryable: true}},
		"administrator command": {state("57P01"), classes{lost: true}},
		"crash":                 {state("57P02"), classes{lost: true}},
		"connection failure":    {state("08006"), classes{lost: true}},
		"starting up":           {state("57P03"), classes{unresponsive: true}},
		"too many connections":  {state("53300"), classes{unresponsive: true}},
		"statement timeout":     {state("57014"), classes{unresponsive: true}},
		"unique violation":      {state("23505"), classes{}},
		"syntax error":          {state("42601"), classes{}},
		"end of file":           {io.ErrUnexpectedEOF, classes{lost: true}},
		"closed connection":     {net.ErrClosed, classes{lost: true}},
		"deadline":              {context.DeadlineExceeded, classes{lost: true, unresponsive: true}},
		"canceled":              {context.Canceled, classes{}},
		"another error":         {errors.New("other"), classes{}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, classes{retryable(tc.err), connectionLost(tc.err), unresponsive(tc.err)})
			require.Equal(t, tc.want.lost || tc.want.unresponsive, unreachable(tc.err))
		})
	}
}

func TestViolatedConstraint(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"unique":      {fmt.Errorf("insert: %w", &pgconn.PgError{Code: "23505", ConstraintName: "posts_pkey"}), "posts_pkey"},
		"foreign key": {&pgconn.PgError{Code: "23503", ConstraintName: "posts_fkey"}, ""},
		"no SQL":      {io.EOF, ""},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tc.want, violatedConstraint(tc.err)) })
	}
}

func TestBreakerStates(t *testing.T) {
	var b breaker
	require.True(t, b.allow())
	require.True(t, b.failure(), "the first failure starts the probe")
	require.False(t, b.allow())
	require.False(t, b.failure(), "the probe is running")
	require.True(t, b.keepProbing())
	b.success()
	require.True(t, b.allow())
	require.False(t, b.failure(), "the probe has not stopped yet")
	require.True(t, b.keepProbing())
	b.success()
	require.False(t, b.keepProbing())
	require.True(t, b.failure(), "a stopped probe is started again")
}
