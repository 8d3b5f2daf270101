package monitoring

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// Stage installs the ServiceMonitor, the alert rules and the dashboard.
type Stage struct{}

// Condition returns AlertsApplied.
func (Stage) Condition() string { return v1alpha1.ConditionAlertsApplied }

// Run applies the objects that the spec enables and whose kinds the cluster has.
func (Stage) Run(_ context.Context, p *stage.Pass) stage.Outcome {
	var out stage.Outcome
	lacking, problems := "", problemsOf(p.SN.Spec.Monitoring.Alerts)
	for _, c := range p.Usable() {
		for _, object := range Objects(c) {
			out.Apply(stage.Desired{Object: object, Cluster: c})
		}
		if missing := missingKinds(c); len(missing) > 0 && lacking == "" {
			lacking = fmt.Sprintf("%s has no %s; install the CRDs of the Prometheus operator, and the operator continues.",
				strings.TrimSpace("The cluster "+c.Name), strings.Join(missing, " and no "))
		}
	}
	switch {
	case lacking != "":
		out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonCRDMissing, lacking)
	case p.Unusable() != nil:
		out.SetCondition(metav1.ConditionUnknown, p.Unusable().Reason, p.Unusable().Message)
	case !p.SN.Spec.Monitoring.Alerts.Enabled:
		out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonAlertsDisabled, "spec.monitoring.alerts.enabled is false.")
	case len(problems) > 0:
		out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonAlertsInvalid, strings.Join(problems, " "))
	default:
		out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonInstalled, "Everything that spec.monitoring enables is installed.")
	}
	return out
}

// Objects returns the objects of a cluster that the spec enables and whose kinds the cluster has.
func Objects(c *stage.Cluster) []client.Object {
	if !isMonitored(c) {
		return nil
	}
	spec := c.Network.SN.Spec.Monitoring
	var objects []client.Object
	if spec.ServiceMonitor && c.Network.Capabilities.ServiceMonitor {
		objects = append(objects, render.ServiceMonitor(c.Network))
	}
	if spec.Alerts.Enabled && c.Network.Capabilities.PrometheusRule {
		objects = append(objects, Rule(c.Network))
	}
	if spec.Dashboards {
		objects = append(objects, dashboards(c.Network)...)
	}
	if c.Network.Capabilities.Probe {
		objects = append(objects, render.Probes(c.Network)...)
	}
	return objects
}

// dashboards returns the ConfigMap with the dashboard, and the object that the Grafana operator needs if the cluster has it.
func dashboards(n render.Network) []client.Object {
	if !n.Capabilities.GrafanaDashboard {
		return []client.Object{Dashboard(n)}
	}
	return []client.Object{Dashboard(n), GrafanaDashboard(n)}
}

// isMonitored reports whether a cluster has metrics of the network: those of its servers, or of the operator.
func isMonitored(c *stage.Cluster) bool { return c.Name == "" || len(c.Network.Regions()) > 0 }

func missingKinds(c *stage.Cluster) []string {
	if !isMonitored(c) {
		return nil
	}
	spec := c.Network.SN.Spec.Monitoring
	var missing []string
	if spec.ServiceMonitor && !c.Network.Capabilities.ServiceMonitor {
		missing = append(missing, render.ServiceMonitorKind.Kind)
	}
	if spec.Alerts.Enabled && !c.Network.Capabilities.PrometheusRule {
		missing = append(missing, render.PrometheusRuleKind.Kind)
	}
	if spec.Probe != nil && !c.Network.Capabilities.Probe {
		missing = append(missing, render.ProbeKind.Kind)
	}
	return missing
}
