package controllers

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	// Mapper knows the API server's kinds.
	Mapper meta.RESTMapper
	// Every is the time between two looks; 0 means 15 s.
	Every time.Duration
	// Watch is called once for each kind when it is first there.
	Watch func(kind schema.GroupVersionKind) error
	// Networks lists all networks: all are looked at again when a kind comes or goes.
	Networks func(ctx context.Context) ([]v1alpha1.SocialNetwork, error)

	mu      sync.Mutex
	known   []schema.GroupVersionKind
	watched []schema.GroupVersionKind
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

// Look asks which kinds are there, and says whether that has changed.
func (o *OptionalKinds) Look(ctx context.Context) bool {
	var now []schema.GroupVersionKind
	for _, kind := range optionalKinds {
		if _, err := o.Mapper.RESTMapping(kind.GroupKind(), kind.Version); err == nil && o.watch(ctx, kind) {
			now = append(now, kind)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	changed := !slices.Equal(now, o.known)
	o.known = now
	return changed
}

// watch begins to watch a kind, once. A kind that cannot be watched counts as absent.
func (o *OptionalKinds) watch(ctx context.Context, kind schema.GroupVersionKind) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if slices.Contains(o.watched, kind) {
		return true
	}
	if err := o.Watch(kind); err != nil {
		log.FromContext(ctx).Error(err, "kind cannot be watched", "kind", kind.String())
		return false
	}
	o.watched = append(o.watched, kind)
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
