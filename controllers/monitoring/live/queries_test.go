//go:build alerts

package live_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/controllers/monitoring"
)

// mayBeEmpty are parts of selectors that select nothing in the network of the test, and why.
var mayBeEmpty = map[string]string{
	`type="Evacuated"`:         "no region is evacuated",
	"plaza_placement_checked_": "only CockroachDB has a placement",
	"plaza_placement_tables_":  "only CockroachDB has a placement",
	"plaza_http_request_duration_seconds{": "a native histogram, which this Prometheus does not collect; its classic " +
		"buckets have another name",
	"plaza_keys_latest_":   "the keys of the test do not expire",
	"plaza_keys_earliest_": "the keys of the test do not expire",
	"plaza_control_certificate_not_after_timestamp_seconds{": "the servers of the test have no control port",
	"plaza_operator_backup_overdue_timestamp_seconds":        "only CockroachDB has backups by schedule",
	"plaza_webhook_": "the network of the test has no webhook",
	`code="5xx"`:     "no request fails",
}

// TestQueries evaluates every selector of the alerts and recordings, and every query of the dashboard, with the series of
// running servers. No selector and no panel is empty unless mayBeEmpty has the reason.
func TestQueries(t *testing.T) {
	n := startNetwork(t)
	rule := monitoring.RuleFaster(n.rendered(), factor)
	p := startPrometheus(t, rule.Spec, n.targets, n.hosts.scraped(n.rendered()))
	all := panels(t, n)
	for _, group := range rule.Spec.Groups {
		for _, r := range group.Rules {
			_, err := p.Query(t.Context(), r.Expr.String())
			require.NoError(t, err, "%s%s", r.Alert, r.Record)
			for _, selected := range selector.FindAllString(r.Expr.String(), -1) {
				all["selector "+selected] = strings.TrimSuffix(selected, "[")
			}
			if r.Record != "" {
				all["recording "+r.Record] = r.Expr.String()
			}
		}
	}
	require.Greater(t, len(all), 100)
	var empty []string
	require.Eventually(t, func() bool { // rates need two scrapes
		empty = nil
		for _, where := range slices.Sorted(maps.Keys(all)) {
			found, err := p.Query(t.Context(), all[where])
			require.NoError(t, err, where)
			if len(found) == 0 && !excused(all[where]) {
				empty = append(empty, where+": "+all[where])
			}
		}
		return len(empty) == 0
	}, patience, time.Second, "%v", &empty)
}

var selector = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*\{[^}]*\}`)

// excused reports whether the first selector of an expression may be empty.
func excused(expr string) bool {
	for part := range mayBeEmpty {
		if strings.Contains(selector.FindString(expr), part) {
			return true
		}
	}
	return false
}

// panels returns the queries of the dashboard, with values instead of Grafana's variables.
func panels(t *testing.T, n *observed) map[string]string {
	t.Helper()
	fill := strings.NewReplacer("$region", "us|eu|sg", "$__rate_interval", "10s", "$__range", "1m")
	all := map[string]string{}
	for _, file := range monitoring.Dashboard(n.rendered()).Data {
		var board struct {
			Panels []struct {
				Title   string
				Targets []struct{ RefID, Expr string }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(file), &board))
		for _, panel := range board.Panels {
			for _, query := range panel.Targets {
				all["panel "+panel.Title+" "+query.RefID] = fill.Replace(query.Expr)
			}
		}
	}
	return all
}
