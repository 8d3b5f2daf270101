package controllers

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/clusters"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/scheme"
)

// TestPassThatDoesNotBegin checks what ends a pass before it does anything.
func TestPassThatDoesNotBegin(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r *Reconciler, sn *v1alpha1.SocialNetwork)
		want   ctrl.Result
	}{
		"the optional kinds are not known": {
			func(r *Reconciler, _ *v1alpha1.SocialNetwork) { r.Kinds.discovered = false },
			ctrl.Result{RequeueAfter: staleRequeue},
		},
		"the cache has an older version": {func(r *Reconciler, sn *v1alpha1.SocialNetwork) {
			newer := sn.DeepCopy()
			newer.ResourceVersion += "0"
			r.written.record(newer)
		}, ctrl.Result{RequeueAfter: staleRequeue}},
		"a member is being connected": {func(_ *Reconciler, sn *v1alpha1.SocialNetwork) {
			sn.Spec.DeletionPolicy, sn.Finalizers = v1alpha1.DeletionRetain, []string{v1alpha1.FinalizerClusters}
			sn.Spec.Regions[0].Cluster, sn.Status.Clusters = "east", []v1alpha1.ClusterNamespace{{Name: "east", Namespace: "plaza"}}
		}, pendingResult},
	} {
		sn := networkNamed("acme")
		sn.Spec.DeletionPolicy, sn.Spec.Regions = v1alpha1.DeletionDelete, []v1alpha1.Region{{Code: "us"}}
		sn.ResourceVersion = "7"
		r := &Reconciler{Kinds: &OptionalKinds{discovered: true}, Clusters: memberClusters{err: clusters.ErrPending}, Now: time.Now}
		c.change(r, sn)
		r.Client = fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(sn).WithStatusSubresource(sn).Build()
		result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(sn)})
		require.NoError(t, err, name)
		require.Equal(t, c.want, result, name)
		var live v1alpha1.SocialNetwork
		require.NoError(t, r.Client.Get(t.Context(), client.ObjectKeyFromObject(sn), &live))
		require.Equal(t, "7", live.ResourceVersion, name)
	}
}

// namedClusters are member clusters with one connection, and record which were asked for.
type namedClusters struct {
	connection *clusters.Connection
	asked      []string
}

func (c *namedClusters) Connect(cluster, from, namespace string) (*clusters.Connection, error) {
	c.asked = append(c.asked, cluster+" "+from+" "+namespace)
	return c.connection, nil
}

// someServers are servers of one cluster.
type someServers struct{ platformclient.Servers }

// TestConnect checks through which clients the operator's own cluster and a member are used, and what is rendered for them.
func TestConnect(t *testing.T) {
	newClient := func() client.WithWatch { return fake.NewClientBuilder().Build() }
	sn := networkNamed("acme")
	sn.Status.NetworkID = "0123456789abcdef01234567"
	sn.Status.PendingChanges, sn.Status.Clusters = []string{"of the last pass"},
		[]v1alpha1.ClusterNamespace{{Name: "east", Namespace: "social"}}
	members := &namedClusters{connection: &clusters.Connection{
		Client: newClient(), APIReader: newClient(), Servers: &someServers{},
		Kinds: []schema.GroupVersionKind{render.SecurityContextConstraintsKind, render.ProbeKind},
	}}
	r := &Reconciler{
		Client: newClient(), APIReader: newClient(), Servers: &someServers{}, Clusters: members,
		Now:     func() time.Time { return time.Unix(7, 0) },
		Kinds:   &OptionalKinds{kinds: []schema.GroupVersionKind{render.HTTPRouteKind}},
		Options: Options{DefaultImage: "plaza:default", Namespace: "plaza-system"},
	}
	p, err := r.newPass(sn)
	require.NoError(t, err)
	require.Equal(t, []string{"east plaza social"}, members.asked)
	require.Empty(t, p.Status.PendingChanges)
	require.Equal(t, sn.Status.Clusters, p.Status.Clusters)
	require.Equal(t, time.Unix(7, 0), p.Now)
	require.Len(t, p.Clusters, 2)
	network := render.Network{
		SN: sn, NetworkID: sn.Status.NetworkID, DefaultImage: "plaza:default", OperatorNamespace: "plaza-system",
		Capabilities: render.Capabilities{HTTPRoute: true},
	}
	own := p.Clusters[0]
	require.Equal(t, network, own.Network)
	require.Equal(t, network, p.Network)
	require.Same(t, r.Client, own.Client)
	require.Same(t, r.Client, own.Cache)
	require.Same(t, r.APIReader, own.APIReader)
	require.Same(t, r.Servers, own.Servers)
	require.Equal(t, []schema.GroupVersionKind{render.HTTPRouteKind}, own.Kinds)

	east, connection := p.Clusters[1], members.connection
	network.Cluster, network.Namespace = "east", "social"
	network.Capabilities = render.Capabilities{SecurityContextConstraints: true, Probe: true}
	require.Equal(t, "east", east.Name)
	require.Equal(t, network, east.Network)
	require.Same(t, connection.Client, east.Client)
	require.Same(t, connection.Client, east.Cache)
	require.Same(t, connection.APIReader, east.APIReader)
	require.Same(t, connection.Servers, east.Servers)
	require.Equal(t, []schema.GroupVersionKind{render.ProbeKind}, east.Kinds, "the operator has no objects of detected kinds")

	r.Clusters = &lostClusters{}
	p, err = r.newPass(sn)
	require.NoError(t, err)
	require.Equal(t, []any{v1alpha1.ReasonClusterUnreachable, "no route"}, []any{p.Clusters[1].Reason, p.Clusters[1].Message})
	r.Clusters = memberClusters{err: clusters.ErrPending}
	_, err = r.newPass(sn)
	require.ErrorIs(t, err, clusters.ErrPending)
}

// TestCapabilities checks that each optional kind enables the objects of that kind only.
func TestCapabilities(t *testing.T) {
	for kind, want := range map[schema.GroupVersionKind]render.Capabilities{
		render.HTTPRouteKind: {HTTPRoute: true}, render.ServiceMonitorKind: {ServiceMonitor: true},
		render.PrometheusRuleKind: {PrometheusRule: true},
		render.ProbeKind:          {Probe: true}, render.GrafanaDashboardKind: {GrafanaDashboard: true},
		render.SecurityContextConstraintsKind: {SecurityContextConstraints: true},
	} {
		require.Equal(t, want, capabilities([]schema.GroupVersionKind{kind}), kind.Kind)
	}
}

// TestWriteStatus writes a status that has changed, to the version of the network that was read, and remembers which version it wrote.
func TestWriteStatus(t *testing.T) {
	writes := 0
	sn := networkNamed("acme")
	r := &Reconciler{Client: fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(sn).WithStatusSubresource(sn).WithInterceptorFuncs(
		interceptor.Funcs{
			SubResourceApply: func(ctx context.Context, c client.Client, name string, object runtime.ApplyConfiguration,
				options ...client.SubResourceApplyOption,
			) error {
				writes++
				return c.SubResource(name).Apply(ctx, object, options...)
			},
		}).Build()}
	require.NoError(t, r.Client.Get(t.Context(), client.ObjectKeyFromObject(sn), sn))
	require.NoError(t, r.writeStatus(t.Context(), sn, sn.Status.DeepCopy()))
	require.Zero(t, writes, "it is the same")
	status := sn.Status.DeepCopy()
	status.Version = "v1.2.3"
	require.NoError(t, r.writeStatus(t.Context(), sn, status))
	require.Equal(t, 1, writes)
	require.True(t, r.written.isStale(sn), "the cache may still have this version")
	require.True(t, apierrors.IsConflict(r.writeStatus(t.Context(), sn, status)), "it has changed since")
	require.NoError(t, r.Client.Get(t.Context(), client.ObjectKeyFromObject(sn), sn))
	require.Equal(t, "v1.2.3", sn.Status.Version)
	require.False(t, r.written.isStale(sn))
	require.NoError(t, r.Client.Delete(t.Context(), sn))
	require.NoError(t, r.writeStatus(t.Context(), sn, &v1alpha1.SocialNetworkStatus{}), "it is gone")

	content := map[string]any{"empty": map[string]any{}, "schema": map[string]any{"current": "92"}, "version": "v1.2.3", "list": []any{}}
	dropEmpty(content)
	require.Equal(t, map[string]any{"schema": map[string]any{"current": "92"}, "version": "v1.2.3", "list": []any{}}, content)
}

// TestTrimPod checks what the cache keeps of a pod: the reasons why it is not ready only while it is not.
func TestTrimPod(t *testing.T) {
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
	unready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ContainersNotReady"}
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}
	unscheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "no node"}
	deleted := metav1.NewTime(time.Unix(7, 0))
	meta := metav1.ObjectMeta{
		Name: "a", Namespace: "plaza", UID: "uid-1", ResourceVersion: "7", Labels: map[string]string{"a": "b"}, DeletionTimestamp: &deleted,
	}
	ports := []corev1.ContainerPort{{Name: "ops", ContainerPort: 9080}}
	statuses := []corev1.ContainerStatus{{Name: "plaza", RestartCount: 3}}
	for name, c := range map[string]struct{ has, keeps []corev1.PodCondition }{
		"ready":     {[]corev1.PodCondition{scheduled, ready}, []corev1.PodCondition{ready}},
		"not ready": {[]corev1.PodCondition{scheduled, unready}, []corev1.PodCondition{unready}},
		"no node":   {[]corev1.PodCondition{unscheduled}, []corev1.PodCondition{unscheduled}},
	} {
		pod := &corev1.Pod{ObjectMeta: *meta.DeepCopy(), Spec: corev1.PodSpec{
			NodeName: "node", Containers: []corev1.Container{{Name: "plaza", Image: "plaza:1", Ports: ports, Args: []string{"serve"}}},
		}}
		pod.Annotations = map[string]string{"a": "b"}
		pod.Status = corev1.PodStatus{PodIP: "10.0.0.1", Conditions: c.has, ContainerStatuses: statuses, InitContainerStatuses: statuses[:1:1]}
		want := &corev1.Pod{
			ObjectMeta: meta,
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "plaza", Image: "plaza:1", Ports: ports}}},
		}
		want.Status = corev1.PodStatus{PodIP: "10.0.0.1", Conditions: c.keeps}
		if name != "ready" {
			want.Status.ContainerStatuses, want.Status.InitContainerStatuses = statuses, statuses
		}
		trimmed, err := trimPod(pod)
		require.NoError(t, err, name)
		require.Equal(t, want, trimmed, name)
	}
	other, err := trimPod("something else")
	require.NoError(t, err)
	require.Equal(t, "something else", other)
}

// TestCacheOptions checks in which namespaces the caches read, and that a member need not have the CRD of networks.
func TestCacheOptions(t *testing.T) {
	isNetwork := func(object client.Object) bool {
		_, is := object.(*v1alpha1.SocialNetwork)
		return is
	}
	require.Nil(t, CacheOptions(nil).DefaultNamespaces, "all")
	options, member := CacheOptions([]string{"a", "b"}), memberCacheOptions([]string{"a", "b"})
	require.Len(t, options.DefaultNamespaces, 2)
	require.Equal(t, options.DefaultNamespaces, member.DefaultNamespaces)
	require.Len(t, member.ByObject, len(options.ByObject)-1)
	for object := range member.ByObject {
		require.False(t, isNetwork(object))
	}
	for object, of := range options.ByObject {
		if isNetwork(object) {
			require.True(t, of.Label.Empty(), "users create them without labels")
		}
	}
}

// servedKinds are the kinds of an API server, by their groups and versions.
type servedKinds struct {
	kinds map[string]string
	err   error
}

func (s *servedKinds) ServerResourcesForGroupVersion(version string) (*metav1.APIResourceList, error) {
	if s.err != nil {
		return nil, s.err
	}
	kind, found := s.kinds[version]
	if !found {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, version)
	}
	return &metav1.APIResourceList{APIResources: []metav1.APIResource{{Kind: kind}}}, nil
}

func (*servedKinds) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return nil, nil, errors.ErrUnsupported
}

func (*servedKinds) ServerPreferredResources() ([]*metav1.APIResourceList, error) {
	return nil, errors.ErrUnsupported
}

func (*servedKinds) ServerPreferredNamespacedResources() ([]*metav1.APIResourceList, error) {
	return nil, errors.ErrUnsupported
}

// TestDiscovery checks when the kinds of a cluster are known and have changed. A kind that is only detected is not watched.
func TestDiscovery(t *testing.T) {
	served := &servedKinds{err: errors.New("no route")}
	o := &OptionalKinds{Discovery: served}
	requireKinds := func(changed bool, want ...schema.GroupVersionKind) {
		t.Helper()
		require.Equal(t, changed, o.discover(t.Context()))
		require.ElementsMatch(t, want, o.List())
	}
	requireKinds(false)
	require.False(t, o.Discovered())
	served.err = nil
	requireKinds(true)
	require.True(t, o.Discovered())
	requireKinds(false)
	served.kinds = map[string]string{"security.openshift.io/v1": "SecurityContextConstraints"}
	requireKinds(true, render.SecurityContextConstraintsKind)
	requireKinds(false, render.SecurityContextConstraintsKind)
	served.err = errors.New("no route")
	requireKinds(false, render.SecurityContextConstraintsKind)
	served.err, served.kinds = nil, nil
	requireKinds(true)
}
