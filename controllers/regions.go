package controllers

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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/render"
)

// defaultSoak is how long a region stays ready before the next one rolls, where the spec does not say.
const defaultSoak = 30 * time.Second

// Regions is the stage that runs one deployment per region, and rolls a change of their pods region by region.
type Regions struct{}

// Condition is RegionsAvailable.
func (Regions) Condition() string { return v1alpha1.ConditionRegionsAvailable }

// rollState is how far a region is with the template that the spec asks for.
type rollState int

const (
	missing  rollState = iota // there is no deployment
	outdated                  // it has another template
	drifted                   // it had the template, until somebody changed that by hand
	rolling                   // it has the template, and not all of its pods are ready
	stuck                     // the same, and its deadline is over
	soaking                   // all pods are ready, but not for long enough
	degraded                  // it rolled well, and lost pods since
	settled                   // all pods are ready, and have been
)

// roll is what a pass knows of a region's deployment.
type roll struct {
	region  *v1alpha1.Region
	desired *appsv1.Deployment
	live    *appsv1.Deployment // nil where there is none
	fresh   *appsv1.Deployment // the same from the API server, where the number of pods is to be handed over
	state   rollState
	since   time.Time // since when all pods are ready
	drift   string    // where the template was changed by hand
}

// Run applies what every region needs, and lets as many regions roll as the spec allows.
func (s Regions) Run(ctx context.Context, w *World) Outcome {
	if w.Network.NetworkID == "" {
		return False(v1alpha1.ReasonWaitingForKeys, "The regions are made once the network has its identity; see KeysReady.")
	}
	var out Outcome
	var rolls []*roll
	for i := range w.SN.Spec.Regions {
		region := &w.SN.Spec.Regions[i]
		for _, object := range render.RegionObjects(w.Network, region) {
			if _, ofTemplate := object.(*corev1.ConfigMap); !ofTemplate {
				out.Objects = append(out.Objects, Desired{Object: object, Region: region.Code})
			}
		}
		r, err := s.look(ctx, w, region)
		if err != nil {
			out.Say(metav1.ConditionUnknown, v1alpha1.ReasonApplyFailed, "The deployments could not be read: "+err.Error())
			return out
		}
		rolls = append(rolls, r)
	}
	s.apply(w, &out, rolls)
	for _, r := range rolls {
		s.tell(w, &out, r)
	}
	s.sum(w, &out, rolls)
	return out
}

// look reads a region's deployment and says how far it is.
func (s Regions) look(ctx context.Context, w *World, region *v1alpha1.Region) (*roll, error) {
	r := &roll{region: region, desired: render.Deployment(w.Network, region)}
	hash := render.TemplateHash(r.desired)
	if r.desired.Annotations == nil {
		r.desired.Annotations = map[string]string{}
	}
	r.desired.Annotations[render.AnnotationTemplate] = hash
	var live appsv1.Deployment
	err := w.Cached.Get(ctx, client.ObjectKeyFromObject(r.desired), &live)
	if apierrors.IsNotFound(err) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.live = &live
	if r.drift, err = apply.Taken(&live, r.desired, apply.Manager, "spec", "template"); err != nil {
		return nil, err
	}
	if r.state, r.since = stateOf(w, region.Code, &live, hash); r.state != outdated && r.drift != "" {
		r.state = drifted
	}
	return r, s.lookFresh(ctx, w, r)
}

// lookFresh reads the deployment from the API server where the number of its pods is to be left to an autoscaler: what is
// handed over must be the number that it has, not one that it had.
func (Regions) lookFresh(ctx context.Context, w *World, r *roll) error {
	if r.region.Autoscaling == nil || w.SN.Spec.Paused || render.ReplicasHandover(r.live, apply.Manager) == nil {
		return nil
	}
	r.fresh = &appsv1.Deployment{}
	return client.IgnoreNotFound(w.Fresh.Get(ctx, client.ObjectKeyFromObject(r.live), r.fresh))
}

func stateOf(w *World, code v1alpha1.RegionCode, live *appsv1.Deployment, hash string) (rollState, time.Time) {
	if live.Annotations[render.AnnotationTemplate] != hash {
		return outdated, time.Time{}
	}
	if !complete(live) {
		switch reason := progress(live); {
		case reason == "ProgressDeadlineExceeded":
			return stuck, time.Time{}
		case reason == "NewReplicaSetAvailable" && allUpdated(live):
			return degraded, time.Time{}
		}
		return rolling, time.Time{}
	}
	since := w.Now
	if c := meta.FindStatusCondition(w.Region(code).Conditions, v1alpha1.RegionUpdated); c != nil && c.Status == metav1.ConditionTrue {
		since = c.LastTransitionTime.Time
	}
	if w.Now.Sub(since) < soak(w.SN) {
		return soaking, since
	}
	return settled, since
}

func soak(sn *v1alpha1.SocialNetwork) time.Duration {
	if d, err := time.ParseDuration(string(sn.Spec.Rollout.Soak)); err == nil {
		return d
	}
	return defaultSoak
}

// complete is true when every pod that is wanted is of the newest template and available, and none of an older one is left.
func complete(d *appsv1.Deployment) bool {
	return allUpdated(d) && d.Status.AvailableReplicas >= wanted(d)
}

// allUpdated is true when every pod that is wanted is of the newest template, ready or not, and none of an older one is left.
func allUpdated(d *appsv1.Deployment) bool {
	s := d.Status
	return s.ObservedGeneration >= d.Generation && s.UpdatedReplicas >= wanted(d) && s.Replicas == s.UpdatedReplicas
}

func wanted(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas != nil {
		return *d.Spec.Replicas
	}
	return 1
}

// progress is the reason that the deployment's controller gives for how far it is with the newest template; "" where it has
// not seen that yet.
func progress(d *appsv1.Deployment) string {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing && d.Status.ObservedGeneration >= d.Generation {
			return c.Reason
		}
	}
	return ""
}

// apply adds the deployments: whole, where the region's template may be applied now; else with the template that it has, so
// that a number of pods, say, can be changed while a roll is stopped, or put back.
func (s Regions) apply(w *World, out *Outcome, rolls []*roll) {
	turns := s.turns(w, rolls)
	for _, r := range rolls {
		if turns[r] {
			out.Objects = append(out.Objects, s.whole(w, r))
			if (r.state == outdated || r.state == drifted) && !w.SN.Spec.Paused {
				r.state = rolling
			}
			continue
		}
		if r.state == drifted { // the file belongs to the template that is to be put back
			out.Objects = append(out.Objects, Desired{Object: render.ConfigMap(w.Network, r.region), Region: r.region.Code})
		}
		if held := holdTemplate(r); held != nil {
			out.Objects = append(out.Objects, Desired{Object: held, Mode: apply.Locked, Region: r.region.Code, First: handover(r)})
		}
	}
}

// turns says which regions may have the template of the spec now: one that is new or has it already, always; one that has
// another, while the spec allows one more region to roll. Those whose pods are not all ready come first, so that a spec that
// mends them reaches them before it reaches what works.
//
// A template that was changed by hand is put back in the same order: the change may have been made for a reason that the spec
// does not know, and then only one region suffers. But a region that lacks pods since gets its template back at once, whatever
// the others do, and whether or not the database waits: its template ran before, and there is little left to lose.
func (Regions) turns(w *World, rolls []*roll) map[*roll]bool {
	turns := map[*roll]bool{}
	free := int(max(w.SN.Spec.Rollout.MaxRegionsRolling, 1))
	if w.SN.Spec.Paused { // only listed, and all of them
		free = len(rolls)
	}
	var waiting []*roll
	for _, r := range rolls {
		switch r.state {
		case missing:
			turns[r] = w.SchemaReady || w.SN.Spec.Paused
		case outdated:
			waiting = append(waiting, r)
		case drifted:
			if turns[r] = lacksPods(r.live); turns[r] {
				free--
			} else {
				waiting = append(waiting, r)
			}
		case rolling, stuck, degraded, soaking:
			turns[r] = true
			free--
		case settled:
			turns[r] = true
		}
	}
	if !w.SchemaReady && !w.SN.Spec.Paused {
		return turns
	}
	slices.SortStableFunc(waiting, func(a, b *roll) int { return rank(a) - rank(b) })
	for _, r := range waiting[:min(max(free, 0), len(waiting))] {
		turns[r] = true
	}
	return turns
}

// lacksPods is true for a deployment that has fewer pods to serve than it should. While one rolls as ours do it never has:
// an old pod goes only once a new one is ready.
func lacksPods(d *appsv1.Deployment) bool { return d.Status.AvailableReplicas < wanted(d) }

func rank(r *roll) int {
	if complete(r.live) {
		return 1
	}
	return 0
}

// whole is a deployment with all that has to be there before it: the file that its pods read at their start, and the number
// of its pods where that is left to an autoscaler from now on.
func (Regions) whole(w *World, r *roll) Desired {
	first := append([]Desired{{Object: render.ConfigMap(w.Network, r.region), Region: r.region.Code}}, handover(r)...)
	return Desired{Object: r.desired, Region: r.region.Code, First: first}
}

func handover(r *roll) []Desired {
	if r.fresh == nil {
		return nil
	}
	number := render.ReplicasHandover(r.fresh, apply.Manager)
	if number == nil {
		return nil
	}
	return []Desired{{Object: number, Region: r.region.Code, Manager: render.ScaleManager}}
}

// holdTemplate is the deployment of the spec with as much of its template as is ours, upon the version that we know; nil
// where there is none. What somebody changed by hand is left out, so it is no longer whole, and no deployment of Go's types.
func holdTemplate(r *roll) *unstructured.Unstructured {
	if r.live == nil {
		return nil
	}
	live, err := runtime.DefaultUnstructuredConverter.ToUnstructured(r.live)
	if err != nil {
		return nil
	}
	template, found, err := unstructured.NestedMap(apply.Owned(&unstructured.Unstructured{Object: live}, apply.Manager), "spec", "template")
	if err != nil || !found {
		return nil
	}
	held, err := apply.Unstructured(r.desired)
	if err != nil || unstructured.SetNestedMap(held.Object, template, "spec", "template") != nil {
		return nil
	}
	annotations := held.GetAnnotations()
	annotations[render.AnnotationTemplate] = r.live.Annotations[render.AnnotationTemplate]
	held.SetAnnotations(annotations)
	held.SetResourceVersion(r.live.ResourceVersion)
	return held
}
