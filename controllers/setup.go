package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// secretIndex finds the networks whose spec names a Secret.
const secretIndex = "spec.secrets"

// atOnce is how many networks are gone through at once.
const atOnce = 8

// plainKinds are children whose every change is a change by somebody.
func plainKinds() []client.Object {
	return []client.Object{&corev1.ConfigMap{}, &corev1.Service{}, &corev1.ServiceAccount{}, &appsv1.Deployment{}, &batchv1.Job{}}
}

// countedKinds are children whose status changes often and tells us nothing: the generation counts changes of their spec.
func countedKinds() []client.Object {
	return []client.Object{
		&networkingv1.NetworkPolicy{}, &networkingv1.Ingress{}, &policyv1.PodDisruptionBudget{}, &autoscalingv2.HorizontalPodAutoscaler{},
	}
}

// SetUp lets the manager run the reconciler.
func (r *Reconciler) SetUp(ctx context.Context, mgr ctrl.Manager, kinds *OptionalKinds) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.SocialNetwork{}, secretIndex, secretsOf); err != nil {
		return fmt.Errorf("indexing networks: %w", err)
	}
	changedByPeople := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{})
	b := ctrl.NewControllerManagedBy(mgr).Named("socialnetwork").
		For(&v1alpha1.SocialNetwork{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.networksOfSecret)).
		WatchesRawSource(source.Channel(kinds.Changed(), &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: atOnce})
	for _, object := range plainKinds() {
		b = b.Owns(object)
	}
	for _, object := range countedKinds() {
		b = b.Owns(object, builder.WithPredicates(changedByPeople))
	}
	built, err := b.Build(r)
	if err != nil {
		return fmt.Errorf("building the controller: %w", err)
	}
	kinds.Watch = func(ctx context.Context, kind schema.GroupVersionKind) error {
		object, err := newObject(mgr.GetScheme(), kind)
		if err != nil {
			return err
		}
		if err := fill(ctx, mgr.GetCache(), object); err != nil {
			return err
		}
		owner := handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &v1alpha1.SocialNetwork{}, handler.OnlyControllerOwner())
		return built.Watch(source.Kind(mgr.GetCache(), object, owner, changedByPeople))
	}
	kinds.Unwatch = func(ctx context.Context, kind schema.GroupVersionKind) error {
		object, err := newObject(mgr.GetScheme(), kind)
		if err != nil {
			return err
		}
		return mgr.GetCache().RemoveInformer(ctx, object)
	}
	if _, err := mgr.GetCache().GetInformer(ctx, &corev1.Pod{}); err != nil { // read, and not watched
		return fmt.Errorf("watching pods: %w", err)
	}
	kinds.Networks = r.networks
	if err := mgr.Add(kinds); err != nil {
		return fmt.Errorf("adding the look for optional kinds: %w", err)
	}
	return nil
}

// fillWithin is how long the cache may take to get the objects of a kind for the first time.
const fillWithin = 10 * time.Second

// fill has the cache hold the objects of a kind, or forget the kind, such as one that the operator may not list: reading one
// of that would never end.
func fill(ctx context.Context, c cache.Cache, object client.Object) error {
	filling, cancel := context.WithTimeout(ctx, fillWithin)
	defer cancel()
	if _, err := c.GetInformer(filling, object); err != nil {
		return errors.Join(err, c.RemoveInformer(ctx, object))
	}
	return nil
}

func newObject(scheme *runtime.Scheme, kind schema.GroupVersionKind) (client.Object, error) {
	made, err := scheme.New(kind)
	if err != nil {
		return nil, err
	}
	object, ok := made.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no object", made)
	}
	return object, nil
}

func (r *Reconciler) networks(ctx context.Context) ([]v1alpha1.SocialNetwork, error) {
	var list v1alpha1.SocialNetworkList
	err := r.Client.List(ctx, &list)
	return list.Items, err
}

// secretsOf lists the Secrets that a network's spec names.
func secretsOf(object client.Object) []string {
	sn, ok := object.(*v1alpha1.SocialNetwork)
	if !ok {
		return nil
	}
	names := []string{sn.Spec.Database.SecretRef.Name}
	if ref := sn.Spec.ServerKeys.ExistingSecret; ref != nil {
		names = append(names, ref.Name)
	}
	if s := sn.Spec.Storage; s != nil && s.SecretRef != nil {
		names = append(names, s.SecretRef.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// networksOfSecret are the networks that a Secret concerns: the one whose keys it holds, and those that name it.
func (r *Reconciler) networksOfSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	var requests []reconcile.Request
	add := func(name string) {
		request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: secret.GetNamespace(), Name: name}}
		if !slices.Contains(requests, request) {
			requests = append(requests, request)
		}
	}
	if name := secret.GetLabels()[render.LabelNetwork]; name != "" {
		add(name)
	}
	var list v1alpha1.SocialNetworkList
	if err := r.Client.List(ctx, &list, client.InNamespace(secret.GetNamespace()), client.MatchingFields{secretIndex: secret.GetName()}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "networks of a Secret could not be listed", "secret", secret.GetName())
		return requests
	}
	for _, sn := range list.Items {
		add(sn.Name)
	}
	return requests
}
