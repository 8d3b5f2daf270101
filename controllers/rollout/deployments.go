package rollout

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// prunedTemplate is the part of a Deployment from which additions by hand are removed. The annotations of the template are not
// part of it: kubectl rollout restart adds one.
var prunedTemplate = []string{"spec", "template", "spec"}

// applyDeployments adds the Deployments: with the template of the spec where it is updated now, otherwise with the live
// template, so that for example the number of replicas can change while a rollout is stopped.
func (r *run) applyDeployments(updates map[*region]bool) {
	for _, g := range r.regions {
		configMap := stage.Desired{Object: render.ConfigMap(g.cluster.Network, g.spec), Region: g.spec.Code}
		if updates[g] && g.patchErr == nil {
			prerequisites := append([]stage.Desired{configMap}, replicasHandover(g)...)
			r.out.Apply(stage.Desired{Object: g.desired, Mode: g.lock(), Region: g.spec.Code, Prerequisites: prerequisites, Prune: prunedTemplate})
			continue
		}
		if g.state == drifted { // the ConfigMap belongs to the template that is restored later
			r.out.Apply(configMap)
		}
		if held := withLiveTemplate(g); held != nil {
			r.out.Apply(stage.Desired{Object: held, Mode: apply.Locked, Region: g.spec.Code, Prerequisites: replicasHandover(g)})
		}
	}
}

// markApplied records that regions roll whose template was another one and is applied now.
func (r *run) markApplied(updates map[*region]bool) {
	for _, g := range r.regions {
		if updates[g] && g.patchErr == nil && (g.state == outdated || g.state == drifted) && !r.pass.SN.Spec.Paused {
			g.state = rolling
		}
	}
}

// lock returns how the Deployment is applied. If it has the template already, it is applied only to the version that was read: an edit by
// hand since then waits for the region's turn.
func (g *region) lock() apply.Mode {
	if g.state == missing || g.state == outdated || g.state == drifted {
		return apply.Converge
	}
	g.desired.SetResourceVersion(g.live.ResourceVersion)
	return apply.Locked
}

// replicasHandover returns the apply that hands the number of replicas over to an autoscaler, if it is needed.
func replicasHandover(g *region) []stage.Desired {
	if g.uncached == nil || !ownsReplicas(g.uncached) {
		return nil
	}
	return []stage.Desired{{Object: render.ReplicasHandover(g.uncached), Region: g.spec.Code, Manager: render.ScaleManager}}
}

// ownsReplicas reports whether the operator applied the number of replicas.
func ownsReplicas(d *appsv1.Deployment) bool {
	return d.Spec.Replicas != nil && apply.Owns(d, apply.Manager, "spec", "replicas")
}

// withLiveTemplate returns the Deployment of the spec with the part of the live template that the operator owns, based on
// the version that was read; nil if there is no Deployment. It leaves out the fields that were edited by hand, so it may be
// incomplete and is not an appsv1.Deployment.
func withLiveTemplate(g *region) *unstructured.Unstructured {
	if g.live == nil {
		return nil
	}
	live, err := runtime.DefaultUnstructuredConverter.ToUnstructured(g.live)
	if err != nil {
		return nil
	}
	template, found, err := unstructured.NestedMap(apply.Owned(&unstructured.Unstructured{Object: live}, apply.Manager), "spec", "template")
	if err != nil || !found {
		return nil
	}
	held, err := apply.Unstructured(g.desired)
	if err != nil || unstructured.SetNestedMap(held.Object, template, "spec", "template") != nil {
		return nil
	}
	annotations := held.GetAnnotations()
	annotations[render.AnnotationTemplate] = g.live.Annotations[render.AnnotationTemplate]
	held.SetAnnotations(annotations)
	held.SetResourceVersion(g.live.ResourceVersion)
	return held
}
