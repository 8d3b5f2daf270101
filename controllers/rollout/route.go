package rollout

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// routeInterval is how often the status of a route is read until it is accepted; it is not watched.
const routeInterval = 15 * time.Second

// setRouted sets the condition Routed of a region with a Gateway from the status of its HTTPRoute, and removes it from others.
func (r *run) setRouted(ctx context.Context, g *region) {
	if g.spec.Gateway == nil {
		meta.RemoveStatusCondition(&r.pass.Region(g.spec.Code).Conditions, v1alpha1.RegionRouted)
		return
	}
	status, reason, message := r.routeStatus(ctx, g)
	r.setCondition(g, v1alpha1.RegionRouted, status, reason, message)
	if status != metav1.ConditionTrue {
		r.out.RequeueAfter(routeInterval)
	}
}

func (r *run) routeStatus(ctx context.Context, g *region) (metav1.ConditionStatus, v1alpha1.Reason, string) {
	if !g.cluster.Network.Capabilities.HTTPRoute {
		return metav1.ConditionFalse, v1alpha1.ReasonCRDMissing,
			"The cluster has no HTTPRoute; install the CRDs of the Gateway API, and the operator continues."
	}
	var route gatewayv1.HTTPRoute
	key := client.ObjectKey{Namespace: g.cluster.Namespace(), Name: render.RegionName(r.pass.SN.Name, g.spec.Code)}
	if err := g.cluster.Cache.Get(ctx, key, &route); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return metav1.ConditionUnknown, v1alpha1.ReasonRoutePending, "The HTTPRoute is being created."
		}
		return metav1.ConditionUnknown, v1alpha1.ReasonApplyFailed, "The HTTPRoute could not be read: " + err.Error()
	}
	return statusOf(&route)
}

// statusOf returns whether a Gateway has accepted a route and found what the route refers to.
func statusOf(route *gatewayv1.HTTPRoute) (metav1.ConditionStatus, v1alpha1.Reason, string) {
	if len(route.Status.Parents) == 0 {
		return metav1.ConditionUnknown, v1alpha1.ReasonRoutePending,
			"No Gateway has reported on the HTTPRoute; check that its Gateway exists and has a controller."
	}
	for _, parent := range route.Status.Parents {
		for _, kind := range []gatewayv1.RouteConditionType{gatewayv1.RouteConditionAccepted, gatewayv1.RouteConditionResolvedRefs} {
			c := meta.FindStatusCondition(parent.Conditions, string(kind))
			switch {
			case c == nil || c.ObservedGeneration < route.Generation:
				return metav1.ConditionUnknown, v1alpha1.ReasonRoutePending,
					fmt.Sprintf("Gateway %s has not reported %s of the newest HTTPRoute yet.", parent.ParentRef.Name, kind)
			case c.Status != metav1.ConditionTrue:
				return metav1.ConditionFalse, v1alpha1.ReasonRouteRefused, fmt.Sprintf("Gateway %s: %s: %s", parent.ParentRef.Name, c.Reason, c.Message)
			}
		}
	}
	return metav1.ConditionTrue, v1alpha1.ReasonRouteAccepted, "The Gateway routes requests to the region."
}
