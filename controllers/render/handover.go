package render

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ScaleManager is the field manager that owns a Deployment's replicas between the creation of an autoscaler and its
// first scaling.
const ScaleManager = "plaza-operator-scale"

// ReplicasHandover returns what to apply as ScaleManager, with force, before a Deployment with fixed replicas is
// applied without them: its current replicas. Otherwise the field would lose its only owner, the API server would reset
// it to the default 1, and all other pods would end before the autoscaler runs for the first time.
func ReplicasHandover(live *appsv1.Deployment) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": appsv1.SchemeGroupVersion.String(),
		"kind":       "Deployment",
		"metadata":   map[string]any{"name": live.Name, "namespace": live.Namespace},
		"spec":       map[string]any{"replicas": int64(*live.Spec.Replicas)},
	}}
}
