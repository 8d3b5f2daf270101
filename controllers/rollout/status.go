package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// setStatus fills in the status of a region.
func (r *run) setStatus(g *region) {
	status := r.pass.Region(g.spec.Code)
	status.Cluster = g.cluster.Name
	status.Endpoint = render.Endpoint(g.spec)
	status.Version = versionsOf(r.pass.Reports[g.spec.Code])
	if g.live == nil {
		status.Image, status.Replicas, status.ReadyReplicas, status.ConfigurationHash = "", 0, 0, ""
		reason, message := r.whyMissing(g)
		r.setCondition(g, v1alpha1.RegionAvailable, metav1.ConditionFalse, reason, message)
		r.setCondition(g, v1alpha1.RegionUpdated, metav1.ConditionFalse, reason, message)
		return
	}
	d := g.live
	status.Image = render.ServerImage(d.Spec.Template.Spec)
	status.ConfigurationHash = d.Spec.Template.Annotations[render.AnnotationConfiguration]
	status.ReadyReplicas, status.Replicas = d.Status.ReadyReplicas, ptr.Deref(d.Spec.Replicas, 0)
	r.setAvailable(g)
	r.setUpdated(g)
	if d.Status.ReadyReplicas < replicas(d) || len(r.pass.Causes[g.spec.Code]) > 0 || g.state == rolling {
		r.out.RequeueAfter(causeInterval) // pods are not watched
	}
}

// causeInterval is how often the pods of a region are asked why they are not ready.
const causeInterval = 5 * time.Second

func (r *run) setCondition(g *region, conditionType string, status metav1.ConditionStatus, reason v1alpha1.Reason, message string) {
	r.out.SetRegionCondition(g.spec.Code, conditionType, status, reason, message)
}

func (r *run) whyMissing(g *region) (v1alpha1.Reason, string) {
	if g.patchErr != nil {
		return v1alpha1.ReasonPatchRejected, "The Deployment cannot be created: " + g.patchErr.Error() + "."
	}
	if reason, when := r.blocked(g); reason != "" {
		return reason, "The Deployment is created " + when
	}
	return v1alpha1.ReasonProgressing, "The Deployment is being created."
}

// blocked returns why new pods of a region are not created yet, and when they are, as the end of a sentence. The reason is empty if
// they may be created.
func (r *run) blocked(g *region) (v1alpha1.Reason, string) {
	switch {
	case r.pass.SN.Spec.Paused:
		return v1alpha1.ReasonPausedBySpec, "when spec.paused is false."
	case !r.pass.SchemaReady:
		return v1alpha1.ReasonWaitingForSchema, "once the database is migrated."
	case !r.mayStart(g):
		return v1alpha1.ReasonWaitingForKeys, "once the missing keys are restored; see KeysReady."
	}
	return "", ""
}

func (r *run) setAvailable(g *region) {
	ready, wanted := g.live.Status.ReadyReplicas, replicas(g.live)
	if ready > 0 {
		reason, message := v1alpha1.ReasonServing, fmt.Sprintf("%d of %d pods are ready.", ready, wanted)
		if ready >= wanted {
			message = fmt.Sprintf("%d pods are ready.", ready)
		}
		cause, found := r.cause(g)
		switch {
		case found && (ready < wanted || cause.Ready):
			reason, message = v1alpha1.ReasonDegraded, strings.TrimSuffix(message, ".")+"; "+r.pass.Redact(cause.String())+"."
		case ready < wanted && g.state != rolling:
			reason = v1alpha1.ReasonDegraded
		}
		r.setCondition(g, v1alpha1.RegionAvailable, metav1.ConditionTrue, reason, message)
		return
	}
	reason, message := v1alpha1.ReasonNotServing, "No pod is ready."
	if g.state == rolling {
		reason = v1alpha1.ReasonProgressing
	}
	if cause, found := r.cause(g); found {
		reason, message = cause.Reason, "No pod is ready; "+r.pass.Redact(cause.String())+"."
	}
	r.setCondition(g, v1alpha1.RegionAvailable, metav1.ConditionFalse, reason, message)
}

// cause returns the first cause of the region's pods: of those that are not ready, if there are any.
func (r *run) cause(g *region) (stage.PodCause, bool) {
	causes := r.pass.Causes[g.spec.Code]
	if len(causes) == 0 {
		return stage.PodCause{}, false
	}
	return causes[0], true
}

func (r *run) setUpdated(g *region) {
	set := func(status metav1.ConditionStatus, reason v1alpha1.Reason, message string) {
		r.setCondition(g, v1alpha1.RegionUpdated, status, reason, message)
	}
	if g.patchErr != nil {
		set(metav1.ConditionFalse, v1alpha1.ReasonPatchRejected, "The pods stay as they are: "+g.patchErr.Error()+".")
		return
	}
	paused := r.pass.SN.Spec.Paused
	switch g.state {
	case outdated:
		switch reason, when := r.blocked(g); {
		case reason != "":
			set(metav1.ConditionFalse, reason, "The pods are replaced "+when)
		case r.hold.Reason != "":
			set(metav1.ConditionFalse, r.hold.Reason, r.hold.Message)
		default:
			set(metav1.ConditionFalse, v1alpha1.ReasonWaitingForRegion, "Another region is updated first.")
		}
	case drifted:
		reason, when := v1alpha1.ReasonTemplateDrift, "when it is the region's turn"
		if paused {
			reason, when = v1alpha1.ReasonPausedBySpec, "when spec.paused is false"
		}
		set(metav1.ConditionFalse, reason, fmt.Sprintf("The pod template was edited by hand at %s; it is restored %s.", g.drift, when))
	case stuck:
		why := cmp.Or(condition(g.live, appsv1.DeploymentProgressing).Message, "the Deployment gives no reason")
		if cause, found := r.cause(g); found && !cause.Ready {
			why = r.pass.Redact(cause.String()) + "."
		}
		set(metav1.ConditionFalse, v1alpha1.ReasonRolloutStopped, "The new pods did not become ready in time: "+why)
	case degraded, soaking, complete:
		set(metav1.ConditionTrue, v1alpha1.ReasonUpToDate, "All pods have the newest template.")
		if g.state == soaking {
			r.out.RequeueAfter(min(errorInterval, soak(r.pass.SN)-r.pass.Now.Sub(g.since)+100*time.Millisecond))
		}
	case missing, rolling:
		s, reason := g.live.Status, v1alpha1.ReasonProgressing
		message := fmt.Sprintf("%d of %d pods have the newest template", s.UpdatedReplicas, max(s.Replicas, s.UpdatedReplicas))
		if cause, found := r.cause(g); found && !cause.Ready {
			reason, message = cause.Reason, message+"; "+r.pass.Redact(cause.String())
		}
		set(metav1.ConditionFalse, reason, message+".")
	}
}

// summarize sets the network's condition from the states of the regions.
func (r *run) summarize() {
	var stopped, pending, keyless []v1alpha1.RegionCode
	for _, g := range r.regions {
		if g.spec.EvacuateTo != "" {
			continue
		}
		switch g.state {
		case stuck:
			stopped = append(stopped, g.spec.Code)
		case degraded, soaking, complete:
		case missing, outdated, drifted, rolling:
			pending = append(pending, g.spec.Code)
			if r.pass.SchemaReady && !r.mayStart(g) {
				keyless = append(keyless, g.spec.Code)
			}
		}
	}
	no := func(reason v1alpha1.Reason, format string, codes []v1alpha1.RegionCode) {
		r.out.SetCondition(metav1.ConditionFalse, reason, fmt.Sprintf(format, stage.JoinNames(codes)))
	}
	switch {
	case r.summarizeAs(metav1.ConditionFalse, v1alpha1.RegionAvailable):
	case len(stopped) > 0:
		_, why := r.regionsWith(v1alpha1.RegionUpdated, v1alpha1.ReasonRolloutStopped)
		no(v1alpha1.ReasonRolloutStopped, "The new pods in %s did not become ready; no further region is updated. ", stopped)
		r.out.Message = strings.TrimSpace(r.out.Message + why)
	case r.summarizeAs(metav1.ConditionFalse, v1alpha1.RegionUpdated):
	case r.pass.SN.Spec.Paused && len(pending) > 0:
		no(v1alpha1.ReasonPausedBySpec, "The pods in %s are updated when spec.paused is false.", pending)
	case !r.pass.SchemaReady && len(pending) > 0:
		no(v1alpha1.ReasonWaitingForSchema, "The update of %s waits for the database migration.", pending)
	case len(keyless) > 0:
		no(v1alpha1.ReasonWaitingForKeys, "The update of %s waits for the missing keys; see KeysReady.", keyless)
	case r.hold.Reason != "":
		r.out.SetCondition(metav1.ConditionFalse, r.hold.Reason, r.hold.Message)
	case len(pending) > 0:
		no(v1alpha1.ReasonProgressing, "The update of %s is in progress.", pending)
	case r.pass.Unusable() != nil:
		r.out.SetCondition(metav1.ConditionUnknown, r.pass.Unusable().Reason, r.pass.Unusable().Message)
	case r.summarizeAs(metav1.ConditionTrue, v1alpha1.RegionAvailable):
	case len(r.evacuated()) > 0:
		r.out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonEvacuated,
			"Other regions serve "+stage.JoinNames(r.evacuated())+", as spec.regions[].evacuateTo says; the pods of the others are ready.")
	default:
		r.out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonServing, "The pods of every region are ready.")
	}
}

// evacuated returns the evacuated regions.
func (r *run) evacuated() []v1alpha1.RegionCode {
	var codes []v1alpha1.RegionCode
	for i := range r.pass.SN.Spec.Regions {
		if region := &r.pass.SN.Spec.Regions[i]; region.EvacuateTo != "" {
			codes = append(codes, region.Code)
		}
	}
	return codes
}

// causes are the reasons of a region's conditions that say more than that the region is being updated.
var causes = []v1alpha1.Reason{
	v1alpha1.ReasonPodCrashing, v1alpha1.ReasonDatabaseOutOfConnections, v1alpha1.ReasonDatabaseUnreachable,
	v1alpha1.ReasonPodNotStarted, v1alpha1.ReasonPatchRejected, v1alpha1.ReasonServerNotReady, v1alpha1.ReasonNotServing,
	v1alpha1.ReasonDegraded,
}

// summarizeAs sets the network's condition to status with the first cause that a condition of the regions has, and reports
// whether one has.
func (r *run) summarizeAs(status metav1.ConditionStatus, conditionType string) bool {
	for _, reason := range causes {
		if codes, why := r.regionsWith(conditionType, reason); len(codes) > 0 &&
			(reason == v1alpha1.ReasonDegraded) == (status == metav1.ConditionTrue) {
			r.out.SetCondition(status, reason, fmt.Sprintf("%s: %s", stage.JoinNames(codes), why))
			return true
		}
	}
	return false
}

// regionsWith returns the regions, apart from evacuated ones, whose condition has a reason, and the message of the first.
func (r *run) regionsWith(conditionType string, reason v1alpha1.Reason) ([]v1alpha1.RegionCode, string) {
	var codes []v1alpha1.RegionCode
	message := ""
	for _, g := range r.regions {
		if c := meta.FindStatusCondition(r.out.Regions[g.spec.Code], conditionType); c != nil && c.Reason == string(reason) &&
			g.spec.EvacuateTo == "" {
			codes, message = append(codes, g.spec.Code), cmp.Or(message, c.Message)
		}
	}
	return codes, message
}

// versionsOf returns the versions that a region's servers report, in the order of the pods.
func versionsOf(reports []stage.ServerReport) string {
	var versions []string
	for _, report := range reports {
		if v := report.Status.Version; report.Err == nil && v != "" && !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	return strings.Join(versions, ",")
}
