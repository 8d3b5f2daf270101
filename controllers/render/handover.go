package render

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ScaleManager is the field manager that owns a Deployment's replicas between the creation of an autoscaler and its
// first scaling.
const ScaleManager = "plaza-operator-scale"

// ReplicasHandover returns what to apply as ScaleManager, with force, before a Deployment with fixed replicas is
// applied without them: its current replicas. Otherwise the field would lose its only owner, the API server would reset
// it to the default 1, and all other pods would end before the autoscaler runs for the first time.
//
// It returns nil if owner, the operator's field manager, does not own the replicas.
func ReplicasHandover(live *appsv1.Deployment, owner string) *unstructured.Unstructured {
	if live.Spec.Replicas == nil || !ownsReplicas(live, owner) {
		return nil
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": appsv1.SchemeGroupVersion.String(),
		"kind":       "Deployment",
		"metadata":   map[string]any{"name": live.Name, "namespace": live.Namespace},
		"spec":       map[string]any{"replicas": int64(*live.Spec.Replicas)},
	}}
}

// ownsReplicas reports whether manager applied the replicas.
func ownsReplicas(live *appsv1.Deployment, manager string) bool {
	for _, entry := range live.ManagedFields {
		if entry.Manager != manager || entry.Operation != metav1.ManagedFieldsOperationApply || entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		var owned struct {
			Spec map[string]json.RawMessage `json:"f:spec"`
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned) != nil {
			continue // an unknown format
		}
		if _, ok := owned.Spec["f:replicas"]; ok {
			return true
		}
	}
	return false
}
