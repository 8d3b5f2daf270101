package events

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPolling checks which polls read all due rows: the first one, one of forty, and those after a poll that left rows.
func TestPolling(t *testing.T) {
	start := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	var p polling
	for i := range 2*fullPoll + 1 {
		at := start.Add(time.Duration(i) * time.Second)
		if i%fullPoll == 0 {
			require.Zero(t, p.after(), i)
		} else {
			require.Equal(t, at.Add(-time.Second-pollSlack), p.after(), i)
		}
		p.ended(at, true)
	}
	require.NotZero(t, p.after())
	p.ended(start, false)
	require.Zero(t, p.after())
}
