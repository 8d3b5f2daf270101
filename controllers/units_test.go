package controllers

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
)

// holding is a status in which every condition that Ready needs holds, but those that are given.
func holding(other ...metav1.Condition) *v1alpha1.SocialNetworkStatus {
	status := &v1alpha1.SocialNetworkStatus{}
	for _, kind := range neededForReady {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: "Fine"})
	}
	for _, c := range other {
		meta.SetStatusCondition(&status.Conditions, c)
	}
	return status
}

func TestReady(t *testing.T) {
	waits := holding()
	waits.PendingChanges = []string{"create Service acme-us"}
	tests := map[string]struct {
		status *v1alpha1.SocialNetworkStatus
		want   metav1.ConditionStatus
		reason v1alpha1.Reason
		says   string
	}{
		"all holds":           {holding(), metav1.ConditionTrue, v1alpha1.ReasonAllHolds, "Every region"},
		"nothing known":       {&v1alpha1.SocialNetworkStatus{}, metav1.ConditionFalse, v1alpha1.ReasonProgressing, "not known"},
		"a stage fails":       {holding(metav1.Condition{Type: "KeysReady", Status: "False", Reason: "KeyFileBroken", Message: "bad"}), "False", "KeyFileBroken", "KeysReady: bad"},
		"a stage is unsure":   {holding(metav1.Condition{Type: "ModerationApplied", Status: "Unknown", Reason: "ServersSilent"}), "False", "ServersSilent", "ModerationApplied"},
		"the first explains":  {holding(metav1.Condition{Type: "KeysReady", Status: "False", Reason: "A"}, metav1.Condition{Type: "SchemaMigrated", Status: "False", Reason: "B"}), "False", "B", "SchemaMigrated"},
		"alerts do not count": {holding(metav1.Condition{Type: "AlertsApplied", Status: "False", Reason: "CRDMissing"}), "True", v1alpha1.ReasonAllHolds, ""},
		"nor does placement":  {holding(metav1.Condition{Type: "RegionsPinned", Status: "Unknown", Reason: "X"}), "True", v1alpha1.ReasonAllHolds, ""},
		"changes wait":        {waits, metav1.ConditionFalse, v1alpha1.ReasonPausedBySpec, "create Service acme-us"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			is, reason, says := ready(test.status)
			require.Equal(t, test.want, is)
			require.Equal(t, test.reason, reason)
			require.Contains(t, says, test.says)
		})
	}
}

func TestVersionOf(t *testing.T) {
	of := func(versions ...string) string {
		status := &v1alpha1.SocialNetworkStatus{}
		for _, v := range versions {
			status.Regions = append(status.Regions, v1alpha1.RegionStatus{Version: v})
		}
		return versionOf(status)
	}
	require.Empty(t, of())
	require.Equal(t, "v1", of("v1", "", "v1"))
	require.Equal(t, "v1,v2", of("v2", "v1", "v2"))
}

// TestReport puts together what stages said.
func TestReport(t *testing.T) {
	now := morning
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Generation: 4}}
	sn.Spec.Regions = []v1alpha1.Region{{Code: "eu"}, {Code: "us"}}
	w := &World{SN: sn, Now: now, Status: &v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{{Code: "sg"}, {Code: "us"}}}}
	meta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: "A", Status: "True", Reason: "Old", LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))})
	report := &passReport{}
	first := stageResult{condition: "A", Outcome: True("New", "line one\n  and two")}
	first.RegionCondition("us", v1alpha1.RegionAvailable, "True", "Serving", "2 pods")
	first.Within(time.Minute)
	first.Events = []Event{{Reason: "Happened"}}
	report.add(first)
	second := stageResult{condition: "B", Outcome: True("Fine", "")}
	second.Within(time.Second)
	second.Events = []Event{{Reason: "DidNotHappen"}}
	second.fail("eu", apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "acme-eu", errors.New("quota")))
	report.add(second)

	status := report.status(w)
	require.Equal(t, time.Second, report.requeue)
	require.Equal(t, []Event{{Reason: "Happened"}}, report.events)
	require.NoError(t, report.transient(), "what a person has to mend is not tried again soon")
	require.NoError(t, report.stale)
	require.Equal(t, int64(4), status.ObservedGeneration)
	a := meta.FindStatusCondition(status.Conditions, "A")
	require.Equal(t, "New", a.Reason)
	require.Equal(t, "line one and two", a.Message)
	require.Equal(t, now.Add(-time.Hour), a.LastTransitionTime.Time, "the status is the same as before")
	b := meta.FindStatusCondition(status.Conditions, "B")
	require.Equal(t, metav1.ConditionFalse, b.Status)
	require.Equal(t, string(v1alpha1.ReasonApplyFailed), b.Reason)
	require.Contains(t, b.Message, "quota")
	require.Len(t, status.Regions, 2)
	require.Equal(t, v1alpha1.RegionCode("eu"), status.Regions[0].Code, "in the spec's order, and without those that it does not name")
	require.Equal(t, "1/2", status.RegionsReady)
}

func TestFailures(t *testing.T) {
	services := schema.GroupResource{Resource: "services"}
	tests := map[string]struct {
		err              error
		stale, transient bool
		reason           v1alpha1.Reason
	}{
		"another version":  {apierrors.NewConflict(services, "x", errors.New("newer")), true, false, "Fine"},
		"an old cache":     {errors.Join(apply.ErrStale), true, false, "Fine"},
		"somebody else's":  {apierrors.NewAlreadyExists(services, "x"), false, true, v1alpha1.ReasonApplyFailed},
		"no right":         {apierrors.NewForbidden(services, "x", nil), false, false, v1alpha1.ReasonApplyFailed},
		"a bad object":     {apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "x", nil), false, false, v1alpha1.ReasonApplyFailed},
		"a server's fault": {apierrors.NewInternalError(errors.New("etcd")), false, true, v1alpha1.ReasonApplyFailed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			result := stageResult{condition: "A", Outcome: True("Fine", "")}
			result.fail("", test.err)
			report := &passReport{}
			report.add(result)
			require.Equal(t, test.stale, report.stale != nil)
			require.Equal(t, test.transient, report.transient() != nil)
			require.Equal(t, test.reason, report.results[0].Reason)
		})
	}
}

func TestShort(t *testing.T) {
	require.Equal(t, "a b", short(" a\n\tb "))
	long := short(strings.Repeat("ä", 2000))
	require.LessOrEqual(t, len(long), maxMessage)
	require.True(t, strings.HasSuffix(long, "ä..."))
}

func TestSeverity(t *testing.T) {
	require.Equal(t, corev1.EventTypeWarning, severity(metav1.Condition{Status: "False", Reason: string(v1alpha1.ReasonMigrationFailed)}))
	require.Equal(t, corev1.EventTypeNormal, severity(metav1.Condition{Status: "False", Reason: string(v1alpha1.ReasonMigrating)}))
	require.Equal(t, corev1.EventTypeNormal, severity(metav1.Condition{Status: "True", Reason: string(v1alpha1.ReasonMigrated)}))
}

func TestVersions(t *testing.T) {
	var v versions
	sn := func(version string) *v1alpha1.SocialNetwork {
		return &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a", ResourceVersion: version}}
	}
	require.False(t, v.newerThan(sn("1")))
	v.wrote(sn("10"))
	require.True(t, v.newerThan(sn("9")))
	require.False(t, v.newerThan(sn("10")))
	require.False(t, v.newerThan(sn("9")), "it was seen, and is forgotten")
	v.wrote(sn("10"))
	v.forget(types.NamespacedName{Namespace: "n", Name: "a"})
	require.False(t, v.newerThan(sn("9")))
	v.wrote(sn("no number"))
	require.False(t, v.newerThan(sn("1")))
}

// TestRequeue lets a look that nobody asked for give way to what people change.
func TestRequeue(t *testing.T) {
	soon := requeueAfter(5 * time.Second)
	require.Equal(t, 5*time.Second, soon.RequeueAfter)
	require.Nil(t, soon.Priority)
	require.Equal(t, 100*time.Millisecond, requeueAfter(time.Nanosecond).RequeueAfter)
	for range 100 {
		look := requeueAfter(0)
		require.InDelta(t, lookEvery.Seconds(), look.RequeueAfter.Seconds(), lookEvery.Seconds()/10)
		require.Equal(t, handler.LowPriority, *look.Priority)
		require.Negative(t, *look.Priority)
	}
}

// TestMetrics reads the metrics of a network, and of none.
func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "acme"}}
	sn.Spec.Paused = true
	status := &v1alpha1.SocialNetworkStatus{
		Conditions: []metav1.Condition{{Type: "Ready", Status: "False"}},
		Regions:    []v1alpha1.RegionStatus{{Code: "eu", Conditions: []metav1.Condition{{Type: "Available", Status: "True"}}}},
		Schema:     v1alpha1.SchemaStatus{Current: "92", Target: "", Attempts: 3},
		ServerKeys: v1alpha1.ServerKeysStatus{NextRotation: &metav1.Time{Time: time.Unix(2000, 0)}},
	}
	m.Observe(sn, status, time.Unix(1000, 0))
	status.Conditions[0].Status, status.ServerKeys.NextRotation = "True", nil
	m.Observe(sn, status, time.Unix(1001, 0))
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP plaza_operator_condition 1 for the status (True, False, Unknown) that a condition of the network has, 0 for the others.
# TYPE plaza_operator_condition gauge
plaza_operator_condition{namespace="n",network="acme",status="False",type="Ready"} 0
plaza_operator_condition{namespace="n",network="acme",status="True",type="Ready"} 1
plaza_operator_condition{namespace="n",network="acme",status="Unknown",type="Ready"} 0
# HELP plaza_operator_migration_attempts Attempts to migrate the database to the present target.
# TYPE plaza_operator_migration_attempts gauge
plaza_operator_migration_attempts{namespace="n",network="acme"} 3
# HELP plaza_operator_observed_timestamp_seconds When the operator last went through the network.
# TYPE plaza_operator_observed_timestamp_seconds gauge
plaza_operator_observed_timestamp_seconds{namespace="n",network="acme"} 1001
# HELP plaza_operator_paused Whether the network is paused: 0 or 1.
# TYPE plaza_operator_paused gauge
plaza_operator_paused{namespace="n",network="acme"} 1
# HELP plaza_operator_region_condition The same for a condition of one region.
# TYPE plaza_operator_region_condition gauge
plaza_operator_region_condition{namespace="n",network="acme",region="eu",status="False",type="Available"} 0
plaza_operator_region_condition{namespace="n",network="acme",region="eu",status="True",type="Available"} 1
plaza_operator_region_condition{namespace="n",network="acme",region="eu",status="Unknown",type="Available"} 0
# HELP plaza_operator_schema_version Schema of the database, and the one that the image needs (kind current or target).
# TYPE plaza_operator_schema_version gauge
plaza_operator_schema_version{kind="current",namespace="n",network="acme"} 92
`)))
	status.Regions = nil
	m.Observe(sn, status, time.Unix(1002, 0))
	left, err := testutil.GatherAndCount(registry, "plaza_operator_region_condition")
	require.NoError(t, err)
	require.Zero(t, left, "the region went")
	m.Forget(types.NamespacedName{Namespace: "n", Name: "acme"})
	count, err := testutil.GatherAndCount(registry)
	require.NoError(t, err)
	require.Zero(t, count)
	var none *Metrics
	none.Observe(sn, status, morning)
	none.Forget(types.NamespacedName{})
}
