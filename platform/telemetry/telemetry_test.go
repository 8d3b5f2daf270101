package telemetry_test

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/telemetry"
)

func TestEveryMetricCarriesNetworkAndRegion(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("0102", region.EU)
	own := prometheus.NewCounter(prometheus.CounterOpts{Name: "plaza_own_total", Help: "A package's metric."})
	m.Registerer().MustRegister(own)
	families, err := m.Gatherer().Gather()
	require.NoError(t, err)
	names := map[string]bool{}
	for _, f := range families {
		names[f.GetName()] = true
		for _, metric := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range metric.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			require.Equal(t, "0102", labels["network"], f.GetName())
			require.Equal(t, "eu", labels["region"], f.GetName())
		}
	}
	for _, name := range []string{"plaza_own_total", "plaza_build_info", "go_goroutines"} {
		require.True(t, names[name], name)
	}
}

func TestTwoServersInOneProcess(t *testing.T) {
	t.Parallel()
	require.NotPanics(t, func() {
		telemetry.NewMetrics("n", region.US)
		telemetry.NewMetrics("n", region.EU)
	})
}

func TestMetricsHandler(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	telemetry.NewMetrics("n", region.SG).Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	require.Equal(t, 200, w.Code)
	require.Contains(t, w.Body.String(), `plaza_build_info{`)
}

func TestLoggerLevelAndFormat(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := telemetry.NewLogger(&out, telemetry.LogText, slog.LevelWarn)
	log.Info("too quiet")
	log.Warn("loud enough", "key", "value")
	require.NotContains(t, out.String(), "too quiet")
	require.Contains(t, out.String(), `msg="loud enough" key=value`)
}

func TestLogFormat(t *testing.T) {
	t.Parallel()
	var f telemetry.LogFormat
	require.NoError(t, f.UnmarshalText([]byte("text")))
	require.Equal(t, telemetry.LogText, f)
	require.ErrorContains(t, f.UnmarshalText([]byte("xml")), "want json or text")
}

func TestBuildInfo(t *testing.T) {
	t.Parallel()
	b := telemetry.BuildInfo()
	require.NotEmpty(t, b.Version)
	require.NotEmpty(t, b.Revision)
	require.NotEmpty(t, b.GoVersion)
}
