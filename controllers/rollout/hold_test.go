package rollout

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/scheme"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/statusz"
)

// failingServer is a server of which too many requests fail.
var failingServer = stage.ServerReport{Status: statusz.Status{StartedAt: start, Requests: &statusz.Requests{Total: 100, Failed: 50}}}

// TestHolds checks which of the regions us and eu may be updated while requests fail, or while updates may not begin.
func TestHolds(t *testing.T) {
	for name, c := range map[string]struct {
		us, eu     state
		failing    string // regions whose requests fail
		incomplete string // regions whose update did not succeed
		closed     bool   // updates may not begin
		paused     bool
		want       string
		hold       v1alpha1.Reason
		again      time.Duration
	}{
		"nothing fails": {us: complete, eu: outdated, want: "us eu"},
		"the window is closed": {
			us: complete, eu: outdated, closed: true, want: "us", hold: v1alpha1.ReasonWaitingForWindow, again: time.Minute,
		},
		"the window is closed, and paused": {us: complete, eu: outdated, closed: true, paused: true, want: "us eu"},
		"the other one fails": {
			us: complete, eu: outdated, failing: "us", want: "us", hold: v1alpha1.ReasonErrorRateHigh, again: 15 * time.Second,
		},
		"the other one fails, window closed": {
			us: complete, eu: outdated, failing: "us", closed: true, want: "us", hold: v1alpha1.ReasonErrorRateHigh,
			again: 15 * time.Second,
		},
		"the other one soaks and fails": {
			us: soaking, eu: outdated, failing: "us", want: "us", hold: v1alpha1.ReasonErrorRateHigh, again: 15 * time.Second,
		},
		"the other one fails, and none waits": {us: complete, eu: rolling, failing: "us", want: "us eu"},
		"the other one soaks":                 {us: soaking, eu: outdated, want: "us"},
		"it fails itself, as before": {
			us: outdated, eu: outdated, failing: "us", closed: true, want: "", hold: v1alpha1.ReasonWaitingForWindow, again: time.Minute,
		},
		"its update is taken back":         {us: complete, eu: outdated, failing: "eu", closed: true, want: "us eu"},
		"taken back while one soaks":       {us: soaking, eu: outdated, failing: "eu", closed: true, want: "us"},
		"taken back while one is degraded": {us: degraded, eu: outdated, failing: "eu", closed: true, want: "us"},
		"its update did not succeed":       {us: complete, eu: outdated, failing: "us", incomplete: "eu", closed: true, want: "us eu"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &run{pass: &stage.Pass{SN: &v1alpha1.SocialNetwork{}, Now: start, SchemaReady: true, Status: &v1alpha1.SocialNetworkStatus{}}}
			r.pass.SN.Spec.Paused = c.paused
			r.pass.Reports = map[v1alpha1.RegionCode][]stage.ServerReport{}
			r.pass.Updates.MayBegin = func() stage.Hold {
				if c.closed {
					return stage.Hold{Reason: v1alpha1.ReasonWaitingForWindow, Again: time.Minute}
				}
				return stage.Hold{}
			}
			for i, code := range []v1alpha1.RegionCode{"us", "eu"} {
				g := &region{spec: &v1alpha1.Region{Code: code}, state: []state{c.us, c.eu}[i], live: deployed(nil)}
				if c.incomplete == string(code) {
					g.live.Status.UpdatedReplicas = 1
				}
				if c.failing == string(code) {
					r.pass.Reports[code] = []stage.ServerReport{failingServer}
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
			require.Equal(t, c.want, strings.Join(got, " "))
			require.Equal(t, c.hold, r.hold.Reason)
			require.Equal(t, c.again, r.out.Requeue)
		})
	}
}

// TestBrokenByHandWhileHeld checks that a region whose pods are unavailable because of an edit gets its template back while no update may
// begin.
func TestBrokenByHandWhileHeld(t *testing.T) {
	r, g := runUnder(circumstances{}, deployed(nil))
	r.pass.Updates.MayBegin = func() stage.Hold { return stage.Hold{Reason: v1alpha1.ReasonWaitingForWindow} }
	g.state, r.regions = drifted, []*region{g}
	require.False(t, r.templateUpdates()[g])
	g.live.Status.AvailableReplicas = 1
	require.True(t, r.templateUpdates()[g])
}

// TestTakenBack checks when the update of a region that fails requests may be taken back at once: if another region has the template of the
// spec, with which the requests did not fail.
func TestTakenBack(t *testing.T) {
	for at, want := range map[state]bool{
		missing: false, outdated: false, drifted: false, rolling: false, stuck: false, soaking: true, degraded: true, complete: true,
	} {
		reports := map[v1alpha1.RegionCode][]stage.ServerReport{"eu": {failingServer}}
		r := &run{pass: &stage.Pass{SN: &v1alpha1.SocialNetwork{}, Now: start, Reports: reports}}
		us, eu := &region{spec: &v1alpha1.Region{Code: "us"}, state: at}, &region{spec: &v1alpha1.Region{Code: "eu"}, state: outdated}
		r.regions = []*region{us, eu}
		require.Equal(t, want, r.isTakenBack(eu), at)
		r.pass.Reports = nil
		require.False(t, r.isTakenBack(eu), at)
	}
}

// TestEvacuatedRegions checks that an evacuated region is updated without a turn, and takes none from the others.
func TestEvacuatedRegions(t *testing.T) {
	for name, c := range map[string]struct {
		state         state
		gated, paused bool
		want          bool
	}{
		"outdated":               {state: outdated, want: true},
		"missing":                {state: missing, want: true},
		"outdated, not migrated": {state: outdated, gated: true},
		"missing, not migrated":  {state: missing, gated: true},
		"paused":                 {state: outdated, gated: true, paused: true, want: true},
		"stuck, not migrated":    {state: stuck, gated: true, want: true},
		"edited by hand":         {state: drifted, gated: true, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := &run{pass: &stage.Pass{SN: &v1alpha1.SocialNetwork{}, SchemaReady: !c.gated, Status: &v1alpha1.SocialNetworkStatus{}}}
			r.pass.SN.Spec.Paused = c.paused
			away := &region{spec: &v1alpha1.Region{Code: "eu", EvacuateTo: "us"}, state: c.state, live: deployed(nil)}
			us := &region{spec: &v1alpha1.Region{Code: "us"}, state: outdated, live: deployed(nil)}
			r.regions = []*region{away, us}
			update := r.templateUpdates()
			require.Equal(t, c.want, update[away])
			require.Equal(t, !c.gated || c.paused, update[us])
		})
	}
}

// TestSummaryOfHolds checks the network's condition while a region may not be updated, and while a cluster cannot be used.
func TestSummaryOfHolds(t *testing.T) {
	r, us := runUnder(circumstances{held: true}, nil)
	us.state = outdated
	r.regions = []*region{us}
	r.summarize()
	require.Equal(t, metav1.ConditionFalse, r.out.Status)
	require.Equal(t, v1alpha1.ReasonWaitingForWindow, r.out.Reason)
	require.Equal(t, "The window is closed.", r.out.Message)

	r, us = runUnder(circumstances{}, nil)
	us.state = stuck
	r.regions = []*region{us}
	r.setCondition(us, v1alpha1.RegionUpdated, metav1.ConditionFalse, v1alpha1.ReasonRolloutStopped, "Why.")
	r.summarize()
	require.Equal(t, "The new pods in us did not become ready; no further region is updated. Why.", r.out.Message)

	r, us = runUnder(circumstances{}, nil)
	us.state = complete
	r.regions = []*region{us}
	r.pass.SN.Spec.Regions = []v1alpha1.Region{{Code: "us"}, {Code: "eu", Cluster: "west"}}
	lost := &stage.Cluster{Name: "west", Reason: v1alpha1.ReasonClusterUnreachable, Message: "west is away"}
	lost.Network = render.Network{SN: r.pass.SN, Cluster: "west"}
	r.pass.Clusters = []*stage.Cluster{{Network: render.Network{SN: r.pass.SN}}, lost}
	r.summarize()
	require.Equal(t, metav1.ConditionUnknown, r.out.Status)
	require.Equal(t, v1alpha1.ReasonClusterUnreachable, r.out.Reason)
	require.Equal(t, "west is away", r.out.Message)
	r.pass.SN.Spec.Regions[1].EvacuateTo = "us"
	r.summarize()
	require.Equal(t, v1alpha1.ReasonEvacuated, r.out.Reason, "another region serves its clients")
	r.pass.SN.Spec.Regions = r.pass.SN.Spec.Regions[:1]
	r.summarize()
	require.Equal(t, v1alpha1.ReasonServing, r.out.Reason, "no region is in the cluster")
}

// TestRouted checks the condition Routed: it is asked again until the route is accepted, and goes with the Gateway of the spec.
func TestRouted(t *testing.T) {
	route := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Name: "acme-us", Namespace: "plaza"}}
	accepted := route.DeepCopy()
	accepted.Status.Parents = []gatewayv1.RouteParentStatus{{Conditions: []metav1.Condition{
		{Type: "Accepted", Status: metav1.ConditionTrue}, {Type: "ResolvedRefs", Status: metav1.ConditionTrue},
	}}}
	for name, c := range map[string]struct {
		objects []client.Object
		lacking bool
		status  metav1.ConditionStatus
		reason  v1alpha1.Reason
		message string
		again   time.Duration
	}{
		"no CRD": {
			nil, true, metav1.ConditionFalse, v1alpha1.ReasonCRDMissing,
			"The cluster has no HTTPRoute; install the CRDs of the Gateway API, and the operator continues.", 15 * time.Second,
		},
		"no route": {nil, false, metav1.ConditionUnknown, v1alpha1.ReasonRoutePending, "The HTTPRoute is being created.", 15 * time.Second},
		"not accepted": {
			[]client.Object{route},
			false, metav1.ConditionUnknown, v1alpha1.ReasonRoutePending,
			"No Gateway has reported on the HTTPRoute; check that its Gateway exists and has a controller.", 15 * time.Second,
		},
		"accepted": {
			[]client.Object{accepted}, false, metav1.ConditionTrue, v1alpha1.ReasonRouteAccepted, "The Gateway routes requests to the region.", 0,
		},
		"unreadable": {
			[]client.Object{accepted},
			false, metav1.ConditionUnknown, v1alpha1.ReasonApplyFailed,
			"The HTTPRoute could not be read: the cache is gone", 15 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, g := runUnder(circumstances{}, nil)
			r.pass.SN.Namespace, g.spec.Gateway = "plaza", &v1alpha1.Gateway{}
			get := func(ctx context.Context, api client.WithWatch, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
				if name == "unreadable" {
					return errors.New("the cache is gone")
				}
				return api.Get(ctx, key, object, o...)
			}
			builder := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(c.objects...)
			g.cluster = &stage.Cluster{
				Cache:   builder.WithInterceptorFuncs(interceptor.Funcs{Get: get}).Build(),
				Network: render.Network{SN: r.pass.SN, Capabilities: render.Capabilities{HTTPRoute: !c.lacking}},
			}
			r.setRouted(t.Context(), g)
			require.Len(t, r.out.Regions["us"], 1)
			require.Equal(t, v1alpha1.RegionRouted, r.out.Regions["us"][0].Type)
			require.Equal(t, c.status, r.out.Regions["us"][0].Status)
			require.Equal(t, string(c.reason), r.out.Regions["us"][0].Reason)
			require.Equal(t, c.message, r.out.Regions["us"][0].Message)
			require.Equal(t, c.again, r.out.Requeue)

			r.pass.Region("us").Conditions = []metav1.Condition{{Type: v1alpha1.RegionRouted}, {Type: v1alpha1.RegionAvailable}}
			r.out, g.spec.Gateway = stage.Outcome{}, nil
			r.setRouted(t.Context(), g)
			require.Empty(t, r.out.Regions)
			require.Equal(t, []metav1.Condition{{Type: v1alpha1.RegionAvailable}}, r.pass.Region("us").Conditions)
		})
	}
}
