package monitoring_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/controllers/networkmetrics"
	"github.com/plaza-social/plaza/controllers/render"
)

// metric is the type of a metric, its labels, and their possible values if they are known.
type metric struct {
	kind   string
	labels []string
	values map[string][]string
}

// exposed returns all metrics of servers, the operator and Prometheus itself, by the names in queries.
func exposed(t *testing.T) map[string]metric {
	t.Helper()
	target := []string{"namespace", "network", "region", "pod"}
	all := map[string]metric{
		"up":                             {kind: "gauge", labels: target},
		"probe_success":                  {kind: "gauge", labels: target}, // of the blackbox exporter, as render.Probe labels them
		"probe_ssl_earliest_cert_expiry": {kind: "gauge", labels: target},
		"ALERTS": {
			kind:   "gauge",
			labels: []string{"namespace", "network", "region", "alertname", "alertstate", "severity"},
		},
	}
	golden, err := os.ReadFile("../../platform/telemetry/testdata/metrics.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(golden)) {
		fields := strings.Fields(line)
		m := metric{kind: fields[1], labels: target}
		if len(fields) > 2 {
			m.labels = slices.Concat(m.labels, strings.Split(fields[2], ","))
		}
		all[fields[0]] = m
	}
	runtime := prometheus.NewRegistry()
	runtime.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for name, m := range gather(t, runtime) {
		m.labels = slices.Concat(m.labels, target)
		all[name] = m
	}
	for name, m := range gather(t, operatorMetrics()) {
		m.labels = append(m.labels, "pod")
		all[name] = m
	}
	for _, rule := range monitoring.Rule(sample()).Spec.Groups[0].Rules {
		all[rule.Record] = metric{kind: "gauge", labels: []string{"namespace", "network", "region"}}
	}
	for name, m := range all {
		if m.kind == "histogram" {
			all[name+"_bucket"] = metric{kind: "bucket", labels: append(slices.Clone(m.labels), "le"), values: m.values}
			all[name+"_count"] = metric{kind: "counter", labels: m.labels, values: m.values}
			all[name+"_sum"] = all[name+"_count"]
		}
	}
	return all
}

// operatorMetrics returns the operator's metrics of a network with every condition.
func operatorMetrics() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	all := func(kinds ...string) []metav1.Condition {
		var conditions []metav1.Condition
		for _, kind := range kinds {
			conditions = append(conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue})
		}
		return conditions
	}
	ofRegion := all(v1alpha1.RegionAvailable, v1alpha1.RegionUpdated, v1alpha1.RegionKeysVerified, v1alpha1.RegionEvacuated)
	next := metav1.NewTime(time.Unix(1e9, 0))
	networkmetrics.New(registry).Observe(sample().SN, &v1alpha1.SocialNetworkStatus{
		Conditions: all(v1alpha1.ConditionReady, v1alpha1.ConditionKeysReady, v1alpha1.ConditionSchemaMigrated,
			v1alpha1.ConditionRegionsAvailable,
			v1alpha1.ConditionModerationApplied, v1alpha1.ConditionWebhooksApplied, v1alpha1.ConditionAlertsApplied, v1alpha1.ConditionRegionsPinned,
			v1alpha1.ConditionSwept, v1alpha1.ConditionPaused),
		Regions: []v1alpha1.RegionStatus{
			{Code: "us", Conditions: ofRegion},
			{Code: "eu", Conditions: ofRegion},
			{Code: "sg", Conditions: ofRegion},
		},
		Schema: v1alpha1.SchemaStatus{Current: "1", Target: "1"}, ServerKeys: v1alpha1.ServerKeysStatus{NextRotation: &next},
		Control: v1alpha1.ControlStatus{CertificatesNotAfter: &next},
		Backup:  &v1alpha1.BackupStatus{LastSuccess: &next, OverdueAt: &next},
	}, time.Unix(1e9, 0))
	return registry
}

// gather reads names, labels and label values from a registry.
func gather(t *testing.T, registry prometheus.Gatherer) map[string]metric {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	all := map[string]metric{}
	for _, family := range families {
		m := metric{kind: strings.ToLower(dto.MetricType_name[int32(family.GetType())]), values: map[string][]string{}}
		for _, series := range family.GetMetric() {
			for _, label := range series.GetLabel() {
				if !slices.Contains(m.labels, label.GetName()) {
					m.labels = append(m.labels, label.GetName())
				}
				m.values[label.GetName()] = append(m.values[label.GetName()], label.GetValue())
			}
		}
		all[family.GetName()] = m
	}
	return all
}

var (
	selector = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^}]*)\}(\[)?`)
	matcher  = regexp.MustCompile(`([a-z_]+)(=~|!~|!=|=)"([^"]*)"`)
	grouping = regexp.MustCompile(`\b(?:by|on|group_left) \(([^)]*)\)`)
	strayed  = regexp.MustCompile(`\b(?:plaza|process|go|network_region|probe)_[a-z_:0-9]+(\{)?|\bup\b(\{)?|\bALERTS\b(\{)?`)
	wrapped  = regexp.MustCompile(`\b(rate|increase|changes)\(([a-zA-Z_:][a-zA-Z0-9_:]*)\{`)
)

// TestNames checks that queries use only metrics, labels and label values that exist, apply rates only to counters, and
// select only their network.
func TestNames(t *testing.T) {
	known := exposed(t)
	for where, query := range queries(t, sample()) {
		selectors := selector.FindAllStringSubmatch(query, -1)
		require.NotEmpty(t, selectors, "%s: %s", where, query)
		require.Len(t, selectors, len(strayed.FindAllString(query, -1)), "%s: a metric without a selector in %s", where, query)
		var labels []string
		for _, found := range selectors {
			m, ok := known[found[1]]
			require.True(t, ok, "%s: no program exports %s", where, found[1])
			require.Contains(t, found[2], `namespace="social",network="acme"`, "%s: %s of every network", where, found[1])
			for _, match := range matcher.FindAllStringSubmatch(found[2], -1) {
				require.Contains(t, m.labels, match[1], "%s: %s has no such label", where, found[1])
				if values := m.values[match[1]]; match[2] == "=" && values != nil {
					require.Contains(t, values, match[3], "%s: no value of %s of %s", where, match[1], found[1])
				}
			}
			if found[3] != "" {
				require.True(t, m.kind == "counter" || m.kind == "bucket" || m.kind == "histogram" || found[1] == "process_start_time_seconds",
					"%s: %s is a %s", where, found[1], m.kind)
			}
			labels = slices.Concat(labels, m.labels)
		}
		for _, group := range grouping.FindAllStringSubmatch(query, -1) {
			for label := range strings.SplitSeq(group[1], ", ") {
				require.True(t, label == "" || slices.Contains(labels, label), "%s: nothing in %s has the label %q", where, query, label)
			}
		}
		for _, f := range wrapped.FindAllStringSubmatch(query, -1) {
			require.Equal(t, f[1] == "changes", known[f[2]].kind == "gauge", "%s: %s of a %s", where, f[1], known[f[2]].kind)
		}
	}
}

// TestBuckets checks that histograms have buckets at, or on both sides of, the thresholds of alerts: without a bucket
// above it, the p99 would never exceed a threshold.
func TestBuckets(t *testing.T) {
	for _, test := range []struct {
		file            string
		lowest, highest float64 // thresholds of alerts
	}{
		{"../../platform/edge/metrics.go", 0.005, 10}, // possible values of latencyP99
		{"../../platform/edge/realtime/metrics.go", 5, 5},
	} {
		source, err := os.ReadFile(test.file)
		require.NoError(t, err)
		found := regexp.MustCompile(`(?:kindBuckets +=|Buckets:)\s*\[\]float64\{([^}]*)\}`).FindAllStringSubmatch(string(source), -1)
		require.Len(t, found, 1, test.file)
		var bounds []float64
		for text := range strings.SplitSeq(found[0][1], ", ") {
			bound, err := strconv.ParseFloat(text, 64)
			require.NoError(t, err, test.file)
			bounds = append(bounds, bound)
		}
		require.Contains(t, bounds, test.lowest, test.file)
		require.Contains(t, bounds, test.highest, test.file)
		require.Greater(t, bounds[len(bounds)-1], test.highest, test.file)
	}
}

// queries returns those of the alerts, the recordings and the dashboard, by location.
func queries(t *testing.T, n render.Network) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, group := range monitoring.Rule(n).Spec.Groups {
		for _, rule := range group.Rules {
			all["rule "+rule.Alert+rule.Record+" "+rule.Labels["region"]] = rule.Expr.String()
		}
	}
	for _, query := range dashboardQueries(t, n) {
		all["panel "+query.panel] = query.expr
	}
	return all
}

type panelQuery struct{ panel, expr string }

// dashboardQueries returns the queries of the panels, with values instead of Grafana's variables.
func dashboardQueries(t *testing.T, n render.Network) []panelQuery {
	t.Helper()
	var all []panelQuery
	for _, file := range monitoring.Dashboard(n).Data {
		all = append(all, boardQueries(t, file)...)
	}
	return all
}

// boardQueries returns the queries of a dashboard's panels and annotations.
func boardQueries(t *testing.T, text string) []panelQuery {
	t.Helper()
	var board struct {
		Annotations struct{ List []struct{ Name, Expr string } }
		Panels      []struct {
			Title   string
			Targets []struct{ RefID, Expr string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &board))
	var all []panelQuery
	add := func(where, expr string) {
		expr = strings.NewReplacer("$region", "us|eu|sg", "$namespace", ".+", "$__rate_interval", "1m", "$__range", "1h").Replace(expr)
		require.NotContains(t, expr, "$", where)
		all = append(all, panelQuery{where, expr})
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			add(p.Title+" "+target.RefID, target.Expr)
		}
	}
	require.NotEmpty(t, board.Annotations.List)
	for _, annotation := range board.Annotations.List {
		add("annotation "+annotation.Name, annotation.Expr)
	}
	return all
}

// TestFleetNames checks that the dashboard of all networks uses only metrics and labels that exist, and selects namespaces.
func TestFleetNames(t *testing.T) {
	known := exposed(t)
	for _, query := range boardQueries(t, monitoring.SharedDashboards()["plaza-fleet.json"]) {
		for _, found := range selector.FindAllStringSubmatch(query.expr, -1) {
			require.Contains(t, known, found[1], query.panel)
			require.Contains(t, found[2], `namespace=~".+"`, query.panel)
			for _, match := range matcher.FindAllStringSubmatch(found[2], -1) {
				require.Contains(t, known[found[1]].labels, match[1], "%s: %s has no such label", query.panel, found[1])
			}
		}
	}
}

// expression returns the expression of an alert.
func expression(t *testing.T, n render.Network, alert string) string {
	t.Helper()
	for _, group := range monitoring.Rule(n).Spec.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == alert {
				return rule.Expr.String()
			}
		}
	}
	require.Fail(t, "no such alert", alert)
	return ""
}
