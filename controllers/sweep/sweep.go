// Package sweep is the stage that deletes the objects that the spec no longer names: those of removed regions, and optional
// ones such as an Ingress.
package sweep

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
	"github.com/plaza-social/plaza/controllers/rollout"
	"github.com/plaza-social/plaza/controllers/stage"
)

// Stage deletes what the spec no longer names.
type Stage struct {
	// Scheme creates lists of each kind.
	Scheme *runtime.Scheme
	// Keep returns objects to keep in addition to those of package render.
	Keep func(p *stage.Pass) []client.Object
	// Kinds returns the optional kinds that the cluster has.
	Kinds func() []schema.GroupVersionKind
}

var secretKind = corev1.SchemeGroupVersion.WithKind("Secret")

// Condition returns Swept.
func (Stage) Condition() string { return v1alpha1.ConditionSwept }

// Run lists the network's objects of every kind and deletes those that the spec does not ask for.
func (s Stage) Run(ctx context.Context, p *stage.Pass) stage.Outcome {
	keep, err := s.keep(ctx, p)
	if err != nil {
		return stage.Unknown(v1alpha1.ReasonApplyFailed, "The Deployments could not be read: "+err.Error())
	}
	var out stage.Outcome
	if err := retainKeys(ctx, p, keep, &out); err != nil {
		return stage.Unknown(v1alpha1.ReasonApplyFailed, "The Secrets of removed regions could not be read: "+err.Error())
	}
	kinds := append(render.RegionKinds(), batchv1.SchemeGroupVersion.WithKind("Job"), secretKind)
	for _, kind := range append(kinds, s.Kinds()...) {
		objects, err := s.list(ctx, p, kind)
		if err != nil {
			out.SetCondition(metav1.ConditionUnknown, v1alpha1.ReasonApplyFailed, fmt.Sprintf("%s objects could not be listed: %s", kind.Kind, err))
			return out
		}
		for _, object := range objects {
			if !keep[keyOf(kind, object.GetName())] && belongsTo(p.SN, object) {
				out.Deletions = append(out.Deletions, object)
			}
		}
	}
	if n := len(out.Deletions); n > 0 && p.SN.Spec.Paused {
		out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonPausedBySpec, fmt.Sprintf("%d objects that the spec no longer names are deleted when spec.paused is false.", n))
		return out
	} else if n > 0 {
		out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonProgressing, fmt.Sprintf("%d objects that the spec no longer names are being deleted.", n))
		return out
	}
	out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonNothingLeft, "The network has no objects that the spec does not name.")
	return out
}

// keep returns the keys of the objects to keep.
func (s Stage) keep(ctx context.Context, p *stage.Pass) (map[string]bool, error) {
	keep := map[string]bool{}
	for _, object := range append(render.Everything(p.Network), s.Keep(p)...) {
		keep[keyOf(object.GetObjectKind().GroupVersionKind(), object.GetName())] = true
	}
	for _, name := range []string{render.SigningKeysSecret(p.SN.Name), render.APIKeysSecret(p.SN.Name), render.IdentitySecret(p.SN.Name)} {
		keep[keyOf(secretKind, name)] = true
	}
	for _, region := range p.SN.Spec.Regions {
		name := render.ServerKeysSecret(p.SN.Name, region.Code)
		used, err := isMounted(ctx, p, region.Code, name)
		if err != nil {
			return nil, err
		}
		if used || p.SN.Spec.ServerKeys.ExistingSecret == nil {
			keep[keyOf(secretKind, name)] = true
		}
	}
	return keep, nil
}

// isMounted reports whether pods of a region may need a Secret to start: the Deployment mounts it, or old pods are left.
func isMounted(ctx context.Context, p *stage.Pass, code v1alpha1.RegionCode, secret string) (bool, error) {
	var d appsv1.Deployment
	err := p.Cache.Get(ctx, client.ObjectKey{Namespace: p.SN.Namespace, Name: render.RegionName(p.SN.Name, code)}, &d)
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return !rollout.IsComplete(&d) || slices.ContainsFunc(d.Spec.Template.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Secret != nil && v.Secret.SecretName == secret
	}), nil
}

func keyOf(kind schema.GroupVersionKind, name string) string {
	return kind.GroupKind().String() + "/" + name
}

// belongsTo reports whether a network controls an object. Secrets with keys have no controller, so that they can outlive it.
func belongsTo(sn *v1alpha1.SocialNetwork, object client.Object) bool {
	if !object.GetDeletionTimestamp().IsZero() {
		return false
	}
	if owner := metav1.GetControllerOf(object); owner != nil {
		return owner.UID == sn.UID
	}
	labels := object.GetLabels()
	_, isSecret := object.(*corev1.Secret)
	return isSecret && labels[render.LabelComponent] == string(render.ComponentKeys) && labels[render.LabelRegion] != ""
}

// list reads the network's objects of a kind from the cache, sorted by name: the order of pending changes must not differ from
// pass to pass.
func (s Stage) list(ctx context.Context, p *stage.Pass, kind schema.GroupVersionKind) ([]client.Object, error) {
	created, err := s.Scheme.New(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err != nil {
		return nil, err
	}
	list, ok := created.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("%T is not a client.ObjectList", created)
	}
	labels := client.MatchingLabels{render.LabelNetwork: p.SN.Name, render.LabelManagedBy: render.OperatorName}
	if err := p.Cache.List(ctx, list, client.InNamespace(p.SN.Namespace), labels); err != nil {
		return nil, err
	}
	var objects []client.Object
	err = meta.EachListItem(list, func(item runtime.Object) error {
		object, ok := item.(client.Object)
		if !ok {
			return fmt.Errorf("%T is not a client.Object", item)
		}
		object.GetObjectKind().SetGroupVersionKind(kind)
		objects = append(objects, object)
		return nil
	})
	slices.SortFunc(objects, func(a, b client.Object) int { return strings.Compare(a.GetName(), b.GetName()) })
	return objects, err
}
