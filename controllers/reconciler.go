// Package controllers brings SocialNetworks about: one reconciler, and one file for each of its stages.
//
// A pass loads the network, asks its servers what they run, runs the stages in order, and writes the status if it changed.
// Nothing is kept in memory from one pass to the next that the cluster does not hold.
package controllers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/regional"
	"github.com/plaza-social/plaza/controllers/render"
)

// lookEvery is how often the servers of a network are asked what they run when nothing else happens.
const lookEvery = time.Minute

// Options are what the reconciler's decisions depend on beside the cluster.
type Options struct {
	// DefaultImage is the platform's image of the operator's own version.
	DefaultImage string
	// Namespace is the operator's own.
	Namespace string
}

// Reconciler brings SocialNetworks about.
type Reconciler struct {
	// Client writes, and reads from the cache.
	Client client.Client
	// Fresh reads from the API server.
	Fresh client.Reader
	// Servers speaks with the platform's servers.
	Servers  regional.Servers
	Recorder recorder.EventRecorder
	Options  Options
	// Now is the clock.
	Now func() time.Time
	// Stages run in order.
	Stages []Stage
	// Kinds knows which kinds that a cluster may lack are there.
	Kinds *OptionalKinds
	// Metrics tells what holds; nil: nobody.
	Metrics *Metrics

	written versions
}

// Reconcile brings one network nearer to its spec.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var sn v1alpha1.SocialNetwork
	if err := r.Client.Get(ctx, req.NamespacedName, &sn); err != nil {
		if apierrors.IsNotFound(err) {
			r.Metrics.Forget(req.NamespacedName)
			r.written.forget(req.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading the network: %w", err)
	}
	if !sn.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	if r.written.newerThan(&sn) || !r.Kinds.Looked() {
		return ctrl.Result{RequeueAfter: staleAgain}, nil
	}
	return r.pass(ctx, &sn)
}

func (r *Reconciler) pass(ctx context.Context, sn *v1alpha1.SocialNetwork) (ctrl.Result, error) {
	w := r.world(sn)
	if err := r.observe(ctx, w); err != nil {
		return ctrl.Result{}, err
	}
	report := r.runStages(ctx, w)
	if report.stale != nil { // it was decided upon an old copy of something, and says nothing about what is
		log.FromContext(ctx).V(1).Info("the cache is behind", "error", report.stale.Error())
		r.tellHappened(sn, report.events) // by stages that met no old copy
		return ctrl.Result{RequeueAfter: staleAgain}, report.transient()
	}
	status := report.status(w)
	if err := r.writeStatus(ctx, sn, status); err != nil {
		r.tellHappened(sn, report.events)
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: staleAgain}, report.transient()
		}
		return ctrl.Result{}, errors.Join(err, report.transient())
	}
	r.tell(sn, status)
	r.tellHappened(sn, report.events)
	r.Metrics.Observe(sn, status, w.Now)
	if err := report.transient(); err != nil {
		return ctrl.Result{}, err
	}
	return requeueAfter(report.requeue), nil
}

func (r *Reconciler) world(sn *v1alpha1.SocialNetwork) *World {
	status := sn.Status.DeepCopy()
	status.PendingChanges = nil
	return &World{
		SN: sn, Now: r.Now(), Cached: r.Client, Fresh: r.Fresh, Writer: r.Client, Servers: r.Servers, Status: status,
		Network: render.Network{SN: sn, NetworkID: sn.Status.NetworkID, DefaultImage: r.Options.DefaultImage, OperatorNamespace: r.Options.Namespace, Capabilities: r.Kinds.Capabilities()},
	}
}

// staleAgain is when a pass is tried again that met an old copy in the cache.
const staleAgain = 100 * time.Millisecond

// requeueAfter asks for the next pass: soon where a stage has something due, else for a look at the servers, which gives
// way to what people change.
func requeueAfter(due time.Duration) ctrl.Result {
	if due > 0 && due < lookEvery {
		return ctrl.Result{RequeueAfter: max(due, 100*time.Millisecond)}
	}
	jitter := time.Duration(rand.Int64N(int64(lookEvery / 5))) //nolint:gosec // spreads load, keeps no secret
	return ctrl.Result{RequeueAfter: lookEvery - lookEvery/10 + jitter, Priority: ptr.To(handler.LowPriority)}
}

// runStages runs every stage, whatever becomes of those before it.
func (r *Reconciler) runStages(ctx context.Context, w *World) *passReport {
	report := &passReport{}
	for _, stage := range r.Stages {
		out := stage.Run(ctx, w)
		result := stageResult{condition: stage.Condition(), Outcome: out}
		r.carryOut(ctx, w, &result)
		report.add(result)
		if err := errors.Join(result.errs...); err != nil {
			log.FromContext(ctx).Error(err, "stage did not finish", "condition", stage.Condition())
		}
	}
	return report
}

// carryOut applies what a stage wants, or lists it while the network is paused.
func (r *Reconciler) carryOut(ctx context.Context, w *World, result *stageResult) {
	applier := apply.Applier{Client: r.Client, Fresh: r.Fresh}
	for _, desired := range result.Objects {
		for _, one := range append(slices.Clip(desired.First), desired) {
			change, err := r.bring(ctx, applier, w, one)
			if err != nil {
				result.fail(desired.Region, err)
				break
			}
			if change != "" {
				result.Pending = append(result.Pending, change)
				continue
			}
			result.happened = append(result.happened, one.Events...)
		}
	}
	for _, object := range result.Deletions {
		if w.SN.Spec.Paused {
			result.Pending = append(result.Pending, fmt.Sprintf("delete %s %s", kindOf(object, r.Client.Scheme()), object.GetName()))
			continue
		}
		if err := applier.Delete(ctx, object); err != nil {
			result.fail("", err)
		}
	}
	if result.After != nil && !w.SN.Spec.Paused && len(result.errs) == 0 {
		if err := result.After(ctx); err != nil {
			result.fail("", err)
		}
	}
	if !w.SN.Spec.Paused {
		result.Pending = nil
	}
}

// bring applies one object; while the network is paused it returns in words what that would do.
func (r *Reconciler) bring(ctx context.Context, applier apply.Applier, w *World, desired Desired) (string, error) {
	applier.Manager = desired.Manager
	if !w.SN.Spec.Paused || desired.EvenPaused {
		change, err := applier.Apply(ctx, desired.Object, desired.Mode)
		if err == nil && change.At != "" {
			log.FromContext(ctx).Info("applied", "change", change.String())
		}
		return "", err
	}
	change, err := applier.Plan(ctx, desired.Object, desired.Mode)
	if err != nil || change.At == "" {
		return "", err
	}
	return change.String(), nil
}

// kindOf names an object's kind, which typed objects leave out.
func kindOf(object client.Object, scheme *runtime.Scheme) string {
	gvk, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return fmt.Sprintf("%T", object)
	}
	return gvk.Kind
}
