package controllers

import (
	"errors"
	"strings"
	"testing"
	"time"

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
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/clusters"
	"github.com/plaza-social/plaza/controllers/networkmetrics"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/scheme"
)

func TestVersions(t *testing.T) {
	var v writtenVersions
	sn := func(version string) *v1alpha1.SocialNetwork {
		return &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a", ResourceVersion: version}}
	}
	require.False(t, v.isStale(sn("1")))
	v.record(sn("10"))
	require.True(t, v.isStale(sn("9")))
	require.False(t, v.isStale(sn("10")))
	require.False(t, v.isStale(sn("9")), "it was seen, and is forgotten")
	v.record(sn("10"))
	v.forget(types.NamespacedName{Namespace: "n", Name: "a"})
	require.False(t, v.isStale(sn("9")))
	v.record(sn("no number"))
	require.False(t, v.isStale(sn("1")))
}

// TestRequeue checks that a resync has a lower priority than changes.
func TestRequeue(t *testing.T) {
	soon := requeueAfter(5 * time.Second)
	require.Equal(t, 5*time.Second, soon.RequeueAfter)
	require.Nil(t, soon.Priority)
	require.Equal(t, 100*time.Millisecond, requeueAfter(time.Nanosecond).RequeueAfter)
	for i := range 100 {
		look := requeueAfter([]time.Duration{0, 720 * time.Hour}[i%2])
		require.InDelta(t, resyncInterval.Seconds(), look.RequeueAfter.Seconds(), resyncInterval.Seconds()/10)
		require.Equal(t, handler.LowPriority, *look.Priority)
		require.Negative(t, *look.Priority)
	}
}

// lostClusters are clusters that cannot be reached.
type lostClusters struct{ asked []string }

func (c *lostClusters) Connect(cluster, _, _ string) (*clusters.Connection, error) {
	c.asked = append(c.asked, cluster)
	return nil, &clusters.Error{Reason: v1alpha1.ReasonClusterUnreachable, Message: "no route"}
}

// TestFormerClusterHoldsTheNetwork checks that a cluster that the spec no longer names, and in which objects are left, keeps the finalizer
// and is visited by a deletion.
func TestFormerClusterHoldsTheNetwork(t *testing.T) {
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{
		Name: "acme", Namespace: "plaza",
		Finalizers: []string{v1alpha1.FinalizerClusters},
	}}
	sn.Spec.Regions = []v1alpha1.Region{{Code: "eu"}}
	sn.Status.Clusters = []v1alpha1.ClusterNamespace{{Name: "former", Namespace: "plaza"}}
	asked := &lostClusters{}
	r := &Reconciler{
		Client: fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(sn).WithStatusSubresource(sn).Build(), Kinds: &OptionalKinds{},
		Clusters: asked, Now: time.Now,
	}
	changed, err := r.recordMembers(t.Context(), sn)
	require.NoError(t, err)
	require.False(t, changed)
	sn.DeletionTimestamp = new(metav1.Now())
	result, err := r.finalize(t.Context(), sn)
	require.NoError(t, err)
	require.Equal(t, []string{"former"}, asked.asked)
	require.Equal(t, deletionInterval, result.RequeueAfter)
}

// TestAbandonedCluster checks the command that deletes what is left in a cluster: the network's objects, and also its keys if the network
// does not retain them.
func TestAbandonedCluster(t *testing.T) {
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "social", UID: "u-1"}}
	member := v1alpha1.ClusterNamespace{Name: "east", Namespace: "plaza"}
	for policy, selector := range map[v1alpha1.DeletionPolicy]string{
		v1alpha1.DeletionRetain: "plaza.social/owner=u-1",
		v1alpha1.DeletionDelete: "plaza.social/network=acme,plaza.social/owner-namespace=social",
	} {
		sn.Spec.DeletionPolicy = policy
		event := abandonment(sn, member, errors.New("it does not answer"))
		require.True(t, event.Warning)
		require.Equal(t, v1alpha1.ReasonClusterAbandoned, event.Reason)
		require.Contains(t, event.Message, "deleted the network without cluster east: it does not answer")
		require.True(t, strings.HasSuffix(event.Message, "kubectl -n plaza delete KINDS -l "+selector), event.Message)
	}
}

func networkNamed(name string) *v1alpha1.SocialNetwork {
	return &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "plaza", Name: name}}
}

// TestDeletedNetworkIsForgotten deletes a network during its update: others are updated, its metrics end, a new one of the name is not
// compared with it, and its deleted Secrets with keys go.
func TestDeletedNetworkIsForgotten(t *testing.T) {
	registry := prometheus.NewRegistry()
	r := &Reconciler{
		Client:  fake.NewClientBuilder().WithScheme(scheme.New()).Build(),
		Options: Options{DefaultImage: "plaza:default", MaxConcurrentRollouts: 1}, Metrics: networkmetrics.New(registry),
	}
	deleted, other := networkNamed("deleted"), networkNamed("other")
	hold := func(sn *v1alpha1.SocialNetwork) v1alpha1.Reason {
		return r.turns.Rules(sn, "plaza:default", 1, metav1.Now().Time).MayBegin().Reason
	}
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
	require.Empty(t, hold(deleted))
	require.NotEmpty(t, hold(other))
	_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
	require.NoError(t, err)
	require.Empty(t, hold(other))
	count, err := testutil.GatherAndCount(registry)
	require.NoError(t, err)
	require.Zero(t, count)
	deleted.ResourceVersion = "9"
	require.False(t, r.written.isStale(deleted))
	require.True(t, apierrors.IsNotFound(r.Client.Get(t.Context(), client.ObjectKeyFromObject(keys), keys)))
}
