package clusters

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// TestRegistrationsEnd replaces and removes the registration of a cluster: nothing of the former one goes on.
func TestRegistrationsEnd(t *testing.T) {
	errRefused := errors.New("an exec plugin")
	r := New(Options{Namespace: "operators", Changed: func(string, client.Object) {}})
	close(r.started)
	first := &member{name: "west", err: ErrPending}
	running, cancel := context.WithCancel(t.Context())
	first.cancel = cancel
	refused := newMember(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "west"}}, registration{refused: errRefused}, first, r.options)
	refused.cancel = func() {}
	r.members["west"] = refused
	refused.start(t.Context())
	require.ErrorIs(t, running.Err(), context.Canceled)
	_, err := r.Connect("west", "plaza", "plaza")
	require.ErrorContains(t, err, "is refused: an exec plugin")
	r.removed(toolscache.DeletedFinalStateUnknown{Key: "operators/west", Obj: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "west"}}})
	_, err = r.Connect("west", "plaza", "plaza")
	require.ErrorContains(t, err, "No Secret west")
}
