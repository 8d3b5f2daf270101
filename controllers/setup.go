package controllers

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/clusters"
	"github.com/plaza-social/plaza/controllers/render"
)

const (
	// secretIndex is the field index of the networks by the Secrets that their spec names.
	secretIndex = "spec.secrets"

	maxConcurrentReconciles = 8
)

// specChanged filters out the updates that only change an object's status.
var specChanged = predicate.Or(
	predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{},
)

// SetupWithManager registers the reconciler and its watches with the manager.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.SocialNetwork{}, secretIndex, secretsOf); err != nil {
		return fmt.Errorf("indexing networks by Secret: %w", err)
	}
	if _, err := mgr.GetCache().GetInformer(ctx, &corev1.Pod{}); err != nil { // pods are read, but start no reconcile
		return fmt.Errorf("caching pods: %w", err)
	}
	r.Kinds.manager, r.Kinds.events = mgr, make(chan event.GenericEvent, 64)
	r.Kinds.all = clusters.Kinds{Scheme: mgr.GetScheme(), Cache: mgr.GetCache(), Watch: r.Kinds.watch, SyncTimeout: informerSyncTimeout}
	edited := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	built, err := ctrl.NewControllerManagedBy(mgr).Named("socialnetwork").
		For(&v1alpha1.SocialNetwork{}, builder.WithPredicates(edited)).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.Service{}).
		Owns(&corev1.ServiceAccount{}).
		Owns(&appsv1.Deployment{}).
		Owns(&batchv1.Job{}).
		Owns(&networkingv1.NetworkPolicy{}, builder.WithPredicates(specChanged)).
		Owns(&networkingv1.Ingress{}, builder.WithPredicates(specChanged)).
		Owns(&policyv1.PodDisruptionBudget{}, builder.WithPredicates(specChanged)).
		Owns(&autoscalingv2.HorizontalPodAutoscaler{}, builder.WithPredicates(specChanged)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.networksOfSecret)).
		WatchesRawSource(source.Channel(r.Kinds.events, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: maxConcurrentReconciles}).
		Build(r)
	if err != nil {
		return fmt.Errorf("building the controller: %w", err)
	}
	r.Kinds.controller = built
	if err := mgr.Add(r.Kinds); err != nil {
		return fmt.Errorf("adding the discovery of optional kinds: %w", err)
	}
	return nil
}

// secretsOf returns the names of the Secrets that a network's spec refers to.
func secretsOf(object client.Object) []string {
	sn := object.(*v1alpha1.SocialNetwork)
	var names []string
	for _, used := range render.UsedSecrets(&sn.Spec, render.Network{SN: sn}.Regions()) {
		names = append(names, used.Name)
	}
	names = slices.Concat(names, render.BackupSecrets(&sn.Spec), render.HookSecrets(&sn.Spec))
	if ref := sn.Spec.ServerKeys.ExistingSecret; ref != nil {
		names = append(names, ref.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// networksOfSecret returns requests for the network whose keys a Secret holds and for the networks that refer to it.
func (r *Reconciler) networksOfSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	var names []string
	for _, label := range []string{render.LabelNetwork, render.LabelRecoveryOf} {
		if name := secret.GetLabels()[label]; name != "" {
			names = append(names, name)
		}
	}
	var list v1alpha1.SocialNetworkList
	if err := r.Client.List(ctx, &list, client.InNamespace(secret.GetNamespace()),
		client.MatchingFields{secretIndex: secret.GetName()}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "listing the networks of a Secret failed", "secret", secret.GetName())
	}
	for _, sn := range list.Items {
		names = append(names, sn.Name)
	}
	slices.Sort(names)
	var requests []reconcile.Request
	for _, name := range slices.Compact(names) {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: secret.GetNamespace(), Name: name}})
	}
	return requests
}
