package controllers

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/clusters"
	"github.com/plaza-social/plaza/controllers/render"
)

// discoveryInterval is how often the API server is asked for the optional kinds.
const discoveryInterval = 15 * time.Second

// OptionalKinds tracks which of the kinds that a cluster may lack the operator's own cluster has.
type OptionalKinds struct {
	// Discovery is the discovery client of the API server.
	Discovery discovery.ServerResourcesInterface
	// Interval is the time between two discovery requests; 0 means 15 s.
	Interval time.Duration

	manager    ctrl.Manager
	controller controller.Controller
	all        clusters.Kinds          // as SetupWithManager prepares it
	events     chan event.GenericEvent // every network when a kind appeared or disappeared

	mu         sync.Mutex
	kinds      []schema.GroupVersionKind
	discovered bool
}

// List returns the kinds that existed at the last discovery.
func (o *OptionalKinds) List() []schema.GroupVersionKind {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.kinds)
}

// Discovered reports whether a discovery has succeeded.
func (o *OptionalKinds) Discovered() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.discovered
}

// Start repeats discovery until ctx ends. It implements manager.Runnable.
func (o *OptionalKinds) Start(ctx context.Context) error {
	ticker := time.NewTicker(cmp.Or(o.Interval, discoveryInterval))
	defer ticker.Stop()
	for {
		if o.discover(ctx) {
			o.enqueueNetworks(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// discover asks the API server for the optional kinds and reports whether they changed. If the request fails, it keeps
// the last result.
func (o *OptionalKinds) discover(ctx context.Context) bool {
	all, before := o.all, o.List()
	all.Discovery, all.Optional, all.Detected = o.Discovery, optionalKinds, detectedKinds
	kinds, err := all.Discover(ctx, before)
	if err != nil {
		log.FromContext(ctx).Error(err, "discovery of the optional kinds failed")
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	changed := !o.discovered || !slices.Equal(kinds, before)
	o.kinds, o.discovered = kinds, true
	return changed
}

// optionalKinds are the kinds that a cluster may lack.
var optionalKinds = []schema.GroupVersionKind{
	render.ServiceMonitorKind, render.PrometheusRuleKind, render.ProbeKind, render.GrafanaDashboardKind, render.HTTPRouteKind,
}

// detectedKinds are kinds of which the operator only asks whether a cluster has them.
var detectedKinds = []schema.GroupVersionKind{render.SecurityContextConstraintsKind}

// owned returns the optional kinds of which networks may have objects.
func owned(kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	return slices.DeleteFunc(slices.Clone(kinds), func(kind schema.GroupVersionKind) bool { return slices.Contains(detectedKinds, kind) })
}

func capabilities(kinds []schema.GroupVersionKind) render.Capabilities {
	return render.Capabilities{
		HTTPRoute:      slices.Contains(kinds, render.HTTPRouteKind),
		ServiceMonitor: slices.Contains(kinds, render.ServiceMonitorKind),
		PrometheusRule: slices.Contains(kinds, render.PrometheusRuleKind),
		Probe:          slices.Contains(kinds, render.ProbeKind),

		GrafanaDashboard: slices.Contains(kinds, render.GrafanaDashboardKind),

		SecurityContextConstraints: slices.Contains(kinds, render.SecurityContextConstraintsKind),
	}
}

func (o *OptionalKinds) enqueueNetworks(ctx context.Context) {
	var networks v1alpha1.SocialNetworkList
	if err := o.manager.GetClient().List(ctx, &networks); err != nil {
		log.FromContext(ctx).Error(err, "listing the networks failed")
		return
	}
	for i := range networks.Items {
		o.enqueue(ctx, &networks.Items[i])
	}
}

// enqueue starts a reconcile of a network.
func (o *OptionalKinds) enqueue(ctx context.Context, sn *v1alpha1.SocialNetwork) {
	select {
	case o.events <- event.GenericEvent{Object: sn}:
	case <-ctx.Done():
	}
}

// informerSyncTimeout is how long the first list of a kind may take.
const informerSyncTimeout = 10 * time.Second

// watch makes the cache hold a kind and the controller watch it.
func (o *OptionalKinds) watch(ctx context.Context, object client.Object) error {
	if _, err := o.manager.GetCache().GetInformer(ctx, object); err != nil {
		return err
	}
	owner := handler.EnqueueRequestForOwner(
		o.manager.GetScheme(), o.manager.GetRESTMapper(), &v1alpha1.SocialNetwork{}, handler.OnlyControllerOwner())
	return o.controller.Watch(source.Kind(o.manager.GetCache(), object, owner, specChanged))
}
