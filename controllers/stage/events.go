package stage

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// ConditionChanges returns the conditions whose status or reason differs between two statuses.
func ConditionChanges(before, after *v1alpha1.SocialNetworkStatus) []metav1.Condition {
	var changes []metav1.Condition
	for _, c := range after.Conditions {
		old := meta.FindStatusCondition(before.Conditions, c.Type)
		if old != nil && old.Status == c.Status && old.Reason == c.Reason {
			continue
		}
		if old == nil && c.Type == v1alpha1.ConditionPaused && c.Status == metav1.ConditionFalse {
			continue // a new network that is not paused
		}
		if c.Type == v1alpha1.ConditionReconciling || c.Type == v1alpha1.ConditionStalled {
			continue // they change together with Ready
		}
		changes = append(changes, c)
	}
	return changes
}

// IsProblem reports whether a condition needs attention: it is False, and not because of work in progress.
func IsProblem(c metav1.Condition) bool {
	return c.Status == metav1.ConditionFalse && v1alpha1.Reason(c.Reason).NeedsAttention()
}
