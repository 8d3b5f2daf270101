package controllers

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// tell fills in the part of the status that speaks of the region.
func (Regions) tell(w *World, out *Outcome, r *roll) {
	status := w.Region(r.region.Code)
	status.Endpoint = endpoint(r.region)
	status.Version = versionsOf(w.Reports[r.region.Code])
	if r.live == nil {
		status.Image, status.Replicas, status.ReadyReplicas, status.ConfigurationHash = "", 0, 0, ""
		reason, message := v1alpha1.ReasonProgressing, "The deployment is being made."
		switch {
		case w.SN.Spec.Paused:
			reason, message = v1alpha1.ReasonPausedBySpec, "The deployment is made when spec.paused is false."
		case !w.SchemaReady:
			reason, message = v1alpha1.ReasonWaitingForSchema, "The deployment is made once the database is migrated."
		}
		out.RegionCondition(r.region.Code, v1alpha1.RegionAvailable, metav1.ConditionFalse, reason, message)
		out.RegionCondition(r.region.Code, v1alpha1.RegionUpdated, metav1.ConditionFalse, reason, message)
		return
	}
	d := r.live
	for _, c := range d.Spec.Template.Spec.Containers {
		if c.Name == render.ContainerName {
			status.Image = c.Image
		}
	}
	status.ConfigurationHash = d.Spec.Template.Annotations[render.AnnotationConfiguration]
	status.ReadyReplicas, status.Replicas = d.Status.ReadyReplicas, 0
	if d.Spec.Replicas != nil {
		status.Replicas = *d.Spec.Replicas
	}
	tellAvailable(out, r)
	tellUpdated(w, out, r)
}

func tellAvailable(out *Outcome, r *roll) {
	d := r.live
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentAvailable && c.Status == corev1.ConditionTrue && d.Status.ReadyReplicas > 0 {
			message := fmt.Sprintf("%d pods are ready.", d.Status.ReadyReplicas)
			out.RegionCondition(r.region.Code, v1alpha1.RegionAvailable, metav1.ConditionTrue, v1alpha1.ReasonServing, message)
			return
		}
	}
	message := fmt.Sprintf("%d pods are ready, too few to serve.", d.Status.ReadyReplicas)
	reason := v1alpha1.ReasonNotServing
	if r.state == rolling && d.Status.ReadyReplicas == 0 {
		reason = v1alpha1.ReasonProgressing
	}
	out.RegionCondition(r.region.Code, v1alpha1.RegionAvailable, metav1.ConditionFalse, reason, message)
}

func tellUpdated(w *World, out *Outcome, r *roll) {
	say := func(status metav1.ConditionStatus, reason v1alpha1.Reason, message string) {
		out.RegionCondition(r.region.Code, v1alpha1.RegionUpdated, status, reason, message)
	}
	switch r.state {
	case outdated:
		reason, message := v1alpha1.ReasonWaitingForRegion, "Another region rolls first."
		switch {
		case w.SN.Spec.Paused:
			reason, message = v1alpha1.ReasonPausedBySpec, "The pods are renewed when spec.paused is false."
		case !w.SchemaReady:
			reason, message = v1alpha1.ReasonWaitingForSchema, "The pods are renewed once the database is migrated."
		}
		say(metav1.ConditionFalse, reason, message)
	case drifted:
		reason, message := v1alpha1.ReasonTemplateDrift, fmt.Sprintf("The pods' template was changed by hand at %s; it is put back in the region's turn.", r.drift)
		if w.SN.Spec.Paused {
			reason, message = v1alpha1.ReasonPausedBySpec, fmt.Sprintf("The pods' template was changed by hand at %s; it is put back when spec.paused is false.", r.drift)
		}
		say(metav1.ConditionFalse, reason, message)
	case stuck:
		say(metav1.ConditionFalse, v1alpha1.ReasonRolloutStopped, "The newest pods did not become ready in time: "+progressMessage(r.live))
	case degraded, soaking, settled:
		say(metav1.ConditionTrue, v1alpha1.ReasonUpToDate, "Every pod is of the newest template.")
		if r.state == soaking {
			out.Within(soak(w.SN) - w.Now.Sub(r.since) + 100*time.Millisecond)
		}
	case missing, rolling:
		say(metav1.ConditionFalse, v1alpha1.ReasonProgressing, fmt.Sprintf("%d of %d pods are of the newest template.", r.live.Status.UpdatedReplicas, max(r.live.Status.Replicas, r.live.Status.UpdatedReplicas)))
	}
}

func progressMessage(d *appsv1.Deployment) string {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing {
			return c.Message
		}
	}
	return "no reason was given"
}

// sum makes the network's condition of the regions' states.
func (Regions) sum(w *World, out *Outcome, rolls []*roll) {
	var stopped, late, down []string
	for _, r := range rolls {
		code := string(r.region.Code)
		for _, c := range out.Regions[r.region.Code] {
			if c.Type == v1alpha1.RegionAvailable && c.Status != metav1.ConditionTrue {
				down = append(down, code)
			}
		}
		switch r.state {
		case stuck:
			stopped = append(stopped, code)
		case degraded, soaking, settled:
		case missing, outdated, drifted, rolling:
			late = append(late, code)
		}
	}
	switch {
	case len(stopped) > 0:
		out.Say(metav1.ConditionFalse, v1alpha1.ReasonRolloutStopped, fmt.Sprintf("The newest pods of %s did not become ready; no further region rolls.", strings.Join(stopped, ", ")))
	case w.SN.Spec.Paused && len(late) > 0:
		out.Say(metav1.ConditionFalse, v1alpha1.ReasonPausedBySpec, fmt.Sprintf("%s get the newest template when spec.paused is false.", strings.Join(late, ", ")))
	case !w.SchemaReady && len(late) > 0:
		out.Say(metav1.ConditionFalse, v1alpha1.ReasonWaitingForSchema, fmt.Sprintf("%s wait for the database to be migrated.", strings.Join(late, ", ")))
	case len(down) > 0 && len(late) == 0:
		out.Say(metav1.ConditionFalse, v1alpha1.ReasonNotServing, fmt.Sprintf("Too few pods of %s are ready.", strings.Join(down, ", ")))
	case len(late) > 0:
		out.Say(metav1.ConditionFalse, v1alpha1.ReasonProgressing, fmt.Sprintf("%s are on their way to the newest template.", strings.Join(late, ", ")))
	default:
		out.Say(metav1.ConditionTrue, v1alpha1.ReasonServing, "Every region has its pods ready.")
	}
}

// endpoint is the address of a region's API. An Ingress without a certificate speaks HTTP; otherwise TLS is ended there, or
// by whatever stands in front of the Service.
func endpoint(r *v1alpha1.Region) string {
	if r.Ingress != nil && r.Ingress.TLSSecretName == "" {
		return "http://" + r.Host
	}
	return "https://" + r.Host
}

// versionsOf are the versions that a region's servers report, in the order of the pods.
func versionsOf(reports []Report) string {
	var versions []string
	seen := map[string]bool{}
	for _, report := range reports {
		if v := report.Status.Version; report.Err == nil && v != "" && !seen[v] {
			seen[v] = true
			versions = append(versions, v)
		}
	}
	return strings.Join(versions, ",")
}
