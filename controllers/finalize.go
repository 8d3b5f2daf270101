package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/clusters"
	"github.com/plaza-social/plaza/controllers/keys"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/controllers/sweep"
)

const (
	// defaultDeletionTimeout is how long the deletion of a network waits for clusters that cannot be reached.
	defaultDeletionTimeout = time.Hour
	// deletionInterval is how often the member clusters of a deleted network are read.
	deletionInterval = 3 * time.Second
)

// finalize deletes the objects of a deleted network in its member clusters, and its keys if spec.deletionPolicy says so, and removes the
// finalizers once none is left. A cluster that could not be used until the timeout is abandoned. A missing registration is treated in the
// same way, because it may have been deleted by mistake.
func (r *Reconciler) finalize(ctx context.Context, sn *v1alpha1.SocialNetwork) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(sn, v1alpha1.FinalizerClusters) && !controllerutil.ContainsFinalizer(sn, v1alpha1.FinalizerKeys) {
		return ctrl.Result{}, nil
	}
	timeout := r.Options.ClusterDeletionTimeout
	if timeout == 0 {
		timeout = defaultDeletionTimeout
	}
	until := sn.DeletionTimestamp.Add(timeout)
	var waiting []string
	var abandoned []stage.Event
	var failed error
	for _, member := range append([]v1alpha1.ClusterNamespace{{}}, sn.Status.Clusters...) {
		c, err := r.connect(sn, member)
		if err != nil {
			return pendingResult, nil //nolint:nilerr // the connection to a cluster is being established
		}
		left, err := deleteIn(ctx, c)
		switch {
		case err == nil && left == 0:
		case member.Name == "" && err != nil:
			return ctrl.Result{}, err
		case member.Name == "":
			waiting = append(waiting, fmt.Sprintf("%d Secrets with keys, which have finalizers", left))
		case err == nil:
			waiting = append(waiting, fmt.Sprintf("cluster %s (%d objects)", member.Name, left))
		case r.Now().After(until):
			abandoned = append(abandoned, abandonment(sn, member, err))
		default:
			waiting = append(waiting, fmt.Sprintf("cluster %s (%s)", member.Name, strings.TrimSuffix(err.Error(), ".")))
			if _, ok := errors.AsType[*clusters.Error](err); !ok && !clusters.IsUnreachable(err) {
				failed = errors.Join(failed, err)
			}
		}
	}
	if len(waiting) == 0 {
		stage.RecordEvents(r.Recorder, sn, abandoned)
		_, err := r.setFinalizers(ctx, sn, map[string]bool{v1alpha1.FinalizerClusters: false, v1alpha1.FinalizerKeys: false})
		return ctrl.Result{RequeueAfter: staleRequeue}, err
	}
	status := sn.Status.DeepCopy()
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: string(v1alpha1.ReasonDeleting), ObservedGeneration: sn.Generation,
		Message: stage.Shorten(fmt.Sprintf("The deletion waits for %s; clusters that cannot be reached are abandoned at %s.",
			strings.Join(waiting, ", "), until.UTC().Format(time.RFC3339))),
	})
	if err := r.writeStatus(ctx, sn, status); !apierrors.IsConflict(err) { // the next pass writes it on top of the network's latest version
		failed = errors.Join(failed, err)
	}
	if failed != nil {
		return ctrl.Result{}, failed
	}
	return ctrl.Result{RequeueAfter: deletionInterval}, nil
}

// abandonment returns the event for a cluster in which objects may be left.
func abandonment(sn *v1alpha1.SocialNetwork, member v1alpha1.ClusterNamespace, err error) stage.Event {
	selector := fmt.Sprintf("%s=%s", render.LabelOwner, sn.UID)
	if sn.Spec.DeletionPolicy == v1alpha1.DeletionDelete { // its keys are not labelled with the owner
		selector = fmt.Sprintf("%s=%s,%s=%s", render.LabelNetwork, sn.Name, render.LabelOwnerNamespace, sn.Namespace)
	}
	return stage.Event{Warning: true, Reason: v1alpha1.ReasonClusterAbandoned, Message: fmt.Sprintf(
		"deleted the network without cluster %s: %s To delete what is left there: kubectl api-resources --namespaced --verbs=list,delete -o "+
			"name | paste -sd, - | xargs -I KINDS kubectl -n %s delete KINDS -l %s",
		member.Name, err, member.Namespace, selector)}
}

// deleteIn deletes the objects that a network owns in a member cluster, and its keys if spec.deletionPolicy is Delete. It returns how
// many there were. What the network owns in the operator's own cluster is garbage-collected.
func deleteIn(ctx context.Context, c *stage.Cluster) (int, error) {
	if !c.IsUsable() {
		return 0, &clusters.Error{Reason: c.Reason, Message: c.Message}
	}
	found := 0
	if c.Network.SN.Spec.DeletionPolicy == v1alpha1.DeletionDelete {
		deleted, err := keys.Delete(ctx, c)
		if err != nil {
			return 0, err
		}
		found += deleted
	}
	if c.Name == "" {
		return found, nil
	}
	applier := apply.Applier{Client: c.Client, APIReader: c.APIReader}
	for _, kind := range append(sweep.Kinds(), c.Kinds...) {
		objects, err := c.List(ctx, c.APIReader, kind, client.MatchingLabels{render.LabelOwner: string(c.Network.SN.UID)})
		if err != nil {
			return 0, fmt.Errorf("listing %s objects of cluster %s: %w", kind.Kind, c.Name, err)
		}
		found += len(objects)
		for _, object := range objects {
			if err := applier.Delete(ctx, object); err != nil {
				return 0, err
			}
		}
	}
	return found, nil
}

// setFinalizers adds the finalizers of a network that are wanted and removes those that are not. It reports whether it changed any.
func (r *Reconciler) setFinalizers(ctx context.Context, sn *v1alpha1.SocialNetwork, wanted map[string]bool) (bool, error) {
	edited := sn.DeepCopy()
	changed := false
	for finalizer, want := range wanted {
		set := controllerutil.RemoveFinalizer
		if want {
			set = controllerutil.AddFinalizer
		}
		changed = set(edited, finalizer) || changed
	}
	if !changed {
		return false, nil
	}
	patch := client.MergeFromWithOptions(sn, client.MergeFromWithOptimisticLock{})
	err := r.Client.Patch(ctx, edited, patch, client.FieldOwner(apply.Manager))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return true, nil // the next pass reads the network again
	}
	if err != nil {
		return true, fmt.Errorf("setting the finalizers: %w", err)
	}
	r.written.record(edited)
	return true, nil
}
