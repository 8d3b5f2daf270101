package monitoring

import (
	"maps"
	"regexp"
	"time"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plaza-social/plaza/controllers/render"
)

// Rule returns the PrometheusRule of a network. Each alert has the labels namespace, network, severity, where it
// applies region, and those of spec.monitoring.alerts.labels; and a summary, a description and the URL of a runbook.
func Rule(n render.Network) *monitoringv1.PrometheusRule {
	v := variablesOf(n)
	prefix := "plaza-" + n.SN.Name + "-"
	groups := []monitoringv1.RuleGroup{{Name: prefix + "recordings", Rules: recordings(v)}}
	for _, group := range alertGroups() {
		made := monitoringv1.RuleGroup{Name: prefix + group.Name}
		for i := range group.Alerts {
			if group.Alerts[i].isInstalled(n) {
				made.Rules = append(made.Rules, group.Alerts[i].rules(n, v)...)
			}
		}
		if len(made.Rules) > 0 {
			groups = append(groups, made)
		}
	}
	return &monitoringv1.PrometheusRule{
		TypeMeta:   metav1.TypeMeta{APIVersion: monitoringv1.SchemeGroupVersion.String(), Kind: monitoringv1.PrometheusRuleKind},
		ObjectMeta: render.MonitoringMeta(n, render.MonitoringName(n.SN.Name)),
		Spec:       monitoringv1.PrometheusRuleSpec{Groups: groups},
	}
}

// RuleFaster is Rule with windows and durations that are shorter by a factor, with which a test sees alerts fire on a live
// system. Thresholds are the same.
func RuleFaster(n render.Network, factor int) *monitoringv1.PrometheusRule {
	rule := Rule(n)
	for _, group := range rule.Spec.Groups {
		for i := range group.Rules {
			r := &group.Rules[i]
			r.Expr = intstr.FromString(window.ReplaceAllStringFunc(r.Expr.String(), func(text string) string {
				return "[" + shorter(text[1:len(text)-1], factor) + "]"
			}))
			if r.For != nil {
				r.For = new(monitoringv1.Duration(shorter(string(*r.For), factor)))
			}
		}
	}
	return rule
}

// window is the window of a range in an expression.
var window = regexp.MustCompile(`\[\w+\]`)

// shorter divides a duration in the notation of Prometheus.
func shorter(text string, factor int) string {
	d, err := model.ParseDuration(text)
	if err != nil {
		panic("monitoring: " + err.Error()) // promtool has checked the rules
	}
	return model.Duration(time.Duration(d) / time.Duration(factor)).String()
}

// failedRatio is the share of requests that failed within $window: 0 before the first failure, whose series does not exist.
const failedRatio = `(sum by (namespace, network, region) (rate(plaza_http_requests_total{$network,procedure!="unknown",code="5xx"}[$window]))` +
	` or 0 * sum by (namespace, network, region) (rate(plaza_http_requests_total{$network,procedure!="unknown"}[$window])))` +
	` / sum by (namespace, network, region) (rate(plaza_http_requests_total{$network,procedure!="unknown"}[$window]))`

// slowest is the time that the share of requests above $quantile takes at least, within $window: from the classic buckets
// or, if Prometheus collects native histograms, from those.
const slowest = `histogram_quantile($quantile, sum by (namespace, network, region, le) (rate(plaza_http_request_duration_seconds_bucket{$network,kind="operation"}[$window])))` +
	` or histogram_quantile($quantile, sum by (namespace, network, region) (rate(plaza_http_request_duration_seconds{$network,kind="operation"}[$window])))`

// recordings returns the recording rules: of the error budget alerts, one for each of their windows, and of the latency alerts. A burn
// rate of 3 is reached where the slowest 3% of the requests exceed the objective, which 1% may.
func recordings(v variables) []monitoringv1.Rule {
	v = maps.Clone(v)
	var rules []monitoringv1.Rule
	record := func(name, expr, window string) {
		v["$window"] = window
		rules = append(rules, monitoringv1.Rule{Record: "network_region:" + name + "_rate" + window, Expr: intstr.FromString(v.expand(expr))})
	}
	for _, window := range []string{"5m", "30m", "1h", "2h", "6h", "1d", "3d"} {
		record("plaza_http_requests:failed_ratio", failedRatio, window)
	}
	for _, burn := range []struct {
		name, quantile string
		windows        []string
	}{
		{"burn14", "0.856", []string{"5m", "1h"}},
		{"burn6", "0.94", []string{"30m", "6h"}},
		{"burn3", "0.97", []string{"2h", "1d"}},
		{"burn1", "0.99", []string{"6h", "3d"}},
	} {
		v["$quantile"] = burn.quantile
		for _, window := range burn.windows {
			record("plaza_http_request_duration_seconds:"+burn.name, slowest, window)
		}
	}
	return rules
}
