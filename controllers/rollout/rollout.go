// Package rollout is the stage that runs one Deployment per region and rolls a change of the pod template out region by
// region.
package rollout

import (
	"context"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// defaultSoak is how long a region must be ready before the next one is updated, if the spec does not set it.
const defaultSoak = 30 * time.Second

// prunedTemplate is the part of a Deployment from which additions by hand are removed. The annotations of the template are not
// part of it: kubectl rollout restart adds one.
var prunedTemplate = []string{"spec", "template", "spec"}

// Stage applies the objects of the regions.
type Stage struct{}

// Condition returns RegionsAvailable.
func (Stage) Condition() string { return v1alpha1.ConditionRegionsAvailable }

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

// region is the state of a region's Deployment in one pass.
type region struct {
	spec     *v1alpha1.Region
	cluster  *stage.Cluster
	desired  *appsv1.Deployment
	live     *appsv1.Deployment // nil if it does not exist
	uncached *appsv1.Deployment // live as read from the API server, if its replicas are handed over to an autoscaler
	state    state
	since    time.Time // when all pods became ready
	drift    string    // path of the field of the template that was edited by hand
	patchErr error     // why the template of the spec cannot be rendered, or nil
}

// run is one run of the stage.
type run struct {
	pass    *stage.Pass
	out     stage.Outcome
	regions []*region
	hold    stage.Hold // why the update of a region that waits may not begin
}

// Run applies the objects of every region and updates as many pod templates as the spec allows.
func (Stage) Run(ctx context.Context, p *stage.Pass) stage.Outcome {
	if p.Network.NetworkID == "" {
		return stage.False(v1alpha1.ReasonWaitingForKeys, "The regions wait for the network's identity; see KeysReady.")
	}
	if p.Refused != "" {
		return stage.False(v1alpha1.ReasonNotAllowed, p.Refused)
	}
	r := &run{pass: p}
	for i := range p.SN.Spec.Regions {
		spec := &p.SN.Spec.Regions[i]
		cluster := p.ClusterOf(spec.Code)
		if !cluster.IsUsable() {
			r.skip(spec.Code, cluster)
			continue
		}
		for _, object := range render.RegionObjects(cluster.Network, spec) {
			switch object.(type) {
			case *corev1.ConfigMap: // belongs to the pod template
			case *corev1.Service:
				r.out.Apply(stage.Desired{Object: object, Region: spec.Code, Prune: []string{"spec", "ports"}})
			default:
				r.out.Apply(stage.Desired{Object: object, Region: spec.Code})
			}
		}
		region, err := r.read(ctx, spec, cluster)
		if err != nil {
			r.out.SetCondition(metav1.ConditionUnknown, v1alpha1.ReasonApplyFailed, "The Deployments could not be read: "+err.Error())
			return r.out
		}
		r.regions = append(r.regions, region)
	}
	r.applyStandIns()
	r.applyDeployments()
	for _, region := range r.regions {
		r.setStatus(region)
		r.setRouted(ctx, region)
	}
	r.summarize()
	return r.out
}

// applyStandIns applies the objects with which regions serve the hosts of regions that are evacuated to them from another namespace.
func (r *run) applyStandIns() {
	for _, c := range r.pass.Usable() {
		for _, evacuated := range c.Network.StandIns() {
			for _, object := range render.StandInObjects(c.Network, evacuated) {
				r.out.Apply(stage.Desired{Object: object, Cluster: c, Region: evacuated.EvacuateTo})
			}
		}
	}
}

// skip reports that the cluster of a region cannot be used. The rest of the region's status stays as it was.
func (r *run) skip(code v1alpha1.RegionCode, c *stage.Cluster) {
	r.out.SetRegionCondition(code, v1alpha1.RegionAvailable, metav1.ConditionUnknown, c.Reason, c.Message)
	r.out.SetRegionCondition(code, v1alpha1.RegionUpdated, metav1.ConditionUnknown, c.Reason, c.Message)
	r.pass.Region(code).Cluster = c.Name
}

// read reads a region's Deployment and determines its state.
func (r *run) read(ctx context.Context, spec *v1alpha1.Region, c *stage.Cluster) (*region, error) {
	g := &region{spec: spec, cluster: c, desired: render.Deployment(c.Network, spec), patchErr: render.PatchError(c.Network, spec)}
	hash := render.TemplateHash(g.desired)
	if g.desired.Annotations == nil {
		g.desired.Annotations = map[string]string{}
	}
	g.desired.Annotations[render.AnnotationTemplate] = hash
	var live appsv1.Deployment
	err := c.Cache.Get(ctx, client.ObjectKeyFromObject(g.desired), &live)
	if apierrors.IsNotFound(err) {
		return g, nil
	}
	if err != nil {
		return nil, err
	}
	g.live = &live
	if g.drift, err = apply.LostField(&live, g.desired, apply.Manager, "spec", "template"); err != nil {
		return nil, err
	}
	if g.drift == "" {
		added, err := apply.Added(&live, apply.Manager, prunedTemplate...)
		if err != nil {
			return nil, err
		}
		if len(added) > 0 {
			g.drift = added[0]
		}
	}
	if g.state, g.since = r.stateOf(spec.Code, &live, hash); g.state != outdated && g.drift != "" {
		g.state = drifted
	}
	return g, r.readUncached(ctx, g)
}

// readUncached reads the Deployment from the API server if its replicas are handed over to an autoscaler: the number that
// is handed over must be the current one.
func (r *run) readUncached(ctx context.Context, g *region) error {
	if g.spec.Autoscaling == nil || r.pass.SN.Spec.Paused || !ownsReplicas(g.live) {
		return nil
	}
	g.uncached = &appsv1.Deployment{}
	return client.IgnoreNotFound(g.cluster.APIReader.Get(ctx, client.ObjectKeyFromObject(g.live), g.uncached))
}

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

// applyDeployments adds the Deployments: with the template of the spec where it may be applied now, otherwise with the live
// template, so that for example the number of replicas can change while a rollout is stopped.
func (r *run) applyDeployments() {
	update := r.templateUpdates()
	for _, g := range r.regions {
		update[g] = update[g] && g.patchErr == nil
		configMap := stage.Desired{Object: render.ConfigMap(g.cluster.Network, g.spec), Region: g.spec.Code}
		if update[g] {
			prerequisites := append([]stage.Desired{configMap}, replicasHandover(g)...)
			r.out.Apply(stage.Desired{Object: g.desired, Mode: g.lock(), Region: g.spec.Code, Prerequisites: prerequisites, Prune: prunedTemplate})
			if (g.state == outdated || g.state == drifted) && !r.pass.SN.Spec.Paused {
				g.state = rolling
			}
			continue
		}
		if g.state == drifted { // the ConfigMap belongs to the template that is restored later
			r.out.Apply(configMap)
		}
		if held := withLiveTemplate(g); held != nil {
			r.out.Apply(stage.Desired{Object: held, Mode: apply.Locked, Region: g.spec.Code, Prerequisites: replicasHandover(g)})
		}
	}
}

// lock returns how the Deployment is applied. If it has the template already, it is applied only to the version that was read: an edit by
// hand since then waits for the region's turn.
func (g *region) lock() apply.Mode {
	if g.state == missing || g.state == outdated || g.state == drifted {
		return apply.Converge
	}
	g.desired.SetResourceVersion(g.live.ResourceVersion)
	return apply.Locked
}

// templateUpdates returns the regions whose template may be applied now. A region that is new or evacuated, or has the template
// already, always may; one with another template may if spec.rollout.maxRegionsRolling allows one more region to roll. Regions with
// unavailable pods come first, so that a fix reaches them before it reaches healthy regions.
//
// A template that was edited by hand is restored in the same order: if the edit was made for a good reason, only one region
// suffers. But a region that has unavailable pods since gets its template back immediately, regardless of the other regions
// and of the schema: its template has run before.
func (r *run) templateUpdates() map[*region]bool {
	update := map[*region]bool{}
	paused := r.pass.SN.Spec.Paused
	slots := int(max(r.pass.SN.Spec.Rollout.MaxRegionsRolling, 1))
	if paused { // the changes are only listed
		slots = len(r.regions)
	}
	var waiting []*region
	for _, g := range r.regions {
		if g.spec.EvacuateTo != "" { // no other region waits for it
			update[g] = r.mayStart(g) || paused || (g.state != missing && g.state != outdated)
			continue
		}
		switch g.state {
		case missing:
			update[g] = r.mayStart(g) || paused
		case outdated:
			waiting = append(waiting, g)
		case drifted:
			if update[g] = hasUnavailable(g.live); update[g] {
				slots--
			} else {
				waiting = append(waiting, g)
			}
		case rolling, stuck, degraded, soaking:
			if g.state != degraded {
				r.pass.UpdateInProgress()
			}
			update[g] = true
			slots--
		case complete:
			update[g] = true
		}
	}
	waiting = slices.DeleteFunc(waiting, func(g *region) bool { return !r.mayStart(g) && !paused })
	if slots <= 0 && len(waiting) > 0 { // the requests that fail are reported before the region has soaked
		r.hold = r.failing()
		r.out.RequeueAfter(r.hold.Again)
	}
	slices.SortStableFunc(waiting, func(a, b *region) int { return priority(a) - priority(b) })
	for _, g := range waiting[:min(max(slots, 0), len(waiting))] {
		update[g] = r.mayBegin(g)
	}
	return update
}

// mayStart reports whether new pods of a region could start: the database has their schema, and no Secret that they read is missing.
func (r *run) mayStart(g *region) bool {
	return r.pass.SchemaReady && !slices.ContainsFunc(r.pass.Status.MissingKeys, func(secret string) bool {
		return !slices.ContainsFunc(v1alpha1.RegionCodes(), func(code v1alpha1.RegionCode) bool {
			return code != g.spec.Code && secret == render.ServerKeysSecret(r.pass.SN.Name, code)
		})
	})
}

// mayBegin reports whether the update of a region may begin now. One that is in progress and did not succeed may be replaced by another
// at any time, and one whose pods fail too many requests may be taken back.
func (r *run) mayBegin(g *region) bool {
	if !allUpdated(g.live) || r.isTakenBack(g) {
		return true
	}
	if r.hold = r.failing(); r.hold.Reason == "" {
		r.hold = r.pass.HoldUpdate()
	}
	r.out.RequeueAfter(r.hold.Again)
	return r.hold.Reason == ""
}

// hasUnavailable reports whether a Deployment has fewer available pods than replicas. During a rollout with maxUnavailable 0
// it never has.
func hasUnavailable(d *appsv1.Deployment) bool { return d.Status.AvailableReplicas < replicas(d) }

// priority sorts regions with incomplete rollouts first.
func priority(g *region) int {
	if IsComplete(g.live) {
		return 1
	}
	return 0
}

// replicasHandover returns the apply that hands the number of replicas over to an autoscaler, if it is needed.
func replicasHandover(g *region) []stage.Desired {
	if g.uncached == nil || !ownsReplicas(g.uncached) {
		return nil
	}
	return []stage.Desired{{Object: render.ReplicasHandover(g.uncached), Region: g.spec.Code, Manager: render.ScaleManager}}
}

// ownsReplicas reports whether the operator applied the number of replicas.
func ownsReplicas(d *appsv1.Deployment) bool {
	return d.Spec.Replicas != nil && apply.Owns(d, apply.Manager, "spec", "replicas")
}

// withLiveTemplate returns the Deployment of the spec with the part of the live template that the operator owns, based on
// the version that was read; nil if there is no Deployment. It leaves out the fields that were edited by hand, so it may be
// incomplete and is not an appsv1.Deployment.
func withLiveTemplate(g *region) *unstructured.Unstructured {
	if g.live == nil {
		return nil
	}
	live, err := runtime.DefaultUnstructuredConverter.ToUnstructured(g.live)
	if err != nil {
		return nil
	}
	template, found, err := unstructured.NestedMap(apply.Owned(&unstructured.Unstructured{Object: live}, apply.Manager), "spec", "template")
	if err != nil || !found {
		return nil
	}
	held, err := apply.Unstructured(g.desired)
	if err != nil || unstructured.SetNestedMap(held.Object, template, "spec", "template") != nil {
		return nil
	}
	annotations := held.GetAnnotations()
	annotations[render.AnnotationTemplate] = g.live.Annotations[render.AnnotationTemplate]
	held.SetAnnotations(annotations)
	held.SetResourceVersion(g.live.ResourceVersion)
	return held
}
