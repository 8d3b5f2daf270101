package controllers

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/controllers/render"
)

// Monitoring is the stage that installs the ServiceMonitor, the alerts and the dashboard.
type Monitoring struct{}

// Condition is AlertsApplied.
func (Monitoring) Condition() string { return v1alpha1.ConditionAlertsApplied }

// Run makes what the spec asks for and the cluster knows the kinds of.
func (Monitoring) Run(_ context.Context, w *World) Outcome {
	var out Outcome
	for _, object := range monitoringObjects(w) {
		out.Objects = append(out.Objects, Desired{Object: object})
	}
	missing := missingKinds(w)
	switch {
	case len(missing) > 0:
		message := fmt.Sprintf("The cluster has no %s; install the CRDs of the Prometheus operator, and the rest follows by itself.", strings.Join(missing, " and no "))
		out.Say("False", v1alpha1.ReasonCRDMissing, message)
	case !w.SN.Spec.Monitoring.Alerts.Enabled:
		out.Say("False", v1alpha1.ReasonAlertsDisabled, "spec.monitoring.alerts.enabled is false.")
	default:
		out.Say("True", v1alpha1.ReasonInstalled, "What spec.monitoring asks for is installed.")
	}
	return out
}

// monitoringObjects are the objects that the spec asks for, of the kinds that the cluster has.
func monitoringObjects(w *World) []client.Object {
	spec := w.SN.Spec.Monitoring
	var objects []client.Object
	if spec.ServiceMonitor && w.Network.Capabilities.ServiceMonitor {
		if monitor := render.ServiceMonitor(w.Network); monitor != nil {
			objects = append(objects, monitor)
		}
	}
	if spec.Alerts.Enabled && w.Network.Capabilities.PrometheusRule {
		objects = append(objects, monitoring.Rule(w.Network))
	}
	if spec.Dashboards {
		objects = append(objects, monitoring.Dashboard(w.Network))
	}
	return objects
}

func missingKinds(w *World) []string {
	spec := w.SN.Spec.Monitoring
	var missing []string
	if spec.ServiceMonitor && !w.Network.Capabilities.ServiceMonitor {
		missing = append(missing, serviceMonitorKind.Kind)
	}
	if spec.Alerts.Enabled && !w.Network.Capabilities.PrometheusRule {
		missing = append(missing, prometheusRuleKind.Kind)
	}
	return missing
}
