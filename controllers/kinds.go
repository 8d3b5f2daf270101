package controllers

import (
	"context"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// The kinds that a cluster may lack.
var (
	serviceMonitorKind = schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}
	prometheusRuleKind = schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "PrometheusRule"}
	httpRouteKind      = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}

	optionalKinds = []schema.GroupVersionKind{serviceMonitorKind, prometheusRuleKind, httpRouteKind}
)

// kindsEvery is how often the API server is asked which of the optional kinds it knows.
const kindsEvery = 15 * time.Second

// OptionalKinds knows which of the kinds that a cluster may lack are there. It asks the API server's discovery, which every
// client may, so the operator needs no right to read CRDs; once for the whole operator, not for each network.
type OptionalKinds struct {
	// Discovery asks the API server.
	Discovery discovery.ServerResourcesInterface
	// Every is the time between two looks; 0 means 15 s.
	Every time.Duration
	// Watch is called for a kind when it comes, Unwatch when it goes.
	Watch   func(ctx context.Context, kind schema.GroupVersionKind) error
	Unwatch func(ctx context.Context, kind schema.GroupVersionKind) error
	// Networks lists all networks: all are looked at again when a kind comes or goes.
	Networks func(ctx context.Context) ([]v1alpha1.SocialNetwork, error)

	mu      sync.Mutex
	known   []schema.GroupVersionKind
	looked  bool
	changed chan event.GenericEvent
}

// Changed yields every network when a kind came or went.
func (o *OptionalKinds) Changed() <-chan event.GenericEvent {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changed == nil {
		o.changed = make(chan event.GenericEvent, 64)
	}
	return o.changed
}

// Has is true for a kind that was there at the last look.
func (o *OptionalKinds) Has(kind schema.GroupVersionKind) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Contains(o.known, kind)
}

// Capabilities is what rendering needs to know.
func (o *OptionalKinds) Capabilities() render.Capabilities {
	return render.Capabilities{HTTPRoute: o.Has(httpRouteKind), ServiceMonitor: o.Has(serviceMonitorKind), PrometheusRule: o.Has(prometheusRuleKind)}
}

// Kinds lists what was there at the last look.
func (o *OptionalKinds) Kinds() []schema.GroupVersionKind {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.known)
}

// Start looks until ctx ends.
func (o *OptionalKinds) Start(ctx context.Context) error {
	every := o.Every
	if every == 0 {
		every = kindsEvery
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if o.Look(ctx) {
			o.wake(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Looked is true once it is known which kinds are there.
func (o *OptionalKinds) Looked() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.looked
}

// Look asks which kinds are there, and says whether that has changed. Where the API server does not answer, nothing has.
func (o *OptionalKinds) Look(ctx context.Context) bool {
	now, err := o.present()
	if err != nil {
		log.FromContext(ctx).Error(err, "the API server did not say which kinds it has")
		return false
	}
	before := o.Kinds()
	now = slices.DeleteFunc(now, func(kind schema.GroupVersionKind) bool {
		return !slices.Contains(before, kind) && !o.begin(ctx, kind)
	})
	o.mu.Lock()
	changed := !o.looked || !slices.Equal(now, before)
	o.known, o.looked = now, true
	o.mu.Unlock()
	for _, kind := range before {
		if !slices.Contains(now, kind) {
			if err := o.Unwatch(ctx, kind); err != nil {
				log.FromContext(ctx).Error(err, "kind is still watched", "kind", kind.String())
			}
		}
	}
	return changed
}

// present lists the optional kinds that the API server has.
func (o *OptionalKinds) present() ([]schema.GroupVersionKind, error) {
	var present []schema.GroupVersionKind
	for _, kind := range optionalKinds {
		resources, err := o.Discovery.ServerResourcesForGroupVersion(kind.GroupVersion().String())
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(resources.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind.Kind }) {
			present = append(present, kind)
		}
	}
	return present, nil
}

// begin begins to watch a kind. One that cannot be watched counts as absent.
func (o *OptionalKinds) begin(ctx context.Context, kind schema.GroupVersionKind) bool {
	if err := o.Watch(ctx, kind); err != nil {
		log.FromContext(ctx).Error(err, "kind cannot be watched", "kind", kind.String())
		return false
	}
	return true
}

func (o *OptionalKinds) wake(ctx context.Context) {
	networks, err := o.Networks(ctx)
	if err != nil {
		log.FromContext(ctx).Error(err, "networks could not be listed")
		return
	}
	for i := range networks {
		select {
		case o.changed <- event.GenericEvent{Object: &networks[i]}:
		case <-ctx.Done():
			return
		}
	}
}
