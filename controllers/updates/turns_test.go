package updates

import (
	"cmp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/stage"
)

func networkNamed(name, image string) *v1alpha1.SocialNetwork {
	return &v1alpha1.SocialNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: "plaza", Name: name}, Spec: v1alpha1.SocialNetworkSpec{Image: image},
	}
}

// limited are the turns of a number of networks.
type limited struct {
	*Turns

	limit int
}

func atMost(limit int) limited { return limited{&Turns{}, limit} }

// hold returns why the update of a network may not begin.
func (l limited) hold(sn *v1alpha1.SocialNetwork) stage.Hold { return l.holdAt(time.Now(), sn) }

func (l limited) holdAt(now time.Time, sn *v1alpha1.SocialNetwork) stage.Hold {
	return l.rules(now, sn).MayBegin()
}

func (l limited) rules(now time.Time, sn *v1alpha1.SocialNetwork) stage.Updates {
	return l.Rules(sn, cmp.Or(sn.Spec.Image, "plaza:default"), l.limit, now)
}

// statusOf is a status whose region us has a reason for not being updated.
func statusOf(reason v1alpha1.Reason) *v1alpha1.SocialNetworkStatus {
	return &v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{{
		Code: "us", Conditions: []metav1.Condition{{Type: v1alpha1.RegionUpdated, Status: metav1.ConditionFalse, Reason: string(reason)}},
	}}}
}

// TestStoppedUpdateGivesItsTurnBack stops the update of a network: others are updated, but not to the same image.
func TestStoppedUpdateGivesItsTurnBack(t *testing.T) {
	for _, reason := range []v1alpha1.Reason{v1alpha1.ReasonRolloutStopped, v1alpha1.ReasonErrorRateHigh} {
		turns := atMost(1)
		mayBegin := func(name, image string) bool {
			return turns.hold(networkNamed(name, image)).Reason == ""
		}
		require.True(t, mayBegin("broken", ""))
		turns.Observe(networkNamed("broken", ""), statusOf(v1alpha1.ReasonProgressing))
		require.False(t, mayBegin("other", "plaza:other"), "it is being updated")

		turns.Observe(networkNamed("broken", ""), statusOf(reason))
		require.False(t, mayBegin("same", ""), "the image may be the cause")
		require.False(t, mayBegin("same", "plaza:default"))
		require.True(t, mayBegin("other", "plaza:other"))
		require.False(t, mayBegin("third", "plaza:third"), "the other has the turn now")
		turns.Observe(networkNamed("other", "plaza:other"), &v1alpha1.SocialNetworkStatus{})

		turns.rules(time.Now(), networkNamed("broken", "plaza:repaired")).InProgress()
		turns.Observe(networkNamed("broken", "plaza:repaired"), statusOf(v1alpha1.ReasonProgressing))
		require.False(t, mayBegin("same", ""), "the repair has its turn")
		turns.Observe(networkNamed("broken", "plaza:repaired"), &v1alpha1.SocialNetworkStatus{})
		require.True(t, mayBegin("same", ""))
	}
}

// TestPausedUpdateGivesItsTurnBack pauses a network during its update: others are updated, also to the same image.
func TestPausedUpdateGivesItsTurnBack(t *testing.T) {
	turns := atMost(1)
	paused := networkNamed("paused", "")
	require.Empty(t, turns.hold(paused).Reason)
	paused.Spec.Paused = true
	turns.Observe(paused, statusOf(v1alpha1.ReasonPausedBySpec))
	require.Empty(t, turns.hold(networkNamed("other", "")).Reason)
}

// TestTurnsOfSeveral lets as many networks be updated at the same time as the limit says. One that waits has no turn, whatever its
// conditions say.
func TestTurnsOfSeveral(t *testing.T) {
	turns := atMost(2)
	hold := func(name string) stage.Hold { return turns.hold(networkNamed(name, "")) }
	require.Empty(t, hold("a").Reason)
	require.Empty(t, hold("b").Reason)
	require.Equal(t, "Other networks are updated first: plaza/a, plaza/b.", hold("c").Message)
	turns.Observe(networkNamed("c", ""), statusOf(v1alpha1.ReasonWaitingForTurn))
	require.Equal(t, v1alpha1.ReasonWaitingForTurn, hold("c").Reason)
	turns.Observe(networkNamed("a", ""), &v1alpha1.SocialNetworkStatus{})
	require.Empty(t, hold("c").Reason)
	require.Equal(t, "Other networks are updated first: plaza/b, plaza/c.", hold("a").Message)
}

// TestTurnOfSeveralRegions keeps the turn of a network until all its regions are updated, and gives it back if one of them has stopped.
func TestTurnOfSeveralRegions(t *testing.T) {
	condition := func(reason v1alpha1.Reason, status metav1.ConditionStatus) v1alpha1.RegionStatus {
		return v1alpha1.RegionStatus{Conditions: []metav1.Condition{{Type: v1alpha1.RegionUpdated, Status: status, Reason: string(reason)}}}
	}
	updating, updated := condition(v1alpha1.ReasonProgressing, metav1.ConditionFalse), condition(v1alpha1.ReasonUpToDate, metav1.ConditionTrue)
	stopped := condition(v1alpha1.ReasonRolloutStopped, metav1.ConditionFalse)
	unknown := condition(v1alpha1.ReasonClusterUnreachable, metav1.ConditionUnknown)
	failed := []metav1.Condition{{
		Type: v1alpha1.ConditionSchemaMigrated, Status: metav1.ConditionFalse,
		Reason: string(v1alpha1.ReasonMigrationFailed),
	}}
	for name, c := range map[string]struct {
		status v1alpha1.SocialNetworkStatus
		ended  bool
	}{
		"the last is updated":   {v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{updating, updated}}, false},
		"the first is updated":  {v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{updated, updating}}, false},
		"all are updated":       {v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{updated, updated}}, true},
		"the last has stopped":  {v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{updating, stopped}}, true},
		"the first has stopped": {v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{stopped, updated}}, true},
		"one is not known":      {v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{updated, unknown}}, true},
		"the migration failed":  {v1alpha1.SocialNetworkStatus{Conditions: failed, Regions: []v1alpha1.RegionStatus{updated}}, true},
	} {
		turns := atMost(1)
		require.Empty(t, turns.hold(networkNamed("acme", "")).Reason)
		turns.Observe(networkNamed("acme", ""), &c.status)
		hold := turns.hold(networkNamed("other", "plaza:other"))
		require.Equal(t, c.ended, hold.Reason == "", name)
	}
}

func TestTurnsWithoutLimit(t *testing.T) {
	var all Turns
	for _, name := range []string{"a", "b", "c"} {
		require.Empty(t, all.request(types.NamespacedName{Name: name}, "plaza:1", 0))
	}
}

// TestTurnOfAMigration checks that a network keeps its turn during a migration, and not while it waits for a maintenance window.
func TestTurnOfAMigration(t *testing.T) {
	turns := atMost(1)
	schema := func(status metav1.ConditionStatus, reason v1alpha1.Reason) *v1alpha1.SocialNetworkStatus {
		return &v1alpha1.SocialNetworkStatus{Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionSchemaMigrated, Status: status, Reason: string(reason)},
		}}
	}
	hold := func(name string) stage.Hold { return turns.hold(networkNamed(name, "")) }
	require.Empty(t, hold("first").Reason)
	turns.Observe(networkNamed("first", ""), schema(metav1.ConditionFalse, v1alpha1.ReasonMigrating))
	require.Equal(t, stage.Hold{
		Reason: v1alpha1.ReasonWaitingForTurn, Message: "Other networks are updated first: plaza/first.", Again: 15 * time.Second,
	}, hold("second"))
	require.Empty(t, hold("first").Reason, "it has its turn")
	turns.Observe(networkNamed("first", ""), schema(metav1.ConditionFalse, v1alpha1.ReasonWaitingForWindow))
	require.Empty(t, hold("second").Reason)
	turns.Observe(networkNamed("second", ""), schema(metav1.ConditionUnknown, v1alpha1.ReasonClusterUnreachable))
	require.Empty(t, hold("first").Reason)
}

// TestClosedWindow checks that an update waits for a maintenance window of its network, and takes no turn before.
func TestClosedWindow(t *testing.T) {
	turns := atMost(1)
	sn := networkNamed("first", "")
	sn.Spec.MaintenanceWindows = []v1alpha1.MaintenanceWindow{{Start: "02:00", Duration: "1h", TimeZone: "UTC"}}
	now := time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)
	require.Equal(t, stage.Hold{
		Reason: v1alpha1.ReasonWaitingForWindow, Message: "The update begins in the next maintenance window, at 2026-11-21T02:00:00Z.",
		Again: time.Hour,
	}, turns.holdAt(now, sn))
	require.Empty(t, turns.holdAt(now, networkNamed("second", "")).Reason)
	hold := turns.holdAt(now.Add(time.Hour), sn)
	require.Equal(t, v1alpha1.ReasonWaitingForTurn, hold.Reason, "the window is open, and the other network has the turn")
	sn.Spec.MaintenanceWindows[0].TimeZone = "Mars"
	hold = turns.holdAt(now.Add(time.Hour), sn)
	require.Equal(t, v1alpha1.ReasonWindowInvalid, hold.Reason)
	require.Contains(t, hold.Message, "spec.maintenanceWindows: unknown time zone")
	require.Zero(t, hold.Again, "after the next change of the spec")
}
