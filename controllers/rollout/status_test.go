package rollout

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/podcause"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/statusz"
)

// The causes of a pod that is not ready, and of one that is ready without the database of another home.
var (
	crashes = stage.PodCause{Pod: "acme-us-1", Cause: podcause.Cause{
		Reason: v1alpha1.ReasonPodCrashing, Message: "its container plaza exited with code 1",
	}}
	isAlone = stage.PodCause{Pod: "acme-us-2", Ready: true, Cause: podcause.Cause{
		Reason: v1alpha1.ReasonDatabaseUnreachable, Message: "database eu: away",
	}}
)

var errPatch = errors.New("podPatch must not change the label x")

// circumstances are why the pods of a region are not as the spec says.
type circumstances struct {
	patchErr      error
	paused, gated bool
	lost          bool // keys are missing
	held          bool // the update may not begin
}

// runUnder returns a run whose region us has a Deployment with two pods; nil means none.
func runUnder(c circumstances, live *appsv1.Deployment, causes ...stage.PodCause) (*run, *region) {
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Name: "acme"}}
	sn.Spec.Paused, sn.Spec.Rollout.Soak = c.paused, "30s"
	r := &run{pass: &stage.Pass{
		SN: sn, Now: start, SchemaReady: !c.gated, Status: &v1alpha1.SocialNetworkStatus{},
		Causes: map[v1alpha1.RegionCode][]stage.PodCause{"us": causes},
	}}
	if c.lost {
		r.pass.Status.MissingKeys = []string{"acme-signing-keys"}
	}
	if c.held {
		r.hold = stage.Hold{Reason: v1alpha1.ReasonWaitingForWindow, Message: "The window is closed."}
	}
	g := &region{
		spec: &v1alpha1.Region{Code: "us", Host: "us.example"}, cluster: &stage.Cluster{Name: "member"}, live: live,
		patchErr: c.patchErr,
	}
	return r, g
}

// surplus makes a Deployment one with an old pod too many, and deadline one whose deadline has passed.
func surplus(d *appsv1.Deployment)  { d.Status.Replicas, d.Status.UpdatedReplicas = 3, 1 }
func deadline(d *appsv1.Deployment) { d.Status.Conditions[0].Message = "The deadline is exceeded." }

// updatedCases are the cases of TestUpdated.
var updatedCases = map[string]struct {
	state   state
	under   circumstances
	change  func(*appsv1.Deployment)
	causes  []stage.PodCause
	ready   time.Duration // for how long, for soaking
	status  metav1.ConditionStatus
	reason  v1alpha1.Reason
	message string
	again   time.Duration
}{
	"its patch is rejected": {
		state: outdated, under: circumstances{patchErr: errPatch, paused: true}, status: "False",
		reason: v1alpha1.ReasonPatchRejected, message: "The pods stay as they are: podPatch must not change the label x.",
	},
	"it waits, paused": {
		state: outdated, under: circumstances{paused: true, gated: true, lost: true, held: true}, status: "False",
		reason: v1alpha1.ReasonPausedBySpec, message: "The pods are replaced when spec.paused is false.",
	},
	"it waits for the schema": {
		state: outdated, under: circumstances{gated: true, lost: true, held: true}, status: "False",
		reason: v1alpha1.ReasonWaitingForSchema, message: "The pods are replaced once the database is migrated.",
	},
	"it waits for keys": {
		state: outdated, under: circumstances{lost: true, held: true}, status: "False", reason: v1alpha1.ReasonWaitingForKeys,
		message: "The pods are replaced once the missing keys are restored; see KeysReady.",
	},
	"it is held": {
		state: outdated, under: circumstances{held: true}, status: "False", reason: v1alpha1.ReasonWaitingForWindow,
		message: "The window is closed.",
	},
	"it waits for another region": {
		state: outdated, status: "False", reason: v1alpha1.ReasonWaitingForRegion, message: "Another region is updated first.",
	},
	"edited by hand": {
		state: drifted, status: "False", reason: v1alpha1.ReasonTemplateDrift,
		message: "The pod template was edited by hand at spec.template.spec; it is restored when it is the region's turn.",
	},
	"edited by hand, and paused": {
		state: drifted, under: circumstances{paused: true}, status: "False", reason: v1alpha1.ReasonPausedBySpec,
		message: "The pod template was edited by hand at spec.template.spec; it is restored when spec.paused is false.",
	},
	"stuck without a reason": {
		state: stuck, status: "False", reason: v1alpha1.ReasonRolloutStopped,
		message: "The new pods did not become ready in time: the Deployment gives no reason",
	},
	"stuck": {
		state: stuck, change: deadline, causes: []stage.PodCause{isAlone}, status: "False", reason: v1alpha1.ReasonRolloutStopped,
		message: "The new pods did not become ready in time: The deadline is exceeded.",
	},
	"stuck, because a pod crashes": {
		state: stuck, change: deadline, causes: []stage.PodCause{crashes}, status: "False", reason: v1alpha1.ReasonRolloutStopped,
		message: "The new pods did not become ready in time: pod acme-us-1: its container plaza exited with code 1.",
	},
	"it rolls": {
		state: rolling, change: surplus, causes: []stage.PodCause{isAlone}, status: "False", reason: v1alpha1.ReasonProgressing,
		message: "1 of 3 pods have the newest template.",
	},
	"it rolls, and old pods are new": {
		state: rolling, change: func(d *appsv1.Deployment) { d.Status.Replicas = 1 }, status: "False",
		reason: v1alpha1.ReasonProgressing, message: "2 of 2 pods have the newest template.",
	},
	"it rolls, and a pod crashes": {
		state: rolling, change: surplus, causes: []stage.PodCause{crashes}, status: "False", reason: v1alpha1.ReasonPodCrashing,
		message: "1 of 3 pods have the newest template; pod acme-us-1: its container plaza exited with code 1.",
	},
	"a pod is lost": {
		state: degraded, status: "True", reason: v1alpha1.ReasonUpToDate, message: "All pods have the newest template.",
	},
	"complete": {
		state: complete, status: "True", reason: v1alpha1.ReasonUpToDate, message: "All pods have the newest template.",
	},
	"it begins to soak": {
		state: soaking, status: "True", reason: v1alpha1.ReasonUpToDate, message: "All pods have the newest template.",
		again: 15 * time.Second,
	},
	"it has soaked for a time": {
		state: soaking, ready: 20 * time.Second, status: "True", reason: v1alpha1.ReasonUpToDate,
		message: "All pods have the newest template.", again: 10100 * time.Millisecond,
	},
}

// TestUpdated checks the condition Updated of a region with two pods.
func TestUpdated(t *testing.T) {
	for name, test := range updatedCases {
		t.Run(name, func(t *testing.T) {
			r, g := runUnder(test.under, deployed(test.change), test.causes...)
			g.state, g.drift, g.since = test.state, "spec.template.spec", start.Add(-test.ready)
			r.setUpdated(g)
			require.Len(t, r.out.Regions["us"], 1)
			c := r.out.Regions["us"][0]
			require.Equal(t, v1alpha1.RegionUpdated, c.Type)
			require.Equal(t, test.status, c.Status)
			require.Equal(t, string(test.reason), c.Reason)
			require.Equal(t, test.message, c.Message)
			require.Equal(t, test.again, r.out.Requeue)
		})
	}
}

// TestMissing checks why a region has no Deployment, and that nothing is left in its status of an earlier one.
func TestMissing(t *testing.T) {
	for message, test := range map[string]struct {
		under  circumstances
		reason v1alpha1.Reason
	}{
		"The Deployment cannot be created: podPatch must not change the label x.": {
			circumstances{patchErr: errPatch, paused: true, gated: true, lost: true}, v1alpha1.ReasonPatchRejected,
		},
		"The Deployment is created when spec.paused is false.": {
			circumstances{paused: true, gated: true, lost: true}, v1alpha1.ReasonPausedBySpec,
		},
		"The Deployment is created once the database is migrated.": {
			circumstances{gated: true, lost: true}, v1alpha1.ReasonWaitingForSchema,
		},
		"The Deployment is created once the missing keys are restored; see KeysReady.": {
			circumstances{lost: true}, v1alpha1.ReasonWaitingForKeys,
		},
		"The Deployment is being created.": {circumstances{}, v1alpha1.ReasonProgressing},
	} {
		r, g := runUnder(test.under, nil)
		*r.pass.Region("us") = v1alpha1.RegionStatus{
			Code: "us", Image: "plaza:1", Replicas: 2, ReadyReplicas: 1, ConfigurationHash: "hash", Version: "v1",
		}
		r.setStatus(g)
		require.Equal(t, v1alpha1.RegionStatus{Code: "us", Cluster: "member", Endpoint: "https://us.example"}, *r.pass.Region("us"))
		require.Len(t, r.out.Regions["us"], 2)
		for _, kind := range []string{v1alpha1.RegionAvailable, v1alpha1.RegionUpdated} {
			c := meta.FindStatusCondition(r.out.Regions["us"], kind)
			require.Equal(t, metav1.ConditionFalse, c.Status)
			require.Equal(t, string(test.reason), c.Reason)
			require.Equal(t, message, c.Message)
		}
	}
}

// TestStatusOfADeployment checks the numbers in the status of a region, and that its pods are asked again while not all are ready.
func TestStatusOfADeployment(t *testing.T) {
	ready := func(pods int32) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			d.Status.ReadyReplicas = pods
			d.Spec.Template.Annotations = map[string]string{render.AnnotationConfiguration: "hash"}
			d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "side", Image: "side:1"}, {Name: "plaza", Image: "plaza:2"}}
		}
	}
	for name, test := range map[string]struct {
		state  state
		ready  int32
		causes []stage.PodCause
		again  time.Duration
	}{
		"all are ready":        {state: complete, ready: 2},
		"one is not":           {state: degraded, ready: 1, again: 5 * time.Second},
		"a new one may not be": {state: rolling, ready: 2, again: 5 * time.Second},
		"a home is away":       {state: complete, ready: 2, causes: []stage.PodCause{isAlone}, again: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			r, g := runUnder(circumstances{}, deployed(ready(test.ready)), test.causes...)
			g.state = test.state
			report := func(version string, err error) stage.ServerReport {
				return stage.ServerReport{Status: statusz.Status{Version: version}, Err: err}
			}
			r.pass.Reports = map[v1alpha1.RegionCode][]stage.ServerReport{
				"us": {report("v2", nil), report("v3", errTest), report("v1", nil), report("v2", nil), report("", nil)},
			}
			r.setStatus(g)
			require.Equal(t, v1alpha1.RegionStatus{
				Code: "us", Cluster: "member", Endpoint: "https://us.example", Version: "v2,v1", Image: "plaza:2", Replicas: 2,
				ReadyReplicas:     test.ready,
				ConfigurationHash: "hash",
			}, *r.pass.Region("us"))
			require.Equal(t, test.again, r.out.Requeue)
			require.Len(t, r.out.Regions["us"], 2)
			require.Equal(t, v1alpha1.RegionAvailable, r.out.Regions["us"][0].Type)
			require.Equal(t, v1alpha1.RegionUpdated, r.out.Regions["us"][1].Type)
			g.live.Spec.Replicas = nil
			r.setStatus(g)
			require.Zero(t, r.pass.Region("us").Replicas, "the Deployment does not say")
		})
	}
}

// TestCausesOfTheNetwork checks which cause the network's condition has if each region has another one: the earlier in the list.
func TestCausesOfTheNetwork(t *testing.T) {
	order := []v1alpha1.Reason{
		v1alpha1.ReasonPodCrashing, v1alpha1.ReasonDatabaseOutOfConnections, v1alpha1.ReasonDatabaseUnreachable, v1alpha1.ReasonPodNotStarted,
		v1alpha1.ReasonPatchRejected, v1alpha1.ReasonServerNotReady, v1alpha1.ReasonNotServing,
	}
	for i, reason := range order {
		r, us := runUnder(circumstances{}, nil)
		eu := &region{spec: &v1alpha1.Region{Code: "eu"}}
		r.regions = []*region{us, eu}
		r.pass.SN.Spec.Regions = []v1alpha1.Region{*us.spec, *eu.spec}
		r.setCondition(us, v1alpha1.RegionUpdated, metav1.ConditionFalse, order[min(i+1, len(order)-1)], "the other")
		r.setCondition(eu, v1alpha1.RegionUpdated, metav1.ConditionFalse, reason, "why")
		r.summarize()
		require.Equal(t, metav1.ConditionFalse, r.out.Status)
		require.Equal(t, reason, r.out.Reason)
		if i < len(order)-1 {
			require.Equal(t, "eu: why", r.out.Message)
		} else {
			require.Equal(t, "us and eu: the other", r.out.Message)
		}
	}
}

// TestRefusedNetwork creates no pods that the operator's restrictions do not allow.
func TestRefusedNetwork(t *testing.T) {
	p := &stage.Pass{SN: &v1alpha1.SocialNetwork{}, Network: render.Network{NetworkID: "id"}, Refused: "The operator does not allow it."}
	require.Equal(t, stage.False(v1alpha1.ReasonNotAllowed, "The operator does not allow it."), Stage{}.Run(t.Context(), p))
	p.Network.NetworkID = ""
	waits := stage.False(v1alpha1.ReasonWaitingForKeys, "The regions wait for the network's identity; see KeysReady.")
	require.Equal(t, waits, Stage{}.Run(t.Context(), p))
}
