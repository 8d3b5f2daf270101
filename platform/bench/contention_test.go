package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestContentionReport(t *testing.T) {
	measured := func(n int, each time.Duration, failed int, retries float64) contended {
		l := load{elapsed: time.Second}
		for range n {
			l.latencies = append(l.latencies, each)
		}
		return contended{load: l, failed: failed, retries: retries}
	}
	r := &report{contention: []*contentionCase{
		{name: "flag", one: measured(100, time.Millisecond, 0, 0), all: measured(200, 10*time.Millisecond, 0, 50)},
		{name: "vote", one: measured(100, time.Millisecond, 0, 0), all: measured(99, 11*time.Millisecond, 2, 0)},
	}}
	var out strings.Builder
	require.NoError(t, r.printContention(&out))
	for _, line := range []string{
		`1 and 16 writers of one object`,
		`flag +1 +100 +1\.00 ms +1\.00 ms +0\.00 +0`,
		`16 +200 +10\.00 ms +10\.00 ms +0\.25 +0`,
		`flag: requests/s of 16 writers relative to 1 +at least 1\.0 +2\.00 +PASS`,
		`flag: p99 of 16 writers relative to the p50 of 1 +at most 10 +10\.0 +PASS`,
		`flag: failed requests +0 +0 +PASS`,
		`vote: requests/s of 16 writers relative to 1 +at least 1\.0 +0\.99 +MISS`,
		`vote: p99 of 16 writers relative to the p50 of 1 +at most 10 +11\.0 +MISS`,
		`vote: failed requests +0 +2 +MISS`,
	} {
		require.Regexp(t, line, out.String())
	}
	out.Reset()
	require.NoError(t, (&report{}).printContention(&out))
	require.Empty(t, out.String(), "if contention is not selected")
}
