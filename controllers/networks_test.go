package controllers

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/scheme"
)

// TestMembersAreRecorded records the member clusters of a network after its finalizer was set, and sets the finalizer of its keys while
// they are deleted with it.
func TestMembersAreRecorded(t *testing.T) {
	sn := networkNamed("acme")
	sn.Spec.DeletionPolicy = v1alpha1.DeletionDelete
	sn.Spec.Regions = []v1alpha1.Region{
		{Code: "us"}, {Code: "eu", Cluster: "west", Namespace: "social"}, {Code: "sg", Cluster: "west", Namespace: "social"},
	}
	r := &Reconciler{Client: fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(sn).WithStatusSubresource(sn).Build()}
	record := func(changes bool) {
		t.Helper()
		changed, err := r.recordMembers(t.Context(), sn)
		require.NoError(t, err)
		require.Equal(t, changes, changed)
		require.NoError(t, r.Client.Get(t.Context(), client.ObjectKeyFromObject(sn), sn))
	}
	requireFinalizers := func(want ...string) {
		t.Helper()
		require.ElementsMatch(t, want, sn.Finalizers)
	}
	record(true)
	requireFinalizers(v1alpha1.FinalizerClusters, v1alpha1.FinalizerKeys)
	require.Empty(t, sn.Status.Clusters, "nothing is created in a cluster before the finalizer is set")
	record(true)
	require.Equal(t, []v1alpha1.ClusterNamespace{{Name: "west", Namespace: "social"}}, sn.Status.Clusters, "once")
	record(false)
	requireUnchangedConflict(t, r, sn)

	sn.Spec.DeletionPolicy = v1alpha1.DeletionRetain
	require.NoError(t, r.Client.Update(t.Context(), sn))
	record(true)
	requireFinalizers(v1alpha1.FinalizerClusters)
	sn.Spec.Regions = sn.Spec.Regions[:1]
	require.NoError(t, r.Client.Update(t.Context(), sn))
	record(false)
	requireFinalizers(v1alpha1.FinalizerClusters)
	sn.Status.Clusters = nil // the stage sweep has found nothing there
	require.NoError(t, r.Client.Status().Update(t.Context(), sn))
	record(true)
	requireFinalizers()
}

// requireUnchangedConflict records the members of a version of a network that is not the newest: the next pass reads it again, and what
// others wrote stays.
func requireUnchangedConflict(t *testing.T, r *Reconciler, sn *v1alpha1.SocialNetwork) {
	t.Helper()
	old := sn.DeepCopy()
	sn.Finalizers = append(sn.Finalizers, "of/others")
	require.NoError(t, r.Client.Update(t.Context(), sn))
	for name, change := range map[string]func(sn *v1alpha1.SocialNetwork){
		"the finalizers": func(sn *v1alpha1.SocialNetwork) { sn.Spec.DeletionPolicy = v1alpha1.DeletionRetain },
		"the status":     func(sn *v1alpha1.SocialNetwork) { sn.Status.Clusters = nil },
	} {
		stale := old.DeepCopy()
		change(stale)
		changed, err := r.recordMembers(t.Context(), stale)
		require.NoError(t, err, name)
		require.True(t, changed, name)
		require.NoError(t, r.Client.Get(t.Context(), client.ObjectKeyFromObject(sn), sn))
		require.ElementsMatch(t, []string{v1alpha1.FinalizerClusters, v1alpha1.FinalizerKeys, "of/others"}, sn.Finalizers, name)
	}
	sn.Finalizers = old.Finalizers
	require.NoError(t, r.Client.Update(t.Context(), sn))
}

// TestNetworksOfASecret checks of which networks a pass begins when a Secret changes.
func TestNetworksOfASecret(t *testing.T) {
	using := func(name, namespace, secret string) *v1alpha1.SocialNetwork {
		sn := networkNamed(name)
		sn.Namespace, sn.Spec.Database.SecretRef.Name = namespace, secret
		return sn
	}
	indexed := fake.NewClientBuilder().WithScheme(scheme.New()).WithIndex(&v1alpha1.SocialNetwork{}, secretIndex, secretsOf)
	r := &Reconciler{Client: indexed.WithObjects(
		using("uses", "plaza", "db"), using("another", "plaza", "db"), using("elsewhere", "other", "db"), using("not", "plaza", "db2"),
	).Build()}
	for name, c := range map[string]struct {
		labels map[string]string
		want   []string
	}{
		"db":  {nil, []string{"another", "uses"}},
		"db3": {nil, nil},
		"a":   {map[string]string{render.LabelNetwork: "of"}, []string{"of"}},
		"b":   {render.RecoveryLabels("lost"), []string{"lost"}},
		"db2": {map[string]string{render.LabelNetwork: "not"}, []string{"not"}},
	} {
		var networks []string
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "plaza", Labels: c.labels}}
		for _, request := range r.networksOfSecret(t.Context(), secret) {
			require.Equal(t, "plaza", request.Namespace)
			networks = append(networks, request.Name)
		}
		require.Equal(t, c.want, networks, name)
	}
}

// TestChangesInMembers checks of which networks a pass begins when something changes in a member cluster.
func TestChangesInMembers(t *testing.T) {
	in, had, not := networkNamed("in"), networkNamed("had"), networkNamed("not")
	in.Spec.Regions = []v1alpha1.Region{{Code: "us"}, {Code: "eu", Cluster: "west"}}
	had.Status.Clusters = []v1alpha1.ClusterNamespace{{Name: "west", Namespace: "plaza"}}
	not.Spec.Regions = []v1alpha1.Region{{Code: "us"}, {Code: "eu", Cluster: "east"}}
	r := &Reconciler{
		Client: fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(in, had, not).Build(),
		Kinds:  &OptionalKinds{events: make(chan event.GenericEvent, 10)},
	}
	changed := func(labels map[string]string) []string {
		var object client.Object
		if labels != nil {
			object = &corev1.Service{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
		}
		r.clusterChanged(t.Context(), "west", object)
		var networks []string
		for range len(r.Kinds.events) {
			e := <-r.Kinds.events
			networks = append(networks, e.Object.GetNamespace()+"/"+e.Object.GetName())
		}
		slices.Sort(networks)
		return networks
	}
	require.Equal(t, []string{"plaza/had", "plaza/in"}, changed(nil), "the connection changed")
	require.Equal(t, []string{"social/acme"}, changed(map[string]string{render.LabelNetwork: "acme", render.LabelOwnerNamespace: "social"}))
	require.Equal(t, []string{"plaza/had", "plaza/in"}, changed(map[string]string{render.LabelNetwork: "acme"}),
		"the owner's namespace is not known")
	require.Equal(t, []string{"plaza/had", "plaza/in"}, changed(map[string]string{render.LabelOwnerNamespace: "social"}))
}
