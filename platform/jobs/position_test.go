package jobs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

// TestPosition checks which polls read all due rows: the first one, one of forty, and those after a poll that left rows.
func TestPosition(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	var all Positions
	p := all.Of(region.EU, 1)
	for i := range 2*fullPoll + 1 {
		at := start.Add(time.Duration(i) * time.Second)
		if i%fullPoll == 0 {
			require.Zero(t, p.After(), i)
		} else {
			require.Equal(t, at.Add(-time.Second-slack), p.After(), i)
		}
		p.Ended(at, true)
	}
	require.NotZero(t, p.After())
	require.Same(t, p, all.Of(region.EU, 1))
	require.Zero(t, all.Of(region.EU, 0).After())
	require.Zero(t, all.Of(region.US, 1).After())
	p.Ended(start, false)
	require.Zero(t, p.After())
}
