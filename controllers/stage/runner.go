package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/render"
)

// Runner runs stages and applies their outcomes.
type Runner struct{}

// Run runs every stage in order, whether or not the stages before it failed.
func (r Runner) Run(ctx context.Context, p *Pass, stages []Stage) *Report {
	report := &Report{}
	for _, s := range stages {
		result := Result{Condition: s.Condition(), Outcome: s.Run(ctx, p)}
		p.publish(result.Facts)
		r.applyOutcome(ctx, p, &result)
		report.add(result)
		if err := errors.Join(result.Errors...); err != nil {
			log.FromContext(ctx).Error(err, "stage failed", "condition", result.Condition)
		}
	}
	return report
}

// applyOutcome applies an outcome; while the network is paused it only lists the changes.
func (r Runner) applyOutcome(ctx context.Context, p *Pass, result *Result) {
	for _, watched := range result.Watched {
		if err := r.watch(ctx, p, watched); err != nil {
			result.fail(watched.Cluster, "", err)
		}
	}
	for _, desired := range result.Objects {
		r.applyDesired(ctx, p, desired, result)
	}
	for _, deletion := range result.Deletions {
		if err := r.delete(ctx, p, deletion, result); err != nil {
			result.fail(deletion.Cluster, "", err)
		}
	}
	for _, released := range result.Released {
		if err := (apply.Applier{Client: released.Cluster.Client}).Release(ctx, released.Object, v1alpha1.FinalizerKeys); err != nil {
			result.fail(released.Cluster, "", err)
		}
	}
	if !p.SN.Spec.Paused {
		result.Pending = nil
	}
}

// watch labels a Secret of a user. While the network is paused it waits.
func (r Runner) watch(ctx context.Context, p *Pass, watched WatchedSecret) error {
	if p.SN.Spec.Paused || !watched.Cluster.IsUsable() {
		return nil
	}
	secret := watched.Secret
	labelled := secret.DeepCopy()
	if labelled.Labels == nil {
		labelled.Labels = map[string]string{}
	}
	labelled.Labels[render.LabelWatched] = "true"
	if err := watched.Cluster.Client.Patch(ctx, labelled, client.MergeFrom(secret), client.FieldOwner(apply.Manager)); err != nil {
		return fmt.Errorf("labelling Secret %s: %w", secret.Name, err)
	}
	return nil
}

func (r Runner) applyDesired(ctx context.Context, p *Pass, desired Desired, result *Result) {
	for _, d := range append(slices.Clip(desired.Prerequisites), desired) {
		d.Cluster = p.clusterOf(desired)
		if !d.Cluster.IsUsable() {
			return
		}
		change, err := r.applyObject(ctx, p, d)
		switch {
		case err != nil:
			result.fail(d.Cluster, desired.Region, err)
			return
		case change != "":
			result.Pending = append(result.Pending, change)
		default:
			result.applied = append(result.applied, d.Events...)
		}
	}
}

// applyObject applies one object. While the network is paused it returns a description of the change instead.
func (r Runner) applyObject(ctx context.Context, p *Pass, desired Desired) (string, error) {
	applier := apply.Applier{
		Client: desired.Cluster.Client, APIReader: desired.Cluster.APIReader, Manager: desired.Manager,
		Prune: desired.Prune,
	}
	if !p.SN.Spec.Paused || desired.IgnorePause {
		change, err := applier.Apply(ctx, desired.Object, desired.Mode)
		if err == nil && !change.IsEmpty() {
			log.FromContext(ctx).Info("applied", "change", change.String())
		}
		return "", err
	}
	change, err := applier.Plan(ctx, desired.Object, desired.Mode)
	if err != nil || change.IsEmpty() {
		return "", err
	}
	return change.String(), nil
}

func (r Runner) delete(ctx context.Context, p *Pass, deletion Deletion, result *Result) error {
	c, object := deletion.Cluster, deletion.Object
	if !c.IsUsable() {
		return nil
	}
	if p.SN.Spec.Paused {
		result.Pending = append(result.Pending, fmt.Sprintf("delete %s %s", kindOf(object, c.Client.Scheme()), object.GetName()))
		return nil
	}
	applier := apply.Applier{Client: c.Client, APIReader: c.APIReader}
	if err := applier.Release(ctx, object, v1alpha1.FinalizerKeys); err != nil {
		return err
	}
	return applier.Delete(ctx, object)
}

// clusterOf returns the cluster of an object to apply.
func (p *Pass) clusterOf(desired Desired) *Cluster {
	if desired.Cluster != nil {
		return desired.Cluster
	}
	return p.ClusterOf(desired.Region)
}

// kindOf returns the kind of an object, which typed objects leave out.
func kindOf(object client.Object, scheme *runtime.Scheme) string {
	gvk, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return fmt.Sprintf("%T", object)
	}
	return gvk.Kind
}
