package controllers

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// neededForReady are the conditions without which a network is not ready, the one that explains most first. Alerts and
// placement are not among them: a network whose cluster has no Prometheus serves, and so does one on PostgreSQL.
var neededForReady = []string{
	v1alpha1.ConditionSchemaMigrated,
	v1alpha1.ConditionRegionsAvailable,
	v1alpha1.ConditionKeysReady,
	v1alpha1.ConditionModerationApplied,
}

// sumUp fills in what follows from the rest of a status: Ready, Paused, and the printed columns.
func sumUp(status *v1alpha1.SocialNetworkStatus, w *World) {
	status.RegionsReady, status.Version = regionsReady(status), versionOf(status)
	set := func(kind string, is metav1.ConditionStatus, reason v1alpha1.Reason, message string) {
		setCondition(&status.Conditions, kind, is, reason, message, w.SN.Generation, w.Now)
	}
	if w.SN.Spec.Paused {
		set(v1alpha1.ConditionPaused, metav1.ConditionTrue, v1alpha1.ReasonPausedBySpec, pausedMessage(status))
	} else {
		set(v1alpha1.ConditionPaused, metav1.ConditionFalse, v1alpha1.ReasonNotPaused, "Changes are applied.")
	}
	is, reason, message := ready(status)
	set(v1alpha1.ConditionReady, is, reason, message)
}

func ready(status *v1alpha1.SocialNetworkStatus) (metav1.ConditionStatus, v1alpha1.Reason, string) {
	for _, kind := range neededForReady {
		c := meta.FindStatusCondition(status.Conditions, kind)
		if c == nil {
			return metav1.ConditionFalse, v1alpha1.ReasonProgressing, kind + " is not known yet."
		}
		if c.Status != metav1.ConditionTrue {
			return metav1.ConditionFalse, v1alpha1.Reason(c.Reason), kind + ": " + c.Message
		}
	}
	if len(status.PendingChanges) > 0 {
		return metav1.ConditionFalse, v1alpha1.ReasonPausedBySpec, pausedMessage(status)
	}
	return metav1.ConditionTrue, v1alpha1.ReasonAllHolds, "Every region serves what the spec asks for."
}

func pausedMessage(status *v1alpha1.SocialNetworkStatus) string {
	if n := len(status.PendingChanges); n > 0 {
		return fmt.Sprintf("Paused by the spec; %d changes wait, the first: %s.", n, status.PendingChanges[0])
	}
	return "Paused by the spec; no change waits."
}

func regionsReady(status *v1alpha1.SocialNetworkStatus) string {
	n := 0
	for _, region := range status.Regions {
		if meta.IsStatusConditionTrue(region.Conditions, v1alpha1.RegionAvailable) {
			n++
		}
	}
	return fmt.Sprintf("%d/%d", n, len(status.Regions))
}

// versionOf is the version of all regions, or all versions in order while they differ.
func versionOf(status *v1alpha1.SocialNetworkStatus) string {
	var versions []string
	for _, region := range status.Regions {
		if region.Version != "" && !slices.Contains(versions, region.Version) {
			versions = append(versions, region.Version)
		}
	}
	slices.Sort(versions)
	return strings.Join(versions, ",")
}
