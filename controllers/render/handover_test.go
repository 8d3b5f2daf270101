package render_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/render"
)

const testManager = "test"

func TestReplicasHandover(t *testing.T) {
	live := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(4))}}
	live.Name, live.Namespace = "acme-eu", "social"
	got := render.ReplicasHandover(live)
	require.Equal(t, "acme-eu", got.GetName())
	number, _, err := unstructured.NestedInt64(got.Object, "spec", "replicas")
	require.NoError(t, err)
	require.EqualValues(t, 4, number)
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
	require.True(t, apply.Owns(server.deployment(t), testManager, "spec", "replicas"))
	handover := render.ReplicasHandover(server.deployment(t))
	require.NoError(t, server.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(handover),
		client.FieldOwner(render.ScaleManager), client.ForceOwnership))
	server.apply(t, render.Deployment(n, r))
	server.requireReplicas(t, 4)
	require.False(t, apply.Owns(server.deployment(t), testManager, "spec", "replicas"), "once is enough")

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
