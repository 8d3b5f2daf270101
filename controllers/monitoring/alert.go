package monitoring

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/controllers/render"
)

//go:embed alerts.yaml
var alertsFile []byte

// runbooks is the URL of controllers/monitoring/runbooks in this repository.
const runbooks = "https://github.com/plaza-social/plaza/blob/main/controllers/monitoring/runbooks/"

// alert is an alert of alerts.yaml, which documents the fields.
type alert struct {
	Alert       string                `json:"alert"`
	Severity    string                `json:"severity"`
	For         monitoringv1.Duration `json:"for"`
	EachRegion  bool                  `json:"eachRegion"`
	OfOperator  bool                  `json:"ofOperator"`
	OfProbe     bool                  `json:"ofProbe"`
	Threshold   *threshold            `json:"threshold"`
	Meaning     string                `json:"meaning"`
	Summary     string                `json:"summary"`
	Description string                `json:"description"`
	Expr        string                `json:"expr"`
}

type alertGroup struct {
	Name   string  `json:"name"`
	Alerts []alert `json:"alerts"`
}

// alertGroups returns the content of alerts.yaml.
var alertGroups = sync.OnceValue(func() []alertGroup {
	var groups []alertGroup
	mustDecode(alertsFile, &groups)
	return groups
})

// mustDecode decodes an embedded file.
func mustDecode(file []byte, into any) {
	if err := yaml.UnmarshalStrict(file, into); err != nil {
		panic("monitoring: decoding an embedded file: " + err.Error())
	}
}

// isInstalled reports whether a network has the alert: the spec does not disable it, and its metrics exist.
func (a *alert) isInstalled(n render.Network) bool {
	switch monitoring := n.SN.Spec.Monitoring; {
	case a.OfOperator && n.Cluster != "", a.OfProbe && monitoring.Probe == nil:
		return false
	default:
		return !slices.Contains(monitoring.Alerts.Disabled, a.Alert)
	}
}

// rules returns the alert's rules for a network: one, or one for each region.
func (a *alert) rules(n render.Network, v variables) []monitoringv1.Rule {
	if !a.EachRegion {
		return []monitoringv1.Rule{a.rule(n, v, "")}
	}
	rules := make([]monitoringv1.Rule, 0, len(n.SN.Spec.Regions))
	for _, region := range n.Regions() {
		rules = append(rules, a.rule(n, v, string(region.Code)))
	}
	return rules
}

func (a *alert) rule(n render.Network, v variables, region string) monitoringv1.Rule {
	override, v := overrideOf(n.SN.Spec.Monitoring.Alerts, a.Alert), maps.Clone(v)
	if a.Threshold != nil {
		v["$threshold"] = a.Threshold.value(override.Threshold)
	}
	labels := alertLabels(n.SN.Spec.Monitoring.Alerts.Labels)
	labels["namespace"], labels["network"], labels["severity"] = n.TargetNamespace(), n.SN.Name, cmp.Or(string(override.Severity), a.Severity)
	if n.Cluster != "" {
		labels["cluster"] = n.Cluster
	}
	// Prometheus fills in the labels of the series: not those that the rule adds, and none if the series is absent.
	known := []string{"{{ $labels.namespace }}", n.TargetNamespace(), "{{ $labels.network }}", n.SN.Name}
	if region != "" {
		labels["region"] = region
		known = append(known, "{{ $labels.region }}", region)
		v["$region"] = region
	}
	fill := strings.NewReplacer(known...)
	return monitoringv1.Rule{
		Alert:  a.Alert,
		Expr:   intstr.FromString(v.expand(a.Expr)),
		For:    new(a.For),
		Labels: labels,
		Annotations: map[string]string{
			"summary": fill.Replace(a.Summary), "description": fill.Replace(a.Description), "runbook_url": runbook(n, a.Alert),
		},
	}
}

// runbook returns the URL of an alert's runbook.
func runbook(n render.Network, alert string) string {
	if folder := n.SN.Spec.Monitoring.Alerts.RunbookURL; folder != "" {
		return strings.TrimSuffix(folder, "/") + "/" + alert + ".md"
	}
	return runbooks + alert + ".md"
}

// reservedLabels distinguish the alerts of a rule; setting one of them for all alerts would merge them. The namespace decides
// who receives an alert, so that a network must not claim another one.
var reservedLabels = []string{"alertname", "namespace", "severity", "network", "region", "home", "kind"}

// alertLabels returns the spec's labels of every alert. It escapes braces: Prometheus would parse them as templates,
// and reject the whole file if one is invalid.
func alertLabels(extra map[string]string) map[string]string {
	labels := make(map[string]string, len(extra))
	for name, value := range extra {
		labels[name] = strings.ReplaceAll(value, "{{", `{{"{{"}}`)
	}
	for _, name := range reservedLabels {
		delete(labels, name)
	}
	return labels
}
