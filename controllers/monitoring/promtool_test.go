package monitoring_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/controllers/render"
)

// sample returns a network in three regions with the defaults of the CRD and a label for alerts.
func sample() render.Network {
	return render.Network{SN: &v1alpha1.SocialNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: "social", Name: "acme", UID: "11111111-2222-3333-4444-555555555555"},
		Spec: v1alpha1.SocialNetworkSpec{
			Regions: []v1alpha1.Region{
				{Code: "us", Host: "us.acme.example"}, {Code: "eu", Host: "eu.acme.example"}, {Code: "sg", Host: "sg.acme.example"},
			},
			Monitoring: v1alpha1.Monitoring{ServiceMonitor: true, Dashboards: true, Alerts: v1alpha1.Alerts{
				Enabled: true, Availability: "99.9", LatencyP99: "500ms", Labels: map[string]string{"team": "community"},
			}, Probe: &v1alpha1.Probe{Prober: "blackbox-exporter.monitoring:9115", Module: "http_2xx"}},
		},
	}}
}

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
	short, long := promTests{RuleFiles: []string{rules}, EvaluationInterval: "1m"}, promTests{RuleFiles: []string{rules}, EvaluationInterval: "1h"}
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

// TestEveryAlertIsTested checks that each alert has a case in which it fires.
func TestEveryAlertIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range alertCases {
		for _, f := range c.want {
			tested[f.alert] = true
		}
	}
	for _, name := range alertNames() {
		require.True(t, tested[name], "%s has no case in alertCases", name)
	}
}

// alertNames returns the names of the sample's alerts.
func alertNames() []string {
	var names []string
	seen := map[string]bool{}
	for _, group := range monitoring.Rule(sample()).Spec.Groups {
		for _, rule := range group.Rules {
			if rule.Alert != "" && !seen[rule.Alert] {
				seen[rule.Alert] = true
				names = append(names, rule.Alert)
			}
		}
	}
	return names
}

// The file format of promtool test rules.
type promTests struct {
	RuleFiles          []string   `json:"rule_files"`
	EvaluationInterval string     `json:"evaluation_interval"`
	Tests              []promTest `json:"tests"`
}

type promTest struct {
	Name        string       `json:"name"`
	Interval    string       `json:"interval"`
	InputSeries []promSeries `json:"input_series"`
	AlertTests  []promExpect `json:"alert_rule_test"`
}

type promSeries struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

type promExpect struct {
	EvalTime  string      `json:"eval_time"`
	Alertname string      `json:"alertname"`
	ExpAlerts []promAlert `json:"exp_alerts"`
}

type promAlert struct {
	ExpLabels      map[string]string `json:"exp_labels"`
	ExpAnnotations map[string]string `json:"exp_annotations"`
}
