//go:build alerts || ui || observe

package live_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/controllers/monitoring/prometheus"
)

// patience is how long a test waits for a result on a busy machine.
const patience = 2 * time.Minute

// server is a running Prometheus.
type server struct{ *prometheus.Server }

// startPrometheus runs a Prometheus with rules until the test ends. It scrapes and evaluates every second.
func startPrometheus(t *testing.T, rules any, targets []prometheus.Target, more ...map[string]any) *server {
	t.Helper()
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	program, err := prometheus.Find(root)
	require.NoError(t, err)
	started, err := prometheus.Start(t.Context(), prometheus.Options{
		Program: program, Dir: t.TempDir(), Rules: rules, Targets: targets, More: more, Interval: time.Second,
	})
	require.NoError(t, err)
	p := &server{started}
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Log(p.Output())
		}
	})
	p.awaitUp(t, len(targets))
	return p
}

// awaitUp waits until all targets were scraped.
func (p *server) awaitUp(t *testing.T, targets int) {
	t.Helper()
	require.Eventually(t, func() bool {
		found, err := p.Query(t.Context(), fmt.Sprintf("count(up == 1) >= %d", targets))
		return err == nil && len(found) == 1
	}, patience, 100*time.Millisecond)
}

// firing returns how many alerts of a name fire.
func (p *server) firing(t *testing.T, alert string) int {
	t.Helper()
	found, err := p.Query(t.Context(), fmt.Sprintf(`ALERTS{alertname=%q,alertstate="firing"}`, alert))
	require.NoError(t, err)
	return len(found)
}
