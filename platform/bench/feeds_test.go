package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFeedReport(t *testing.T) {
	pageOf := func(follows, page int, p50 time.Duration, trips float64) *feedCase {
		l := load{elapsed: time.Second, latencies: []time.Duration{p50, p50}}
		return &feedCase{name: "f", order: "lastCreated", follows: follows, page: page, load: l, trips: trips}
	}
	r := &report{options: options{feedPosts: 1000}, feeds: []*feedCase{
		pageOf(10, 1, 2*time.Millisecond, 8), pageOf(10, latePage, 2*time.Millisecond, 8),
		pageOf(500, 1, 6*time.Millisecond, 8), pageOf(500, latePage, 8*time.Millisecond, 8),
		pageOf(5000, 1, 7*time.Millisecond, 8), pageOf(5000, latePage, 8*time.Millisecond, 12),
		{name: "global v3", page: 1, load: load{elapsed: time.Second, latencies: []time.Duration{5 * time.Millisecond}}, trips: 4},
	}}
	var out strings.Builder
	require.NoError(t, r.printFeeds(&out))
	for _, line := range []string{
		`feeds on 1000 posts`,
		`f +2\.00 ms +2\.00 ms +4\.00`,
		`p50 of 500 followed relative to 10 +at most 3\.0 +3\.00 \(6\.00 ms to 2\.00 ms\) +PASS`,
		`500 followed: p50 of page 50 relative to page 1 +at most 1\.2 +1\.33 .*MISS`,
		`global v3: p50 relative to following 10 +at most 3\.0 +2\.50 \(5\.00 ms to 2\.00 ms\) +PASS`,
		`p50 of 5000 followed relative to 10 +at most 3\.0 +3\.50 \(7\.00 ms to 2\.00 ms\) +MISS`,
		`10 followed: p50 of page 50 relative to page 1 +at most 1\.2 +1\.00 .*PASS`,
		`5000 followed: p50 of page 50 relative to page 1 +at most 1\.2 +1\.14 .*PASS`,
		`every feed: database round trips +at most 5 +6\.00 +MISS`,
	} {
		require.Regexp(t, line, out.String())
	}
	out.Reset()
	require.NoError(t, (&report{}).printFeeds(&out))
	require.Empty(t, out.String(), "if feeds are not selected")
}

// TestRounds checks that concurrent requests to several homes count as one round.
func TestRounds(t *testing.T) {
	before := counters{roundTrips + `{home="us"}`: 10, roundTrips + `{home="eu"}`: 5}
	after := counters{roundTrips + `{home="us"}`: 14, roundTrips + `{home="eu"}`: 6, roundTrips + `{home="sg"}`: 1}
	require.InDelta(t, 4, after.since(before).rounds(), 0)
	require.Zero(t, counters(nil).rounds())
}
