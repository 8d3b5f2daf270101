package rollout

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// TestRouteStatus checks the condition of a region from the status of its route, of generation 2.
func TestRouteStatus(t *testing.T) {
	condition := func(kind, status, reason string, generation int64) metav1.Condition {
		return metav1.Condition{
			Type: kind, Status: metav1.ConditionStatus(status), Reason: reason, Message: "why",
			ObservedGeneration: generation,
		}
	}
	accepted, resolved := condition("Accepted", "True", "Accepted", 2), condition("ResolvedRefs", "True", "ResolvedRefs", 2)
	for name, test := range map[string]struct {
		conditions []metav1.Condition
		status     metav1.ConditionStatus
		reason     v1alpha1.Reason
		message    string
	}{
		"no Gateway": {
			nil, "Unknown", v1alpha1.ReasonRoutePending,
			"No Gateway has reported on the HTTPRoute; check that its Gateway exists and has a controller.",
		},
		"not reported yet": {
			[]metav1.Condition{accepted},
			"Unknown", v1alpha1.ReasonRoutePending,
			"Gateway public has not reported ResolvedRefs of the newest HTTPRoute yet.",
		},
		"of an older route": {
			[]metav1.Condition{condition("Accepted", "True", "Accepted", 1), resolved},
			"Unknown", v1alpha1.ReasonRoutePending,
			"Gateway public has not reported Accepted of the newest HTTPRoute yet.",
		},
		"not allowed": {
			[]metav1.Condition{condition("Accepted", "False", "NotAllowedByListeners", 2), resolved},
			"False", v1alpha1.ReasonRouteRefused,
			"Gateway public: NotAllowedByListeners: why",
		},
		"a service is missing": {
			[]metav1.Condition{accepted, condition("ResolvedRefs", "False", "BackendNotFound", 2)},
			"False", v1alpha1.ReasonRouteRefused,
			"Gateway public: BackendNotFound: why",
		},
		"accepted": {[]metav1.Condition{accepted, resolved}, "True", v1alpha1.ReasonRouteAccepted, "The Gateway routes requests to the region."},
	} {
		t.Run(name, func(t *testing.T) {
			route := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
			if test.conditions != nil {
				route.Status.Parents = []gatewayv1.RouteParentStatus{{
					ParentRef:  gatewayv1.ParentReference{Name: "public"},
					Conditions: test.conditions,
				}}
			}
			status, reason, message := statusOf(route)
			require.Equal(t, test.status, status)
			require.Equal(t, test.reason, reason)
			require.Equal(t, test.message, message)
		})
	}
}
