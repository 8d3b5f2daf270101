package controllers

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/scheme"
)

func networkNamed(name, image string) *v1alpha1.SocialNetwork {
	return &v1alpha1.SocialNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: "plaza", Name: name}, Spec: v1alpha1.SocialNetworkSpec{Image: image},
	}
}

// statusOf is a status whose region us has a reason for not being updated.
func statusOf(reason v1alpha1.Reason) *v1alpha1.SocialNetworkStatus {
	return &v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{{
		Code: "us", Conditions: []metav1.Condition{{Type: v1alpha1.RegionUpdated, Status: metav1.ConditionFalse, Reason: string(reason)}},
	}}}
}

// TestStoppedUpdateGivesItsTurnBack stops the update of a network: others are updated, but not to the same image.
func TestStoppedUpdateGivesItsTurnBack(t *testing.T) {
	for _, reason := range []v1alpha1.Reason{v1alpha1.ReasonRolloutStopped, v1alpha1.ReasonErrorRateHigh} {
		r := &Reconciler{Options: Options{DefaultImage: "plaza:default", MaxConcurrentRollouts: 1}}
		mayBegin := func(name, image string) bool {
			return r.updates(networkNamed(name, image), metav1.Now().Time).MayBegin().Reason == ""
		}
		require.True(t, mayBegin("broken", ""))
		r.endTurn(networkNamed("broken", ""), statusOf(v1alpha1.ReasonProgressing))
		require.False(t, mayBegin("other", "plaza:other"), "it is being updated")

		r.endTurn(networkNamed("broken", ""), statusOf(reason))
		require.False(t, mayBegin("same", ""), "the image may be the cause")
		require.False(t, mayBegin("same", "plaza:default"))
		require.True(t, mayBegin("other", "plaza:other"))
		require.False(t, mayBegin("third", "plaza:third"), "the other has the turn now")
		r.endTurn(networkNamed("other", "plaza:other"), &v1alpha1.SocialNetworkStatus{})

		r.updates(networkNamed("broken", "plaza:repaired"), metav1.Now().Time).InProgress()
		r.endTurn(networkNamed("broken", "plaza:repaired"), statusOf(v1alpha1.ReasonProgressing))
		require.False(t, mayBegin("same", ""), "the repair has its turn")
		r.endTurn(networkNamed("broken", "plaza:repaired"), &v1alpha1.SocialNetworkStatus{})
		require.True(t, mayBegin("same", ""))
	}
}

// TestPausedUpdateGivesItsTurnBack pauses a network during its update: others are updated, also to the same image.
func TestPausedUpdateGivesItsTurnBack(t *testing.T) {
	r := &Reconciler{Options: Options{DefaultImage: "plaza:default", MaxConcurrentRollouts: 1}}
	paused := networkNamed("paused", "")
	require.Empty(t, r.updates(paused, metav1.Now().Time).MayBegin().Reason)
	paused.Spec.Paused = true
	r.endTurn(paused, statusOf(v1alpha1.ReasonPausedBySpec))
	require.Empty(t, r.updates(networkNamed("other", ""), metav1.Now().Time).MayBegin().Reason)
}

// TestDeletedNetworkGivesItsTurnBack deletes a network during its update: others are updated.
func TestDeletedNetworkGivesItsTurnBack(t *testing.T) {
	r := &Reconciler{
		Client:  fake.NewClientBuilder().WithScheme(scheme.New()).Build(),
		Options: Options{DefaultImage: "plaza:default", MaxConcurrentRollouts: 1}, Metrics: NewMetrics(prometheus.NewRegistry()),
	}
	deleted := networkNamed("deleted", "")
	require.Empty(t, r.updates(deleted, metav1.Now().Time).MayBegin().Reason)
	require.NotEmpty(t, r.updates(networkNamed("other", ""), metav1.Now().Time).MayBegin().Reason)
	_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: deleted.Namespace, Name: deleted.Name}})
	require.NoError(t, err)
	require.Empty(t, r.updates(networkNamed("other", ""), metav1.Now().Time).MayBegin().Reason)
}

func TestTurnsWithoutLimit(t *testing.T) {
	var all turns
	for _, name := range []string{"a", "b", "c"} {
		require.Empty(t, all.request(types.NamespacedName{Name: name}, "plaza:1", 0))
	}
}
