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
		return metav1.Condition{Type: kind, Status: metav1.ConditionStatus(status), Reason: reason, Message: "why", ObservedGeneration: generation}
	}
	accepted, resolved := condition("Accepted", "True", "Accepted", 2), condition("ResolvedRefs", "True", "ResolvedRefs", 2)
	for name, test := range map[string]struct {
		conditions []metav1.Condition
		status     metav1.ConditionStatus
		reason     v1alpha1.Reason
	}{
		"no Gateway":           {nil, "Unknown", v1alpha1.ReasonRoutePending},
		"not reported yet":     {[]metav1.Condition{accepted}, "Unknown", v1alpha1.ReasonRoutePending},
		"of an older route":    {[]metav1.Condition{condition("Accepted", "True", "Accepted", 1), resolved}, "Unknown", v1alpha1.ReasonRoutePending},
		"not allowed":          {[]metav1.Condition{condition("Accepted", "False", "NotAllowedByListeners", 2), resolved}, "False", v1alpha1.ReasonRouteRefused},
		"a service is missing": {[]metav1.Condition{accepted, condition("ResolvedRefs", "False", "BackendNotFound", 2)}, "False", v1alpha1.ReasonRouteRefused},
		"accepted":             {[]metav1.Condition{accepted, resolved}, "True", v1alpha1.ReasonRouteAccepted},
	} {
		t.Run(name, func(t *testing.T) {
			route := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
			if test.conditions != nil {
				route.Status.Parents = []gatewayv1.RouteParentStatus{{ParentRef: gatewayv1.ParentReference{Name: "public"}, Conditions: test.conditions}}
			}
			status, reason, message := statusOf(route)
			require.Equal(t, test.status, status)
			require.Equal(t, test.reason, reason)
			if reason == v1alpha1.ReasonRouteRefused {
				require.Regexp(t, "Gateway public: (NotAllowedByListeners|BackendNotFound): why", message)
			}
		})
	}
}
