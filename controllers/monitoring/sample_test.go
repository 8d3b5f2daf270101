package monitoring_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	AlertTests  []promExpect `json:"alert_rule_test,omitempty"`
	QueryTests  []promQuery  `json:"promql_expr_test,omitempty"`
}

// promQuery is a query and its result.
type promQuery struct {
	Expr     string       `json:"expr"`
	EvalTime string       `json:"eval_time"`
	Samples  []promSample `json:"exp_samples"`
}

type promSample struct {
	Labels string  `json:"labels"`
	Value  float64 `json:"value"`
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
