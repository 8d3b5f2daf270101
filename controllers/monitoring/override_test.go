package monitoring_test

import (
	"regexp"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// TestOverrides checks that severities and thresholds of single alerts replace the default ones, and that those that an alert does
// not allow do not.
func TestOverrides(t *testing.T) {
	for _, test := range []struct {
		override      v1alpha1.AlertOverride
		severity, end string
	}{
		{v1alpha1.AlertOverride{Name: "PlazaOutboxNotDraining"}, "warning", "> 300"},
		{v1alpha1.AlertOverride{Name: "PlazaOutboxNotDraining", Severity: "critical"}, "critical", "> 300"},
		{v1alpha1.AlertOverride{Name: "PlazaOutboxNotDraining", Threshold: "1h30m"}, "warning", "> 5400"},
		{v1alpha1.AlertOverride{Name: "PlazaOutboxNotDraining", Threshold: "90"}, "warning", "> 300"},
		{v1alpha1.AlertOverride{Name: "PlazaOutboxNotDraining", Threshold: "25h"}, "warning", "> 300"},
		{v1alpha1.AlertOverride{Name: "PlazaRealtimeDelayed", Threshold: "250ms"}, "warning", "> 0.25"},
		{v1alpha1.AlertOverride{Name: "PlazaDatabasePoolSaturated", Threshold: "0.25"}, "warning", "> 0.25"},
		{v1alpha1.AlertOverride{Name: "PlazaDatabasePoolSaturated", Threshold: "1"}, "warning", "> 0.1"},
		{v1alpha1.AlertOverride{Name: "PlazaServerRestarting", Threshold: "10"}, "warning", ">= 10"},
		{v1alpha1.AlertOverride{Name: "PlazaNoValidKey", Severity: "info", Threshold: "2"}, "info", "== 0"},
	} {
		n := sample()
		n.SN.Spec.Monitoring.Alerts.Overrides = []v1alpha1.AlertOverride{{Name: "PlazaKeysExpiring", Severity: "info"}, test.override}
		for _, rule := range alertRules(n) {
			if rule.Alert == test.override.Name {
				require.Equal(t, test.severity, rule.Labels["severity"], test.override)
				require.Regexp(t, " "+test.end+"$", rule.Expr.String(), test.override)
			} else if rule.Alert != "PlazaKeysExpiring" {
				require.Contains(t, alertRules(sample()), rule, test.override)
			}
		}
	}
}

// TestThresholds checks that every default threshold is allowed, as are its bounds, which the table of alerts lists.
func TestThresholds(t *testing.T) {
	found := regexp.MustCompile(`\[(Plaza\w+)\].*\| (\S+) \((\S+) to (\S+)\) \|`).FindAllStringSubmatch(monitoring.Table(), -1)
	require.Greater(t, len(found), 10)
	for _, f := range found {
		for _, threshold := range f[2:] {
			alerts := v1alpha1.Alerts{Enabled: true, Overrides: []v1alpha1.AlertOverride{{Name: f[1], Threshold: threshold}}}
			require.Equal(t, v1alpha1.ReasonInstalled, applied(t, alerts).Reason, "%s %s", f[1], threshold)
		}
	}
}

// TestInvalidAlerts checks that AlertsApplied tells which entries of the spec have no effect, and what is allowed.
func TestInvalidAlerts(t *testing.T) {
	alerts := v1alpha1.Alerts{Enabled: true, Disabled: []string{"PlazaNone", "PlazaRegionDown"}}
	condition := applied(t, alerts)
	require.Equal(t, metav1.ConditionFalse, condition.Status)
	require.Equal(t, v1alpha1.ReasonAlertsInvalid, condition.Reason)
	require.Regexp(t,
		`^spec.monitoring.alerts.disabled: there is no alert "PlazaNone". The alerts are PlazaBackupOverdue, .*, PlazaWebhooksNotApplied.$`,
		condition.Message)
	alerts.Disabled = nil
	for override, message := range map[v1alpha1.AlertOverride]string{
		{Name: "PlazaOutboxNotDraining", Threshold: "25h"}: "the threshold of PlazaOutboxNotDraining must be from 1s to 24h, not 25h.",
		{Name: "PlazaOutboxNotDraining", Threshold: "10"}:  "the threshold of PlazaOutboxNotDraining must be from 1s to 24h, not 10.",
		{Name: "PlazaNoValidKey", Threshold: "2"}:          "PlazaNoValidKey has no threshold.",
	} {
		alerts.Overrides = []v1alpha1.AlertOverride{{Name: "PlazaRegionDown", Severity: "warning"}, override}
		require.Equal(t, "spec.monitoring.alerts.overrides: "+message, applied(t, alerts).Message)
	}
	alerts.Overrides = []v1alpha1.AlertOverride{{Name: "PlazaNone", Severity: "info"}}
	require.Contains(t, applied(t, alerts).Message, `spec.monitoring.alerts.overrides: there is no alert "PlazaNone". The alerts are `)
}

// applied returns the condition AlertsApplied of a network whose cluster has every kind.
func applied(t *testing.T, alerts v1alpha1.Alerts) stage.Outcome {
	t.Helper()
	n := sample()
	n.SN.Spec.Monitoring.Alerts = alerts
	n.Capabilities = render.Capabilities{ServiceMonitor: true, PrometheusRule: true, Probe: true}
	return monitoring.Stage{}.Run(t.Context(), &stage.Pass{SN: n.SN, Network: n, Clusters: []*stage.Cluster{{Network: n}}})
}

// alertRules returns the rules of a network's alerts.
func alertRules(n render.Network) []monitoringv1.Rule {
	var all []monitoringv1.Rule
	for _, group := range monitoring.Rule(n).Spec.Groups {
		for _, rule := range group.Rules {
			if rule.Alert != "" {
				all = append(all, rule)
			}
		}
	}
	return all
}
