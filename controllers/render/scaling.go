package render

import (
	"cmp"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// defaultReplicas is the default number of pods of a region.
const defaultReplicas = 2

// replicas returns the number of pods that the operator sets, or nil with autoscaling.
func replicas(r *v1alpha1.Region) *int32 {
	switch {
	case r.Autoscaling != nil:
		return nil
	case r.Replicas != nil:
		return new(*r.Replicas)
	default:
		return new(int32(defaultReplicas))
	}
}

// mostReplicas returns the maximum number of pods of a region.
func mostReplicas(r *v1alpha1.Region) int32 {
	if r.Autoscaling != nil {
		return r.Autoscaling.MaxReplicas
	}
	return *replicas(r)
}

// HorizontalPodAutoscaler returns the autoscaler of a region, or nil if the spec does not enable it.
func HorizontalPodAutoscaler(n Network, r *v1alpha1.Region) *autoscalingv2.HorizontalPodAutoscaler {
	if r.Autoscaling == nil {
		return nil
	}
	return &autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta:   typeMeta(autoscalingv2.SchemeGroupVersion, "HorizontalPodAutoscaler"),
		ObjectMeta: n.regionMeta(r.Code),
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{
				APIVersion: appsv1.SchemeGroupVersion.String(),
				Kind:       "Deployment",
				Name:       RegionName(n.SN.Name, r.Code),
			},
			MinReplicas: new(cmp.Or(r.Autoscaling.MinReplicas, defaultReplicas)),
			MaxReplicas: r.Autoscaling.MaxReplicas,
			Metrics: []autoscalingv2.MetricSpec{{
				Type: autoscalingv2.ResourceMetricSourceType,
				Resource: &autoscalingv2.ResourceMetricSource{
					Name: corev1.ResourceCPU,
					Target: autoscalingv2.MetricTarget{
						Type:               autoscalingv2.UtilizationMetricType,
						AverageUtilization: new(cmp.Or(r.Autoscaling.TargetCPUUtilization, 70)),
					},
				},
			}},
		},
	}
}

// PodDisruptionBudget returns a budget that allows one unavailable pod at a time, or nil for a region with one pod.
// Pods that are not ready can always be evicted: they serve no requests and would block the drain of a node.
func PodDisruptionBudget(n Network, r *v1alpha1.Region) *policyv1.PodDisruptionBudget {
	if mostReplicas(r) == 1 {
		return nil
	}
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   typeMeta(policyv1.SchemeGroupVersion, "PodDisruptionBudget"),
		ObjectMeta: n.regionMeta(r.Code),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable:             new(intstr.FromInt32(1)),
			Selector:                   &metav1.LabelSelector{MatchLabels: RegionSelector(n.SN.Name, r.Code)},
			UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
		},
	}
}
