package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
)

const metricsList = "../telemetry/testdata/metrics.txt"

// onCockroachOnly are metrics that are absent on PostgreSQL.
var onCockroachOnly = []string{"plaza_placement_checked_timestamp_seconds gauge", "plaza_placement_tables_not_pinned gauge"}

// inUseOnly are metrics that are absent without a webhook or a pre-hook.
var inUseOnly = []string{
	"plaza_prehook_requests_total counter result", "plaza_webhook_dead_letters gauge home,webhook",
	"plaza_webhook_deliveries_total counter result,webhook",
	"plaza_webhook_events_lost_total counter webhook", "plaza_webhook_oldest_delivery_seconds gauge home,webhook",
}

// TestMetricsAreListed compares a running server with the list that the tests of alerts and dashboards use: every
// metric with its type and its labels other than network and region. PLAZA_UPDATE=1 rewrites the list.
func TestMetricsAreListed(t *testing.T) {
	ends := time.Now().Add(time.Hour)
	secret := mount(t, generation(t, key{id: "k1", notAfter: ends}))
	a, dir := newAuthority(t), controlFolder(t.TempDir())
	dir.issue(t, a, a)
	served := t.TempDir()
	trusted := writeCertificate(t, served, 1)
	r, _ := serving(t, func(cfg *config.Config) {
		secret.configure(cfg)
		cfg.TLSCertFile, cfg.TLSKeyFile = filepath.Join(served, "tls.crt"), filepath.Join(served, "tls.key")
	}, dir.configure)
	get(t, secureClient(t, overHTTP2, trusted), "https://"+r.APIAddr()+"/api/v3/users")
	var found []string
	require.Eventually(t, func() bool {
		found = exposed(t, r)
		return slices.Contains(found, "plaza_database_up gauge home") && slices.Contains(found, "plaza_outbox_oldest_age_seconds gauge") &&
			slices.Contains(found, "plaza_moderation_generation gauge")
	}, patience, 50*time.Millisecond)
	found = append(found, inUseOnly...)
	if !testdb.Cockroach(t) {
		found = append(found, onCockroachOnly...)
	}
	slices.Sort(found)
	text := strings.Join(found, "\n") + "\n"
	if os.Getenv("PLAZA_UPDATE") != "" {
		require.NoError(t, os.WriteFile(metricsList, []byte(text), 0o644))
	}
	want, err := os.ReadFile(metricsList)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "PLAZA_UPDATE=1 rewrites the list")
}

// exposed returns Plaza's metrics as "name type label,label".
func exposed(t *testing.T, r *running) []string {
	t.Helper()
	families, err := r.Metrics().Gatherer().Gather()
	require.NoError(t, err)
	var lines []string
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "plaza_") {
			continue
		}
		own := map[string]bool{}
		for _, m := range f.GetMetric() {
			carried := map[string]bool{}
			for _, l := range m.GetLabel() {
				carried[l.GetName()] = true
				own[l.GetName()] = true
			}
			require.True(t, carried["network"] && carried["region"], f.GetName())
		}
		delete(own, "network")
		delete(own, "region")
		var labels []string
		for name := range own {
			labels = append(labels, name)
		}
		slices.Sort(labels)
		line := fmt.Sprintf("%s %s %s", f.GetName(), strings.ToLower(f.GetType().String()), strings.Join(labels, ","))
		lines = append(lines, strings.TrimSpace(line))
	}
	slices.Sort(lines)
	return lines
}
