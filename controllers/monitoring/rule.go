package monitoring

import (
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/controllers/render"
)

// Rule returns the PrometheusRule of a network. Each alert has the labels namespace, network, severity, where it
// applies region, and those of spec.monitoring.alerts.labels; and a summary, a description and the URL of a runbook.
func Rule(n render.Network) *monitoringv1.PrometheusRule {
	s := scopeOf(n)
	prefix := "plaza-" + s.network + "-"
	groups := []monitoringv1.RuleGroup{{Name: prefix + "recordings", Rules: recordings(s)}}
	for _, group := range alerts() {
		made := monitoringv1.RuleGroup{Name: prefix + group.name}
		for _, a := range group.alerts {
			made.Rules = append(made.Rules, a.rules(s, n.SN.Spec.Monitoring.Alerts.Labels)...)
		}
		groups = append(groups, made)
	}
	return &monitoringv1.PrometheusRule{
		TypeMeta:   metav1.TypeMeta{APIVersion: monitoringv1.SchemeGroupVersion.String(), Kind: monitoringv1.PrometheusRuleKind},
		ObjectMeta: render.MonitoringMeta(n, render.MonitoringName(n.SN.Name)),
		Spec:       monitoringv1.PrometheusRuleSpec{Groups: groups},
	}
}
