package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// deployed is a deployment of two pods, all of them of the newest template and ready, but for what change says.
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
		ready  time.Duration // for how long; 0: not yet
		want   rollState
	}{
		"another template":      {func(d *appsv1.Deployment) { d.Annotations[render.AnnotationTemplate] = "old" }, time.Hour, outdated},
		"no template known":     {func(d *appsv1.Deployment) { d.Annotations = nil }, time.Hour, outdated},
		"not seen yet":          {func(d *appsv1.Deployment) { d.Generation = 6 }, time.Hour, rolling},
		"an old pod is left":    {func(d *appsv1.Deployment) { d.Status.Replicas = 3 }, time.Hour, rolling},
		"a new pod is missing":  {func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 1; progressing(d, "ReplicaSetUpdated") }, time.Hour, rolling},
		"a new pod is not up":   {func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1; progressing(d, "ReplicaSetUpdated") }, time.Hour, rolling},
		"too late":              {func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1; progressing(d, "ProgressDeadlineExceeded") }, time.Hour, stuck},
		"too late, of old news": {func(d *appsv1.Deployment) { d.Generation = 6; progressing(d, "ProgressDeadlineExceeded") }, time.Hour, rolling},
		"lost a pod since":      {func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1 }, time.Hour, degraded},
		"ready just now":        {nil, 0, soaking},
		"ready for a while":     {nil, 29 * time.Second, soaking},
		"ready for long enough": {nil, 30 * time.Second, settled},
		"scaled to none": {func(d *appsv1.Deployment) {
			d.Spec.Replicas = new(int32(0))
			d.Status = appsv1.DeploymentStatus{ObservedGeneration: 5}
		}, time.Hour, settled},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &World{SN: &v1alpha1.SocialNetwork{}, Now: morning, Status: &v1alpha1.SocialNetworkStatus{}}
			w.SN.Spec.Rollout.Soak = "30s"
			if test.ready > 0 {
				w.Region("us").Conditions = []metav1.Condition{{Type: v1alpha1.RegionUpdated, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(morning.Add(-test.ready))}}
			}
			state, _ := stateOf(w, "us", deployed(test.change), "new")
			require.Equal(t, test.want, state)
		})
	}
}

// TestTurns says for regions in the order us, eu, sg which may have the newest template.
func TestTurns(t *testing.T) {
	late := func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 1 }
	broken := func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 0 }
	tests := map[string]struct {
		states        []rollState
		incomplete    string // regions whose pods are not all of the newest template
		lacking       string // regions that have too few pods to serve
		most          int32
		gated, paused bool
		want          string
	}{
		"all new":                         {states: []rollState{missing, missing, missing}, want: "us eu sg"},
		"one after another":               {states: []rollState{outdated, outdated, outdated}, want: "us"},
		"two at once":                     {states: []rollState{outdated, outdated, outdated}, most: 2, want: "us eu"},
		"three at once":                   {states: []rollState{outdated, outdated, outdated}, most: 3, want: "us eu sg"},
		"while one rolls":                 {states: []rollState{rolling, outdated, outdated}, want: "us"},
		"while one soaks":                 {states: []rollState{soaking, outdated, outdated}, want: "us"},
		"while one soaks, two allowed":    {states: []rollState{soaking, outdated, outdated}, most: 2, want: "us eu"},
		"after the soak":                  {states: []rollState{settled, outdated, outdated}, want: "us eu"},
		"one is stuck":                    {states: []rollState{settled, stuck, outdated}, want: "us eu"},
		"one has lost pods":               {states: []rollState{settled, degraded, outdated}, want: "us eu"},
		"more than allowed roll":          {states: []rollState{rolling, rolling, outdated}, want: "us eu"},
		"what needs mending comes first":  {states: []rollState{outdated, outdated, outdated}, incomplete: "sg", want: "sg"},
		"a new region beside a roll":      {states: []rollState{rolling, missing, outdated}, want: "us eu"},
		"the database is not migrated":    {states: []rollState{settled, outdated, missing}, gated: true, want: "us"},
		"changed by hand: in the order":   {states: []rollState{drifted, drifted, drifted}, want: "us"},
		"by hand, while one soaks":        {states: []rollState{drifted, soaking, drifted}, want: "eu"},
		"by hand, while one is stuck":     {states: []rollState{drifted, settled, stuck}, want: "eu sg"},
		"by hand, and another rolls":      {states: []rollState{outdated, drifted, outdated}, incomplete: "eu", want: "eu"},
		"broken by hand, while one soaks": {states: []rollState{drifted, soaking, outdated}, lacking: "us", want: "us eu"},
		"broken by hand takes the turn":   {states: []rollState{outdated, drifted, outdated}, lacking: "eu", want: "eu"},
		"two broken by hand":              {states: []rollState{drifted, drifted, settled}, lacking: "us eu", want: "us eu sg"},
		"by hand, not migrated":           {states: []rollState{settled, drifted, drifted}, lacking: "sg", gated: true, want: "us sg"},
		"by hand, paused":                 {states: []rollState{drifted, drifted, drifted}, paused: true, want: "us eu sg"},
		"paused: all are listed":          {states: []rollState{outdated, outdated, missing}, paused: true, want: "us eu sg"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &World{SN: &v1alpha1.SocialNetwork{}, SchemaReady: !test.gated}
			w.SN.Spec.Rollout.MaxRegionsRolling, w.SN.Spec.Paused = test.most, test.paused
			var rolls []*roll
			for i, code := range []v1alpha1.RegionCode{"us", "eu", "sg"} {
				r := &roll{region: &v1alpha1.Region{Code: code}, state: test.states[i], live: deployed(nil)}
				if strings.Contains(test.incomplete, string(code)) {
					r.live = deployed(late)
				}
				if strings.Contains(test.lacking, string(code)) {
					r.live = deployed(broken)
				}
				rolls = append(rolls, r)
			}
			turns := Regions{}.turns(w, rolls)
			var got []string
			for _, r := range rolls {
				if turns[r] {
					got = append(got, string(r.region.Code))
				}
			}
			require.Equal(t, test.want, strings.Join(got, " "))
		})
	}
}

// TestRegionsSum says what the network's condition is.
func TestRegionsSum(t *testing.T) {
	tests := map[string]struct {
		states []rollState
		down   string
		gated  bool
		paused bool
		want   metav1.ConditionStatus
		reason v1alpha1.Reason
	}{
		"all serve":               {[]rollState{settled, soaking}, "", false, false, "True", v1alpha1.ReasonServing},
		"one was changed by hand": {[]rollState{drifted, settled}, "", false, false, "False", v1alpha1.ReasonProgressing},
		"one rolls":               {[]rollState{settled, rolling}, "", false, false, "False", v1alpha1.ReasonProgressing},
		"one is stuck":            {[]rollState{outdated, stuck}, "", false, false, "False", v1alpha1.ReasonRolloutStopped},
		"one waits":               {[]rollState{outdated, settled}, "", true, false, "False", v1alpha1.ReasonWaitingForSchema},
		"one waits, and paused":   {[]rollState{outdated, settled}, "", false, true, "False", v1alpha1.ReasonPausedBySpec},
		"one lost its pods":       {[]rollState{settled, degraded}, "eu", false, false, "False", v1alpha1.ReasonNotServing},
		"one lost some pods":      {[]rollState{settled, degraded}, "", false, false, "True", v1alpha1.ReasonServing},
		"one is made, none runs":  {[]rollState{missing, missing}, "us eu", false, false, "False", v1alpha1.ReasonProgressing},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &World{SN: &v1alpha1.SocialNetwork{}, SchemaReady: !test.gated}
			w.SN.Spec.Paused = test.paused
			var out Outcome
			var rolls []*roll
			for i, code := range []v1alpha1.RegionCode{"us", "eu"} {
				rolls = append(rolls, &roll{region: &v1alpha1.Region{Code: code}, state: test.states[i]})
				status := metav1.ConditionTrue
				if strings.Contains(test.down, string(code)) {
					status = metav1.ConditionFalse
				}
				out.RegionCondition(code, v1alpha1.RegionAvailable, status, "X", "")
			}
			Regions{}.sum(w, &out, rolls)
			require.Equal(t, test.want, out.Status)
			require.Equal(t, test.reason, out.Reason)
		})
	}
}
