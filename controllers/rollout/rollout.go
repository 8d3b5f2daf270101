// Package rollout is the stage that runs one Deployment per region and rolls a change of the pod template out region by
// region.
package rollout

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// Stage applies the objects of the regions.
type Stage struct{}

// Condition returns RegionsAvailable.
func (Stage) Condition() string { return v1alpha1.ConditionRegionsAvailable }

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
	if err := r.readRegions(ctx); err != nil {
		r.out.SetCondition(metav1.ConditionUnknown, v1alpha1.ReasonApplyFailed, "The Deployments could not be read: "+err.Error())
		return r.out
	}
	r.applyStandIns()
	updates := r.templateUpdates()
	r.applyDeployments(updates)
	r.markApplied(updates)
	for _, region := range r.regions {
		r.setStatus(region)
		r.setRouted(ctx, region)
	}
	r.summarize()
	return r.out
}

// readRegions reads the Deployments of the regions whose cluster can be used, and applies the other objects of those regions.
func (r *run) readRegions(ctx context.Context) error {
	for i := range r.pass.SN.Spec.Regions {
		spec := &r.pass.SN.Spec.Regions[i]
		cluster := r.pass.ClusterOf(spec.Code)
		if !cluster.IsUsable() {
			r.skip(spec.Code, cluster)
			continue
		}
		r.applyObjects(spec, cluster)
		region, err := r.read(ctx, spec, cluster)
		if err != nil {
			return err
		}
		r.regions = append(r.regions, region)
	}
	return nil
}

// applyObjects applies the objects of a region that do not belong to its pod template.
func (r *run) applyObjects(spec *v1alpha1.Region, c *stage.Cluster) {
	for _, object := range render.RegionObjects(c.Network, spec) {
		switch object.(type) {
		case *corev1.ConfigMap: // belongs to the pod template
		case *corev1.Service:
			r.out.Apply(stage.Desired{Object: object, Region: spec.Code, Prune: []string{"spec", "ports"}})
		default:
			r.out.Apply(stage.Desired{Object: object, Region: spec.Code})
		}
	}
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
