package monitoring_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// capable is a cluster with all optional kinds of monitoring.
var capable = render.Capabilities{ServiceMonitor: true, PrometheusRule: true, Probe: true, GrafanaDashboard: true}

// TestObjectsOfMonitoring checks which objects a network has: those that the spec enables and whose kinds the cluster has.
func TestObjectsOfMonitoring(t *testing.T) {
	all := []string{"ConfigMap", "GrafanaDashboard", "Probe", "Probe", "Probe", "PrometheusRule", "ServiceMonitor"}
	for without, change := range map[string]func(spec *v1alpha1.Monitoring, has *render.Capabilities){
		"":                           func(*v1alpha1.Monitoring, *render.Capabilities) {},
		"ServiceMonitor of the spec": func(spec *v1alpha1.Monitoring, _ *render.Capabilities) { spec.ServiceMonitor = false },
		"ServiceMonitor":             func(_ *v1alpha1.Monitoring, has *render.Capabilities) { has.ServiceMonitor = false },
		"PrometheusRule of the spec": func(spec *v1alpha1.Monitoring, _ *render.Capabilities) { spec.Alerts.Enabled = false },
		"PrometheusRule":             func(_ *v1alpha1.Monitoring, has *render.Capabilities) { has.PrometheusRule = false },
		"Probe of the spec":          func(spec *v1alpha1.Monitoring, _ *render.Capabilities) { spec.Probe = nil },
		"Probe":                      func(_ *v1alpha1.Monitoring, has *render.Capabilities) { has.Probe = false },
		"GrafanaDashboard":           func(_ *v1alpha1.Monitoring, has *render.Capabilities) { has.GrafanaDashboard = false },
		"Dashboards of the spec":     func(spec *v1alpha1.Monitoring, _ *render.Capabilities) { spec.Dashboards = false },
	} {
		n := sample()
		n.Capabilities = capable
		change(&n.SN.Spec.Monitoring, &n.Capabilities)
		var kinds []string
		for _, object := range monitoring.Objects(&stage.Cluster{Network: n}) {
			kinds = append(kinds, object.GetObjectKind().GroupVersionKind().Kind)
		}
		slices.Sort(kinds)
		want := slices.DeleteFunc(slices.Clone(all), func(kind string) bool {
			isDashboard := kind == "ConfigMap" || kind == "GrafanaDashboard"
			return kind == without || kind+" of the spec" == without || isDashboard && without == "Dashboards of the spec"
		})
		require.Equal(t, want, kinds, without)
	}
}

// TestConditionOfMonitoring checks the condition of a network in the operator's own cluster and in a member.
func TestConditionOfMonitoring(t *testing.T) {
	const install = "; install the CRDs of the Prometheus operator, and the operator continues."
	for name, c := range map[string]struct {
		change  func(spec *v1alpha1.Monitoring, own, member *stage.Cluster)
		status  metav1.ConditionStatus
		reason  v1alpha1.Reason
		message string
	}{
		"all is installed": {
			func(*v1alpha1.Monitoring, *stage.Cluster, *stage.Cluster) {}, "True", v1alpha1.ReasonInstalled,
			"Everything that spec.monitoring enables is installed.",
		},
		"the cluster lacks kinds": {
			func(spec *v1alpha1.Monitoring, own, member *stage.Cluster) {
				spec.Alerts.Disabled = []string{"Unknown"}
				own.Network.Capabilities, member.Network.Capabilities = render.Capabilities{}, render.Capabilities{}
			}, "False", v1alpha1.ReasonCRDMissing, "The cluster has no ServiceMonitor and no PrometheusRule and no Probe" + install,
		},
		"a member lacks a kind": {
			func(_ *v1alpha1.Monitoring, _, member *stage.Cluster) {
				member.Network.Capabilities.PrometheusRule = false
			},
			"False", v1alpha1.ReasonCRDMissing, "The cluster west has no PrometheusRule" + install,
		},
		"the spec needs no kind": {
			func(spec *v1alpha1.Monitoring, own, member *stage.Cluster) {
				spec.ServiceMonitor, spec.Alerts.Enabled, spec.Probe = false, false, nil
				own.Network.Capabilities, member.Network.Capabilities = render.Capabilities{}, render.Capabilities{}
			}, "False", v1alpha1.ReasonAlertsDisabled, "spec.monitoring.alerts.enabled is false.",
		},
		"a cluster without regions of the network lacks kinds": {
			func(_ *v1alpha1.Monitoring, own, member *stage.Cluster) {
				own.Network.SN.Spec.Regions[1].Cluster, member.Network.Capabilities = "", render.Capabilities{}
			}, "True", v1alpha1.ReasonInstalled, "Everything that spec.monitoring enables is installed.",
		},
		"a member cannot be reached": {
			func(spec *v1alpha1.Monitoring, _, member *stage.Cluster) {
				spec.Alerts.Enabled, member.Reason, member.Message = false, v1alpha1.ReasonClusterUnreachable, "west is away"
			}, "Unknown", v1alpha1.ReasonClusterUnreachable, "west is away",
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := sample()
			n.Capabilities, n.SN.Spec.Regions[1].Cluster = capable, "west"
			own, member := &stage.Cluster{Network: n}, &stage.Cluster{Name: "west", Network: n}
			member.Network.Cluster, member.Network.Namespace = "west", "social"
			c.change(&n.SN.Spec.Monitoring, own, member)
			out := monitoring.Stage{}.Run(t.Context(), &stage.Pass{SN: n.SN, Network: n, Clusters: []*stage.Cluster{own, member}})
			require.Equal(t, c.status, out.Status)
			require.Equal(t, c.reason, out.Reason)
			require.Equal(t, c.message, out.Message)
			for _, object := range out.Objects {
				require.Contains(t, []*stage.Cluster{own, member}, object.Cluster)
				require.True(t, object.Cluster.IsUsable(), "nothing is applied in a cluster that cannot be reached")
			}
		})
	}
}

// TestAlertsOfTheOperator checks that the alerts from the operator's metrics are in its own cluster only.
func TestAlertsOfTheOperator(t *testing.T) {
	n := sample()
	member := n
	member.Cluster, member.Namespace = "west", "social"
	for i := range n.SN.Spec.Regions {
		n.SN.Spec.Regions[i].Cluster = "west"
	}
	names := func(n render.Network) (all []string) {
		for _, rule := range alertRules(n) {
			all = append(all, rule.Alert)
			if n.Cluster != "" {
				require.Equal(t, "west", rule.Labels["cluster"])
			} else {
				require.NotContains(t, rule.Labels, "cluster")
			}
		}
		return all
	}
	own := []string{
		"PlazaKeysNotReady", "PlazaKeysMissing", "PlazaRolloutStopped", "PlazaNetworkNotReady", "PlazaNetworkPaused", "PlazaBackupOverdue",
	}
	require.Subset(t, names(n), own)
	for _, name := range own {
		require.NotContains(t, names(member), name)
	}
	require.Contains(t, names(member), "PlazaServerDown")
}
