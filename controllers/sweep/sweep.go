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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/rollout"
	"github.com/plaza-social/plaza/controllers/stage"
)

// Stage deletes what the spec no longer names.
type Stage struct {
	// Keep returns objects of a cluster to keep in addition to those of package render.
	Keep func(c *stage.Cluster) []client.Object
}

var secretKind = corev1.SchemeGroupVersion.WithKind("Secret")

// Condition returns Swept.
func (Stage) Condition() string { return v1alpha1.ConditionSwept }

// Run lists the network's objects of every kind in every cluster and deletes those that the spec does not ask for.
func (s Stage) Run(ctx context.Context, p *stage.Pass) stage.Outcome {
	var out stage.Outcome
	before := p.Status.RetainedKeys
	p.Status.RetainedKeys = nil
	empty := map[v1alpha1.ClusterNamespace]bool{}
	for _, c := range p.Usable() {
		left, problem := s.sweep(ctx, p, c, before, &out)
		if problem != "" {
			recall(p, before)
			out.SetCondition(metav1.ConditionUnknown, v1alpha1.ReasonApplyFailed, problem)
			return out
		}
		empty[v1alpha1.ClusterNamespace{Name: c.Name, Namespace: c.Namespace()}] = left == 0 && len(c.Network.Regions()) == 0
	}
	if p.Unreadable() != nil {
		recall(p, before)
	}
	p.Status.Clusters = slices.DeleteFunc(p.Status.Clusters, func(c v1alpha1.ClusterNamespace) bool { return empty[c] })
	if n := len(out.Deletions); n > 0 && p.SN.Spec.Paused {
		out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonPausedBySpec,
			fmt.Sprintf("%d objects that the spec no longer names are deleted when spec.paused is false.", n))
		return out
	} else if n > 0 {
		out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonProgressing,
			fmt.Sprintf("%d objects that the spec no longer names are being deleted.", n))
		return out
	}
	if unusable := p.Unreadable(); unusable != nil {
		out.SetCondition(metav1.ConditionUnknown, unusable.Reason, unusable.Message)
		return out
	}
	out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonNothingLeft, "The network has no objects that the spec does not name.")
	return out
}

// Kinds returns the kinds that every cluster has and of which networks have objects.
func Kinds() []schema.GroupVersionKind {
	return append(render.RegionKinds(), batchv1.SchemeGroupVersion.WithKind("Job"), secretKind)
}

// sweep deletes what the spec no longer names in a cluster. It returns how many objects the network has there, and why it could not
// delete them, or "".
func (s Stage) sweep(
	ctx context.Context, p *stage.Pass, c *stage.Cluster, retained []v1alpha1.RetainedKeys, out *stage.Outcome,
) (int, string) {
	keep, err := s.keep(ctx, c)
	if err != nil {
		return 0, "The Deployments could not be read: " + err.Error()
	}
	if err := retainKeys(ctx, p, c, retained, keep, out); err != nil {
		return 0, "The Secrets of removed regions could not be read: " + err.Error()
	}
	total := 0
	for _, kind := range append(Kinds(), c.Kinds...) {
		labels := client.MatchingLabels{render.LabelNetwork: c.Network.SN.Name, render.LabelManagedBy: render.OperatorName}
		objects, err := c.List(ctx, c.Cache, kind, labels)
		if err != nil {
			return 0, fmt.Sprintf("%s objects could not be listed: %s", kind.Kind, err)
		}
		// The order of pending changes must not differ from pass to pass.
		slices.SortFunc(objects, func(a, b client.Object) int { return strings.Compare(a.GetName(), b.GetName()) })
		for _, object := range objects {
			if !belongsTo(c, object) {
				continue
			}
			total++
			if !keep[keyOf(kind, object.GetName())] {
				out.Deletions = append(out.Deletions, stage.Deletion{Object: object, Cluster: c})
			}
		}
	}
	return total, ""
}

// keep returns the keys of the objects of a cluster to keep.
func (s Stage) keep(ctx context.Context, c *stage.Cluster) (map[string]bool, error) {
	keep, sn := map[string]bool{}, c.Network.SN
	for _, object := range append(render.Everything(c.Network), s.Keep(c)...) {
		keep[keyOf(object.GetObjectKind().GroupVersionKind(), object.GetName())] = true
	}
	if c.Name == "" || len(c.Network.Regions()) > 0 {
		for _, name := range render.SharedSecrets(sn.Name) {
			keep[keyOf(secretKind, name)] = true
		}
	}
	if c.Name == "" {
		keep[keyOf(secretKind, render.ControlAuthoritySecret(sn.Name))] = true
		keep[keyOf(secretKind, render.KeyDigestsSecret(sn.Name))] = slices.ContainsFunc(sn.Spec.Regions, isInMember)
	}
	for _, region := range c.Network.Regions() {
		keep[keyOf(secretKind, render.ControlSecret(sn.Name, region.Code))] = true
		keep[keyOf(secretKind, render.EvacuationSecret(sn.Name, region.Code))] = isRefuge(sn, region.Code)
		name := render.ServerKeysSecret(sn.Name, region.Code)
		used, err := isMounted(ctx, c, region.Code, name)
		if err != nil {
			return nil, err
		}
		if used || sn.Spec.ServerKeys.ExistingSecret == nil {
			keep[keyOf(secretKind, name)] = true
		}
	}
	return keep, nil
}

func isInMember(r v1alpha1.Region) bool { return r.Cluster != "" }

// isRefuge reports whether regions are evacuated to a region.
func isRefuge(sn *v1alpha1.SocialNetwork, code v1alpha1.RegionCode) bool {
	return slices.ContainsFunc(sn.Spec.Regions, func(r v1alpha1.Region) bool { return r.EvacuateTo == code })
}

// isMounted reports whether pods of a region may need a Secret to start: the Deployment mounts it, or old pods are left.
func isMounted(ctx context.Context, c *stage.Cluster, code v1alpha1.RegionCode, secret string) (bool, error) {
	var d appsv1.Deployment
	err := c.Cache.Get(ctx, client.ObjectKey{Namespace: c.Namespace(), Name: render.RegionName(c.Network.SN.Name, code)}, &d)
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

// belongsTo reports whether the network of a cluster owns an object. Secrets with keys may have no owner, so that they can outlive it.
func belongsTo(c *stage.Cluster, object client.Object) bool {
	sn := c.Network.SN
	if !object.GetDeletionTimestamp().IsZero() {
		return false
	}
	if owner := metav1.GetControllerOf(object); owner != nil {
		return owner.UID == sn.UID
	}
	labels := object.GetLabels()
	if owner := labels[render.LabelOwner]; c.Name != "" && owner != "" {
		return owner == string(sn.UID)
	}
	if c.Name != "" && labels[render.LabelOwnerNamespace] != sn.Namespace {
		return false
	}
	_, isSecret := object.(*corev1.Secret)
	isCopy := c.Name != "" // the originals of the keys that all regions share are always kept
	return isSecret && labels[render.LabelComponent] == string(render.ComponentKeys) && (labels[render.LabelRegion] != "" || isCopy)
}
