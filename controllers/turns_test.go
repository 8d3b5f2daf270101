package controllers

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/scheme"
	"github.com/plaza-social/plaza/controllers/stage"
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

// TestDeletedNetworkIsForgotten deletes a network during its update: others are updated, its metrics end, a new one of the name is not
// compared with it, and its deleted Secrets with keys go.
func TestDeletedNetworkIsForgotten(t *testing.T) {
	registry := prometheus.NewRegistry()
	r := &Reconciler{
		Client:  fake.NewClientBuilder().WithScheme(scheme.New()).Build(),
		Options: Options{DefaultImage: "plaza:default", MaxConcurrentRollouts: 1}, Metrics: NewMetrics(registry),
	}
	deleted := networkNamed("deleted", "")
	key := types.NamespacedName{Namespace: deleted.Namespace, Name: deleted.Name}
	keys := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Name: "deleted-api-keys", Namespace: deleted.Namespace, Labels: render.KeyLabels(deleted.Name, ""),
		Finalizers: []string{v1alpha1.FinalizerKeys},
	}}
	require.NoError(t, r.Client.Create(t.Context(), keys))
	require.NoError(t, r.Client.Delete(t.Context(), keys))
	r.Metrics.Observe(deleted, &v1alpha1.SocialNetworkStatus{}, metav1.Now().Time)
	deleted.ResourceVersion = "10"
	r.written.record(deleted)
	require.Empty(t, r.updates(deleted, metav1.Now().Time).MayBegin().Reason)
	require.NotEmpty(t, r.updates(networkNamed("other", ""), metav1.Now().Time).MayBegin().Reason)
	_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
	require.NoError(t, err)
	require.Empty(t, r.updates(networkNamed("other", ""), metav1.Now().Time).MayBegin().Reason)
	count, err := testutil.GatherAndCount(registry)
	require.NoError(t, err)
	require.Zero(t, count)
	deleted.ResourceVersion = "9"
	require.False(t, r.written.isStale(deleted))
	require.True(t, apierrors.IsNotFound(r.Client.Get(t.Context(), client.ObjectKeyFromObject(keys), keys)))
}

// TestTurnsOfSeveral lets as many networks be updated at the same time as the limit says. One that waits has no turn, whatever its
// conditions say.
func TestTurnsOfSeveral(t *testing.T) {
	r := &Reconciler{Options: Options{DefaultImage: "plaza:default", MaxConcurrentRollouts: 2}}
	hold := func(name string) stage.Hold { return r.updates(networkNamed(name, ""), metav1.Now().Time).MayBegin() }
	require.Empty(t, hold("a").Reason)
	require.Empty(t, hold("b").Reason)
	require.Equal(t, "Other networks are updated first: plaza/a, plaza/b.", hold("c").Message)
	r.endTurn(networkNamed("c", ""), statusOf(v1alpha1.ReasonWaitingForTurn))
	require.Equal(t, v1alpha1.ReasonWaitingForTurn, hold("c").Reason)
	r.endTurn(networkNamed("a", ""), &v1alpha1.SocialNetworkStatus{})
	require.Empty(t, hold("c").Reason)
	require.Equal(t, "Other networks are updated first: plaza/b, plaza/c.", hold("a").Message)
}

// TestTurnOfSeveralRegions keeps the turn of a network until all its regions are updated, and gives it back if one of them has stopped.
func TestTurnOfSeveralRegions(t *testing.T) {
	condition := func(reason v1alpha1.Reason, status metav1.ConditionStatus) v1alpha1.RegionStatus {
		return v1alpha1.RegionStatus{Conditions: []metav1.Condition{{Type: v1alpha1.RegionUpdated, Status: status, Reason: string(reason)}}}
	}
	updating, updated := condition(v1alpha1.ReasonProgressing, metav1.ConditionFalse), condition(v1alpha1.ReasonUpToDate, metav1.ConditionTrue)
	stopped := condition(v1alpha1.ReasonRolloutStopped, metav1.ConditionFalse)
	unknown := condition(v1alpha1.ReasonClusterUnreachable, metav1.ConditionUnknown)
	failed := []metav1.Condition{{
		Type: v1alpha1.ConditionSchemaMigrated, Status: metav1.ConditionFalse,
		Reason: string(v1alpha1.ReasonMigrationFailed),
	}}
	for name, c := range map[string]struct {
		status v1alpha1.SocialNetworkStatus
		ended  bool
	}{
		"the last is updated":   {v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{updating, updated}}, false},
		"the first is updated":  {v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{updated, updating}}, false},
		"all are updated":       {v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{updated, updated}}, true},
		"the last has stopped":  {v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{updating, stopped}}, true},
		"the first has stopped": {v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{stopped, updated}}, true},
		"one is not known":      {v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{updated, unknown}}, true},
		"the migration failed":  {v1alpha1.SocialNetworkStatus{Conditions: failed, Regions: []v1alpha1.RegionStatus{updated}}, true},
	} {
		r := &Reconciler{Options: Options{DefaultImage: "plaza:default", MaxConcurrentRollouts: 1}}
		require.Empty(t, r.updates(networkNamed("acme", ""), metav1.Now().Time).MayBegin().Reason)
		r.endTurn(networkNamed("acme", ""), &c.status)
		hold := r.updates(networkNamed("other", "plaza:other"), metav1.Now().Time).MayBegin()
		require.Equal(t, c.ended, hold.Reason == "", name)
	}
}

func TestTurnsWithoutLimit(t *testing.T) {
	var all turns
	for _, name := range []string{"a", "b", "c"} {
		require.Empty(t, all.request(types.NamespacedName{Name: name}, "plaza:1", 0))
	}
}
