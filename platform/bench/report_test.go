package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSample(t *testing.T) {
	for line, want := range map[string]struct {
		name  string
		value float64
		ok    bool
	}{
		"go_memstats_mallocs_total{network=\"a b\",region=\"us\"} 1.5e+06\n": {
			`go_memstats_mallocs_total{network="a b",region="us"}`, 1.5e6,
			true,
		},
		"go_goroutines 12":                   {"go_goroutines", 12, true},
		"# TYPE go_goroutines gauge":         {"", 0, false},
		"":                                   {"", 0, false},
		"plaza_build_info{version=\"x\"} no": {`plaza_build_info{version="x"}`, 0, false},
	} {
		name, value, ok := sample(line)
		require.Equal(t, want.name, name, line)
		require.InDelta(t, want.value, value, 0, line)
		require.Equal(t, want.ok, ok, line)
	}
}

func TestWithoutIdleWork(t *testing.T) {
	idle := counters{roundTrips: 16}
	busy := counters{roundTrips: 1058, allocations: 5}.since(counters{roundTrips: 10})
	require.Equal(t, counters{roundTrips: 1000, allocations: 5}, busy.without(idle, 3*time.Second))
	require.Zero(t, counters{}.without(idle, time.Second).sum(roundTrips), "never negative")
}

func TestPercentile(t *testing.T) {
	var l load
	require.Zero(t, l.percentile(0.5))
	for i := 100; i > 0; i-- {
		l.latencies = append(l.latencies, time.Duration(i))
	}
	require.Equal(t, time.Duration(51), l.percentile(0.5))
	require.Equal(t, time.Duration(100), l.percentile(0.99))
	require.Equal(t, time.Duration(100), l.percentile(1))
	l.add(load{elapsed: 10 * time.Second})
	require.InDelta(t, 10, l.perSecond(), 0)
}

func TestMedian(t *testing.T) {
	require.InDelta(t, 2, (&result{ratios: []float64{3, 1, 2}}).median(), 0)
	require.InDelta(t, 2.5, (&result{ratios: []float64{4, 1, 3, 2}}).median(), 0)
}

// TestEnoughRounds checks the confidence interval of the median, and that rounds are added until it is narrow enough or there are too many.
func TestEnoughRounds(t *testing.T) {
	ratios := make([]float64, 25)
	for i := range ratios {
		ratios[i] = 1 + float64((i*7)%25-12)/100
	}
	low, high := (&result{ratios: ratios}).interval()
	require.InDelta(t, 0.95, low, 1e-9)
	require.InDelta(t, 1.05, high, 1e-9)
	for name, tc := range map[string]struct {
		rounds    int
		precision float64
		want      bool
	}{
		"fewer than asked for": {26, 0, false},
		"any precision":        {25, 0, true},
		"precise":              {9, 0.06, true},
		"not precise":          {9, 0.04, false},
		"too many":             {3, 0.04, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bench{options: options{rounds: tc.rounds, precision: tc.precision}}
			require.Equal(t, tc.want, b.enough(&result{ratios: ratios}))
		})
	}
}

func TestReport(t *testing.T) {
	measured := side{
		load:     load{elapsed: time.Second, latencies: make([]time.Duration, 90)},
		counters: counters{roundTrips + `{home="us"}`: 181, allocations: 900},
	}
	other := side{load: load{elapsed: time.Second, latencies: make([]time.Duration, 100)}}
	one := &result{operation: &operation{name: "create text post", maxTrips: 2}, sides: []side{measured, other}, ratios: []float64{0.7, 0.9}}
	r := &report{
		options: options{rounds: 2, seconds: 1, concurrency: 4}, results: []*result{one}, servers: serverNames,
		residentIdle: 81 << 20, residentAfter: 162 << 20,
	}
	var out strings.Builder
	require.NoError(t, r.print(&out))
	for _, line := range []string{
		`create text post +plaza +90 +0\.00 ms +0\.00 ms +2\.01 +0\.0 +0\.00 ms +0\.00 ms +0\.00 ms +10`,
		`create text post +other +100 +`,
		`requests/s relative to other +at least 0\.97 +0\.80 \(0\.70 to 0\.90 in 2 rounds\) +MISS`,
		`database round trips +at most 2 +2\.01 +PASS`,
		`memory of an idle server +at most 80 MiB +81\.0 MiB +MISS`,
		`relative to the idle server +at most 1\.25 +2\.00 \(162\.0 MiB\) +MISS`,
	} {
		require.Regexp(t, line, out.String())
	}
	out.Reset()
	r.servers = serverNames[:1]
	require.NoError(t, r.print(&out))
	require.NotContains(t, out.String(), "other")
}
