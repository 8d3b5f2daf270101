package render_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/controllers/render"
)

// TestMemberCluster checks that a member cluster has the objects of its regions only, which the network owns by labels.
func TestMemberCluster(t *testing.T) {
	sn := spec(t, "socialnetwork")
	sn.UID = "uid-1"
	sn.Spec.NetworkPolicy.Enabled = true
	sn.Spec.Regions[1].Cluster, sn.Spec.Regions[1].Namespace = "cluster-eu", "there"
	own, eu := networkOf(sn), networkOf(sn)
	eu.Cluster, eu.Namespace = "cluster-eu", "there"
	require.True(t, own.Migrates())
	require.False(t, eu.Migrates())
	for _, object := range render.Everything(own) {
		require.NotEqual(t, "acme-eu", object.GetName())
		require.Equal(t, sn.Namespace, object.GetNamespace())
	}
	objects := render.Everything(eu)
	require.NotEmpty(t, objects)
	for _, object := range objects {
		require.Equal(t, "there", object.GetNamespace())
		require.Empty(t, object.GetOwnerReferences())
		require.Equal(t, "uid-1", object.GetLabels()[render.LabelOwner])
		require.Equal(t, sn.Namespace, object.GetLabels()[render.LabelOwnerNamespace])
	}
	monitor := render.ServiceMonitor(eu)
	relabelings := monitor.Spec.Endpoints[0].RelabelConfigs
	require.Equal(t, "cluster", relabelings[len(relabelings)-1].TargetLabel)
	require.Len(t, render.Pods(eu), 1)
	require.Len(t, render.Pods(own), 3, "two regions and the migration")
	require.Len(t, render.NetworkPolicy(own, &sn.Spec.Regions[0]).Spec.Ingress[1].From, 2)
	require.Len(t, render.NetworkPolicy(eu, &sn.Spec.Regions[1]).Spec.Ingress[1].From, 1, "only Prometheus")
	require.Len(t, render.NetworkPolicy(own, &sn.Spec.Regions[0]).Spec.Ingress, 3)
	require.Len(t, render.NetworkPolicy(eu, &sn.Spec.Regions[1]).Spec.Ingress, 2, "the control port is open to no pod")

	sn.Spec.Regions[1].Namespace = ""
	eu.Namespace = sn.Namespace
	require.Len(t, eu.Regions(), 1, "in a namespace of the same name")
}
