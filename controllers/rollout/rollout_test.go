package rollout

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

var start = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// deployed returns a Deployment with two ready pods of the newest template, modified by change.
func deployed(change func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 5, Annotations: map[string]string{render.AnnotationTemplate: "new"}}}
	d.Spec.Replicas = new(int32(2))
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: 5, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2, ReadyReplicas: 2}
	progressing(d, "NewReplicaSetAvailable")
	if change != nil {
		change(d)
	}
	return d
}

func progressing(d *appsv1.Deployment, reason string) {
	d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: reason}}
}

func TestStateOf(t *testing.T) {
	tests := map[string]struct {
		change func(*appsv1.Deployment)
		ready  time.Duration // for how long; 0 means not yet
		want   state
	}{
		"another template": {
			func(d *appsv1.Deployment) { d.Annotations[render.AnnotationTemplate] = "old" }, time.Hour,
			outdated,
		},
		"no template known":  {func(d *appsv1.Deployment) { d.Annotations = nil }, time.Hour, outdated},
		"not observed yet":   {func(d *appsv1.Deployment) { d.Generation = 6 }, time.Hour, rolling},
		"an old pod is left": {func(d *appsv1.Deployment) { d.Status.Replicas = 3 }, time.Hour, rolling},
		"a new pod is missing": {func(d *appsv1.Deployment) {
			d.Status.UpdatedReplicas = 1
			progressing(d,
				"ReplicaSetUpdated")
		}, time.Hour, rolling},
		"a new pod is not up": {func(d *appsv1.Deployment) {
			d.Status.AvailableReplicas = 1
			progressing(d,
				"ReplicaSetUpdated")
		}, time.Hour, rolling},
		"deadline exceeded": {func(d *appsv1.Deployment) {
			d.Status.AvailableReplicas = 1
			progressing(d,
				"ProgressDeadlineExceeded")
		}, time.Hour, stuck},
		"deadline exceeded for an old template": {
			func(d *appsv1.Deployment) { d.Generation = 6; progressing(d, "ProgressDeadlineExceeded") },
			time.Hour, rolling,
		},
		"a pod became unavailable": {func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1 }, time.Hour, degraded},
		"ready just now":           {nil, 0, soaking},
		"ready for a while":        {nil, 29 * time.Second, soaking},
		"ready for long enough":    {nil, 30 * time.Second, complete},
		"a pod is added": {func(d *appsv1.Deployment) {
			d.Spec.Replicas = new(int32(3))
		}, time.Hour, rolling},
		"no number of pods": {func(d *appsv1.Deployment) {
			d.Spec.Replicas = nil
			d.Status = appsv1.DeploymentStatus{ObservedGeneration: 5, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}
		}, time.Hour, complete},
		"deadline exceeded, after another condition": {func(d *appsv1.Deployment) {
			d.Status.AvailableReplicas = 1
			progressing(d, "ProgressDeadlineExceeded")
			d.Status.Conditions = append([]appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Reason: "X"}}, d.Status.Conditions...)
		}, time.Hour, stuck},
		"scaled to zero": {func(d *appsv1.Deployment) {
			d.Spec.Replicas = new(int32(0))
			d.Status = appsv1.DeploymentStatus{ObservedGeneration: 5}
		}, time.Hour, complete},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := &run{pass: &stage.Pass{SN: &v1alpha1.SocialNetwork{}, Now: start, Status: &v1alpha1.SocialNetworkStatus{}}}
			r.pass.SN.Spec.Rollout.Soak = "30s"
			if test.ready > 0 {
				r.pass.Region("us").Conditions = []metav1.Condition{{
					Type: v1alpha1.RegionUpdated, Status: metav1.ConditionTrue,
					LastTransitionTime: metav1.NewTime(start.Add(-test.ready)),
				}}
			}
			state, _ := r.stateOf("us", deployed(test.change), "new")
			require.Equal(t, test.want, state)
		})
	}
}

// TestSoak checks how long a region must be ready before the next one is updated.
func TestSoak(t *testing.T) {
	for spec, want := range map[v1alpha1.Duration]time.Duration{
		"": 30 * time.Second, "soon": 30 * time.Second, "2m": 2 * time.Minute,
		"0s": 0,
	} {
		sn := &v1alpha1.SocialNetwork{}
		sn.Spec.Rollout.Soak = spec
		require.Equal(t, want, soak(sn), spec)
	}
}

// TestEvacuatedRegionIsFirst checks that the summary is about the regions after an evacuated one, too.
func TestEvacuatedRegionIsFirst(t *testing.T) {
	r, us := runUnder(circumstances{}, nil)
	us.state = complete
	r.regions = []*region{{spec: &v1alpha1.Region{Code: "eu", EvacuateTo: "us"}, state: stuck}, us}
	us.state = stuck
	r.summarize()
	require.Equal(t, v1alpha1.ReasonRolloutStopped, r.out.Reason)
	require.Equal(t, "The new pods in us did not become ready; no further region is updated.", r.out.Message)
}

// TestSoakBeginsWithReadiness checks that a region whose update took longer than the soak must be ready for as long as any other.
func TestSoakBeginsWithReadiness(t *testing.T) {
	r := &run{pass: &stage.Pass{SN: &v1alpha1.SocialNetwork{}, Now: start, Status: &v1alpha1.SocialNetworkStatus{}}}
	r.pass.SN.Spec.Rollout.Soak = "30s"
	r.pass.Region("us").Conditions = []metav1.Condition{
		{Type: v1alpha1.RegionUpdated, Status: metav1.ConditionFalse, LastTransitionTime: metav1.NewTime(start.Add(-time.Hour))},
	}
	state, since := r.stateOf("us", deployed(nil), "new")
	require.Equal(t, soaking, state)
	require.Equal(t, start, since)
}

// TestTemplateUpdates checks which of the regions us, eu and sg, in this order, may get the newest template.
func TestTemplateUpdates(t *testing.T) {
	late := func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 1 }
	broken := func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 0 }
	tests := map[string]struct {
		states        []state
		incomplete    string // regions with an incomplete rollout
		lacking       string // regions with unavailable pods
		most          int32
		gated, paused bool
		lost          string // a Secret whose keys are missing
		want          string
	}{
		"all new":                                   {states: []state{missing, missing, missing}, want: "us eu sg"},
		"one after another":                         {states: []state{outdated, outdated, outdated}, want: "us"},
		"two at a time":                             {states: []state{outdated, outdated, outdated}, most: 2, want: "us eu"},
		"three at a time":                           {states: []state{outdated, outdated, outdated}, most: 3, want: "us eu sg"},
		"while one rolls":                           {states: []state{rolling, outdated, outdated}, want: "us"},
		"while one soaks":                           {states: []state{soaking, outdated, outdated}, want: "us"},
		"while one soaks, two allowed":              {states: []state{soaking, outdated, outdated}, most: 2, want: "us eu"},
		"after the soak":                            {states: []state{complete, outdated, outdated}, want: "us eu"},
		"one is stuck":                              {states: []state{complete, stuck, outdated}, want: "us eu"},
		"one has lost pods":                         {states: []state{complete, degraded, outdated}, want: "us eu"},
		"more than allowed roll":                    {states: []state{rolling, rolling, outdated}, want: "us eu"},
		"unavailable regions come first":            {states: []state{outdated, outdated, outdated}, incomplete: "sg", want: "sg"},
		"a new region during a rollout":             {states: []state{rolling, missing, outdated}, want: "us eu"},
		"the database is not migrated":              {states: []state{complete, outdated, missing}, gated: true, want: "us"},
		"edited by hand: in order":                  {states: []state{drifted, drifted, drifted}, want: "us"},
		"edited by hand, while one soaks":           {states: []state{drifted, soaking, drifted}, want: "eu"},
		"edited by hand, while one is stuck":        {states: []state{drifted, complete, stuck}, want: "eu sg"},
		"edited by hand, and another is incomplete": {states: []state{outdated, drifted, outdated}, incomplete: "eu", want: "eu"},
		"broken by hand, while one soaks":           {states: []state{drifted, soaking, outdated}, lacking: "us", want: "us eu"},
		"broken by hand takes the turn":             {states: []state{outdated, drifted, outdated}, lacking: "eu", want: "eu"},
		"two broken by hand":                        {states: []state{drifted, drifted, complete}, lacking: "us eu", want: "us eu sg"},
		"keys are missing":                          {states: []state{outdated, missing, complete}, lost: "acme-signing-keys", want: "sg"},
		"keys of a region are missing":              {states: []state{outdated, missing, outdated}, lost: "acme-us-server-keys", want: "eu sg"},
		"edited by hand, not migrated":              {states: []state{complete, drifted, drifted}, lacking: "sg", gated: true, want: "us sg"},
		"edited by hand, paused":                    {states: []state{drifted, drifted, drifted}, paused: true, want: "us eu sg"},
		"paused, not migrated":                      {states: []state{outdated, missing, complete}, gated: true, paused: true, want: "us eu sg"},
		"paused, all are listed":                    {states: []state{outdated, outdated, missing}, paused: true, want: "us eu sg"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := &run{pass: &stage.Pass{SN: &v1alpha1.SocialNetwork{}, SchemaReady: !test.gated, Status: &v1alpha1.SocialNetworkStatus{}}}
			r.pass.SN.Name = "acme"
			if test.lost != "" {
				r.pass.Status.MissingKeys = []string{test.lost}
			}
			r.pass.SN.Spec.Rollout.MaxRegionsRolling, r.pass.SN.Spec.Paused = test.most, test.paused
			for i, code := range []v1alpha1.RegionCode{"us", "eu", "sg"} {
				g := &region{spec: &v1alpha1.Region{Code: code}, state: test.states[i], live: deployed(nil)}
				if strings.Contains(test.incomplete, string(code)) {
					g.live = deployed(late)
				}
				if strings.Contains(test.lacking, string(code)) {
					g.live = deployed(broken)
				}
				r.regions = append(r.regions, g)
			}
			update := r.templateUpdates()
			var got []string
			for _, g := range r.regions {
				if update[g] {
					got = append(got, string(g.spec.Code))
				}
			}
			require.Equal(t, test.want, strings.Join(got, " "))
		})
	}
}

// TestUpdateInProgress checks in which states a region keeps other networks from their updates: not while pods that were updated before
// are unready.
func TestUpdateInProgress(t *testing.T) {
	for at, want := range map[state]bool{
		missing: false, outdated: false, drifted: false, rolling: true, stuck: true, soaking: true, degraded: false, complete: false,
	} {
		inProgress := false
		r := &run{pass: &stage.Pass{
			SN: &v1alpha1.SocialNetwork{}, Status: &v1alpha1.SocialNetworkStatus{}, Updates: stage.Updates{InProgress: func() { inProgress = true }},
		}}
		r.regions = []*region{{spec: &v1alpha1.Region{Code: "us"}, state: at, live: deployed(nil)}}
		r.templateUpdates()
		require.Equal(t, want, inProgress, at)
	}
}

// TestLock checks that a template that was read as that of the spec is not restored on top of a version that was not read.
func TestLock(t *testing.T) {
	for state, locked := range map[state]bool{
		missing: false, outdated: false, drifted: false, rolling: true, stuck: true, soaking: true, degraded: true, complete: true,
	} {
		live := deployed(func(d *appsv1.Deployment) { d.ResourceVersion = "7" })
		g := &region{state: state, live: live, desired: &appsv1.Deployment{}}
		mode, version := apply.Converge, ""
		if locked {
			mode, version = apply.Locked, "7"
		}
		require.Equal(t, mode, g.lock(), state)
		require.Equal(t, version, g.desired.ResourceVersion, state)
	}
}

// TestSummarize checks the network's condition.
func TestSummarize(t *testing.T) {
	tests := map[string]struct {
		states []state
		down   string
		gated  bool
		lost   string // a Secret whose keys are missing
		paused bool
		away   bool // whether eu is evacuated
		want   metav1.ConditionStatus
		reason v1alpha1.Reason
		// available and updated are the reasons of the conditions of eu, apart from X.
		available, updated v1alpha1.Reason
	}{
		"all serve":               {states: []state{complete, soaking}, want: "True", reason: v1alpha1.ReasonServing},
		"all serve, and paused":   {states: []state{complete, soaking}, paused: true, want: "True", reason: v1alpha1.ReasonServing},
		"all serve, not migrated": {states: []state{complete, soaking}, gated: true, want: "True", reason: v1alpha1.ReasonServing},
		"an evacuated one rolls":  {states: []state{complete, rolling}, away: true, want: "True", reason: v1alpha1.ReasonEvacuated},
		"one was edited by hand":  {states: []state{drifted, complete}, want: "False", reason: v1alpha1.ReasonProgressing},
		"one rolls":               {states: []state{complete, rolling}, want: "False", reason: v1alpha1.ReasonProgressing},
		"one rolls and cannot": {
			states: []state{complete, rolling}, want: "False", reason: v1alpha1.ReasonPodNotStarted,
			updated: v1alpha1.ReasonPodNotStarted,
		},
		"one is stuck": {
			states: []state{outdated, stuck}, want: "False", reason: v1alpha1.ReasonRolloutStopped,
			updated: v1alpha1.ReasonRolloutStopped,
		},
		"one waits": {states: []state{outdated, complete}, gated: true, want: "False", reason: v1alpha1.ReasonWaitingForSchema},
		"one waits for keys": {
			states: []state{outdated, complete}, lost: "acme-signing-keys", want: "False",
			reason: v1alpha1.ReasonWaitingForKeys,
		},
		"one waits, and paused": {
			states: []state{outdated, complete}, gated: true, paused: true, want: "False",
			reason: v1alpha1.ReasonPausedBySpec,
		},
		"one has no pods": {
			states: []state{complete, degraded}, down: "eu", want: "False", reason: v1alpha1.ReasonNotServing,
			available: v1alpha1.ReasonNotServing,
		},
		"one has no database": {
			states: []state{rolling, degraded}, down: "eu", want: "False", reason: v1alpha1.ReasonDatabaseUnreachable,
			available: v1alpha1.ReasonDatabaseUnreachable,
		},
		"an evacuated one has none": {
			states: []state{complete, degraded}, away: true, want: "True", reason: v1alpha1.ReasonEvacuated,
			available: v1alpha1.ReasonDegraded,
		},
		"one has unavailable pods": {
			states: []state{complete, degraded}, want: "True", reason: v1alpha1.ReasonDegraded,
			available: v1alpha1.ReasonDegraded,
		},
		"and another rolls": {
			states: []state{rolling, degraded}, want: "False", reason: v1alpha1.ReasonProgressing,
			available: v1alpha1.ReasonDegraded,
		},
		"none exists yet": {states: []state{missing, missing}, down: "us eu", want: "False", reason: v1alpha1.ReasonProgressing},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := &run{pass: &stage.Pass{SN: &v1alpha1.SocialNetwork{}, SchemaReady: !test.gated, Status: &v1alpha1.SocialNetworkStatus{}}}
			r.pass.SN.Name = "acme"
			if test.lost != "" {
				r.pass.Status.MissingKeys = []string{test.lost}
			}
			r.pass.SN.Spec.Paused = test.paused
			for i, code := range []v1alpha1.RegionCode{"us", "eu"} {
				spec := v1alpha1.Region{Code: code}
				if i == 1 && test.away {
					spec.EvacuateTo = "us"
				}
				r.pass.SN.Spec.Regions = append(r.pass.SN.Spec.Regions, spec)
				r.regions = append(r.regions, &region{spec: &spec, state: test.states[i]})
				status := metav1.ConditionTrue
				if strings.Contains(test.down, string(code)) {
					status = metav1.ConditionFalse
				}
				reason := v1alpha1.Reason("X")
				if i == 1 && test.available != "" {
					reason = test.available
				}
				r.out.SetRegionCondition(code, v1alpha1.RegionAvailable, status, reason, "")
			}
			for i, code := range []v1alpha1.RegionCode{"us", "eu"} {
				if reason := test.updated; i == 1 && reason != "" {
					r.out.SetRegionCondition(code, v1alpha1.RegionUpdated, metav1.ConditionFalse, reason, "why")
				}
			}
			r.summarize()
			require.Equal(t, test.want, r.out.Status)
			require.Equal(t, test.reason, r.out.Reason)
			if message := summaries[name]; message != "" {
				require.Equal(t, message, r.out.Message)
			}
		})
	}
}

// summaries are the messages of cases of TestSummarize.
var summaries = map[string]string{
	"all serve":                 "The pods of every region are ready.",
	"one rolls":                 "The update of eu is in progress.",
	"one waits":                 "The update of us waits for the database migration.",
	"one waits for keys":        "The update of us waits for the missing keys; see KeysReady.",
	"one waits, and paused":     "The pods in us are updated when spec.paused is false.",
	"an evacuated one has none": "Other regions serve eu, as spec.regions[].evacuateTo says; the pods of the others are ready.",
}

// TestAvailable checks the condition Available of a region with two pods.
func TestAvailable(t *testing.T) {
	for name, test := range map[string]struct {
		state   state
		ready   int32
		causes  []stage.PodCause
		want    metav1.ConditionStatus
		reason  v1alpha1.Reason
		message string
	}{
		"all are ready":  {complete, 2, nil, "True", v1alpha1.ReasonServing, "2 pods are ready."},
		"one is missing": {degraded, 1, nil, "True", v1alpha1.ReasonDegraded, "1 of 2 pods are ready."},
		"one crashes": {
			degraded, 1,
			[]stage.PodCause{crashes},
			"True", v1alpha1.ReasonDegraded,
			"1 of 2 pods are ready; pod acme-us-1: its container plaza exited with code 1.",
		},
		"one starts":            {rolling, 1, nil, "True", v1alpha1.ReasonServing, "1 of 2 pods are ready."},
		"a surplus pod crashes": {rolling, 2, []stage.PodCause{crashes}, "True", v1alpha1.ReasonServing, "2 pods are ready."},
		"a home is away": {
			complete, 2,
			[]stage.PodCause{isAlone},
			"True", v1alpha1.ReasonDegraded,
			"2 pods are ready; pod acme-us-2: database eu: away.",
		},
		"none is ready":     {degraded, 0, nil, "False", v1alpha1.ReasonNotServing, "No pod is ready."},
		"none is ready yet": {rolling, 0, nil, "False", v1alpha1.ReasonProgressing, "No pod is ready."},
		"all crash": {
			rolling, 0,
			[]stage.PodCause{crashes, crashes},
			"False", v1alpha1.ReasonPodCrashing,
			"No pod is ready; pod acme-us-1: its container plaza exited with code 1.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &run{pass: &stage.Pass{SN: &v1alpha1.SocialNetwork{}, Causes: map[v1alpha1.RegionCode][]stage.PodCause{"us": test.causes}}}
			live := deployed(func(d *appsv1.Deployment) { d.Status.ReadyReplicas = test.ready })
			r.setAvailable(&region{spec: &v1alpha1.Region{Code: "us"}, state: test.state, live: live})
			require.Len(t, r.out.Regions["us"], 1)
			c := r.out.Regions["us"][0]
			require.Equal(t, v1alpha1.RegionAvailable, c.Type)
			require.Equal(t, test.want, c.Status)
			require.Equal(t, string(test.reason), c.Reason)
			require.Equal(t, test.message, c.Message)
		})
	}
}
