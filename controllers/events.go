package controllers

import (
	"crypto/sha256"
	"encoding/hex"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// tell makes one event for each condition whose status or reason changed.
func (r *Reconciler) tell(sn *v1alpha1.SocialNetwork, status *v1alpha1.SocialNetworkStatus) {
	for _, now := range status.Conditions {
		before := meta.FindStatusCondition(sn.Status.Conditions, now.Type)
		if before != nil && before.Status == now.Status && before.Reason == now.Reason {
			continue
		}
		if before == nil && now.Type == v1alpha1.ConditionPaused && now.Status == metav1.ConditionFalse {
			continue // a network that was never paused needs no news of it
		}
		r.Recorder.Eventf(sn, nil, severity(now), now.Reason, now.Type, "%s is %s: %s", now.Type, now.Status, now.Message)
	}
}

// tellHappened makes one event for each thing that a stage did. It was done and will not be again, so it is told whatever
// becomes of the pass.
func (r *Reconciler) tellHappened(sn *v1alpha1.SocialNetwork, happened []Event) {
	for _, e := range happened {
		kind := corev1.EventTypeNormal
		if e.Warning {
			kind = corev1.EventTypeWarning
		}
		r.Recorder.Eventf(sn, nil, kind, string(e.Reason), e.action(), "%s", e.Message)
	}
}

// severity is Warning for what a person should look at: False for another reason than work that goes on.
func severity(c metav1.Condition) string {
	if c.Status == metav1.ConditionFalse && v1alpha1.Reason(c.Reason).IsTrouble() {
		return corev1.EventTypeWarning
	}
	return corev1.EventTypeNormal
}

// action tells one event from another of the same reason: the API server's clients count those with the same action as one.
func (e Event) action() string {
	sum := sha256.Sum256([]byte(e.Message))
	return string(e.Reason) + "-" + hex.EncodeToString(sum[:4])
}
