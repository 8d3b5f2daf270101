package acceptance

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// TestHubIsLost loses the cluster of the operator with everything in it, and applies the same manifest in a new one. The copies of the
// member restore the keys; those of the region that ran in the lost cluster are missing until they are given up.
func TestHubIsLost(t *testing.T) {
	o, eu, sg := hub(t)
	members := map[v1alpha1.RegionCode]*member{"eu": eu, "sg": sg}
	views := map[v1alpha1.RegionCode]*operator{"us": o, "eu": eu.operator, "sg": sg.operator}
	o.apply(inClusters(t, members))
	o.migrate("acme")
	serveAll("acme", views)
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	o.settle("acme")
	id := get(o, &v1alpha1.SocialNetwork{}, "acme").Status.NetworkID
	shared := []string{"acme-identity", "acme-signing-keys", "acme-api-keys"}
	before := map[string]map[string][]byte{}
	for _, name := range shared {
		before[name] = get(eu.operator, &corev1.Secret{}, name).Data
	}
	serverKeys := get(eu.operator, &corev1.Secret{}, "acme-eu-server-keys").Data

	o.end()
	o.loseEverything("acme")
	o.run()
	o.apply(inClusters(t, members))
	missing := o.condition("acme", v1alpha1.ConditionKeysReady, "False", v1alpha1.ReasonKeysMissing)
	require.Contains(t, missing.Message,
		"Region us: Secret acme-us-server-keys does not exist in the namespace, and no copy of its keys is left.")
	require.Contains(t, missing.Message, v1alpha1.AnnotationGiveUpKeys+"="+id)
	sn := get(o, &v1alpha1.SocialNetwork{}, "acme")
	require.Equal(t, id, sn.Status.NetworkID)
	require.Equal(t, []string{"acme-us-server-keys"}, sn.Status.MissingKeys)
	for _, name := range shared {
		require.Equal(t, before[name], get(o, &corev1.Secret{}, name).Data)
		for _, m := range members {
			require.Equal(t, before[name], get(m.operator, &corev1.Secret{}, name).Data)
		}
	}
	require.Equal(t, serverKeys, get(eu.operator, &corev1.Secret{}, "acme-eu-server-keys").Data)
	o.migrate("acme")
	require.Contains(t, o.awaitRegion("acme", "us", v1alpha1.RegionAvailable, "False", v1alpha1.ReasonWaitingForKeys), "KeysReady")
	require.False(t, o.exists(&appsv1.Deployment{}, "acme-us"))

	o.edit("acme", func(sn *v1alpha1.SocialNetwork) {
		sn.Annotations = map[string]string{v1alpha1.AnnotationGiveUpKeys: id}
	})
	o.serve("acme", "us")
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
}

// loseEverything deletes a network and its objects in the operator's cluster in spite of their finalizers.
func (o *operator) loseEverything(network string) {
	o.t.Helper()
	sn := get(o, &v1alpha1.SocialNetwork{}, network)
	lost := []client.Object{sn}
	children := o.children()
	for i := range children {
		lost = append(lost, &children[i])
	}
	var jobs batchv1.JobList
	require.NoError(o.t, o.client.List(o.t.Context(), &jobs, client.InNamespace(o.namespace)))
	for i := range jobs.Items {
		lost = append(lost, &jobs.Items[i])
	}
	for _, object := range lost {
		base := object.DeepCopyObject().(client.Object)
		object.SetFinalizers(nil)
		require.NoError(o.t, o.client.Patch(o.t.Context(), object, client.MergeFrom(base)))
		require.NoError(o.t, o.client.Delete(o.t.Context(), object, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	}
}

// TestHubIsLostWhileAMemberCannotBeReached creates no identity: the member may have a copy.
func TestHubIsLostWhileAMemberCannotBeReached(t *testing.T) {
	o, eu, sg := hub(t)
	eu.gate.shut(true)
	o.apply(inClusters(t, map[v1alpha1.RegionCode]*member{"eu": eu, "sg": sg}))
	ready := o.condition("acme", v1alpha1.ConditionKeysReady, "Unknown", v1alpha1.ReasonClusterUnreachable)
	require.Contains(t, ready.Message, "Secret acme-identity does not exist; a copy may be in a cluster that cannot be read.")
	o.settle("acme")
	require.NotContains(t, strings.Join(append(o.objects(), sg.objects()...), " "), "Secret acme-")
	eu.gate.shut(false)
	o.condition("acme", v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonMigrating)
}

// TestRegionMoves moves a region to another cluster and back. It keeps its keys.
func TestRegionMoves(t *testing.T) {
	o, eu, sg := hub(t)
	o.apply(inClusters(t, map[v1alpha1.RegionCode]*member{"eu": eu, "sg": sg}))
	o.migrate("acme")
	serveAll("acme", map[v1alpha1.RegionCode]*operator{"us": o, "eu": eu.operator, "sg": sg.operator})
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	o.settle("acme") // or a pass that has not seen the active key yet records again when it became active
	before := get(eu.operator, &corev1.Secret{}, "acme-eu-server-keys")
	move := func(to *operator, cluster, namespace string, from *operator) {
		var region v1alpha1.Region
		o.edit("acme", func(sn *v1alpha1.SocialNetwork) {
			i := slices.IndexFunc(sn.Spec.Regions, func(r v1alpha1.Region) bool { return r.Code == "eu" })
			region = sn.Spec.Regions[i]
			sn.Spec.Regions = slices.Delete(sn.Spec.Regions, i, i+1)
		})
		o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
		region.Cluster, region.Namespace = cluster, namespace
		o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions = append(sn.Spec.Regions, region) })
		to.serve("acme", "eu")
		o.eventually("the keys to leave the other cluster", func() string {
			if from.exists(&corev1.Secret{}, "acme-eu-server-keys") {
				return "they are there"
			}
			return ""
		})
		o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
		after := get(to, &corev1.Secret{}, "acme-eu-server-keys")
		require.Equal(t, before.Data, after.Data)
		require.Equal(t, before.Annotations, after.Annotations)
	}
	move(o, "", "", eu.operator)
	move(eu.operator, eu.name, eu.namespace, o)
}

// TestSecretsAreDeleted deletes all Secrets of a network at once: they are restored, and the servers accept the same keys.
func TestSecretsAreDeleted(t *testing.T) {
	o := start(t)
	o.up(sample(t, "socialnetwork"))
	o.settle("acme")
	before := map[string]map[string][]byte{}
	for _, child := range o.children() {
		if child.GetKind() == "Secret" && !strings.Contains(child.GetName(), "control") {
			before[child.GetName()] = get(o, &corev1.Secret{}, child.GetName()).Data
		}
	}
	require.Len(t, before, 7)
	o.shell("kubectl -n " + o.namespace + " delete secret --wait=false -l app.kubernetes.io/managed-by=plaza-operator")()
	for name, data := range before {
		o.eventually("Secret "+name+" to be restored", func() string {
			var secret corev1.Secret
			if !o.exists(&secret, name) || !secret.DeletionTimestamp.IsZero() {
				return "it is not"
			}
			require.Equal(t, data, secret.Data)
			return ""
		})
	}
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
}

// TestNetworkIsDeletedByMistake deletes a network and then the Secrets of its namespace, as the deletion of the namespace does. The copies
// in the member clusters are kept, because spec.deletionPolicy is Retain, and a new network of the same name adopts them.
func TestNetworkIsDeletedByMistake(t *testing.T) {
	o, eu, sg := hub(t)
	members := map[v1alpha1.RegionCode]*member{"eu": eu, "sg": sg}
	o.apply(inClusters(t, members))
	o.migrate("acme")
	serveAll("acme", map[v1alpha1.RegionCode]*operator{"us": o, "eu": eu.operator, "sg": sg.operator})
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	o.settle("acme")
	id := get(o, &v1alpha1.SocialNetwork{}, "acme").Status.NetworkID
	kept := []string{"Secret acme-api-keys", "Secret acme-eu-server-keys", "Secret acme-identity", "Secret acme-signing-keys"}
	before := map[string]map[string][]byte{}
	for _, object := range kept {
		name := strings.TrimPrefix(object, "Secret ")
		before[name] = get(eu.operator, &corev1.Secret{}, name).Data
	}
	require.NoError(t, o.client.Delete(t.Context(), get(o, &v1alpha1.SocialNetwork{}, "acme")))
	o.gone("acme")
	require.ElementsMatch(t, kept, eu.objects())
	o.shell("kubectl -n " + o.namespace + " delete secret --wait=false -l plaza.social/network=acme")()
	o.shell("kubectl -n " + o.namespace + " delete secret --wait=false -l plaza.social/recovery-of=acme")()
	o.eventually("the Secrets to go", func() string {
		if o.exists(&corev1.Secret{}, "acme-identity") || o.exists(&corev1.Secret{}, "acme-recovery-keys") {
			return "they exist"
		}
		return ""
	})
	o.apply(inClusters(t, members))
	o.condition("acme", v1alpha1.ConditionKeysReady, "False", v1alpha1.ReasonKeysMissing) // those of the region in this cluster
	require.Equal(t, id, get(o, &v1alpha1.SocialNetwork{}, "acme").Status.NetworkID)
	for name, data := range before {
		require.Equal(t, data, get(eu.operator, &corev1.Secret{}, name).Data)
	}
}
