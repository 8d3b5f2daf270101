// Package controllers contains the reconciler of SocialNetwork objects and its wiring into a manager.
//
// A reconcile reads the network, requests the status of its servers, runs the stages in order (see package stage), and
// writes the status if it changed. What it keeps in memory between reconciles may be lost, because another leader finds it
// again: the versions that it wrote last, which networks are being updated, and the kinds and connections of clusters.
package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/backup"
	"github.com/plaza-social/plaza/controllers/evacuation"
	"github.com/plaza-social/plaza/controllers/keys"
	"github.com/plaza-social/plaza/controllers/moderation"
	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/controllers/networkmetrics"
	"github.com/plaza-social/plaza/controllers/placement"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/restrictions"
	"github.com/plaza-social/plaza/controllers/rollout"
	"github.com/plaza-social/plaza/controllers/schema"
	"github.com/plaza-social/plaza/controllers/servers"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/controllers/sweep"
	"github.com/plaza-social/plaza/controllers/updates"
	"github.com/plaza-social/plaza/controllers/webhooks"
)

const (
	// resyncInterval is how often a network is reconciled without any other trigger, to read the status of its servers.
	resyncInterval = time.Minute
	// staleRequeue is when a reconcile that used a stale copy of an object is retried.
	staleRequeue = 100 * time.Millisecond
	// minRequeue is the shortest time between two reconciles that a stage can ask for.
	minRequeue = 100 * time.Millisecond
)

// Options configure the reconciler.
type Options struct {
	// DefaultImage is the platform image of the operator's own version.
	DefaultImage string
	// Namespace is the operator's own namespace.
	Namespace string
	// Restrictions limit the images and Secrets of networks.
	Restrictions restrictions.Limits
	// ClusterDeletionTimeout is how long the deletion of a network waits for member clusters that cannot be reached; 0 means an
	// hour.
	ClusterDeletionTimeout time.Duration
	// MaxConcurrentRollouts is how many networks are updated at the same time; 0 means any number.
	MaxConcurrentRollouts int
}

// Reconciler reconciles SocialNetwork objects.
type Reconciler struct {
	// Client writes, and reads from the cache.
	Client client.Client
	// APIReader reads from the API server.
	APIReader client.Reader
	// Servers calls the platform's servers.
	Servers  platformclient.Servers
	Recorder recorder.EventRecorder
	Options  Options
	// Now is the clock.
	Now func() time.Time
	// Kinds tracks the optional kinds that the cluster has.
	Kinds *OptionalKinds
	// Clusters connects to member clusters.
	Clusters Clusters
	// Metrics exports the state of the networks; nil disables it.
	Metrics *networkmetrics.Metrics

	// What is kept between reconciles.
	written writtenVersions
	turns   updates.Turns
}

// Reconcile reconciles one network.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var sn v1alpha1.SocialNetwork
	if err := r.Client.Get(ctx, req.NamespacedName, &sn); err != nil {
		if apierrors.IsNotFound(err) {
			r.Metrics.Forget(req.NamespacedName)
			r.written.forget(req.NamespacedName)
			r.turns.End(req.NamespacedName)
			return ctrl.Result{}, keys.ReleaseDeleted(ctx, r.Client, req.NamespacedName)
		}
		return ctrl.Result{}, fmt.Errorf("reading the network: %w", err)
	}
	if !sn.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, &sn)
	}
	if r.written.isStale(&sn) || !r.Kinds.Discovered() {
		return ctrl.Result{RequeueAfter: staleRequeue}, nil
	}
	return r.reconcile(ctx, &sn)
}

func (r *Reconciler) reconcile(ctx context.Context, sn *v1alpha1.SocialNetwork) (ctrl.Result, error) {
	if changed, err := r.recordMembers(ctx, sn); changed || err != nil {
		return ctrl.Result{RequeueAfter: staleRequeue}, err
	}
	p, err := r.newPass(sn)
	if err != nil {
		return pendingResult, nil //nolint:nilerr // the connection to a cluster is being established
	}
	if p.Control, err = keys.Credentials(ctx, p.Own(), sn.Name); err != nil {
		return ctrl.Result{}, err
	}
	if err := servers.Read(ctx, p); err != nil {
		return ctrl.Result{}, err
	}
	if p.Refused, err = r.Options.Restrictions.Refusal(ctx, p); err != nil {
		return ctrl.Result{}, err
	}
	p.Updates = r.turns.Rules(sn, cmp.Or(sn.Spec.Image, r.Options.DefaultImage), r.Options.MaxConcurrentRollouts, p.Now)
	report := stage.Runner{}.Run(ctx, p, r.stages())
	stage.RecordEvents(r.Recorder, sn, report.Events) // of changes that were made, even if the status cannot be written
	if report.Stale != nil {
		log.FromContext(ctx).V(1).Info("the cache is stale", "error", report.Stale.Error())
		return ctrl.Result{RequeueAfter: staleRequeue}, report.TransientError()
	}
	status := report.Status(p)
	switch err := r.writeStatus(ctx, sn, status); {
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: staleRequeue}, report.TransientError()
	case err != nil:
		return ctrl.Result{}, errors.Join(err, report.TransientError())
	}
	stage.RecordConditions(r.Recorder, sn, status)
	r.turns.Observe(sn, status)
	r.Metrics.Observe(sn, status, p.Now)
	if err := report.TransientError(); err != nil {
		return ctrl.Result{}, err
	}
	return requeueAfter(report.Requeue), nil
}

// stages returns the stages in the order in which they run. The sweep is last, so that replacements exist before the
// objects that they replace are deleted.
func (r *Reconciler) stages() []stage.Stage {
	return []stage.Stage{
		keys.Stage{},
		evacuation.Stage{},
		schema.Stage{},
		rollout.Stage{},
		moderation.Stage{},
		webhooks.Stage{},
		monitoring.Stage{},
		placement.Stage{},
		backup.Stage{},
		sweep.Stage{Keep: monitoring.Objects},
	}
}

// newPass returns a pass of a network. It returns clusters.ErrPending while the connection to one of its clusters is being
// established for the first time.
func (r *Reconciler) newPass(sn *v1alpha1.SocialNetwork) (*stage.Pass, error) {
	p := &stage.Pass{SN: sn, Now: r.Now(), Status: sn.Status.DeepCopy()}
	p.Status.PendingChanges = nil
	for _, member := range append([]v1alpha1.ClusterNamespace{{}}, p.Status.Clusters...) {
		c, err := r.connect(sn, member)
		if err != nil {
			return nil, err
		}
		p.Clusters = append(p.Clusters, c)
	}
	p.Network = p.Own().Network
	return p, nil
}

// requeueAfter returns when to reconcile next: after due if a stage asked for it, otherwise at the next resync, with
// jitter and at a low priority.
func requeueAfter(due time.Duration) ctrl.Result {
	if due > 0 && due < resyncInterval {
		return ctrl.Result{RequeueAfter: max(due, minRequeue)}
	}
	jitter := time.Duration(rand.Int64N(int64(resyncInterval / 5)))
	return ctrl.Result{RequeueAfter: resyncInterval - resyncInterval/10 + jitter, Priority: ptr.To(handler.LowPriority)}
}
