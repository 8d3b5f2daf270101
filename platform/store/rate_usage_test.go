package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/network"
)

// TestRateUsages adds to the usages of keys, which have declined since their last change, by the rate of that time.
func TestRateUsages(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	add := func(usages ...network.RateUsage) map[string]float64 {
		t.Helper()
		levels := map[string]float64{}
		w := s.NewTx(region.EU)
		w.AddRateUsages(usages, levels)
		commit(t, w)
		return levels
	}
	require.Equal(t, map[string]float64{"b": 7, "a": 50_000}, add(
		network.RateUsage{Key: []byte("b"), Level: 7, Refill: 1}, network.RateUsage{Key: []byte("a"), Level: 50_000, Refill: 10}))
	_, err := conn.Exec(t.Context(), "UPDATE rate_usages SET updated_at = updated_at - INTERVAL '1 hour'")
	require.NoError(t, err)
	levels := add(network.RateUsage{Key: []byte("a"), Level: 500, Refill: 0}, network.RateUsage{Key: []byte("b"), Level: 2, Refill: 0})
	require.InDelta(t, 500+50_000-36_000, levels["a"], 2_000, "ten per second less")
	require.InDelta(t, 2, levels["b"], 0, "nothing is left of the other seven")
	_, err = conn.Exec(t.Context(), "UPDATE rate_usages SET updated_at = updated_at - INTERVAL '1 hour'")
	require.NoError(t, err)
	again := add(network.RateUsage{Key: []byte("a"), Level: 1, Refill: 5})
	require.InDelta(t, levels["a"]+1, again["a"], 0.001, "the rate has changed to none")
	var old int
	require.NoError(t, conn.QueryRow(t.Context(),
		"SELECT count(*) FILTER (WHERE updated_at < now() - INTERVAL '30 minutes') FROM rate_usages WHERE key = 'a'").Scan(&old))
	require.Zero(t, old, "it has changed now")
}

// TestSweepRateUsages deletes the usages that have not changed for some time.
func TestSweepRateUsages(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	for key, seconds := range map[string]int{"old": 9, "as old as the limit": 10, "new": 11} {
		w := s.NewTx(region.EU)
		w.AddRateUsages([]network.RateUsage{{Key: []byte(key), Level: 1, Refill: 1}}, map[string]float64{})
		commit(t, w)
		_, err := conn.Exec(t.Context(), "UPDATE rate_usages SET updated_at = $1 WHERE key = $2", later(seconds), []byte(key))
		require.NoError(t, err)
	}
	for _, want := range []int64{1, 0} {
		var removed int64
		w := s.NewTx(region.EU)
		w.SweepRateUsages(later(10), &removed)
		commit(t, w)
		require.Equal(t, want, removed)
	}
}
