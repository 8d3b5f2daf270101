package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// PatchError returns why the podPatch of a region cannot be applied, or nil. The Deployment is then rendered without it and must
// not be applied.
func PatchError(n Network, r *v1alpha1.Region) error {
	withoutPatch := r.DeepCopy()
	withoutPatch.PodPatch = nil
	plain := template(n, withoutPatch)
	_, err := patchTemplate(n, r, &plain)
	return err
}

// patchTemplate returns the template with the region's podPatch applied.
func patchTemplate(n Network, r *v1alpha1.Region, plain *corev1.PodTemplateSpec) (*corev1.PodTemplateSpec, error) {
	if r.PodPatch == nil || len(r.PodPatch.Raw) == 0 {
		return plain, nil
	}
	original, err := json.Marshal(plain)
	if err != nil {
		return nil, fmt.Errorf("encoding the pod template: %w", err)
	}
	text, err := strategicpatch.StrategicMergePatch(original, r.PodPatch.Raw, corev1.PodTemplateSpec{})
	if err != nil {
		return nil, fmt.Errorf("podPatch: %w", err)
	}
	var patched corev1.PodTemplateSpec
	if err := json.Unmarshal(text, &patched); err != nil {
		return nil, fmt.Errorf("podPatch: %w", err)
	}
	for name, value := range RegionLabels(n.SN.Name, ComponentServer, r.Code) {
		if patched.Labels[name] != value {
			return nil, fmt.Errorf("podPatch must not change the label %s", name)
		}
	}
	if patched.Annotations[AnnotationConfiguration] != plain.Annotations[AnnotationConfiguration] {
		return nil, errors.New("podPatch must not change the annotation " + AnnotationConfiguration)
	}
	isServer := func(c corev1.Container) bool { return c.Name == ContainerName && len(c.Ports) > 0 }
	if !slices.ContainsFunc(patched.Spec.Containers, isServer) {
		return nil, errors.New("podPatch must keep the container " + ContainerName + " and its ports")
	}
	slices.SortStableFunc(patched.Spec.Containers, func(a, b corev1.Container) int { return order(a) - order(b) })
	return &patched, nil
}

// order puts the server before the containers that a patch adds, which kubectl logs shows by default.
func order(c corev1.Container) int {
	if c.Name == ContainerName {
		return 0
	}
	return 1
}
