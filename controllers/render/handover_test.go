package render_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

const testManager = "test"

func TestReplicasHandover(t *testing.T) {
	fields := func(manager string, operation metav1.ManagedFieldsOperationType, subresource, text string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, Subresource: subresource, FieldsV1: metav1.NewFieldsV1(text)}
	}
	const replicas = `{"f:spec":{"f:replicas":{}}}`
	for name, tc := range map[string]struct {
		replicas *int32
		entry    metav1.ManagedFieldsEntry
		want     bool
	}{
		"ours":             {new(int32(4)), fields(testManager, "Apply", "", replicas), true},
		"none":             {nil, fields(testManager, "Apply", "", replicas), false},
		"another's":        {new(int32(4)), fields("other", "Apply", "", replicas), false},
		"not applied":      {new(int32(4)), fields(testManager, "Update", "", replicas), false},
		"of a subresource": {new(int32(4)), fields(testManager, "Apply", "scale", replicas), false},
		"other fields":     {new(int32(4)), fields(testManager, "Apply", "", `{"f:spec":{"f:template":{}}}`), false},
		"unknown form":     {new(int32(4)), fields(testManager, "Apply", "", `[]`), false},
		"no fields":        {new(int32(4)), metav1.ManagedFieldsEntry{Manager: testManager, Operation: "Apply"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			live := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: tc.replicas}}
			live.Name, live.Namespace, live.ManagedFields = "acme-eu", "social", []metav1.ManagedFieldsEntry{tc.entry}
			got := render.ReplicasHandover(live, testManager)
			require.Equal(t, tc.want, got != nil)
			if tc.want {
				require.Equal(t, "acme-eu", got.GetName())
				number, _, err := unstructured.NestedInt64(got.Object, "spec", "replicas")
				require.NoError(t, err)
				require.EqualValues(t, 4, number)
			}
		})
	}
}

// testHandover changes from fixed replicas to an autoscaler and back: replicas never have the API server's default.
func testHandover(t *testing.T, server *apiServer) {
	t.Helper()
	server.namespace(t, "handover")
	sn := spec(t, "socialnetwork-minimal")
	sn.Namespace = "handover"
	n, r := networkOf(sn), &sn.Spec.Regions[0]

	r.Replicas = new(int32(4))
	server.apply(t, render.Deployment(n, r))
	server.requireReplicas(t, 4)

	r.Replicas, r.Autoscaling = nil, &v1alpha1.Autoscaling{MinReplicas: 2, MaxReplicas: 9}
	handover := render.ReplicasHandover(server.deployment(t), testManager)
	require.NotNil(t, handover)
	require.NoError(t, server.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(handover),
		client.FieldOwner(render.ScaleManager), client.ForceOwnership))
	server.apply(t, render.Deployment(n, r))
	server.requireReplicas(t, 4)
	require.Nil(t, render.ReplicasHandover(server.deployment(t), testManager), "once is enough")

	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 7}}
	require.NoError(t, server.client.SubResource("scale").Update(t.Context(), server.deployment(t), client.WithSubResourceBody(scale)))
	server.apply(t, render.Deployment(n, r))
	server.requireReplicas(t, 7)

	r.Replicas, r.Autoscaling = new(int32(3)), nil
	server.apply(t, render.Deployment(n, r))
	server.requireReplicas(t, 3)
}

func (s *apiServer) deployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	var d appsv1.Deployment
	require.NoError(t, s.client.Get(t.Context(), client.ObjectKey{Namespace: "handover", Name: "acme-minimal-us"}, &d))
	return &d
}

func (s *apiServer) requireReplicas(t *testing.T, want int32) {
	t.Helper()
	require.Equal(t, want, *s.deployment(t).Spec.Replicas)
}
