package sweep_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/scheme"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/controllers/stagetest"
	"github.com/plaza-social/plaza/controllers/sweep"
)

// world is a network with keys and the regions us, in the operator's own cluster, and eu, in a member.
type world struct {
	*stagetest.Harness

	eu   *stagetest.Member
	keep []client.Object // in addition to what package render has
}

func newWorld(t *testing.T) *world {
	t.Helper()
	h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU)
	w := &world{Harness: h, eu: h.Join(v1alpha1.RegionEU)}
	h.SN.Status.Clusters = []v1alpha1.ClusterNamespace{{Name: w.eu.Name, Namespace: "plaza"}}
	h.SettleKeys()
	require.Equal(t, v1alpha1.ReasonNothingLeft, w.sweep().Reason)
	return w
}

// sweep runs the stage.
func (w *world) sweep() stage.Result {
	w.T.Helper()
	result := w.Run(sweep.Stage{Keep: func(c *stage.Cluster) []client.Object {
		if c.Name == "" {
			return w.keep
		}
		return nil
	}})
	require.Empty(w.T, result.Errors)
	return result
}

// add creates an object of a kind for the network in one of the clusters, of which 0 is the operator's own, as the operator does.
func (w *world) add(cluster int, kind schema.GroupVersionKind, name string, change func(client.Object)) {
	w.T.Helper()
	created, err := scheme.New().New(kind)
	require.NoError(w.T, err)
	object := created.(client.Object)
	owned := metav1.ObjectMeta{Name: name, Namespace: "plaza", Labels: render.Labels("acme", render.ComponentServer)}
	w.Clusters()[cluster].Network.SetOwner(&owned)
	object.SetName(owned.Name)
	object.SetNamespace(owned.Namespace)
	object.SetLabels(owned.Labels)
	object.SetOwnerReferences(owned.OwnerReferences)
	if change != nil {
		change(object)
	}
	require.NoError(w.T, w.Clusters()[cluster].Client.Create(w.T.Context(), object))
}

// leave removes a region from the spec.
func (w *world) leave(code v1alpha1.RegionCode) {
	regions := w.SN.Spec.Regions
	w.SN.Spec.Regions = nil
	for _, region := range regions {
		if region.Code != code {
			w.SN.Spec.Regions = append(w.SN.Spec.Regions, region)
		}
	}
}

const euKeys, usKeys = "Secret/acme-eu-server-keys", "Secret/acme-us-server-keys"

// TestNothingElseIsDeleted sweeps a network with everything that the operator creates.
func TestNothingElseIsDeleted(t *testing.T) {
	w := newWorld(t)
	for i, c := range w.Clusters() {
		for _, object := range render.Everything(c.Network) {
			kind := object.GetObjectKind().GroupVersionKind()
			w.add(i, kind, object.GetName(), nil)
		}
	}
	own, member := w.Objects(), w.eu.Objects()
	require.Greater(t, len(own), 10)
	result := w.sweep()
	require.Equal(t, metav1.ConditionTrue, result.Status, result.Message)
	require.Equal(t, own, w.Objects())
	require.Equal(t, member, w.eu.Objects())
}

// TestEveryKindIsSwept leaves an object of every kind in each cluster, which the spec does not name.
func TestEveryKindIsSwept(t *testing.T) {
	w := newWorld(t)
	own, member := w.Objects(), w.eu.Objects()
	var pending []string
	for _, kind := range sweep.Kinds() {
		w.add(0, kind, "acme-old", nil)
		w.add(1, kind, "acme-old", nil)
		pending = append(pending, "delete "+kind.Kind+" acme-old")
	}
	withOld, memberWithOld := w.Objects(), w.eu.Objects()
	w.SN.Spec.Paused = true
	result := w.sweep()
	require.Equal(t, v1alpha1.ReasonPausedBySpec, result.Reason)
	require.Equal(t, metav1.ConditionFalse, result.Status)
	require.Equal(t, fmt.Sprintf("%d objects that the spec no longer names are deleted when spec.paused is false.", 2*len(pending)),
		result.Message)
	require.Equal(t, slices.Concat(pending, pending), w.SN.Status.PendingChanges)
	require.Equal(t, withOld, w.Objects())
	require.Equal(t, memberWithOld, w.eu.Objects())

	w.SN.Spec.Paused = false
	result = w.sweep()
	require.Equal(t, v1alpha1.ReasonProgressing, result.Reason)
	require.Equal(t, metav1.ConditionFalse, result.Status)
	require.Equal(t, v1alpha1.ReasonNothingLeft, w.sweep().Reason)
	require.Equal(t, own, w.Objects())
	require.Equal(t, member, w.eu.Objects())
}

// TestObjectsOfOthersAreKept checks that an object is deleted only if it belongs to the network.
func TestObjectsOfOthersAreKept(t *testing.T) {
	service := corev1.SchemeGroupVersion.WithKind("Service")
	secret := corev1.SchemeGroupVersion.WithKind("Secret")
	label := func(name, value string) func(client.Object) {
		return func(o client.Object) { labels := o.GetLabels(); labels[name] = value; o.SetLabels(labels) }
	}
	without := func(o client.Object) {
		o.SetOwnerReferences(nil)
		labels := o.GetLabels()
		delete(labels, render.LabelOwner)
		o.SetLabels(labels)
	}
	keysOf := func(code v1alpha1.RegionCode) func(client.Object) {
		return func(o client.Object) { o.SetOwnerReferences(nil); o.SetLabels(render.KeyLabels("acme", code)) }
	}
	w := newWorld(t)
	var want []string
	for name, test := range map[string]struct {
		cluster int
		kind    schema.GroupVersionKind
		change  func(client.Object)
		deleted bool
	}{
		"of the network":              {0, service, nil, true},
		"of the network, in a member": {1, service, nil, true},
		"of an earlier network of the same name": {0, service, func(o client.Object) {
			earlier := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Name: "acme", UID: "uid-0"}}
			o.SetOwnerReferences([]metav1.OwnerReference{render.OwnerReference(earlier)})
		}, false},
		"of an earlier network, in a member": {1, service, label(render.LabelOwner, "uid-0"), false},
		"without an owner":                   {0, service, without, false},
		"without an owner, in a member":      {1, service, without, false},
		"of another network":                 {0, service, label(render.LabelNetwork, "other"), false},
		"of another tool":                    {0, service, label(render.LabelManagedBy, "Helm"), false},
		"of the operator in the member":      {1, service, func(o client.Object) { without(o); label(render.LabelOwnerNamespace, "")(o) }, false},
		"keys of a removed region":           {0, secret, keysOf("us2"), true},
		"keys of all regions":                {0, secret, keysOf(""), false},
		"keys of the operator in the member": {1, secret, keysOf("us2"), false},
		"keys of a network of another namespace": {1, secret, func(o client.Object) {
			keysOf("us2")(o)
			label(render.LabelOwnerNamespace, "other")(o)
		}, false},
		"a copy of keys, in a member": {1, secret, func(o client.Object) { keysOf("")(o); label(render.LabelOwnerNamespace, "plaza")(o) }, true},
		"a Secret of another component": {0, secret, func(o client.Object) {
			keysOf("us2")(o)
			label(render.LabelComponent, string(render.ComponentRecovery))(o)
		}, false},
		"that is being deleted": {0, service, func(o client.Object) { o.SetFinalizers([]string{"other.example/wait"}) }, true},
	} {
		w.add(test.cluster, test.kind, name, test.change)
		if test.deleted {
			want = append(want, name)
		}
	}
	var deleted []string
	for _, deletion := range w.sweep().Deletions {
		deleted = append(deleted, deletion.Object.GetName())
	}
	require.ElementsMatch(t, want, deleted)
	require.Empty(t, w.sweep().Deletions, "an object is deleted once")
}

// TestKeepOfTheStage keeps the objects that another package renders.
func TestKeepOfTheStage(t *testing.T) {
	w := newWorld(t)
	w.add(0, corev1.SchemeGroupVersion.WithKind("ConfigMap"), "acme-dashboard", nil)
	w.keep = []client.Object{&corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "acme-dashboard"},
	}}
	require.Equal(t, v1alpha1.ReasonNothingLeft, w.sweep().Reason)
	w.keep[0].SetName("acme-other")
	require.Equal(t, v1alpha1.ReasonProgressing, w.sweep().Reason)
}

// TestRetention removes a region of each cluster: its keys are kept until the time that the status names, everything else is deleted.
func TestRetention(t *testing.T) {
	for name, test := range map[string]struct {
		region v1alpha1.RegionCode
		spec   v1alpha1.Duration
		want   time.Duration
	}{
		"the default":              {v1alpha1.RegionUS, "", 720 * time.Hour},
		"of the spec":              {v1alpha1.RegionUS, "48h", 48 * time.Hour},
		"none":                     {v1alpha1.RegionUS, "0s", 0},
		"of the spec, in a member": {v1alpha1.RegionEU, "48h", 48 * time.Hour},
		"none, in a member":        {v1alpha1.RegionEU, "0s", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			objects, keys := w.Objects, usKeys
			if test.region == v1alpha1.RegionEU {
				objects, keys = w.eu.Objects, euKeys
			}
			w.SN.Spec.ServerKeys.RetainRemoved = test.spec
			w.leave(test.region)
			until := w.Now.Add(test.want)
			first := w.sweep()
			require.NotContains(t, objects(), "Secret/acme-"+string(test.region)+"-control")
			if test.want > 0 {
				require.Equal(t, []v1alpha1.RetainedKeys{{Code: test.region, Until: metav1.NewTime(until)}}, w.SN.Status.RetainedKeys)
				require.Equal(t, test.want, first.Requeue)
				w.SN.Spec.ServerKeys.RetainRemoved = "1h" // does not change what was promised
				w.Now = until.Add(-time.Second)
				require.Equal(t, time.Second, w.sweep().Requeue)
				require.Equal(t, until, w.SN.Status.RetainedKeys[0].Until.Time)
				require.Contains(t, objects(), keys)
				w.Now = until
				w.sweep()
			}
			require.NotContains(t, objects(), keys)
			require.Equal(t, v1alpha1.ReasonNothingLeft, w.sweep().Reason)
			require.Empty(t, w.SN.Status.RetainedKeys)
		})
	}
}

// TestRetentionOfTheLastRegion removes the last of the regions, in the order of their codes, from a network that never had the one before.
func TestRetentionOfTheLastRegion(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionSG)
	w := &world{Harness: h}
	h.SettleKeys()
	w.leave(v1alpha1.RegionSG)
	w.sweep()
	require.Len(t, w.SN.Status.RetainedKeys, 1)
	require.Equal(t, v1alpha1.RegionSG, w.SN.Status.RetainedKeys[0].Code)
	require.Contains(t, w.Objects(), "Secret/acme-sg-server-keys")
}

// TestMoveToKeysOfTheUser moves a region while the spec names a Secret with keys: those of the operator are not needed in the new cluster.
func TestMoveToKeysOfTheUser(t *testing.T) {
	w := newWorld(t)
	w.SN.Spec.ServerKeys.ExistingSecret = &v1alpha1.LocalSecretReference{Name: "mine"}
	w.Move(v1alpha1.RegionEU, nil)
	w.sweep()
	require.NotContains(t, w.eu.Objects(), euKeys)
}

// TestNothingLeftWhilePaused checks that a pause is reported only if something waits for its end.
func TestNothingLeftWhilePaused(t *testing.T) {
	w := newWorld(t)
	w.SN.Spec.Paused = true
	result := w.sweep()
	require.Equal(t, metav1.ConditionTrue, result.Status)
	require.Equal(t, v1alpha1.ReasonNothingLeft, result.Reason)
	require.Equal(t, "The network has no objects that the spec does not name.", result.Message)
}

// TestRegionReturns removes a region and adds it again: its keys are not deleted at the end of the retention.
func TestRegionReturns(t *testing.T) {
	w := newWorld(t)
	regions := w.SN.Spec.Regions
	w.leave(v1alpha1.RegionUS)
	w.sweep()
	require.Len(t, w.SN.Status.RetainedKeys, 1)
	w.SN.Spec.Regions = regions
	w.sweep()
	require.Empty(t, w.SN.Status.RetainedKeys)
	w.Now = w.Now.Add(721 * time.Hour)
	w.sweep()
	require.Contains(t, w.Objects(), usKeys)
}

// TestRegionMoves moves a region between the clusters, in both directions: its keys are kept in the old one until the new one has them.
func TestRegionMoves(t *testing.T) {
	for name, code := range map[string]v1alpha1.RegionCode{"to a member": v1alpha1.RegionUS, "from a member": v1alpha1.RegionEU} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			from, to, member := w.API, w.eu.API, w.eu
			if code == v1alpha1.RegionEU {
				from, to, member = w.eu.API, w.API, nil
			}
			keys := render.ServerKeysSecret("acme", code)
			content := from.Secret(keys).Data
			w.Move(code, member)
			w.sweep()
			require.Contains(t, from.Objects(), "Secret/"+keys, "the other cluster does not have them yet")
			require.NotContains(t, to.Objects(), "Secret/"+keys)
			require.Empty(t, w.SN.Status.RetainedKeys)

			w.SettleKeys()
			require.Equal(t, content, to.Secret(keys).Data)
			w.eu.Reason = v1alpha1.ReasonClusterUnreachable
			w.sweep()
			w.eu.Reason = ""
			require.Contains(t, from.Objects(), "Secret/"+keys, "a cluster cannot be read")
			w.sweep()
			require.NotContains(t, from.Objects(), "Secret/"+keys)
			require.Equal(t, content, to.Secret(keys).Data)
			require.Equal(t, v1alpha1.ReasonNothingLeft, w.sweep().Reason)
		})
	}
}

// TestUnfinishedMoves keeps the keys in the old cluster while the Secret in the new one is empty or is being deleted.
func TestUnfinishedMoves(t *testing.T) {
	for name, change := range map[string]func(*corev1.Secret){
		"empty":   func(s *corev1.Secret) { s.Data = nil },
		"deleted": func(s *corev1.Secret) { s.Finalizers = []string{v1alpha1.FinalizerKeys} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Move(v1alpha1.RegionUS, w.eu)
			w.SettleKeys()
			w.eu.EditSecret("acme-us-server-keys", change)
			if name == "deleted" {
				w.eu.DeleteSecret("acme-us-server-keys")
			}
			w.sweep()
			require.Contains(t, w.Objects(), usKeys)
		})
	}
}

// TestKeysInTwoClusters removes a region whose keys are left in two clusters: they are retained together.
func TestKeysInTwoClusters(t *testing.T) {
	w := newWorld(t)
	w.eu.Reason = v1alpha1.ReasonClusterUnreachable
	w.Move(v1alpha1.RegionEU, nil)
	w.SettleKeys()
	w.eu.Reason = ""
	require.Contains(t, w.Objects(), euKeys)
	require.Contains(t, w.eu.Objects(), euKeys)
	w.leave(v1alpha1.RegionEU)
	w.sweep()
	require.Len(t, w.SN.Status.RetainedKeys, 1)
	require.Contains(t, w.Objects(), euKeys)
	require.Contains(t, w.eu.Objects(), euKeys)
	w.Now = w.SN.Status.RetainedKeys[0].Until.Time
	w.sweep()
	require.NotContains(t, w.Objects(), euKeys)
	require.NotContains(t, w.eu.Objects(), euKeys)
}

// TestMemberIsForgotten removes the region of a member: the cluster is forgotten when it has no object of the network any more.
func TestMemberIsForgotten(t *testing.T) {
	w := newWorld(t)
	recorded := w.SN.Status.Clusters
	w.SN.Spec.ServerKeys.RetainRemoved = "1h"
	w.leave(v1alpha1.RegionEU)
	w.sweep()
	require.NotContains(t, w.eu.Objects(), "Secret/acme-api-keys", "copies are not kept without a region")
	require.Equal(t, recorded, w.SN.Status.Clusters, "the pass has found objects")
	w.sweep()
	require.Equal(t, map[string]bool{euKeys: true}, names(w.eu.Objects()))
	require.Equal(t, recorded, w.SN.Status.Clusters, "it has the retained keys")
	w.Now = w.Now.Add(time.Hour)
	w.eu.Reason = v1alpha1.ReasonClusterUnreachable
	require.Equal(t, v1alpha1.ReasonClusterUnreachable, w.sweep().Reason)
	require.Equal(t, recorded, w.SN.Status.Clusters, "it is not known whether objects are left")
	require.Len(t, w.SN.Status.RetainedKeys, 1, "otherwise the retention begins again")
	w.eu.Reason = ""
	w.SN.Spec.Paused = true
	w.sweep()
	require.Equal(t, recorded, w.SN.Status.Clusters, "nothing is deleted while the network is paused")
	require.Len(t, w.SN.Status.RetainedKeys, 1, "otherwise the retention begins again after the pause")
	w.SN.Spec.Paused = false
	w.sweep()
	require.Empty(t, w.eu.Objects())
	require.Equal(t, recorded, w.SN.Status.Clusters)
	w.sweep()
	require.Empty(t, w.SN.Status.Clusters)
	require.Contains(t, w.Objects(), usKeys)
}

func names(objects map[string]string) map[string]bool {
	all := map[string]bool{}
	for name := range objects {
		all[name] = true
	}
	return all
}

// TestNewMemberIsNotForgotten keeps a cluster in which nothing exists yet.
func TestNewMemberIsNotForgotten(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU)
	w := &world{Harness: h, eu: h.Join(v1alpha1.RegionEU)}
	h.SN.Status.Clusters = []v1alpha1.ClusterNamespace{{Name: w.eu.Name, Namespace: "plaza"}}
	w.sweep()
	require.Len(t, h.SN.Status.Clusters, 1)
}

// failingReader fails to read objects of a type.
type failingReader struct {
	client.Reader

	deployments bool
}

func (f failingReader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, is := object.(*appsv1.Deployment); is && f.deployments {
		return errors.New("the cache is gone")
	}
	return f.Reader.Get(ctx, key, object, options...)
}

func (f failingReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, is := list.(*corev1.ServiceList); is && !f.deployments {
		return errors.New("the cache is gone")
	}
	return f.Reader.List(ctx, list, options...)
}

// TestUnreadableObjects deletes and forgets nothing if the objects of the network cannot be read.
func TestUnreadableObjects(t *testing.T) {
	for message, reader := range map[string]failingReader{
		"The Deployments could not be read: the cache is gone":   {deployments: true},
		"Service objects could not be listed: the cache is gone": {},
	} {
		w := newWorld(t)
		w.leave(v1alpha1.RegionEU)
		w.sweep()
		retained := w.SN.Status.RetainedKeys
		require.Len(t, retained, 1)
		w.Now = w.Now.Add(time.Hour)
		w.add(0, corev1.SchemeGroupVersion.WithKind("ConfigMap"), "acme-old", nil)
		reader.Reader = w.Client
		w.Cache = reader
		before := w.Objects()
		result := w.sweep()
		require.Equal(t, v1alpha1.ReasonApplyFailed, result.Reason)
		require.Equal(t, metav1.ConditionUnknown, result.Status)
		require.Equal(t, message, result.Message)
		require.Len(t, w.SN.Status.Clusters, 1)
		require.Equal(t, retained, w.SN.Status.RetainedKeys)
		require.Equal(t, before, w.Objects())
	}
}

// TestKeysThatPodsNeed provides the server keys of a network in another Secret: those that the operator created are kept while a
// Deployment mounts them, or its rollout is not complete.
func TestKeysThatPodsNeed(t *testing.T) {
	w := newWorld(t)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "acme-us", Namespace: "plaza"}}
	d.Spec.Replicas = new(int32(1))
	d.Spec.Template.Spec.Volumes = []corev1.Volume{{
		Name: "server-keys", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "acme-us-server-keys"}},
	}}
	d.Status = appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}
	require.NoError(t, w.Client.Create(t.Context(), d))
	w.SN.Spec.ServerKeys.ExistingSecret = &v1alpha1.LocalSecretReference{Name: "mine"}
	w.sweep()
	require.Contains(t, w.Objects(), usKeys, "pods mount them")
	require.NotContains(t, w.eu.Objects(), euKeys, "no pod mounts them")

	d.Spec.Template.Spec.Volumes[0].Secret.SecretName = "mine"
	require.NoError(t, w.Client.Update(t.Context(), d))
	d.Status.Replicas = 2
	require.NoError(t, w.Client.Status().Update(t.Context(), d))
	w.sweep()
	require.Contains(t, w.Objects(), usKeys, "an old pod is left")
	d.Status.Replicas = 1
	require.NoError(t, w.Client.Status().Update(t.Context(), d))
	w.sweep()
	require.NotContains(t, w.Objects(), usKeys)
}

// TestSecretsOfEvacuations keeps the Secret of a region to which others are evacuated, and the digests of keys in member clusters, as long
// as they are needed.
func TestSecretsOfEvacuations(t *testing.T) {
	w := newWorld(t)
	secret := corev1.SchemeGroupVersion.WithKind("Secret")
	w.add(0, secret, render.EvacuationSecret("acme", v1alpha1.RegionUS), nil)
	w.add(0, secret, render.KeyDigestsSecret("acme"), nil)
	w.SN.Spec.Regions[1].EvacuateTo = v1alpha1.RegionUS
	require.Equal(t, v1alpha1.ReasonNothingLeft, w.sweep().Reason)
	w.SN.Spec.Regions[1].EvacuateTo = ""
	w.sweep()
	require.NotContains(t, w.Objects(), "Secret/acme-us-evacuation")
	require.Contains(t, w.Objects(), "Secret/acme-server-key-digests")
	w.leave(v1alpha1.RegionEU)
	w.sweep()
	require.NotContains(t, w.Objects(), "Secret/acme-server-key-digests")
}
