package clusters

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Kinds are kinds that a cluster may lack. It uses API discovery, which every client may read, so the operator needs no permission to
// read CRDs.
type Kinds struct {
	Discovery discovery.ServerResourcesInterface
	// Optional are watched while the cluster has them. Of Detected it is only known whether the cluster has them.
	Optional, Detected []schema.GroupVersionKind
	Scheme             *runtime.Scheme
	Cache              cache.Cache
	// Watch makes the cache hold a kind. SyncTimeout is how long the first list may take.
	Watch       func(ctx context.Context, object client.Object) error
	SyncTimeout time.Duration
}

// Discover returns those of the kinds that the cluster has. It watches those that it did not have before, and no longer those that are
// gone. A kind that cannot be watched counts as absent, for example because the operator may not list it: reads of it would block.
func (k *Kinds) Discover(ctx context.Context, before []schema.GroupVersionKind) ([]schema.GroupVersionKind, error) {
	var served []schema.GroupVersionKind
	for _, kind := range slices.Concat(k.Optional, k.Detected) {
		resources, err := k.Discovery.ServerResourcesForGroupVersion(kind.GroupVersion().String())
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(resources.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind.Kind }) {
			served = append(served, kind)
		}
	}
	found := slices.DeleteFunc(served, func(kind schema.GroupVersionKind) bool {
		return !slices.Contains(before, kind) && !slices.Contains(k.Detected, kind) && !k.watch(ctx, kind)
	})
	for _, kind := range before {
		if !slices.Contains(found, kind) && !slices.Contains(k.Detected, kind) {
			k.unwatch(ctx, kind)
		}
	}
	return found, nil
}

// watch watches a kind, and reports whether that is possible.
func (k *Kinds) watch(ctx context.Context, kind schema.GroupVersionKind) bool {
	object, err := NewObject(k.Scheme, kind)
	if err == nil {
		syncCtx, cancel := context.WithTimeout(ctx, k.SyncTimeout)
		defer cancel()
		if err = k.Watch(syncCtx, object); err != nil {
			err = errors.Join(err, k.Cache.RemoveInformer(ctx, object))
		}
	}
	if err != nil {
		log.FromContext(ctx).Error(err, "watching a kind failed", "kind", kind.String())
	}
	return err == nil
}

func (k *Kinds) unwatch(ctx context.Context, kind schema.GroupVersionKind) {
	if object, err := NewObject(k.Scheme, kind); err == nil {
		_ = k.Cache.RemoveInformer(ctx, object) // it returns no other errors than those of an unknown kind
	}
}

// NewObject returns an empty object of a kind.
func NewObject(scheme *runtime.Scheme, kind schema.GroupVersionKind) (client.Object, error) {
	created, err := scheme.New(kind)
	if err != nil {
		return nil, err
	}
	return created.(client.Object), nil
}
