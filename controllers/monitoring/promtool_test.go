//go:build alerts

package monitoring_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/controllers/render"
)

// rulesFile writes the network's rules to a file for Prometheus.
func rulesFile(t *testing.T, folder string, n render.Network) string {
	t.Helper()
	text, err := yaml.Marshal(monitoring.Rule(n).Spec)
	require.NoError(t, err)
	path := filepath.Join(folder, "rules.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// promtool runs the program of hack/ensure-promtool.sh.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	program := os.Getenv("PROMTOOL")
	if program == "" {
		built, err := filepath.Abs("../../bin/tools/promtool")
		require.NoError(t, err)
		program = built
	}
	_, err := exec.LookPath(program)
	require.NoError(t, err, "the tests of alerts need promtool: run hack/ensure-promtool.sh, which builds it in bin/tools")
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	require.NoError(t, err, "promtool %v:\n%s", args, out)
}

// TestRulesAreValid checks that Prometheus accepts the rules of every kind of network.
func TestRulesAreValid(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.SocialNetworkSpec){
		"defaults":   func(*v1alpha1.SocialNetworkSpec) {},
		"one region": func(s *v1alpha1.SocialNetworkSpec) { s.Regions = s.Regions[:1] },
		"low objectives": func(s *v1alpha1.SocialNetworkSpec) {
			s.Monitoring.Alerts.Availability, s.Monitoring.Alerts.LatencyP99 = "90", "10s"
		},
		"high objectives": func(s *v1alpha1.SocialNetworkSpec) {
			s.Monitoring.Alerts.Availability, s.Monitoring.Alerts.LatencyP99 = "99.999", "5ms"
		},
		"no objectives": func(s *v1alpha1.SocialNetworkSpec) { s.Monitoring.Alerts = v1alpha1.Alerts{Enabled: true} },
		"overrides": func(s *v1alpha1.SocialNetworkSpec) {
			s.Monitoring.Alerts.Overrides = []v1alpha1.AlertOverride{{Name: "PlazaDatabasePoolSaturated", Severity: "critical", Threshold: "0.5"}}
		},
		"odd labels": func(s *v1alpha1.SocialNetworkSpec) {
			s.Monitoring.Alerts.Labels = map[string]string{"team": "{{ .broken", "region": "mars", "kind": "x", "namespace": "alerts"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := sample()
			change(&n.SN.Spec)
			promtool(t, "check", "rules", "--lint=all", "--lint-fatal", rulesFile(t, t.TempDir(), n))
		})
	}
}

// TestAlerts runs every case of alertCases as a unit test of Prometheus: on bad series, the alert fires after its
// duration with its labels and texts, and no other one does; on good series none fires, even if those of other networks
// are bad.
func TestAlerts(t *testing.T) {
	folder := t.TempDir()
	rules := filepath.Base(rulesFile(t, folder, sample()))
	short, long := promTests{RuleFiles: []string{rules}, EvaluationInterval: "1m"},
		promTests{RuleFiles: []string{rules}, EvaluationInterval: "1h"}
	for _, c := range alertCases {
		into := &short
		if c.at > minutes {
			into = &long
		}
		into.Tests = append(into.Tests, c.fires(), c.silent())
	}
	args := []string{"test", "rules"}
	for name, tests := range map[string]promTests{"short.yaml": short, "long.yaml": long} {
		text, err := yaml.Marshal(tests)
		require.NoError(t, err)
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, text, 0o600))
		args = append(args, path)
	}
	promtool(t, args...)
}

// TestBoundaries runs every row of boundaries: the alert does not fire at the boundary, and one step past it, it fires after its duration
// and not before.
func TestBoundaries(t *testing.T) {
	folder := t.TempDir()
	rule := monitoring.Rule(sample())
	rule.Spec.Groups = slices.DeleteFunc(rule.Spec.Groups, func(group monitoringv1.RuleGroup) bool { return group.Rules[0].Record != "" })
	rules, err := yaml.Marshal(rule.Spec)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "rules.yaml"), rules, 0o600))
	tests := map[int]*promTests{1: {EvaluationInterval: "1m"}, 60: {EvaluationInterval: "1h"}} // by the minutes between evaluations
	for i, b := range boundaries {
		after, err := model.ParseDuration(b.after)
		require.NoError(t, err)
		every, end := 1, b.from+int(time.Duration(after).Minutes())
		if end > 1000 {
			every = 60
		}
		name := fmt.Sprintf("%d %s %s", i, b.alert, b.comparison)
		tests[every].Tests = append(tests[every].Tests,
			b.test(name+", at", b.at, end+every, map[int]bool{end - every: false, end: false, end + every: false}),
			b.test(name+", past", b.past, end+every, map[int]bool{end - every: false, end: true}))
	}
	args := []string{"test", "rules"}
	for every, file := range tests {
		file.RuleFiles = []string{"rules.yaml"}
		text, err := yaml.Marshal(file)
		require.NoError(t, err)
		path := filepath.Join(folder, fmt.Sprintf("every%d.yaml", every))
		require.NoError(t, os.WriteFile(path, text, 0o600))
		args = append(args, path)
	}
	promtool(t, args...)
}

// test returns the test in which the series has a value, and whether the alert fires at some minutes.
func (b boundary) test(name, value string, length int, fires map[int]bool) promTest {
	w := &world{namespace: "social", network: "acme", length: length, series: map[string]string{}}
	if b.given != nil {
		b.given(w)
	}
	w.series[b.series(w)] = w.constant(value)
	test := promTest{Name: name, Interval: "1m", InputSeries: inputs(w)}
	for _, at := range slices.Sorted(maps.Keys(fires)) {
		query := promQuery{
			Expr: fmt.Sprintf(`count(ALERTS{alertname=%q,alertstate="firing",region=~"eu|"})`, b.alert), EvalTime: minute(at),
			Samples: []promSample{},
		}
		if fires[at] {
			query.Samples = append(query.Samples, promSample{Labels: "{}", Value: 1})
		}
		test.QueryTests = append(test.QueryTests, query)
	}
	return test
}

// TestDashboardQueries checks that Prometheus can parse every query of the dashboard.
func TestDashboardQueries(t *testing.T) {
	type rule struct {
		Record string `json:"record"`
		Expr   string `json:"expr"`
	}
	var rules []rule
	all := dashboardQueries(t, sample())
	for _, text := range monitoring.SharedDashboards() {
		all = append(all, boardQueries(t, text)...)
	}
	for i, query := range all {
		rules = append(rules, rule{Record: fmt.Sprintf("panel:%d", i), Expr: query.expr})
	}
	require.Greater(t, len(rules), 40)
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "queries.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	promtool(t, "check", "rules", "--lint=all", "--lint-fatal", path)
}
