package rollout_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/rollout"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/controllers/stagetest"
)

// migrated is a stage that publishes whether the database is migrated.
type migrated bool

func (migrated) Condition() string { return "Migrated" }

func (m migrated) Run(context.Context, *stage.Pass) stage.Outcome {
	out := stage.True("Fine", "")
	out.Facts.SchemaReady = bool(m)
	return out
}

// world is a network with keys and one region.
type world struct {
	*stagetest.Harness

	ready migrated
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Harness: stagetest.New(t, v1alpha1.RegionUS), ready: true}
	w.SN.Spec.Image, w.SN.Spec.Rollout.Soak = "plaza:1", "0s"
	w.SN.Spec.Regions[0].Replicas = new(int32(3))
	w.SettleKeys()
	return w
}

// run runs the stage.
func (w *world) run() stage.Result {
	w.T.Helper()
	result := w.RunAll(w.ready, rollout.Stage{})[1]
	require.Empty(w.T, result.Errors)
	return result
}

func (w *world) deployment() *appsv1.Deployment {
	w.T.Helper()
	var d appsv1.Deployment
	require.NoError(w.T, w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: "plaza", Name: "acme-us"}, &d))
	return &d
}

// edit changes the Deployment as a user or a controller does.
func (w *world) edit(change func(*appsv1.Deployment)) {
	w.T.Helper()
	d := w.deployment()
	before := client.MergeFrom(d.DeepCopy())
	change(d)
	require.NoError(w.T, w.Client.Patch(w.T.Context(), d, before, client.FieldOwner("kubectl-edit")))
}

// complete lets all pods become ready.
func (w *world) complete() {
	w.T.Helper()
	d := w.deployment()
	n := *d.Spec.Replicas
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, AvailableReplicas: n,
		ReadyReplicas: n,
	}
	require.NoError(w.T, w.Client.Status().Update(w.T.Context(), d))
}

// updated returns the reason and the message of the condition Updated.
func (w *world) updated() (string, string) {
	c := meta.FindStatusCondition(w.SN.Status.Regions[0].Conditions, v1alpha1.RegionUpdated)
	return c.Reason, c.Message
}

// started returns a network whose pods are ready and have the template of the spec.
func started(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.run()
	w.complete()
	w.run()
	result := w.run()
	require.Equal(t, v1alpha1.ReasonServing, result.Reason, result.Message)
	return w
}

// TestObjectsOfARegion creates the objects of a region: the ConfigMap only together with the template that reads it.
func TestObjectsOfARegion(t *testing.T) {
	w := newWorld(t)
	w.ready = false
	require.Equal(t, v1alpha1.ReasonWaitingForSchema, w.run().Reason)
	require.NotContains(t, w.Objects(), "Deployment/acme-us")
	require.NotContains(t, w.Objects(), "ConfigMap/acme-us")
	require.Contains(t, w.Objects(), "Service/acme-us")
	require.Contains(t, w.Objects(), "ServiceAccount/acme-us")
	w.ready = true
	require.Equal(t, v1alpha1.ReasonProgressing, w.run().Reason)
	require.Contains(t, w.Objects(), "ConfigMap/acme-us")
	d := w.deployment()
	region := &w.Pass.SN.Spec.Regions[0]
	require.Equal(t, render.TemplateHash(render.Deployment(w.Pass.Network, region)), d.Annotations[render.AnnotationTemplate])
	require.Equal(t, "plaza:1", render.ServerImage(d.Spec.Template.Spec))
	w.run()
	reason, message := w.updated()
	require.Equal(t, string(v1alpha1.ReasonProgressing), reason)
	require.Equal(t, "0 of 0 pods have the newest template.", message)
}

// TestAdditionsToAService checks that ports that others added to a Service go.
func TestAdditionsToAService(t *testing.T) {
	w := started(t)
	get := func() *corev1.Service {
		var s corev1.Service
		require.NoError(t, w.Client.Get(t.Context(), client.ObjectKey{Namespace: "plaza", Name: "acme-us"}, &s))
		return &s
	}
	service := get()
	patch, before := client.MergeFrom(service.DeepCopy()), len(service.Spec.Ports)
	service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{Name: "mine", Port: 99, Protocol: corev1.ProtocolTCP})
	require.NoError(t, w.Client.Patch(t.Context(), service, patch, client.FieldOwner("kubectl-edit")))
	w.run()
	require.Len(t, get().Spec.Ports, before)
}

// TestHeldTemplate changes the image and the number of pods while no template may be applied: only the number changes.
func TestHeldTemplate(t *testing.T) {
	w := started(t)
	before := w.deployment()
	w.ready = false
	w.SN.Spec.Image, w.SN.Spec.Regions[0].Replicas = "plaza:2", new(int32(5))
	require.Equal(t, v1alpha1.ReasonWaitingForSchema, w.run().Reason)
	after := w.deployment()
	require.Equal(t, before.Spec.Template, after.Spec.Template)
	require.Equal(t, before.Annotations, after.Annotations)
	require.Equal(t, int32(5), *after.Spec.Replicas)
	w.ready = true
	require.Equal(t, v1alpha1.ReasonProgressing, w.run().Reason)
	require.Equal(t, "plaza:2", render.ServerImage(w.deployment().Spec.Template.Spec))
	require.NotEqual(t, before.Annotations[render.AnnotationTemplate], w.deployment().Annotations[render.AnnotationTemplate])
}

// TestTemplateIsEdited changes the template of a running region by hand: it is restored when updates may begin.
func TestTemplateIsEdited(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*corev1.PodSpec)
		at   string
	}{
		"a field": {
			func(s *corev1.PodSpec) { s.Containers[0].Image = "mine:1" }, `spec.template.spec.containers[{"name":"plaza"}].image`,
		},
		"an addition": {func(s *corev1.PodSpec) { s.NodeName = "node-1" }, "spec.template.spec.nodeName"},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t)
			before := w.deployment()
			w.edit(func(d *appsv1.Deployment) { c.edit(&d.Spec.Template.Spec) })
			w.complete()
			edited := w.deployment()
			w.SN.Spec.Paused = true
			w.run()
			reason, message := w.updated()
			require.Equal(t, string(v1alpha1.ReasonPausedBySpec), reason)
			require.Equal(t, "The pod template was edited by hand at "+c.at+"; it is restored when spec.paused is false.", message)
			require.Contains(t, strings.Join(w.SN.Status.PendingChanges, "\n"), "change Deployment acme-us: ")
			w.SN.Spec.Paused, w.ready = false, false
			w.run()
			reason, message = w.updated()
			require.Equal(t, string(v1alpha1.ReasonTemplateDrift), reason)
			require.Equal(t, "The pod template was edited by hand at "+c.at+"; it is restored when it is the region's turn.", message)
			require.Equal(t, edited.Spec.Template, w.deployment().Spec.Template)
			w.ready = true
			require.Equal(t, v1alpha1.ReasonProgressing, w.run().Reason)
			require.Equal(t, before.Spec.Template, w.deployment().Spec.Template)
			w.complete()
			w.run()
			require.Equal(t, v1alpha1.ReasonServing, w.run().Reason)
		})
	}
}

// TestConfigMapIsNotAheadOfTheTemplate keeps the ConfigMap while an outdated template waits, and restores it with one that was edited.
func TestConfigMapIsNotAheadOfTheTemplate(t *testing.T) {
	w := started(t)
	key := client.ObjectKey{Namespace: "plaza", Name: "acme-us"}
	content := func() map[string]string {
		var c corev1.ConfigMap
		require.NoError(t, w.Client.Get(t.Context(), key, &c))
		return c.Data
	}
	before := content()
	w.ready = false
	w.SN.Spec.Regions[0].Host = "us.example"
	w.run()
	reason, _ := w.updated()
	require.Equal(t, string(v1alpha1.ReasonWaitingForSchema), reason)
	require.Equal(t, before, content())
	w.SN.Spec.Regions[0].Host = ""
	w.edit(func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "mine:1" })
	w.complete()
	require.NoError(t, w.Client.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "acme-us", Namespace: "plaza"}}))
	w.run()
	require.Equal(t, before, content())
}

// TestTemplateThatCannotBePatched keeps the template of a region whose patch is refused.
func TestTemplateThatCannotBePatched(t *testing.T) {
	w := started(t)
	before := w.deployment()
	w.SN.Spec.Image = "plaza:2"
	w.SN.Spec.Regions[0].PodPatch = &apiextensionsv1.JSON{Raw: []byte(`{"metadata": {"labels": {"plaza.social/region": "sg"}}}`)}
	w.run()
	reason, _ := w.updated()
	require.Equal(t, string(v1alpha1.ReasonPatchRejected), reason)
	require.Equal(t, before.Spec.Template, w.deployment().Spec.Template)
}

// staleDeployment is a cache with an old version of the Deployment.
type staleDeployment struct {
	client.Client

	old *appsv1.Deployment
}

func (s staleDeployment) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if d, ok := object.(*appsv1.Deployment); ok {
		s.old.DeepCopyInto(d)
		return nil
	}
	return s.Client.Get(ctx, key, object, options...)
}

// TestReplicasAreHandedOver lets an autoscaler choose the number of pods: it begins with the present number, not with one of a stale cache.
func TestReplicasAreHandedOver(t *testing.T) {
	w := started(t)
	stale := staleDeployment{w.Client, w.deployment()}
	w.SN.Spec.Regions[0].Replicas = new(int32(5))
	w.run()
	w.SN.Spec.Regions[0].Replicas, w.SN.Spec.Regions[0].Autoscaling = nil, &v1alpha1.Autoscaling{MinReplicas: 2, MaxReplicas: 9}
	w.SN.Spec.Paused = true
	w.run()
	require.True(t, apply.Owns(w.deployment(), apply.Manager, "spec", "replicas"))
	w.SN.Spec.Paused, w.Cache = false, stale
	w.RunAll(w.ready, rollout.Stage{}) // the Deployment itself is not applied to the old version
	require.Equal(t, int32(5), *w.deployment().Spec.Replicas)
	require.True(t, apply.Owns(w.deployment(), render.ScaleManager, "spec", "replicas"))
}

// TestUnreadableDeployment checks that a Deployment that cannot be read is not changed.
func TestUnreadableDeployment(t *testing.T) {
	w := started(t)
	before := w.deployment()
	w.SN.Spec.Image = "plaza:2"
	w.Cache = stagetest.Unreadable{Client: w.Client, Prefix: "acme-us"}
	result := w.run()
	require.Equal(t, metav1.ConditionUnknown, result.Status)
	require.Equal(t, v1alpha1.ReasonApplyFailed, result.Reason)
	require.Equal(t, "The Deployments could not be read: the cache is gone", result.Message)
	require.Equal(t, before, w.deployment())
}

// TestUnusableCluster checks that a region whose cluster cannot be used stays as it is, and that the regions after it do not wait.
func TestUnusableCluster(t *testing.T) {
	w := &world{Harness: stagetest.New(t, v1alpha1.RegionEU, v1alpha1.RegionUS), ready: true}
	w.SN.Spec.Image = "plaza:1"
	eu := w.Join(v1alpha1.RegionEU)
	w.SettleKeys()
	w.run()
	require.Contains(t, eu.Objects(), "Deployment/acme-eu")
	before := eu.Objects()
	eu.Reason = v1alpha1.ReasonClusterUnreachable
	w.SN.Spec.Regions[1].Replicas, w.SN.Spec.Regions[0].Replicas = new(int32(4)), new(int32(4))
	w.run()
	require.Equal(t, int32(4), *w.deployment().Spec.Replicas)
	require.Equal(t, before, eu.Objects())
	require.Equal(t, eu.Name, w.SN.Status.Regions[0].Cluster)
	for _, kind := range []string{v1alpha1.RegionAvailable, v1alpha1.RegionUpdated} {
		c := meta.FindStatusCondition(w.SN.Status.Regions[0].Conditions, kind)
		require.Equal(t, metav1.ConditionUnknown, c.Status)
		require.Equal(t, string(v1alpha1.ReasonClusterUnreachable), c.Reason)
		require.Equal(t, "The cluster cluster-eu cannot be used.", c.Message)
	}
}

// TestRegionsWithMoreObjects applies the objects of a region that is evacuated from another cluster, and reports on the route of a region.
func TestRegionsWithMoreObjects(t *testing.T) {
	require.Equal(t, v1alpha1.ConditionRegionsAvailable, rollout.Stage{}.Condition())
	w := &world{Harness: stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU), ready: true}
	w.SN.Spec.Image = "plaza:1"
	w.Join(v1alpha1.RegionEU)
	w.SettleKeys()
	w.SN.Spec.Regions[0].Gateway = &v1alpha1.Gateway{}
	w.run()
	c := meta.FindStatusCondition(w.SN.Status.Regions[0].Conditions, v1alpha1.RegionRouted)
	require.Equal(t, string(v1alpha1.ReasonCRDMissing), c.Reason)
	before := w.Objects()
	w.SN.Spec.Regions[1].EvacuateTo, w.SN.Spec.Regions[1].Host = v1alpha1.RegionUS, "eu.example"
	w.SN.Spec.Regions[1].Ingress, w.SN.Spec.Regions[0].Gateway = &v1alpha1.Ingress{}, nil
	w.run()
	var added []string
	for name := range w.Objects() {
		if _, existed := before[name]; !existed {
			added = append(added, name)
		}
	}
	want := map[string]bool{}
	for _, object := range render.StandInObjects(w.Pass.Network, &w.Pass.SN.Spec.Regions[1]) {
		want[object.GetObjectKind().GroupVersionKind().Kind+"/"+object.GetName()] = true
	}
	require.NotEmpty(t, want)
	for _, name := range added {
		delete(want, name)
	}
	require.Empty(t, want, "they do not exist")
}
