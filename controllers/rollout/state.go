package rollout

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// defaultSoak is how long a region must be ready before the next one is updated, if the spec does not set it.
const defaultSoak = 30 * time.Second

// state is the progress of a region towards the pod template of the spec.
type state int

const (
	missing  state = iota // the Deployment does not exist
	outdated              // it has another template
	drifted               // it had the template, which was then edited by hand
	rolling               // it has the template, and not all pods are ready
	stuck                 // as rolling, and the progress deadline has passed
	soaking               // all pods are ready, but not for long enough
	degraded              // the rollout completed, and pods became unready afterwards
	complete              // all pods are ready and have been for the soak time
)

// hasTemplate reports whether a region's Deployment has the template of the spec, or had it before it was edited by hand.
func (g *region) hasTemplate() bool { return g.state != missing && g.state != outdated }

// isRolling reports whether a region has the template, and is not known to keep it: its pods are being replaced, or were a moment ago.
func (g *region) isRolling() bool {
	return g.state == rolling || g.state == stuck || g.state == soaking
}

func (g *region) isEvacuated() bool { return g.spec.EvacuateTo != "" }

func (r *run) stateOf(code v1alpha1.RegionCode, live *appsv1.Deployment, hash string) (state, time.Time) {
	if live.Annotations[render.AnnotationTemplate] != hash {
		return outdated, time.Time{}
	}
	if !IsComplete(live) {
		switch reason := progressReason(live); {
		case reason == "ProgressDeadlineExceeded":
			return stuck, time.Time{}
		case reason == "NewReplicaSetAvailable" && allUpdated(live):
			return degraded, time.Time{}
		}
		return rolling, time.Time{}
	}
	since := r.pass.Now
	if c := meta.FindStatusCondition(r.pass.Region(code).Conditions, v1alpha1.RegionUpdated); c != nil && c.Status == metav1.ConditionTrue {
		since = c.LastTransitionTime.Time
	}
	if r.pass.Now.Sub(since) < soak(r.pass.SN) {
		return soaking, since
	}
	return complete, since
}

func soak(sn *v1alpha1.SocialNetwork) time.Duration { return sn.Spec.Rollout.Soak.Or(defaultSoak) }

// IsComplete reports whether the rollout of a Deployment is complete: all replicas have the newest template and are
// available, and no older pods are left.
func IsComplete(d *appsv1.Deployment) bool {
	return allUpdated(d) && d.Status.AvailableReplicas >= replicas(d)
}

// allUpdated reports whether all replicas have the newest template, ready or not, and no older pods are left.
func allUpdated(d *appsv1.Deployment) bool {
	s := d.Status
	return s.ObservedGeneration >= d.Generation && s.UpdatedReplicas >= replicas(d) && s.Replicas == s.UpdatedReplicas
}

func replicas(d *appsv1.Deployment) int32 { return ptr.Deref(d.Spec.Replicas, 1) }

// condition returns a condition of a Deployment; it is empty if there is none.
func condition(d *appsv1.Deployment, kind appsv1.DeploymentConditionType) appsv1.DeploymentCondition {
	for _, c := range d.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return appsv1.DeploymentCondition{}
}

// progressReason returns the reason of the Deployment's Progressing condition, or "" if it is of an older template.
func progressReason(d *appsv1.Deployment) string {
	if d.Status.ObservedGeneration < d.Generation {
		return ""
	}
	return condition(d, appsv1.DeploymentProgressing).Reason
}

// hasUnavailable reports whether a Deployment has fewer available pods than replicas. During a rollout with maxUnavailable 0
// it never has.
func hasUnavailable(d *appsv1.Deployment) bool { return d.Status.AvailableReplicas < replicas(d) }
