package clusters

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// TestUnknownClusters checks why a cluster without a registration cannot be used: the Secrets were not read yet, or cannot be, or there is
// none for it.
func TestUnknownClusters(t *testing.T) {
	r := New(Options{Namespace: "operators"})
	connect := func() error {
		connection, err := r.Connect("west", "plaza", "plaza")
		require.Nil(t, connection)
		return err
	}
	require.ErrorIs(t, connect(), ErrPending)
	close(r.started)
	require.Equal(t, &Error{
		v1alpha1.ReasonClusterNotRegistered,
		"No Secret west with the label sigs.k8s.io/multicluster-runtime-kubeconfig in namespace operators registers the cluster.",
	}, connect())
	isListed := false
	r.listed = func() bool { return isListed }
	require.Equal(t, &Error{
		v1alpha1.ReasonClusterUnreachable,
		"The Secrets with the label sigs.k8s.io/multicluster-runtime-kubeconfig in namespace operators, which register clusters, cannot be listed.",
	}, connect())
	isListed = true
	require.ErrorContains(t, connect(), "No Secret west")
}
