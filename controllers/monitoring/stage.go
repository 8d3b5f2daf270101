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
	for _, object := range Objects(p) {
		out.Apply(stage.Desired{Object: object})
	}
	missing := missingKinds(p)
	switch {
	case len(missing) > 0:
		out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonCRDMissing,
			fmt.Sprintf("The cluster has no %s; install the CRDs of the Prometheus operator, and the operator continues.", strings.Join(missing, " and no ")))
	case !p.SN.Spec.Monitoring.Alerts.Enabled:
		out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonAlertsDisabled, "spec.monitoring.alerts.enabled is false.")
	default:
		out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonInstalled, "Everything that spec.monitoring enables is installed.")
	}
	return out
}

// Objects returns the objects that the spec enables and whose kinds the cluster has.
func Objects(p *stage.Pass) []client.Object {
	spec := p.SN.Spec.Monitoring
	var objects []client.Object
	if spec.ServiceMonitor && p.Network.Capabilities.ServiceMonitor {
		if monitor := render.ServiceMonitor(p.Network); monitor != nil {
			objects = append(objects, monitor)
		}
	}
	if spec.Alerts.Enabled && p.Network.Capabilities.PrometheusRule {
		objects = append(objects, Rule(p.Network))
	}
	if spec.Dashboards {
		objects = append(objects, Dashboard(p.Network))
	}
	return objects
}

func missingKinds(p *stage.Pass) []string {
	spec := p.SN.Spec.Monitoring
	var missing []string
	if spec.ServiceMonitor && !p.Network.Capabilities.ServiceMonitor {
		missing = append(missing, render.ServiceMonitorKind.Kind)
	}
	if spec.Alerts.Enabled && !p.Network.Capabilities.PrometheusRule {
		missing = append(missing, render.PrometheusRuleKind.Kind)
	}
	return missing
}
