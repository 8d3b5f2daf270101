package controllers

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/clusters"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/scheme"
)

// memberClusters are member clusters with one connection, or without one because of an error.
type memberClusters struct {
	connection *clusters.Connection
	err        error
}

func (m memberClusters) Connect(string, string, string) (*clusters.Connection, error) {
	return m.connection, m.err
}

// connected returns a member cluster with objects in which a list fails with an error, or with nil.
func connected(failure error, objects ...client.Object) memberClusters {
	fails := interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList,
		options ...client.ListOption,
	) error {
		if failure != nil {
			return failure
		}
		return c.List(ctx, list, options...)
	}}
	member := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(objects...).WithInterceptorFuncs(fails).Build()
	return memberClusters{connection: &clusters.Connection{
		Client: member, APIReader: member,
		Kinds: []schema.GroupVersionKind{render.HTTPRouteKind},
	}}
}

// deletion is a deleted network whose keys are deleted with it, and its operator.
type deletion struct {
	*Reconciler

	t      *testing.T
	since  time.Time // when the network was deleted
	events *events.FakeRecorder
}

// deleteNetwork deletes a network with objects in the operator's cluster and, if members is not nil, in the member cluster east.
func deleteNetwork(t *testing.T, members Clusters, objects ...client.Object) *deletion {
	t.Helper()
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{
		Name: "acme", Namespace: "plaza", UID: "uid-1", Finalizers: []string{v1alpha1.FinalizerClusters, v1alpha1.FinalizerKeys},
	}}
	sn.Spec.DeletionPolicy = v1alpha1.DeletionDelete
	if members != nil {
		sn.Status.Clusters = []v1alpha1.ClusterNamespace{{Name: "east", Namespace: "social"}}
	}
	own := fake.NewClientBuilder().WithScheme(scheme.New()).WithStatusSubresource(sn).WithObjects(append(objects, sn)...).Build()
	require.NoError(t, own.Delete(t.Context(), sn))
	require.NoError(t, own.Get(t.Context(), client.ObjectKeyFromObject(sn), sn))
	d := &deletion{t: t, since: sn.DeletionTimestamp.Time, events: events.NewFakeRecorder(10)}
	d.Reconciler = &Reconciler{Client: own, APIReader: own, Kinds: &OptionalKinds{}, Clusters: members, Recorder: d.events}
	d.Now = func() time.Time { return d.since }
	return d
}

// pass runs one pass. It returns the message of the condition Ready, or "gone" for a network that does not exist any more.
func (d *deletion) pass() (string, ctrl.Result, error) {
	d.t.Helper()
	var sn v1alpha1.SocialNetwork
	key := client.ObjectKey{Namespace: "plaza", Name: "acme"}
	require.NoError(d.t, d.Client.Get(d.t.Context(), key, &sn))
	result, failure := d.finalize(d.t.Context(), &sn)
	err := d.Client.Get(d.t.Context(), key, &sn)
	if apierrors.IsNotFound(err) {
		return "gone", result, failure
	}
	require.NoError(d.t, err)
	ready := meta.FindStatusCondition(sn.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil {
		return "", result, failure
	}
	require.Equal(d.t, metav1.ConditionFalse, ready.Status)
	require.Equal(d.t, string(v1alpha1.ReasonDeleting), ready.Reason)
	return ready.Message, result, failure
}

// waits checks that the network is not gone after a pass, because of what.
func (d *deletion) waits(what string, timeout time.Duration) {
	d.t.Helper()
	message, result, err := d.pass()
	require.NoError(d.t, err)
	require.Equal(d.t, "The deletion waits for "+what+"; clusters that cannot be reached are abandoned at "+
		d.since.Add(timeout).UTC().Format(time.RFC3339)+".", message)
	require.Equal(d.t, deletionInterval, result.RequeueAfter)
}

func (d *deletion) gone() {
	d.t.Helper()
	message, _, err := d.pass()
	require.NoError(d.t, err)
	require.Equal(d.t, "gone", message)
}

// TestDeletionWaitsForSecrets waits for a Secret with keys that the finalizer of another program keeps.
func TestDeletionWaitsForSecrets(t *testing.T) {
	keys := func(name string, finalizers ...string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "plaza", Labels: render.KeyLabels("acme", ""), Finalizers: append(finalizers, v1alpha1.FinalizerKeys),
		}}
	}
	d := deleteNetwork(t, nil, keys("acme-identity"), keys("acme-api-keys", "backup.example/keep"))
	d.waits("1 Secrets with keys, which have finalizers", time.Hour)
	var kept corev1.SecretList
	require.NoError(t, d.Client.List(t.Context(), &kept))
	require.Len(t, kept.Items, 1)
	require.Equal(t, []string{"backup.example/keep"}, kept.Items[0].Finalizers)
	d.waits("1 Secrets with keys, which have finalizers", time.Hour)
	require.NoError(t, d.Client.List(t.Context(), &kept))
	kept.Items[0].Finalizers = nil
	require.NoError(t, d.Client.Update(t.Context(), &kept.Items[0]))
	d.gone()
}

// TestDeletionInMembers deletes the objects of the network in a member cluster, also those of an optional kind, and no others.
func TestDeletionInMembers(t *testing.T) {
	owned := func(name, namespace, uid string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{render.LabelOwner: uid}}
	}
	keys := func(name, of string) *corev1.Secret {
		labels := render.KeyLabels("acme", "")
		labels[render.LabelOwnerNamespace] = of
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "social", Labels: labels}}
	}
	members := connected(nil,
		&corev1.Service{ObjectMeta: owned("acme-eu", "social", "uid-1")}, &corev1.ConfigMap{ObjectMeta: owned("acme-eu", "social", "uid-1")},
		&gatewayv1.HTTPRoute{ObjectMeta: owned("acme-eu", "social", "uid-1")}, keys("acme-identity", "plaza"),
		&corev1.Service{ObjectMeta: owned("acme-sg", "social", "uid-0")}, &corev1.Service{ObjectMeta: owned("acme-us", "elsewhere", "uid-1")},
		keys("acme-api-keys", "elsewhere"),
	)
	d := deleteNetwork(t, members)
	d.waits("cluster east (3 objects)", time.Hour)
	d.gone()
	member := members.connection.Client
	var services corev1.ServiceList
	require.NoError(t, member.List(t.Context(), &services))
	require.Len(t, services.Items, 2, "of another network, and of another namespace")
	var secrets corev1.SecretList
	require.NoError(t, member.List(t.Context(), &secrets))
	require.Len(t, secrets.Items, 1)
	require.Equal(t, "acme-api-keys", secrets.Items[0].Name)
	require.Empty(t, d.events.Events)
}

// TestDeletionTimeout abandons a cluster that cannot be reached after the timeout.
func TestDeletionTimeout(t *testing.T) {
	for option, timeout := range map[time.Duration]time.Duration{0: time.Hour, 10 * time.Minute: 10 * time.Minute} {
		d := deleteNetwork(t, &lostClusters{})
		d.Options.ClusterDeletionTimeout = option
		now := d.since.Add(timeout)
		d.Now = func() time.Time { return now }
		d.waits("cluster east (no route)", timeout)
		require.Empty(t, d.events.Events)
		now = now.Add(time.Second)
		d.gone()
		require.Contains(t, <-d.events.Events, "Warning ClusterAbandoned deleted the network without cluster east: no route")
	}
}

// TestDeletionFails reports the error of a member cluster, and retries if it is not known to be temporary.
func TestDeletionFails(t *testing.T) {
	const answer = "access denied."
	refused := errors.New(answer)
	message, _, err := deleteNetwork(t, connected(refused)).pass()
	require.ErrorIs(t, err, refused)
	require.Contains(t, message, "The deletion waits for cluster east (")
	require.Contains(t, message, "access denied);")

	message, result, err := deleteNetwork(t, connected(&clusters.UnreachableError{Err: errors.New("time-out")})).pass()
	require.NoError(t, err)
	require.Contains(t, message, "time-out")
	require.Equal(t, deletionInterval, result.RequeueAfter)

	message, result, err = deleteNetwork(t, memberClusters{err: clusters.ErrPending}).pass()
	require.NoError(t, err)
	require.Empty(t, message, "the connection is being established")
	require.Equal(t, pendingResult, result)
}

// TestRetainedKeys deletes the objects of a network that retains its keys: those stay in every cluster.
func TestRetainedKeys(t *testing.T) {
	keys := func(namespace string) *corev1.Secret {
		labels := render.KeyLabels("acme", "")
		labels[render.LabelOwnerNamespace] = "plaza"
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Name: "acme-api-keys", Namespace: namespace, Labels: labels,
			Finalizers: []string{v1alpha1.FinalizerKeys},
		}}
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Name: "acme-eu", Namespace: "social", Labels: map[string]string{render.LabelOwner: "uid-1"},
	}}
	members := connected(nil, service, keys("social"))
	d := deleteNetwork(t, members, keys("plaza"))
	d.edit(func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.DeletionPolicy, sn.Finalizers = v1alpha1.DeletionRetain, []string{v1alpha1.FinalizerClusters}
	})
	d.waits("cluster east (1 objects)", time.Hour)
	d.gone()
	for namespace, cluster := range map[string]client.Client{"plaza": d.Client, "social": members.connection.Client} {
		var kept corev1.Secret
		require.NoError(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "acme-api-keys"}, &kept))
		require.Zero(t, kept.DeletionTimestamp)
		require.Equal(t, []string{v1alpha1.FinalizerKeys}, kept.Finalizers)
	}
}

// edit changes the network.
func (d *deletion) edit(change func(sn *v1alpha1.SocialNetwork)) *v1alpha1.SocialNetwork {
	d.t.Helper()
	var sn v1alpha1.SocialNetwork
	require.NoError(d.t, d.Client.Get(d.t.Context(), client.ObjectKey{Namespace: "plaza", Name: "acme"}, &sn))
	before := sn.DeepCopy()
	change(&sn)
	require.NoError(d.t, d.Client.Update(d.t.Context(), &sn))
	return before
}

// TestFinalizersOfOthers does nothing for a deleted network that only others keep, and deletes the keys of one that has no members.
func TestFinalizersOfOthers(t *testing.T) {
	keys := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "acme-api-keys", Namespace: "plaza", Labels: render.KeyLabels("acme", "")}}
	for finalizer, deletes := range map[string]bool{"of/others": false, v1alpha1.FinalizerKeys: true} {
		d := deleteNetwork(t, nil, keys.DeepCopy())
		d.edit(func(sn *v1alpha1.SocialNetwork) { sn.Finalizers = []string{finalizer, "of/more"} })
		message, _, err := d.pass()
		require.NoError(t, err)
		require.Empty(t, message)
		err = d.Client.Get(t.Context(), client.ObjectKeyFromObject(keys), &corev1.Secret{})
		require.Equal(t, deletes, apierrors.IsNotFound(err), finalizer)
	}
}

// TestDeletionOfAnOldVersion finalizes a version of a network that is not the newest: the next pass writes the status.
func TestDeletionOfAnOldVersion(t *testing.T) {
	d := deleteNetwork(t, &lostClusters{})
	old := d.edit(func(sn *v1alpha1.SocialNetwork) { sn.Annotations = map[string]string{"a": "b"} })
	result, err := d.finalize(t.Context(), old)
	require.NoError(t, err)
	require.Equal(t, deletionInterval, result.RequeueAfter)
	d.waits("cluster east (no route)", time.Hour)
}
