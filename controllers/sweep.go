package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// Sweep is the stage that removes what the spec no longer names: regions, and parts of regions such as an Ingress.
type Sweep struct {
	// Scheme makes lists of each kind.
	Scheme *runtime.Scheme
	// Wanted names further objects that should stay, such as those of the monitoring.
	Wanted func(w *World) []client.Object
	// Kinds are further kinds to look through.
	Kinds func(w *World) []schema.GroupVersionKind
}

// Condition is Swept.
func (Sweep) Condition() string { return v1alpha1.ConditionSwept }

// Run lists what carries the network's label and is controlled by it, and removes what nothing in the spec asks for.
func (s Sweep) Run(ctx context.Context, w *World) Outcome {
	var out Outcome
	keep, err := s.keep(ctx, w)
	if err != nil {
		return Unknown(v1alpha1.ReasonApplyFailed, "The deployments could not be read: "+err.Error())
	}
	kinds := append(render.RegionKinds(w.Network.Capabilities), batchv1.SchemeGroupVersion.WithKind("Job"), corev1.SchemeGroupVersion.WithKind("Secret"))
	for _, kind := range s.Kinds(w) {
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	for _, kind := range kinds {
		objects, err := s.list(ctx, w, kind)
		if err != nil {
			out.Say(metav1.ConditionUnknown, v1alpha1.ReasonApplyFailed, fmt.Sprintf("%s could not be listed: %s", kind.Kind, err))
			return out
		}
		for _, object := range objects {
			if !keep[nameOf(kind, object.GetName())] && isOurs(w, object) {
				out.Deletions = append(out.Deletions, object)
			}
		}
	}
	if n := len(out.Deletions); n > 0 {
		out.Say(metav1.ConditionFalse, v1alpha1.ReasonProgressing, fmt.Sprintf("%d objects that the spec no longer names are being removed.", n))
		return out
	}
	out.Say(metav1.ConditionTrue, v1alpha1.ReasonNothingLeft, "Nothing is left that the spec does not name.")
	return out
}

func (s Sweep) keep(ctx context.Context, w *World) (map[string]bool, error) {
	keep := map[string]bool{}
	wanted := append(render.Everything(w.Network), s.Wanted(w)...)
	for _, object := range wanted {
		keep[nameOf(object.GetObjectKind().GroupVersionKind(), object.GetName())] = true
	}
	secret := corev1.SchemeGroupVersion.WithKind("Secret")
	for _, name := range []string{render.SigningKeysSecret(w.SN.Name), render.APIKeysSecret(w.SN.Name), render.IdentitySecret(w.SN.Name)} {
		keep[nameOf(secret, name)] = true
	}
	for _, region := range w.SN.Spec.Regions {
		name := render.ServerKeysSecret(w.SN.Name, region.Code)
		used, err := stillMounted(ctx, w, region.Code, name)
		if err != nil {
			return nil, err
		}
		if used || w.SN.Spec.ServerKeys.ExistingSecret == nil {
			keep[nameOf(secret, name)] = true
		}
	}
	return keep, nil
}

// stillMounted is true while pods of a region may need a Secret to start: its deployment mounts it, or old pods are left.
func stillMounted(ctx context.Context, w *World, code v1alpha1.RegionCode, secret string) (bool, error) {
	var d appsv1.Deployment
	err := w.Cached.Get(ctx, client.ObjectKey{Namespace: w.SN.Namespace, Name: render.RegionName(w.SN.Name, code)}, &d)
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return !complete(&d) || slices.ContainsFunc(d.Spec.Template.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Secret != nil && v.Secret.SecretName == secret
	}), nil
}

func nameOf(kind schema.GroupVersionKind, name string) string {
	return kind.GroupKind().String() + "/" + name
}

// isOurs is true for what this network controls, and for Secrets with keys, which nobody controls so that they can outlive it.
func isOurs(w *World, object client.Object) bool {
	if !object.GetDeletionTimestamp().IsZero() {
		return false
	}
	if owner := metav1.GetControllerOf(object); owner != nil {
		return owner.UID == w.SN.UID
	}
	labels := object.GetLabels()
	_, isSecret := object.(*corev1.Secret)
	return isSecret && labels[render.LabelComponent] == string(render.ComponentKeys) && labels[render.LabelRegion] != ""
}

// list reads the objects of a kind that carry the network's label, from the cache.
func (s Sweep) list(ctx context.Context, w *World, kind schema.GroupVersionKind) ([]client.Object, error) {
	made, err := s.Scheme.New(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err != nil {
		return nil, err
	}
	list, ok := made.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("%T is no list", made)
	}
	match := client.MatchingLabels{render.LabelNetwork: w.SN.Name, render.LabelManagedBy: render.OperatorName}
	if err := w.Cached.List(ctx, list, client.InNamespace(w.SN.Namespace), match); err != nil {
		return nil, err
	}
	return itemsOf(list, kind)
}

func itemsOf(list client.ObjectList, kind schema.GroupVersionKind) ([]client.Object, error) {
	items, err := meta.ExtractList(list)
	if err != nil {
		return nil, err
	}
	objects := make([]client.Object, 0, len(items))
	for _, item := range items {
		object, ok := item.(client.Object)
		if !ok {
			return nil, fmt.Errorf("%T is no object", item)
		}
		object.GetObjectKind().SetGroupVersionKind(kind)
		objects = append(objects, object)
	}
	// The cache has no order; what waits while the network is paused must read the same from pass to pass.
	slices.SortFunc(objects, func(a, b client.Object) int { return strings.Compare(a.GetName(), b.GetName()) })
	return objects, nil
}
