package db

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/limits"
)

// TestFailuresThatOpenTheBreaker checks which failures of a call that starts at second 10 open the breaker. The time
// limit of calls is 3 seconds.
func TestFailuresThatOpenTheBreaker(t *testing.T) {
	epoch := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return epoch.Add(time.Duration(seconds * float64(time.Second))) }
	for name, tc := range map[string]struct {
		err      error
		answered float64 // when the home answered another call
		end      float64
		opens    bool
	}{
		"no answer":                       {context.DeadlineExceeded, 9, 13, true},
		"no answer, a little late":        {context.DeadlineExceeded, 9, 13.5, true},
		"no answer, and the timer late":   {context.DeadlineExceeded, 9, 13.51, false},
		"another call was answered since": {context.DeadlineExceeded, 10.1, 13, false},
		"little time left":                {context.DeadlineExceeded, 9, 10.5, false},
		"no free connection":              {fmt.Errorf("%w: %w", errPoolBusy, context.DeadlineExceeded), 9, 13, false},
		"too many connections":            {&pgconn.PgError{Code: stateTooManyConnections}, 9, 10.1, true},
		"a lost connection":               {&pgconn.PgError{Code: stateAdminShutdown}, 9, 10.1, false},
		"an error of the statement":       {errors.New("another error"), 9, 10.1, false},
	} {
		t.Run(name, func(t *testing.T) {
			closed, stop := context.WithCancel(t.Context())
			stop() // so that the probe does not run
			h := &home{
				code: "eu", timeout: 3 * time.Second, limits: limits.Production(), background: closed,
				after: func(time.Duration) <-chan time.Time { return nil },
			}
			require.NoError(t, h.record(t.Context(), nil, at(tc.answered), at(tc.answered)))
			require.Error(t, h.record(t.Context(), tc.err, at(10), at(tc.end)))
			require.Equal(t, tc.opens, !h.breaker.allow())
		})
	}
}
