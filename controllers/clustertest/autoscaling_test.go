//go:build cluster

package clustertest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// autoscaled gives a region an autoscaler. Without metrics, Kubernetes' own controller keeps the number of pods within its bounds, and the
// test chooses one in between like a controller with metrics does. The operator changes none of them.
func (s *suite) autoscaled(t *testing.T) {
	t.Helper()
	s.edit(t, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Regions[2].Autoscaling = &v1alpha1.Autoscaling{MinReplicas: 3, MaxReplicas: 4}
	})
	s.within(t, "the autoscaler raises sg to its minimum", func() string { return s.scaledTo(t, 3) })
	s.scale(t, 6)
	s.within(t, "the autoscaler lowers sg to its maximum", func() string { return s.scaledTo(t, 4) })
	s.scale(t, 3)
	s.observed(t)
	s.ready(t)
	s.holds(t, "the operator leaves sg at what was chosen last", func() string { return s.scaledTo(t, 3) })
	s.edit(t, func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions[2].Autoscaling = nil })
	s.within(t, "without an autoscaler, sg has the number of the spec again", func() string { return s.scaledTo(t, 2) })
	s.ready(t)
	s.nothingFailed(t)
}

// scale sets the number of pods of sg with the subresource that autoscalers use.
func (s *suite) scale(t *testing.T, replicas int32) {
	t.Helper()
	d := get(t, s, &appsv1.Deployment{}, render.RegionName(network, "sg"))
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	require.NoError(t, s.client.SubResource("scale").Update(t.Context(), d, client.WithSubResourceBody(scale)))
}

// scaledTo returns "" if sg should have a number of pods and has them.
func (s *suite) scaledTo(t *testing.T, replicas int32) string {
	t.Helper()
	d := get(t, s, &appsv1.Deployment{}, render.RegionName(network, "sg"))
	if *d.Spec.Replicas != replicas || d.Status.AvailableReplicas != replicas {
		return fmt.Sprintf("%d pods are wanted, and %d available", *d.Spec.Replicas, d.Status.AvailableReplicas)
	}
	return ""
}
