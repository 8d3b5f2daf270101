// Package evacuation is the stage that lets the servers of a region accept the server keys of regions that are evacuated to it, and
// do their background work. Package render directs the hosts of those regions to it.
package evacuation

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/auth"
)

// readInterval is how often servers are asked until all of them have read the Secret.
const readInterval = 5 * time.Second

// Stage applies evacuations.
type Stage struct{}

// Condition returns EvacuationsApplied.
func (Stage) Condition() string { return v1alpha1.ConditionEvacuationsApplied }

// run is one run of the stage.
type run struct {
	pass *stage.Pass
	out  stage.Outcome
	keys map[v1alpha1.RegionCode]regionKeys
	// applied are the regions that are evacuated, problems why others are not yet.
	applied  []string
	problems []stage.Problem
}

// Run records the digests of server keys, and applies a Secret for each region to which others are evacuated.
func (Stage) Run(ctx context.Context, p *stage.Pass) stage.Outcome {
	r := &run{pass: p, keys: map[v1alpha1.RegionCode]regionKeys{}}
	if err := r.readKeys(ctx); err != nil {
		return stage.Unknown(v1alpha1.ReasonApplyFailed, err.Error())
	}
	for i := range p.SN.Spec.Regions {
		r.evacuateTo(p.SN.Spec.Regions[i].Code)
	}
	for i := range p.SN.Spec.Regions {
		r.report(&p.SN.Spec.Regions[i])
	}
	r.summarize()
	return r.out
}

// evacuateTo applies the Secret that the servers of a region read, if regions are evacuated to it. Once it is applied, it is kept up
// to date even while the network is paused, because keys may be revoked. The stage sweep deletes it afterwards.
func (r *run) evacuateTo(code v1alpha1.RegionCode) {
	var file auth.EvacuationFile
	isApplied := false
	for _, region := range r.pass.SN.Spec.Regions {
		if region.EvacuateTo == code {
			file.Regions = append(file.Regions, r.keys[region.Code].region(region.Code))
			isApplied = isApplied || r.isRead(region.Code, code)
		}
	}
	cluster := r.pass.ClusterOf(code)
	if len(file.Regions) == 0 || !cluster.IsUsable() {
		return
	}
	secret := object(cluster, render.EvacuationSecret(r.pass.SN.Name, code), render.RegionLabels(r.pass.SN.Name, render.ComponentKeys, code))
	secret.Data = map[string][]byte{render.EvacuationFile: file.Content()}
	r.out.Apply(stage.Desired{Object: secret, Cluster: cluster, IgnorePause: isApplied})
}

// object returns a Secret that is deleted together with the network.
func object(c *stage.Cluster, name string, labels map[string]string) *corev1.Secret {
	labels[render.LabelWatched] = "true"
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.Namespace(), Labels: labels},
		Type:       corev1.SecretTypeOpaque,
	}
	c.Network.SetOwner(&secret.ObjectMeta)
	return secret
}

// report sets the condition Evacuated of a region, or removes it from a region that is not evacuated.
func (r *run) report(region *v1alpha1.Region) {
	status := r.pass.Region(region.Code)
	if status.EvacuatedTo = region.EvacuateTo; region.EvacuateTo == "" {
		r.reportReturn(region.Code)
		return
	}
	reason, message := r.progress(region)
	condition := reason.Status()
	if reason == v1alpha1.ReasonEvacuated {
		condition = metav1.ConditionTrue
		r.applied = append(r.applied, message)
	} else {
		r.problems = append(r.problems, stage.Problem{Reason: reason, Message: message})
		if !reason.IsUnknown() {
			r.out.RequeueAfter(readInterval)
		}
	}
	r.out.SetRegionCondition(region.Code, v1alpha1.RegionEvacuated, condition, reason, message)
}

// progress returns how far the evacuation of a region is.
func (r *run) progress(region *v1alpha1.Region) (v1alpha1.Reason, string) {
	from, to := region.Code, region.EvacuateTo
	cluster, keys, reports := r.pass.ClusterOf(to), r.keys[from], r.pass.Reports[to]
	if !cluster.IsUsable() {
		return cluster.Reason, cluster.Message
	}
	if r.pass.SN.Spec.Paused && !r.isRead(from, to) {
		return v1alpha1.ReasonPausedBySpec, fmt.Sprintf("%s is evacuated to %s when spec.paused is false.", from, to)
	}
	if len(reports) == 0 {
		return v1alpha1.ReasonNoServers, fmt.Sprintf("No server of %s is ready, to which %s is evacuated.", to, from)
	}
	for _, report := range reports {
		switch {
		case report.Err != nil:
			return v1alpha1.ReasonServersSilent, fmt.Sprintf("Pod %s of %s: %s.", report.Pod, to, report.Err)
		case !report.Status.Evacuated.Has(string(from), keys.ids()):
			return v1alpha1.ReasonEvacuationStarting, fmt.Sprintf("Pod %s of %s does not work for %s yet.", report.Pod, to, from)
		}
	}
	if keys.missing != "" {
		return v1alpha1.ReasonEvacuationKeysUnknown,
			fmt.Sprintf("%s serves the hosts of %s, but does not know its server keys: %s.", to, from, keys.missing)
	}
	return v1alpha1.ReasonEvacuated, fmt.Sprintf("%s serves the hosts of %s, accepts its server keys and does its background work.", to, from)
}

// isRead reports whether a server of a region has read that another one is evacuated to it.
func (r *run) isRead(from, to v1alpha1.RegionCode) bool {
	return slices.ContainsFunc(r.pass.Reports[to], func(report stage.ServerReport) bool {
		return report.Status.Evacuated.Has(string(from), nil)
	})
}

// reportReturn reports the servers that still work for a region that is not evacuated any more.
func (r *run) reportReturn(code v1alpha1.RegionCode) {
	status := r.pass.Region(code)
	for i := range r.pass.SN.Spec.Regions {
		if other := r.pass.SN.Spec.Regions[i].Code; r.isRead(code, other) {
			message := fmt.Sprintf("Servers of %s still work for %s, which is not evacuated any more.", other, code)
			r.out.SetRegionCondition(code, v1alpha1.RegionEvacuated, metav1.ConditionFalse, v1alpha1.ReasonEvacuationEnding, message)
			r.problems = append(r.problems, stage.Problem{Reason: v1alpha1.ReasonEvacuationEnding, Message: message})
			r.out.RequeueAfter(readInterval)
			return
		}
	}
	if before := meta.FindStatusCondition(status.Conditions, v1alpha1.RegionEvacuated); before != nil {
		r.out.Events = append(r.out.Events, stage.Event{
			Reason: v1alpha1.ReasonNoEvacuation, Message: fmt.Sprintf("region %s is not evacuated any more", code),
		})
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.RegionEvacuated)
	}
}

// summarize sets the condition: the first problem that needs attention, otherwise the first.
func (r *run) summarize() {
	switch first := stage.First(r.problems, v1alpha1.Reason.NeedsAttention); {
	case first != nil:
		r.out.SetCondition(first.Reason.Status(), first.Reason, first.Message)
	case len(r.applied) > 0:
		r.out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonEvacuated, r.applied[0])
	default:
		r.out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonNoEvacuation, "No region is evacuated.")
	}
}
