package stage

import (
	"crypto/sha256"
	"encoding/hex"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// RecordConditions records an event for each condition whose status or reason changed.
func RecordConditions(to recorder.EventRecorder, sn *v1alpha1.SocialNetwork, status *v1alpha1.SocialNetworkStatus) {
	for _, c := range conditionChanges(&sn.Status, status) {
		to.Eventf(sn, nil, eventType(isProblem(c)), c.Reason, c.Type, "%s is %s: %s", c.Type, c.Status, c.Message)
	}
}

// RecordEvents records the events of stages.
func RecordEvents(to recorder.EventRecorder, sn *v1alpha1.SocialNetwork, events []Event) {
	for _, e := range events {
		to.Eventf(sn, nil, eventType(e.Warning), string(e.Reason), eventAction(e), "%s", e.Message)
	}
}

func eventType(warning bool) string {
	if warning {
		return corev1.EventTypeWarning
	}
	return corev1.EventTypeNormal
}

// eventAction is different for each message: event recorders count events with the same reason and action as one.
func eventAction(e Event) string {
	sum := sha256.Sum256([]byte(e.Message))
	return string(e.Reason) + "-" + hex.EncodeToString(sum[:4])
}

// conditionChanges returns the conditions whose status or reason differs between two statuses.
func conditionChanges(before, after *v1alpha1.SocialNetworkStatus) []metav1.Condition {
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

// isProblem reports whether a condition needs attention: it is False, and not because of work in progress.
func isProblem(c metav1.Condition) bool {
	return c.Status == metav1.ConditionFalse && v1alpha1.Reason(c.Reason).NeedsAttention()
}
