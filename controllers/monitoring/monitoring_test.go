package monitoring_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden compares the objects of the sample with their files.
func TestGolden(t *testing.T) {
	for _, object := range []client.Object{
		monitoring.Rule(sample()), monitoring.Dashboard(sample()), monitoring.GrafanaDashboard(sample()), render.Probes(sample())[1],
	} {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		require.NoError(t, err)
		delete(content, "status")
		got, err := yaml.Marshal(content)
		require.NoError(t, err)
		path := filepath.Join("testdata", strings.ToLower(object.GetObjectKind().GroupVersionKind().Kind)+".yaml")
		if *update {
			require.NoError(t, os.WriteFile(path, got, 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "%s: go test ./controllers/monitoring -update rewrites it", path)
	}
}

// TestRuleLabels checks that every alert has a severity, a runbook, the network's labels and those of the spec, and
// that the labels of the spec can neither merge alerts nor break the file.
func TestRuleLabels(t *testing.T) {
	n := sample()
	n.SN.Spec.Monitoring.Alerts.Labels = map[string]string{
		"team": "{{ broken", "alertname": "x", "namespace": "x", "severity": "none", "network": "x", "region": "x", "home": "x", "kind": "x",
	}
	perRegion := map[string]int{}
	for _, group := range monitoring.Rule(n).Spec.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" {
				continue
			}
			require.Contains(t, []string{"critical", "warning", "info"}, rule.Labels["severity"], rule.Alert)
			require.Equal(t, "social", rule.Labels["namespace"], rule.Alert)
			require.Equal(t, "acme", rule.Labels["network"], rule.Alert)
			require.Equal(t, `{{"{{"}} broken`, rule.Labels["team"], rule.Alert)
			for _, reserved := range []string{"alertname", "home", "kind"} {
				require.NotContains(t, rule.Labels, reserved, rule.Alert)
			}
			require.NotNil(t, rule.For, rule.Alert)
			require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
			require.NotEmpty(t, rule.Annotations["description"], rule.Alert)
			if region := rule.Labels["region"]; region != "" {
				perRegion[region]++
			}
		}
	}
	require.Equal(t, map[string]int{"us": 2, "eu": 2, "sg": 2}, perRegion)
	require.Equal(t, "{{ broken", n.SN.Spec.Monitoring.Alerts.Labels["team"], "the spec is only read")
}

// TestRunbookURL checks the address of an alert's runbook, with and without one in the spec.
func TestRunbookURL(t *testing.T) {
	n := sample()
	urls := func() map[string]string {
		all := map[string]string{}
		for _, group := range monitoring.Rule(n).Spec.Groups {
			for _, rule := range group.Rules {
				if rule.Alert != "" {
					all[rule.Alert] = rule.Annotations["runbook_url"]
				}
			}
		}
		return all
	}
	for alert, address := range urls() {
		require.True(t, strings.HasSuffix(address, "/"+alert+".md"), address)
	}
	for _, folder := range []string{"https://wiki.example/plaza", "https://wiki.example/plaza/"} {
		n.SN.Spec.Monitoring.Alerts.RunbookURL = folder
		for alert, address := range urls() {
			require.Equal(t, "https://wiki.example/plaza/"+alert+".md", address)
		}
	}
}

// TestObjectives checks that thresholds follow the spec exactly and can always be reached.
func TestObjectives(t *testing.T) {
	for _, test := range []struct {
		availability, latency string
		fast, slow            []string
		seconds               string
	}{
		{"99.9", "500ms", []string{"> 0.0144", "> 0.006"}, []string{"> 0.003", "> 0.001"}, "> 0.5 "},
		{"99.95", "1s", []string{"> 0.0072", "> 0.003"}, []string{"> 0.0015", "> 0.0005"}, "> 1 "},
		{"99.999", "5ms", []string{"> 0.000144", "> 0.00006"}, []string{"> 0.00003", "> 0.00001"}, "> 0.005 "},
		{"90", "10s", []string{"> 0.9", "> 0.6"}, []string{"> 0.3", "> 0.1"}, "> 10 "},
		{"", "", []string{"> 0.0144", "> 0.006"}, []string{"> 0.003", "> 0.001"}, "> 0.5 "},
	} {
		n := sample()
		n.SN.Spec.Monitoring.Alerts.Availability = test.availability
		n.SN.Spec.Monitoring.Alerts.LatencyP99 = ""
		require.NoError(t, json.Unmarshal(fmt.Appendf(nil, "%q", test.latency), &n.SN.Spec.Monitoring.Alerts.LatencyP99))
		require.Equal(t, test.fast, thresholds(expression(t, n, "PlazaErrorBudgetBurnFast")), test.availability)
		require.Equal(t, test.slow, thresholds(expression(t, n, "PlazaErrorBudgetBurnSlow")), test.availability)
		require.Contains(t, expression(t, n, "PlazaLatencyBudgetBurnFast"), test.seconds)
	}
}

// thresholds returns the different thresholds of recorded ratios, in order.
func thresholds(expr string) []string {
	var found []string
	for _, part := range strings.Split(expr, "failed_ratio_rate")[1:] {
		_, after, _ := strings.Cut(part, "} ")
		threshold, _, _ := strings.Cut(after, ")")
		threshold, _, _ = strings.Cut(threshold, " and")
		if len(found) == 0 || found[len(found)-1] != threshold {
			found = append(found, threshold)
		}
	}
	return found
}

// TestRunbooks checks that every alert's runbook URL is a file of this repository with all sections, and that no
// runbook is left of a removed alert.
func TestRunbooks(t *testing.T) {
	const base = "https://github.com/plaza-social/plaza/blob/main/"
	left := map[string]bool{}
	files, err := filepath.Glob("runbooks/*.md")
	require.NoError(t, err)
	for _, file := range files {
		left[file] = true
	}
	for _, group := range monitoring.Rule(sample()).Spec.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" {
				continue
			}
			path, found := strings.CutPrefix(rule.Annotations["runbook_url"], base)
			require.True(t, found, rule.Annotations["runbook_url"])
			content, err := os.ReadFile("../../" + path)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(string(content), "# "+rule.Alert+"\n"), "%s is not about %s", path, rule.Alert)
			for _, heading := range []string{"## What it means", "## How to check", "## What to do", "## How to silence it"} {
				require.Contains(t, string(content), "\n"+heading+"\n", path)
			}
			require.Contains(t, string(content), "alertname="+rule.Alert, "%s: the command that silences it", path)
			delete(left, filepath.Join("runbooks", rule.Alert+".md"))
		}
	}
	require.Empty(t, left, "runbooks without an alert")
}

// TestGrafanaDashboard checks that the object refers to the file of the ConfigMap, and has another name for another selector, which is
// immutable.
func TestGrafanaDashboard(t *testing.T) {
	n := sample()
	all := monitoring.GrafanaDashboard(n)
	require.Equal(t, monitoring.Dashboard(n).Name, all.Spec.ConfigMapRef.Name)
	require.Contains(t, monitoring.Dashboard(n).Data, all.Spec.ConfigMapRef.Key)
	require.Equal(t, "acme-dashboard", all.Name)
	n.SN.Spec.Monitoring.Grafana.InstanceLabels = map[string]string{"dashboards": "grafana", "a": "b"}
	some := monitoring.GrafanaDashboard(n)
	require.Equal(t, n.SN.Spec.Monitoring.Grafana.InstanceLabels, some.Spec.InstanceSelector.MatchLabels)
	require.Regexp(t, "^acme-dashboard-[0-9a-f]{8}$", some.Name)
	require.Equal(t, some, monitoring.GrafanaDashboard(n), "the name does not depend on the order of the labels")
	n.SN.Spec.Monitoring.Grafana.InstanceLabels = map[string]string{"dashboards": "other"}
	require.NotEqual(t, some.Name, monitoring.GrafanaDashboard(n).Name)
}

// TestInstalledAlerts checks that alerts without metrics are not installed.
func TestInstalledAlerts(t *testing.T) {
	n := sample()
	require.NotEmpty(t, expression(t, n, "PlazaHostUnreachable"))
	n.SN.Spec.Monitoring.Probe = nil
	n.SN.Spec.Monitoring.Alerts.Disabled = []string{"PlazaServerDown"}
	var installed []string
	for _, rule := range alertRules(n) {
		installed = append(installed, rule.Alert)
	}
	require.NotContains(t, installed, "PlazaHostUnreachable")
	require.NotContains(t, installed, "PlazaHostCertificateExpiring")
	require.NotContains(t, installed, "PlazaServerDown")
	require.Contains(t, installed, "PlazaRegionDown")
}

// TestMonitoredClusters checks that the operator's own cluster is monitored without any region, and that other clusters are not.
func TestMonitoredClusters(t *testing.T) {
	n := sample()
	n.Capabilities.PrometheusRule = true
	for i := range n.SN.Spec.Regions {
		n.SN.Spec.Regions[i].Cluster = "cluster-of-all"
	}
	kinds := func(cluster string) []string {
		n.Cluster, n.Namespace = cluster, n.SN.Namespace
		var kinds []string
		for _, object := range monitoring.Objects(&stage.Cluster{Name: cluster, Network: n}) {
			kinds = append(kinds, object.GetObjectKind().GroupVersionKind().Kind)
		}
		return kinds
	}
	require.Contains(t, kinds(""), monitoringv1.PrometheusRuleKind)
	require.Contains(t, kinds("cluster-of-all"), monitoringv1.PrometheusRuleKind)
	require.Empty(t, kinds("cluster-of-none"))
}

// TestAlertsOfACluster checks that a cluster has alerts for its own regions only, about the namespace in which their pods are.
func TestAlertsOfACluster(t *testing.T) {
	n := sample()
	n.SN.Spec.Regions[1].Cluster, n.SN.Spec.Regions[1].Namespace = "abroad", "plaza-abroad"
	own, abroad := n, n
	abroad.Cluster, abroad.Namespace = "abroad", "plaza-abroad"
	regions := func(n render.Network) (found []string) {
		for _, rule := range alertRules(n) {
			if rule.Alert == "PlazaRegionDown" {
				found = append(found, rule.Labels["region"])
				require.Contains(t, rule.Expr.String(), fmt.Sprintf("namespace=%q", n.TargetNamespace()))
			}
		}
		return found
	}
	require.Equal(t, []string{"us", "sg"}, regions(own))
	require.Equal(t, []string{"eu"}, regions(abroad))
}

// TestDashboard checks that each network has a separate file, which does not mention other networks.
func TestDashboard(t *testing.T) {
	n := sample()
	m := monitoring.Dashboard(n)
	require.Equal(t, "1", m.Labels["grafana_dashboard"])
	require.Len(t, m.Data, 1)
	for name, file := range m.Data {
		require.Equal(t, "plaza-social-acme.json", name)
		require.Empty(t, validation.IsConfigMapKey(name))
		require.Less(t, len(file), 500_000, "of the 1 MiB that a ConfigMap holds")
		var board struct {
			UID    string `json:"uid"`
			Panels []struct {
				ID          int `json:"id"`
				Type, Title string
				GridPos     struct{ H, W, X, Y int }
			}
			Templating struct{ List []struct{ Name string } }
		}
		require.NoError(t, json.Unmarshal([]byte(file), &board))
		require.Equal(t, monitoring.DashboardUID("social", "acme"), board.UID)
		require.LessOrEqual(t, len(board.UID), 40)
		require.Equal(t, "datasource", board.Templating.List[0].Name)
		require.Equal(t, "region", board.Templating.List[1].Name)
		var rows []string
		taken := map[[2]int]string{}
		for i, p := range board.Panels {
			require.Equal(t, i+1, p.ID)
			require.NotEmpty(t, p.Title)
			if p.Type == "row" {
				rows = append(rows, p.Title)
			}
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
					require.Less(t, x, 24, p.Title)
					require.Empty(t, taken[[2]int{x, y}], "%s lies over it", p.Title)
					taken[[2]int{x, y}] = p.Title
				}
			}
		}
		require.Equal(t, []string{
			"Overview", "Traffic", "Errors", "Latency", "Database, by home region of the rows", "Keys, schema and settings", "Outbox and jobs",
			"Resources",
		}, rows)
	}
	other := sample()
	other.SN.Namespace = "elsewhere"
	require.NotEqual(t, monitoring.DashboardUID("social", "acme"), monitoring.DashboardUID("elsewhere", "acme"))
	require.NotContains(t, fmt.Sprint(monitoring.Dashboard(other).Data), `\"social\"`)
	require.Equal(t, m, monitoring.Dashboard(sample()), "equal networks have equal dashboards")
}
