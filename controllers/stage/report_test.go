package stage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/clusters"
	"github.com/plaza-social/plaza/controllers/render"
)

// holding returns a status in which every condition that Ready requires is True, apart from those given.
func holding(other ...metav1.Condition) *v1alpha1.SocialNetworkStatus {
	status := &v1alpha1.SocialNetworkStatus{}
	for _, kind := range requiredForReady {
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
		"all holds":     {holding(), metav1.ConditionTrue, v1alpha1.ReasonAllHolds, "Every region serves the spec."},
		"nothing known": {&v1alpha1.SocialNetworkStatus{}, metav1.ConditionFalse, v1alpha1.ReasonProgressing, "not known"},
		"a stage fails": {
			holding(metav1.Condition{Type: "KeysReady", Status: "False", Reason: "KeyFileBroken", Message: "bad"}), "False",
			"KeyFileBroken", "KeysReady: bad",
		},
		"a stage is unsure": {
			holding(metav1.Condition{Type: "ModerationApplied", Status: "Unknown", Reason: "ServersSilent"}), "False",
			"ServersSilent", "ModerationApplied",
		},
		"a cause explains": {
			holding(metav1.Condition{Type: "KeysReady", Status: "Unknown", Reason: "NoServers"},
				metav1.Condition{Type: "SchemaMigrated", Status: "False", Reason: "WaitingForKeys"},
				metav1.Condition{Type: "RegionsAvailable", Status: "False", Reason: "DatabaseUnreachable", Message: "away"}), "False",
			"DatabaseUnreachable", "RegionsAvailable: away",
		},
		"work does not": {holding(metav1.Condition{Type: "SchemaMigrated", Status: "False", Reason: "Migrating"},
			metav1.Condition{Type: "KeysReady", Status: "False", Reason: "KeyFileBroken"}), "False", "KeyFileBroken", "KeysReady"},
		"a pod is missing": {
			holding(metav1.Condition{Type: "RegionsAvailable", Status: "True", Reason: "Degraded", Message: "us: one."}),
			"True", v1alpha1.ReasonDegraded, "Every region serves the spec, but some servers do not. us: one.",
		},
		"evacuated": {
			holding(metav1.Condition{Type: "RegionsAvailable", Status: "True", Reason: "Evacuated", Message: "Other regions serve eu."}),
			"True", v1alpha1.ReasonEvacuated, "Other regions serve eu.",
		},
		"evacuation begins": {
			holding(metav1.Condition{Type: "EvacuationsApplied", Status: "False", Reason: "EvacuationStarting"}), "False",
			"EvacuationStarting", "EvacuationsApplied",
		},
		"an effect": {
			holding(metav1.Condition{Type: "SchemaMigrated", Status: "False", Reason: "WaitingForKeys"},
				metav1.Condition{Type: "KeysReady", Status: "False", Reason: "KeyPending"}),
			"False", "KeyPending", "KeysReady",
		},
		"effects only": {
			holding(metav1.Condition{Type: "SchemaMigrated", Status: "False", Reason: "WaitingForKeys"},
				metav1.Condition{Type: "KeysReady", Status: "Unknown", Reason: "NoServers"}),
			"False", "WaitingForKeys", "SchemaMigrated",
		},
		"the first explains": {holding(metav1.Condition{Type: "KeysReady", Status: "False", Reason: "A"},
			metav1.Condition{Type: "SchemaMigrated", Status: "False", Reason: "B"}), "False", "B", "SchemaMigrated"},
		"alerts do not count": {
			holding(metav1.Condition{Type: "AlertsApplied", Status: "False", Reason: "CRDMissing"}), "True",
			v1alpha1.ReasonAllHolds, "",
		},
		"nor does placement": {
			holding(metav1.Condition{Type: "RegionsPinned", Status: "Unknown", Reason: "X"}), "True",
			v1alpha1.ReasonAllHolds, "",
		},
		"rows are elsewhere": {
			holding(metav1.Condition{Type: "RegionsPinned", Status: "False", Reason: "TablesNotPinned", Message: "posts"}),
			"False", "TablesNotPinned", "RegionsPinned: posts",
		},
		"rows are anywhere": {
			holding(metav1.Condition{Type: "RegionsPinned", Status: "Unknown", Reason: "CockroachDBHasNoRegions"}),
			"False", "CockroachDBHasNoRegions", "RegionsPinned",
		},
		"PostgreSQL": {
			holding(metav1.Condition{Type: "RegionsPinned", Status: "Unknown", Reason: "PostgreSQLHasNoPlacement"}),
			"True", v1alpha1.ReasonAllHolds, "",
		},
		"tolerated: elsewhere": {
			holding(metav1.Condition{Type: "RegionsPinned", Status: "False", Reason: "TablesNotPinned"}), "True",
			v1alpha1.ReasonAllHolds, "",
		},
		"changes wait": {waits, metav1.ConditionFalse, v1alpha1.ReasonPausedBySpec, "create Service acme-us"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			sn := &v1alpha1.SocialNetwork{}
			sn.Spec.Regions = make([]v1alpha1.Region, 2)
			sn.Spec.Database.RequirePinned = !strings.HasPrefix(name, "tolerated: ")
			c := ready(sn, test.status)
			require.Equal(t, test.want, c.Status)
			require.Equal(t, string(test.reason), c.Reason)
			require.Contains(t, c.Message, test.says)
			if test.reason == v1alpha1.ReasonAllHolds {
				require.Equal(t, "Every region serves the spec.", c.Message)
			}
		})
	}
}

// TestProgress checks the conditions of kstatus: at most one is True, and none for a network that is ready or paused.
func TestProgress(t *testing.T) {
	for reason, want := range map[v1alpha1.Reason]struct{ ready, reconciling, stalled metav1.ConditionStatus }{
		v1alpha1.ReasonAllHolds:             {"True", "False", "False"},
		v1alpha1.ReasonDegraded:             {"True", "False", "False"},
		v1alpha1.ReasonProgressing:          {"False", "True", "False"},
		v1alpha1.ReasonMigrating:            {"False", "True", "False"},
		v1alpha1.ReasonPausedBySpec:         {"False", "False", "False"},
		v1alpha1.ReasonRolloutStopped:       {"False", "False", "True"},
		v1alpha1.ReasonClusterUnreachable:   {"False", "False", "True"},
		v1alpha1.ReasonModerationPushFailed: {"False", "False", "True"},
	} {
		conditions := progress(metav1.Condition{Type: "Ready", Status: want.ready, Reason: string(reason), Message: "why"})
		require.Len(t, conditions, 2)
		for i, kind := range []string{"Reconciling", "Stalled"} {
			require.Equal(t, kind, conditions[i].Type)
			require.Equal(t, []metav1.ConditionStatus{want.reconciling, want.stalled}[i], conditions[i].Status, "%s, %s", reason, kind)
			require.Equal(t, string(reason), conditions[i].Reason)
			require.Equal(t, "why", conditions[i].Message)
		}
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
	require.Equal(t, "v1,v2", of("v1,v2", "v2,v1", "v1"), "regions with pods of both versions")
}

// TestReport combines the results of two stages.
func TestReport(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Generation: 4}}
	sn.Spec.Regions = []v1alpha1.Region{{Code: "eu"}, {Code: "us"}}
	before := []v1alpha1.RegionStatus{{Code: "sg", Version: "v1"}, {Code: "us", Version: "v2"}}
	p := &Pass{SN: sn, Now: now, Status: &v1alpha1.SocialNetworkStatus{Regions: before}}
	meta.SetStatusCondition(&p.Status.Conditions,
		metav1.Condition{Type: "A", Status: "True", Reason: "Old", LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))})
	report := &Report{}
	first := Result{Condition: "A", Outcome: True("New", "line one\n  and two")}
	first.SetRegionCondition("us", v1alpha1.RegionAvailable, "True", "Serving", "2 pods")
	first.RequeueAfter(time.Minute)
	first.Events = []Event{{Reason: "Happened"}}
	report.add(first)
	second := Result{Condition: "B", Outcome: True("Fine", "")}
	second.RequeueAfter(time.Second)
	second.Events = []Event{{Reason: "DidNotHappen"}}
	second.fail(&Cluster{}, "eu", apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "acme-eu", errors.New("quota")))
	report.add(second)
	report.add(Result{Condition: "C", Outcome: True("Fine", "")})

	status := report.Status(p)
	require.Equal(t, time.Second, report.Requeue)
	require.Equal(t, []Event{{Reason: "Happened"}}, report.Events)
	require.NoError(t, report.TransientError(), "an error that needs a change by a user is not retried")
	require.NoError(t, report.Stale)
	require.Equal(t, int64(4), status.ObservedGeneration)
	a := meta.FindStatusCondition(status.Conditions, "A")
	require.Equal(t, "New", a.Reason)
	require.Equal(t, "line one and two", a.Message)
	require.Equal(t, now.Add(-time.Hour), a.LastTransitionTime.Time, "the status is the same as before")
	b := meta.FindStatusCondition(status.Conditions, "B")
	require.Equal(t, metav1.ConditionFalse, b.Status)
	require.Equal(t, string(v1alpha1.ReasonApplyFailed), b.Reason)
	require.Contains(t, b.Message, "quota")
	require.Equal(t, now, b.LastTransitionTime.Time)
	require.Equal(t, int64(4), b.ObservedGeneration)
	paused := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionPaused)
	require.Equal(t, metav1.ConditionFalse, paused.Status)
	require.Equal(t, string(v1alpha1.ReasonNotPaused), paused.Reason)
	require.Equal(t, "Changes are applied.", paused.Message)
	for kind, want := range map[string]metav1.ConditionStatus{"Ready": "False", "Reconciling": "True", "Stalled": "False"} {
		c := meta.FindStatusCondition(status.Conditions, kind)
		require.Equal(t, want, c.Status, kind)
		require.Equal(t, "SchemaMigrated: The condition is not known yet.", c.Message, kind)
	}
	require.Equal(t, "v2", status.Version)
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
		"no informer yet":  {fmt.Errorf("reading: %w", &cache.ErrResourceNotCached{}), true, false, "Fine"},
		"object of a user": {apierrors.NewAlreadyExists(services, "x"), false, true, v1alpha1.ReasonApplyFailed},
		"no right":         {apierrors.NewForbidden(services, "x", nil), false, false, v1alpha1.ReasonApplyFailed},
		"a bad object":     {apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "x", nil), false, false, v1alpha1.ReasonApplyFailed},
		"a server's fault": {apierrors.NewInternalError(errors.New("etcd")), false, true, v1alpha1.ReasonApplyFailed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			result := Result{Condition: "A", Outcome: True("Fine", "")}
			result.fail(&Cluster{}, "", test.err)
			report := &Report{}
			report.add(result)
			require.Equal(t, test.stale, report.Stale != nil)
			require.Equal(t, test.transient, report.TransientError() != nil)
			require.Equal(t, test.reason, report.Results[0].Reason)
		})
	}
}

// TestLostCluster loses a cluster while something is written there: it is not used again in the pass, which is repeated soon.
func TestLostCluster(t *testing.T) {
	sn := &v1alpha1.SocialNetwork{}
	sn.Spec.Regions = []v1alpha1.Region{{Code: "us"}, {Code: "eu", Cluster: "west"}, {Code: "sg", Cluster: "west"}}
	c := &Cluster{Name: "west", Network: render.Network{SN: sn, Cluster: "west"}}
	result := Result{Outcome: True("Fine", "")}
	result.fail(c, "eu", &clusters.UnreachableError{Err: errors.New("time-out")})
	require.False(t, c.IsUsable())
	require.Equal(t, v1alpha1.ReasonClusterUnreachable, c.Reason)
	require.Contains(t, c.Message, "Cluster west cannot be reached: ")
	require.True(t, strings.HasSuffix(c.Message, "time-out."), c.Message)
	require.Empty(t, result.Errors)
	require.Equal(t, 5*time.Second, result.Requeue)
	require.Equal(t, metav1.ConditionUnknown, result.Status)
	require.Equal(t, c.Reason, result.Reason)
	require.Equal(t, c.Message, result.Message)
	require.Len(t, result.Regions, 2)
	for code, conditions := range result.Regions {
		require.NotEqual(t, v1alpha1.RegionUS, code)
		require.Equal(t, []metav1.Condition{{
			Type: v1alpha1.RegionAvailable, Status: metav1.ConditionUnknown, Reason: string(c.Reason), Message: c.Message,
		}}, conditions)
	}
}

// TestRejectedChange reports the error of the API server on the region of the object, if it has one.
func TestRejectedChange(t *testing.T) {
	for _, code := range []v1alpha1.RegionCode{"", "eu"} {
		result := Result{Outcome: True("Fine", "")}
		result.fail(&Cluster{}, code, errors.New("quota"))
		require.Equal(t, "The API server rejected a change: quota", result.Message)
		if code == "" {
			require.Empty(t, result.Regions)
			continue
		}
		require.Equal(t, []metav1.Condition{{
			Type: v1alpha1.RegionAvailable, Status: metav1.ConditionFalse, Reason: string(v1alpha1.ReasonApplyFailed), Message: result.Message,
		}}, result.Regions[code])
	}
}

// TestManyPendingChanges checks that a status lists a limited number of changes, and counts those.
func TestManyPendingChanges(t *testing.T) {
	for changes, want := range map[int]int{100: 100, 101: 100} {
		p := &Pass{SN: &v1alpha1.SocialNetwork{}, Status: &v1alpha1.SocialNetworkStatus{}}
		report := &Report{Results: []Result{{Condition: "A", Outcome: Outcome{Pending: slices.Repeat([]string{"create x"}, changes)}}}}
		require.Len(t, report.Status(p).PendingChanges, want)
	}
}

// TestEvents checks the type and the text of events, and that recorders do not count different messages as one event.
func TestEvents(t *testing.T) {
	recorder := events.NewFakeRecorder(10)
	recorder.Verbose = true
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "plaza", Name: "acme"}}
	sn.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionKeysReady, Status: metav1.ConditionTrue,
		Reason: string(v1alpha1.ReasonKeysVerified),
	}}
	RecordConditions(recorder, sn, &v1alpha1.SocialNetworkStatus{Conditions: []metav1.Condition{
		sn.Status.Conditions[0],
		{
			Type: v1alpha1.ConditionSchemaMigrated, Status: metav1.ConditionFalse, Reason: string(v1alpha1.ReasonMigrationFailed),
			Message: "100% full.",
		},
		{Type: v1alpha1.ConditionSwept, Status: metav1.ConditionTrue, Reason: string(v1alpha1.ReasonNothingLeft), Message: "Nothing."},
	}})
	require.Len(t, recorder.Events, 2, "the first did not change")
	require.Contains(t, <-recorder.Events, "Warning MigrationFailed "+v1alpha1.ConditionSchemaMigrated+" SchemaMigrated is False: 100% full.")
	require.Contains(t, <-recorder.Events, "Normal NothingLeft "+v1alpha1.ConditionSwept+" Swept is True: Nothing.")

	one := Event{Reason: v1alpha1.ReasonKeysCreated, Message: "100% one"}
	other := Event{Reason: v1alpha1.ReasonKeysCreated, Message: "other", Warning: true}
	require.NotEqual(t, eventAction(one), eventAction(other))
	require.Regexp(t, "^KeysCreated-[0-9a-f]{8}$", eventAction(one))
	RecordEvents(recorder, sn, []Event{one, other})
	require.Contains(t, <-recorder.Events, "Normal KeysCreated "+eventAction(one)+" 100% one")
	require.Contains(t, <-recorder.Events, "Warning KeysCreated "+eventAction(other)+" other")
}

// TestConditionChanges checks which changes of conditions are worth an event.
func TestConditionChanges(t *testing.T) {
	status := func(kind, status, reason string) *v1alpha1.SocialNetworkStatus {
		c := metav1.Condition{Type: kind, Status: metav1.ConditionStatus(status), Reason: reason, Message: status}
		return &v1alpha1.SocialNetworkStatus{Conditions: []metav1.Condition{c}}
	}
	none := &v1alpha1.SocialNetworkStatus{}
	for name, c := range map[string]struct {
		before, after *v1alpha1.SocialNetworkStatus
		want          int
	}{
		"the same":               {status("A", "True", "R"), status("A", "True", "R"), 0},
		"another reason":         {status("A", "True", "R"), status("A", "True", "S"), 1},
		"another status":         {status("A", "True", "R"), status("A", "False", "R"), 1},
		"a new condition":        {none, status("A", "False", "R"), 1},
		"a new network":          {none, status("Paused", "False", "NotPaused"), 0},
		"a new one that pauses":  {none, status("Paused", "True", "PausedBySpec"), 1},
		"it is not paused again": {status("Paused", "True", "PausedBySpec"), status("Paused", "False", "NotPaused"), 1},
		"Reconciling":            {status("Reconciling", "True", "R"), status("Reconciling", "False", "S"), 0},
		"Stalled":                {none, status("Stalled", "True", "S"), 0},
	} {
		require.Len(t, conditionChanges(c.before, c.after), c.want, name)
		after := &v1alpha1.SocialNetworkStatus{Conditions: append(slices.Clone(c.after.Conditions), metav1.Condition{Type: "Z", Reason: "R"})}
		require.Len(t, conditionChanges(c.before, after), c.want+1, "%s, and one after it changes", name)
	}
}

func TestShorten(t *testing.T) {
	require.Equal(t, "a b", Shorten(" a\n\tb "))
	long := Shorten(strings.Repeat("ä", 2000))
	require.LessOrEqual(t, len(long), maxMessage)
	require.Equal(t, strings.Repeat("a", 1000), Shorten(strings.Repeat("a", 1000)))
	require.Equal(t, strings.Repeat("a", 997)+"...", Shorten(strings.Repeat("a", 1001)))
	require.True(t, strings.HasSuffix(long, "ä..."))
}

func TestIsProblem(t *testing.T) {
	require.True(t, isProblem(metav1.Condition{Status: "False", Reason: string(v1alpha1.ReasonMigrationFailed)}))
	require.False(t, isProblem(metav1.Condition{Status: "False", Reason: string(v1alpha1.ReasonMigrating)}))
	require.False(t, isProblem(metav1.Condition{Status: "True", Reason: string(v1alpha1.ReasonMigrated)}))
}

func TestJoinNames(t *testing.T) {
	for want, names := range map[string][]string{"": nil, "eu": {"eu"}, "eu and sg": {"eu", "sg"}, "eu, sg and us": {"eu", "sg", "us"}} {
		require.Equal(t, want, JoinNames(names))
	}
}

// TestRedactInvalidURLs checks that nothing of an unescaped password is left in the errors of programs that accept it.
func TestRedactInvalidURLs(t *testing.T) {
	for value, c := range map[string]struct{ shown, want string }{
		"postgres://plaza:p@ss#1@db.example/plaza\n":   {"lookup ss#1@db.example: no such host", "lookup [secret]db.example: no such host"},
		"postgres://plaza:hunter/2sword@db/plaza":      {"user=root database=2sword@db/plaza", "user=root database=[secret]db/plaza"},
		"postgres://db/plaza?password=hunter@2sword":   {"lookup 2sword: no such host", "lookup [secret]: no such host"},
		"postgres://plaza:abc@db/plaza":                {"abc is wrong", "[secret] is wrong"},
		"postgres://plaza:abcdef@db/plaza?options=abc": {"abcdef is wrong", "[secret] is wrong"},
	} {
		p := &Pass{}
		p.RedactSecret(&corev1.Secret{Data: map[string][]byte{"url": []byte(value)}})
		require.Equal(t, c.want, p.Redact(c.shown), value)
	}
}

func TestRedact(t *testing.T) {
	p := &Pass{}
	p.RedactSecret(&corev1.Secret{Data: map[string][]byte{
		"url": []byte("postgres://plaza:p%40ssword-1@db/plaza\n"), "port": []byte("5432"), "token": []byte("long-token"),
		"least": []byte("six-67"), "no URL": []byte("a:b-c@d"),
	}})
	require.Equal(t, "b-c refused", p.Redact("b-c refused"), "a value that is not a URL has no password")
	require.Equal(t, "no [secret] at 5432", p.Redact("no long-token at 5432"))
	require.Equal(t, "[secret] refused", p.Redact("p@ssword-1 refused"))
	require.Equal(t, "[secret] refused", p.Redact("six-67 refused"))
	require.Equal(t, "dial [secret]: refused", p.Redact("dial postgres://plaza:p%40ssword-1@db/plaza: refused"))
}

// TestRedactLongerValues checks that a value which contains another one leaves nothing of itself, in whatever order they were read.
func TestRedactLongerValues(t *testing.T) {
	short, long := map[string][]byte{"a": []byte("swordfish")}, map[string][]byte{"a": []byte("swordfish-and-more")}
	for _, secrets := range [][]map[string][]byte{{short, long}, {long, short}} {
		p := &Pass{}
		for _, data := range secrets {
			p.RedactSecret(&corev1.Secret{Data: data})
		}
		require.Equal(t, "no [secret] or [secret]", p.Redact("no swordfish-and-more or swordfish"))
	}
}

// TestPaused checks what the conditions Paused and Ready say about the changes that wait.
func TestPaused(t *testing.T) {
	for message, changes := range map[string][]string{
		"Paused by spec.paused; no changes are pending.":                                   nil,
		"Paused by spec.paused; 1 changes are pending, the first: create Service acme-us.": {"create Service acme-us"},
		"Paused by spec.paused; 2 changes are pending, the first: create Service acme-us.": {
			"create Service acme-us", "create Service acme-eu",
		},
	} {
		sn := &v1alpha1.SocialNetwork{}
		sn.Spec.Paused = true
		p := &Pass{SN: sn, Status: holding()}
		report := &Report{Results: []Result{{Condition: "A", Outcome: Outcome{Pending: changes}}}}
		status := report.Status(p)
		paused := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionPaused)
		require.Equal(t, metav1.ConditionTrue, paused.Status)
		require.Equal(t, string(v1alpha1.ReasonPausedBySpec), paused.Reason)
		require.Equal(t, message, paused.Message)
		ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
		require.Equal(t, len(changes) == 0, ready.Status == metav1.ConditionTrue)
		if len(changes) > 0 {
			require.Equal(t, message, ready.Message)
		}
	}
}

// TestTransitionTime checks that the time of a condition is that of its last change of status, not of its reason.
func TestTransitionTime(t *testing.T) {
	then := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	p := &Pass{SN: &v1alpha1.SocialNetwork{}, Now: then.Add(1500 * time.Millisecond)}
	for status, want := range map[metav1.ConditionStatus]time.Time{metav1.ConditionTrue: then, metav1.ConditionFalse: then.Add(time.Second)} {
		conditions := []metav1.Condition{{Type: "A", Status: metav1.ConditionTrue, Reason: "Old", LastTransitionTime: metav1.NewTime(then)}}
		p.setCondition(&conditions, metav1.Condition{Type: "A", Status: status, Reason: "New"})
		require.Equal(t, want, conditions[0].LastTransitionTime.Time)
		require.Equal(t, "New", conditions[0].Reason)
	}
}

// TestHoldUpdate checks that a paused network asks for no turn: its changes are only listed.
func TestHoldUpdate(t *testing.T) {
	p := &Pass{SN: &v1alpha1.SocialNetwork{}}
	require.Empty(t, p.HoldUpdate(), "there are no rules")
	closed := Hold{Reason: v1alpha1.ReasonWaitingForWindow}
	p.Updates.MayBegin = func() Hold { return closed }
	require.Equal(t, closed, p.HoldUpdate())
	p.SN.Spec.Paused = true
	require.Empty(t, p.HoldUpdate())
}

// TestIsBreach checks when a network that requires pinned tables is not ready because of where they are stored.
func TestIsBreach(t *testing.T) {
	noRegions := metav1.Condition{Status: metav1.ConditionUnknown, Reason: string(v1alpha1.ReasonCockroachDBHasNoRegions)}
	for name, tc := range map[string]struct {
		pinned   metav1.Condition
		regions  int
		required bool
		want     bool
	}{
		"elsewhere": {metav1.Condition{Status: metav1.ConditionFalse, Reason: string(v1alpha1.ReasonTablesNotPinned)}, 1, true, true},
		"pinned":    {metav1.Condition{Status: metav1.ConditionTrue, Reason: string(v1alpha1.ReasonAllTablesPinned)}, 3, true, false},
		"no regions in the database, three of servers": {noRegions, 3, true, true},
		"no regions in the database, one of servers":   {noRegions, 1, true, false},
		"not required": {noRegions, 3, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			sn := &v1alpha1.SocialNetwork{}
			sn.Spec.Regions, sn.Spec.Database.RequirePinned = make([]v1alpha1.Region, tc.regions), tc.required
			require.Equal(t, tc.want, isBreach(sn, &tc.pinned))
		})
	}
}

// TestWatch checks that each Secret without the label is watched once, also Secrets of the same name in two clusters.
func TestWatch(t *testing.T) {
	own, member, secret := &Cluster{}, &Cluster{Name: "member"}, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "urls"}}
	var out Outcome
	for _, c := range []*Cluster{own, member, own} {
		out.Watch(c, secret)
	}
	out.Watch(own, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "known", Labels: map[string]string{render.LabelWatched: "true"}}})
	other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	out.Watch(own, other)
	require.Equal(t, []WatchedSecret{{secret, own}, {secret, member}, {other, own}}, out.Watched)
}

// TestRequeueAfter checks that a stage runs again when the first of several things is due.
func TestRequeueAfter(t *testing.T) {
	var o Outcome
	for _, step := range []struct{ after, want time.Duration }{
		{0, 0}, {-time.Second, 0}, {time.Minute, time.Minute}, {time.Hour, time.Minute}, {time.Second, time.Second}, {0, time.Second},
	} {
		o.RequeueAfter(step.after)
		require.Equal(t, step.want, o.Requeue)
	}
}
