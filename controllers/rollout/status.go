package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
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
	status.Endpoint = endpoint(g.spec)
	status.Version = versionsOf(r.pass.Reports[g.spec.Code])
	if g.live == nil {
		status.Image, status.Replicas, status.ReadyReplicas, status.ConfigurationHash = "", 0, 0, ""
		reason, message := r.whyMissing()
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
}

func (r *run) setCondition(g *region, conditionType string, status metav1.ConditionStatus, reason v1alpha1.Reason, message string) {
	r.out.SetRegionCondition(g.spec.Code, conditionType, status, reason, message)
}

func (r *run) whyMissing() (v1alpha1.Reason, string) {
	switch {
	case r.pass.SN.Spec.Paused:
		return v1alpha1.ReasonPausedBySpec, "The Deployment is created when spec.paused is false."
	case !r.pass.SchemaReady:
		return v1alpha1.ReasonWaitingForSchema, "The Deployment is created once the database is migrated."
	default:
		return v1alpha1.ReasonProgressing, "The Deployment is being created."
	}
}

func (r *run) setAvailable(g *region) {
	ready := g.live.Status.ReadyReplicas
	if ready > 0 && condition(g.live, appsv1.DeploymentAvailable).Status == corev1.ConditionTrue {
		r.setCondition(g, v1alpha1.RegionAvailable, metav1.ConditionTrue, v1alpha1.ReasonServing, fmt.Sprintf("%d pods are ready.", ready))
		return
	}
	reason := v1alpha1.ReasonNotServing
	if g.state == rolling && ready == 0 {
		reason = v1alpha1.ReasonProgressing
	}
	r.setCondition(g, v1alpha1.RegionAvailable, metav1.ConditionFalse, reason, fmt.Sprintf("%d pods are ready, which is too few.", ready))
}

func (r *run) setUpdated(g *region) {
	set := func(status metav1.ConditionStatus, reason v1alpha1.Reason, message string) {
		r.setCondition(g, v1alpha1.RegionUpdated, status, reason, message)
	}
	paused := r.pass.SN.Spec.Paused
	switch g.state {
	case outdated:
		switch {
		case paused:
			set(metav1.ConditionFalse, v1alpha1.ReasonPausedBySpec, "The pods are replaced when spec.paused is false.")
		case !r.pass.SchemaReady:
			set(metav1.ConditionFalse, v1alpha1.ReasonWaitingForSchema, "The pods are replaced once the database is migrated.")
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
		set(metav1.ConditionFalse, v1alpha1.ReasonRolloutStopped, "The new pods did not become ready in time: "+
			cmp.Or(condition(g.live, appsv1.DeploymentProgressing).Message, "the Deployment gives no reason"))
	case degraded, soaking, complete:
		set(metav1.ConditionTrue, v1alpha1.ReasonUpToDate, "All pods have the newest template.")
		if g.state == soaking {
			r.out.RequeueAfter(soak(r.pass.SN) - r.pass.Now.Sub(g.since) + 100*time.Millisecond)
		}
	case missing, rolling:
		s := g.live.Status
		set(metav1.ConditionFalse, v1alpha1.ReasonProgressing, fmt.Sprintf("%d of %d pods have the newest template.", s.UpdatedReplicas, max(s.Replicas, s.UpdatedReplicas)))
	}
}

// summarize sets the network's condition from the states of the regions.
func (r *run) summarize() {
	var stopped, pending, unavailable []v1alpha1.RegionCode
	for _, g := range r.regions {
		code := g.spec.Code
		if meta.IsStatusConditionFalse(r.out.Regions[code], v1alpha1.RegionAvailable) {
			unavailable = append(unavailable, code)
		}
		switch g.state {
		case stuck:
			stopped = append(stopped, code)
		case degraded, soaking, complete:
		case missing, outdated, drifted, rolling:
			pending = append(pending, code)
		}
	}
	no := func(reason v1alpha1.Reason, format string, codes []v1alpha1.RegionCode) {
		r.out.SetCondition(metav1.ConditionFalse, reason, fmt.Sprintf(format, stage.JoinNames(codes)))
	}
	switch {
	case len(stopped) > 0:
		no(v1alpha1.ReasonRolloutStopped, "The new pods in %s did not become ready; no further region is updated.", stopped)
	case r.pass.SN.Spec.Paused && len(pending) > 0:
		no(v1alpha1.ReasonPausedBySpec, "The pods in %s are updated when spec.paused is false.", pending)
	case !r.pass.SchemaReady && len(pending) > 0:
		no(v1alpha1.ReasonWaitingForSchema, "The update of %s waits for the database migration.", pending)
	case len(pending) > 0:
		no(v1alpha1.ReasonProgressing, "The update of %s is in progress.", pending)
	case len(unavailable) > 0:
		no(v1alpha1.ReasonNotServing, "Too few pods are ready in %s.", unavailable)
	default:
		r.out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonServing, "The pods of every region are ready.")
	}
}

// endpoint returns the address of a region's API. An Ingress without a certificate serves HTTP; otherwise TLS ends there, or
// at whatever routes to the Service.
func endpoint(r *v1alpha1.Region) string {
	if r.Ingress != nil && r.Ingress.TLSSecretName == "" {
		return "http://" + r.Host
	}
	return "https://" + r.Host
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
