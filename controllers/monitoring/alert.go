package monitoring

import (
	"maps"
	"strings"
	"time"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// Severities: critical needs attention immediately, warning on the next working day, info is informational.
const (
	critical = "critical"
	warning  = "warning"
	info     = "info"
)

// runbooks is the URL of controllers/monitoring/runbooks in this repository.
const runbooks = "https://github.com/plaza-social/plaza/blob/main/controllers/monitoring/runbooks/"

// alert is one alert of a network.
type alert struct {
	name     string
	severity string
	after    time.Duration // how long the expression must hold
	// meaning completes the sentence "Fires when …" in the table of alerts.
	meaning     string
	summary     string // Prometheus templates
	description string
	// eachRegion makes one rule for each region of the spec, given by scope.region. Otherwise region is a label of the
	// series, if they have one.
	eachRegion bool
	expr       func(s scope) string
}

// alerts returns all alerts by topic.
func alerts() []alertGroup {
	return []alertGroup{
		{"regions", regionAlerts()},
		{"objectives", objectiveAlerts()},
		{"database", databaseAlerts()},
		{"keys", keyAlerts()},
		{"settings", settingAlerts()},
		{"work", workAlerts()},
		{"operator", operatorAlerts()},
	}
}

type alertGroup struct {
	name   string
	alerts []alert
}

// rules returns the alert's rules for a network: one, or one for each region.
func (a alert) rules(s scope, extra map[string]string) []monitoringv1.Rule {
	if !a.eachRegion {
		return []monitoringv1.Rule{a.rule(s, extra)}
	}
	rules := make([]monitoringv1.Rule, 0, len(s.regions))
	for _, region := range s.regions {
		s.region = region
		rules = append(rules, a.rule(s, extra))
	}
	return rules
}

func (a alert) rule(s scope, extra map[string]string) monitoringv1.Rule {
	labels := alertLabels(extra)
	if labels["namespace"] == "" {
		labels["namespace"] = s.namespace
	}
	labels["network"], labels["severity"] = s.network, a.severity
	if s.region != "" {
		labels["region"] = s.region
	}
	rule := monitoringv1.Rule{
		Alert:       a.name,
		Expr:        intstr.FromString(a.expr(s)),
		Labels:      labels,
		Annotations: map[string]string{"summary": s.fill(a.summary), "description": s.fill(a.description), "runbook_url": runbooks + a.name + ".md"},
	}
	if a.after > 0 {
		held := monitoringv1.Duration(duration(a.after))
		rule.For = &held
	}
	return rule
}

// fill replaces the labels that are known. Prometheus replaces the others, but it knows only the labels of the series:
// not those that the rule adds, and none if the series is absent.
func (s scope) fill(template string) string {
	known := []string{"{{ $labels.namespace }}", s.namespace, "{{ $labels.network }}", s.network}
	if s.region != "" {
		known = append(known, "{{ $labels.region }}", s.region)
	}
	return strings.NewReplacer(known...).Replace(template)
}

// reservedLabels distinguish the alerts of a rule; setting one of them for all alerts would merge them.
var reservedLabels = []string{"alertname", "severity", "network", "region", "home", "kind"}

// alertLabels returns the spec's labels of every alert. It escapes braces: Prometheus would parse them as templates,
// and reject the whole file if one is invalid.
func alertLabels(extra map[string]string) map[string]string {
	labels := maps.Clone(extra)
	if labels == nil {
		labels = map[string]string{}
	}
	for _, name := range reservedLabels {
		delete(labels, name)
	}
	for name, value := range labels {
		labels[name] = strings.ReplaceAll(value, "{{", `{{"{{"}}`)
	}
	return labels
}

// conditionAlert returns an expression that holds while a condition of the network is False.
func conditionAlert(kind string) func(scope) string {
	return func(s scope) string { return by("max", s.condition(kind, "False")) + " == 1" }
}

// regionCondition selects the series of a condition of a region with a status.
func (s scope) regionCondition(kind, status string, matchers ...string) string {
	return s.of("plaza_operator_region_condition", append([]string{`type="` + kind + `"`, `status="` + status + `"`}, matchers...)...)
}

func regionAlerts() []alert {
	return []alert{
		{
			name: "PlazaRegionDown", severity: critical, after: 3 * time.Minute, eachRegion: true,
			meaning:     "Prometheus cannot scrape any server of a region, or the operator finds no ready pod",
			summary:     "Region {{ $labels.region }} of {{ $labels.network }} is down",
			description: "Prometheus cannot scrape any server of region {{ $labels.region }} of network {{ $labels.namespace }}/{{ $labels.network }}, or none is ready.",
			expr: func(s scope) string {
				region := `region="` + s.region + `"`
				return "absent(" + s.of("up", region) + " == 1) or max(" + s.regionCondition(v1alpha1.RegionAvailable, "False", region) + ") == 1"
			},
		},
		{
			name: "PlazaServerDown", severity: warning, after: 10 * time.Minute,
			meaning:     "Prometheus cannot scrape some servers of a region, but can scrape others",
			summary:     "{{ $value }} servers of region {{ $labels.region }} of {{ $labels.network }} are down",
			description: "Prometheus cannot scrape {{ $value }} servers of region {{ $labels.region }} of network {{ $labels.namespace }}/{{ $labels.network }}, but can scrape others.",
			expr: func(s scope) string {
				return by("count", s.of("up", `region!=""`)+" == 0", "region") + " and " + by("max", s.of("up", `region!=""`), "region") + " == 1"
			},
		},
		{
			name: "PlazaServerRestarting", severity: warning, after: 5 * time.Minute,
			meaning:     "a server restarted at least three times within an hour",
			summary:     "A server of region {{ $labels.region }} of {{ $labels.network }} keeps restarting",
			description: "A server of region {{ $labels.region }} of network {{ $labels.namespace }}/{{ $labels.network }} restarted {{ $value }} times within an hour.",
			expr: func(s scope) string {
				return by("max", "changes("+s.of("process_start_time_seconds", `region!=""`)+"[1h])", "region") + " >= 3"
			},
		},
	}
}

func databaseAlerts() []alert {
	return []alert{{
		name: "PlazaDatabaseUnreachable", severity: critical, after: 2 * time.Minute,
		meaning:     "no server of a region can reach the database of a home region",
		summary:     "Region {{ $labels.region }} of {{ $labels.network }} cannot reach the database of {{ $labels.home }}",
		description: "No server of region {{ $labels.region }} of network {{ $labels.namespace }}/{{ $labels.network }} has reached the database that stores the rows of {{ $labels.home }} for two minutes.",
		expr: func(s scope) string {
			return by("max", s.of("plaza_database_up"), "region", "home") + " == 0"
		},
	}}
}
