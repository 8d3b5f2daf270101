package render

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ScaleManager is the field manager that holds a Deployment's number of pods from when an autoscaler is asked for until it
// chooses one.
const ScaleManager = "plaza-operator-scale"

// ReplicasHandover returns what to apply, as ScaleManager and by force, before a Deployment that has a fixed number of pods is
// applied without one: the number that it has now. Without that the field would lose its only owner, the API server would set
// it to its default, and every pod but one would end before the autoscaler looks for the first time.
//
// It returns nil where there is nothing to hand over: owner, the field manager of the operator, does not hold the number.
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

// ownsReplicas tells whether manager applied the number of pods.
func ownsReplicas(live *appsv1.Deployment, manager string) bool {
	for _, entry := range live.ManagedFields {
		if entry.Manager != manager || entry.Operation != metav1.ManagedFieldsOperationApply || entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		var owned struct {
			Spec map[string]json.RawMessage `json:"f:spec"`
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned) != nil {
			continue // not of a form that we know: then we own nothing
		}
		if _, ok := owned.Spec["f:replicas"]; ok {
			return true
		}
	}
	return false
}
