package controllers

import (
	"crypto/sha256"
	"encoding/hex"

	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/stage"
)

// recordConditions records an event for each condition whose status or reason changed.
func (r *Reconciler) recordConditions(sn *v1alpha1.SocialNetwork, status *v1alpha1.SocialNetworkStatus) {
	for _, c := range stage.ConditionChanges(&sn.Status, status) {
		r.Recorder.Eventf(sn, nil, eventType(stage.IsProblem(c)), c.Reason, c.Type, "%s is %s: %s", c.Type, c.Status, c.Message)
	}
}

// recordEvents records the events of stages.
func (r *Reconciler) recordEvents(sn *v1alpha1.SocialNetwork, events []stage.Event) {
	for _, e := range events {
		r.Recorder.Eventf(sn, nil, eventType(e.Warning), string(e.Reason), eventAction(e), "%s", e.Message)
	}
}

func eventType(warning bool) string {
	if warning {
		return corev1.EventTypeWarning
	}
	return corev1.EventTypeNormal
}

// eventAction is different for each message: event recorders count events with the same reason and action as one.
func eventAction(e stage.Event) string {
	sum := sha256.Sum256([]byte(e.Message))
	return string(e.Reason) + "-" + hex.EncodeToString(sum[:4])
}
