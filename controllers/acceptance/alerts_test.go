package acceptance

import (
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// TestAlertOverrides changes severity and threshold of an alert, switches one off, and names one that does not exist.
func TestAlertOverrides(t *testing.T) {
	o := start(t)
	name := o.up(sample(t, "socialnetwork-minimal")).Name
	o.condition(name, v1alpha1.ConditionAlertsApplied, "True", v1alpha1.ReasonInstalled)
	o.edit(name, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Monitoring.Labels = map[string]string{"release": "kube-prometheus-stack"}
		sn.Spec.Monitoring.Alerts.Disabled = []string{"PlazaNetworkPaused", "PlazaNone"}
		sn.Spec.Monitoring.Alerts.Overrides = []v1alpha1.AlertOverride{{Name: "PlazaOutboxNotDraining", Severity: "critical", Threshold: "20m"}}
	})
	invalid := o.condition(name, v1alpha1.ConditionAlertsApplied, "False", v1alpha1.ReasonAlertsInvalid)
	require.Contains(t, invalid.Message, `there is no alert "PlazaNone". The alerts are PlazaBackupOverdue, `)
	rule := get(o, &monitoringv1.PrometheusRule{}, render.MonitoringName(name))
	require.Equal(t, "kube-prometheus-stack", rule.Labels["release"])
	alerts := map[string]monitoringv1.Rule{}
	for _, group := range rule.Spec.Groups {
		for _, r := range group.Rules {
			alerts[r.Alert] = r
		}
	}
	require.NotContains(t, alerts, "PlazaNetworkPaused")
	require.Contains(t, alerts, "PlazaNetworkNotReady")
	require.Equal(t, "critical", alerts["PlazaOutboxNotDraining"].Labels["severity"])
	outbox := alerts["PlazaOutboxNotDraining"].Expr
	require.Contains(t, outbox.String(), "> 1200")
	o.edit(name, func(sn *v1alpha1.SocialNetwork) { sn.Spec.Monitoring.Alerts.Disabled = nil })
	o.condition(name, v1alpha1.ConditionAlertsApplied, "True", v1alpha1.ReasonInstalled)
}
