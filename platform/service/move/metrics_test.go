package move_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/move"
	"github.com/plaza-social/plaza/platform/store/db"
)

// TestMetrics follows a move in the metrics: its state and age, and its duration when it is done.
func TestMetrics(t *testing.T) {
	w := newWorld(t)
	registry := prometheus.NewRegistry()
	s := move.New(w.Deps, move.Options{Storage: w.storage, Settle: settle, Limits: limits.Lift(), Registerer: registry})
	for state := w.move().State; state != db.MoveDone; state = w.advance(s) {
		_, err := s.MetricsJob().Drain(t.Context(), region.EU, 0)
		require.NoError(t, err)
		values := gather(t, registry)
		require.InDelta(t, 1, values["plaza_user_moves "+string(state)], 0)
		require.InDelta(t, w.now().Sub(w.move().RequestedAt).Seconds(), values["plaza_user_moves_oldest_age_seconds"], 0.01)
	}
	_, err := s.MetricsJob().Drain(t.Context(), region.EU, 0)
	require.NoError(t, err)
	values := gather(t, registry)
	require.Zero(t, values["plaza_user_moves_oldest_age_seconds"])
	require.InDelta(t, 1, values["plaza_user_move_duration_seconds done"], 0)
}

// gather returns the values of gauges and the counts of histograms, by name and label.
func gather(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := []string{f.GetName()}
			for _, label := range m.GetLabel() {
				name = append(name, label.GetValue())
			}
			values[strings.Join(name, " ")] = m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return values
}
