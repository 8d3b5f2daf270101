package stage

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// requiredForReady are the conditions that Ready depends on, root causes first. Alerts are not among them: a network serves
// without Prometheus.
var requiredForReady = []string{
	v1alpha1.ConditionSchemaMigrated,
	v1alpha1.ConditionRegionsAvailable,
	v1alpha1.ConditionKeysReady,
	v1alpha1.ConditionModerationApplied,
	v1alpha1.ConditionEvacuationsApplied,
}

// summarize sets what follows from the rest of the status: Ready, Paused, and the printer columns.
func (p *Pass) summarize(status *v1alpha1.SocialNetworkStatus) {
	status.RegionsReady, status.Version = regionsReady(status), versionOf(status)
	paused := metav1.Condition{
		Type: v1alpha1.ConditionPaused, Status: metav1.ConditionFalse, Reason: string(v1alpha1.ReasonNotPaused), Message: "Changes are applied.",
	}
	if p.SN.Spec.Paused {
		paused.Status, paused.Reason, paused.Message = metav1.ConditionTrue, string(v1alpha1.ReasonPausedBySpec), pausedMessage(status)
	}
	p.setCondition(&status.Conditions, paused)
	summary := ready(p.SN, status)
	p.setCondition(&status.Conditions, summary)
	for _, c := range progress(summary) {
		p.setCondition(&status.Conditions, c)
	}
}

// progress returns Reconciling and Stalled: whether the network that is not ready makes progress, or needs attention. Both are False
// if it is ready, or waits because it is paused.
func progress(ready metav1.Condition) []metav1.Condition {
	reason := v1alpha1.Reason(ready.Reason)
	unready := ready.Status != metav1.ConditionTrue
	reconciling, stalled := ready, ready
	reconciling.Type, stalled.Type = v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled
	reconciling.Status = statusOf(unready && !reason.NeedsAttention() && reason != v1alpha1.ReasonPausedBySpec)
	stalled.Status = statusOf(unready && reason.NeedsAttention())
	return []metav1.Condition{reconciling, stalled}
}

func statusOf(is bool) metav1.ConditionStatus {
	if is {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

func ready(sn *v1alpha1.SocialNetwork, status *v1alpha1.SocialNetworkStatus) metav1.Condition {
	notReady := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse}
	if c := rootCause(sn, status); c != nil {
		notReady.Reason, notReady.Message = c.Reason, c.Type+": "+c.Message
		return notReady
	}
	if len(status.PendingChanges) > 0 {
		notReady.Reason, notReady.Message = string(v1alpha1.ReasonPausedBySpec), pausedMessage(status)
		return notReady
	}
	ready := metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: string(v1alpha1.ReasonAllHolds),
		Message: "Every region serves the spec.",
	}
	available := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionRegionsAvailable)
	switch available.Reason {
	case string(v1alpha1.ReasonDegraded):
		ready.Reason, ready.Message = available.Reason, "Every region serves the spec, but some servers do not. "+available.Message
	case string(v1alpha1.ReasonEvacuated):
		ready.Reason, ready.Message = available.Reason, available.Message
	}
	return ready
}

// rootCause returns the condition because of which the network is not ready, or nil: the first that needs attention,
// otherwise the first that does not merely follow from another, otherwise the first.
func rootCause(sn *v1alpha1.SocialNetwork, status *v1alpha1.SocialNetworkStatus) *metav1.Condition {
	var unmet []*metav1.Condition
	for _, required := range requiredForReady {
		c := meta.FindStatusCondition(status.Conditions, required)
		if c == nil {
			c = &metav1.Condition{Type: required, Reason: string(v1alpha1.ReasonProgressing), Message: "The condition is not known yet."}
		}
		if c.Status != metav1.ConditionTrue {
			unmet = append(unmet, c)
		}
	}
	if c := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionRegionsPinned); c != nil && isBreach(sn, c) {
		unmet = append(unmet, c)
	}
	for _, isRoot := range []func(r v1alpha1.Reason) bool{
		v1alpha1.Reason.NeedsAttention,
		func(r v1alpha1.Reason) bool { return !r.Follows() },
		func(v1alpha1.Reason) bool { return true },
	} {
		if i := slices.IndexFunc(unmet, func(c *metav1.Condition) bool { return isRoot(v1alpha1.Reason(c.Reason)) }); i >= 0 {
			return unmet[i]
		}
	}
	return nil
}

// isBreach reports whether rows are known to be stored, or may be stored, elsewhere than a spec requires that does not tolerate it.
func isBreach(sn *v1alpha1.SocialNetwork, pinned *metav1.Condition) bool {
	nowhere := pinned.Reason == string(v1alpha1.ReasonCockroachDBHasNoRegions) && len(sn.Spec.Regions) > 1
	return sn.Spec.Database.RequirePinned && (pinned.Status == metav1.ConditionFalse || nowhere)
}

func pausedMessage(status *v1alpha1.SocialNetworkStatus) string {
	if n := len(status.PendingChanges); n > 0 {
		return fmt.Sprintf("Paused by spec.paused; %d changes are pending, the first: %s.", n, status.PendingChanges[0])
	}
	return "Paused by spec.paused; no changes are pending."
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

// versionOf returns the version of all regions, or a sorted list of versions while the regions differ.
func versionOf(status *v1alpha1.SocialNetworkStatus) string {
	var versions []string
	for _, region := range status.Regions {
		if region.Version != "" { // which is a list while the region is updated
			versions = append(versions, strings.Split(region.Version, ",")...)
		}
	}
	slices.Sort(versions)
	return strings.Join(slices.Compact(versions), ",")
}
