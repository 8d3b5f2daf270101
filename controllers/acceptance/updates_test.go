package acceptance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/platform/statusz"
)

// TestMaintenanceWindow changes the image of a network outside its maintenance window. The window closes again while the database is
// migrated, so that the pods are replaced in the next one.
func TestMaintenanceWindow(t *testing.T) {
	o := start(t)
	sn := sample(t, "socialnetwork-minimal")
	sn.Spec.Rollout.Soak = "0s"
	o.up(sn)
	opens := o.clock.now().UTC().Add(2 * time.Hour)
	o.edit(sn.Name, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Image = "plaza.example/plaza:v2"
		sn.Spec.MaintenanceWindows = []v1alpha1.MaintenanceWindow{{Start: opens.Format("15:04"), Duration: "1h"}}
	})
	waits := o.condition(sn.Name, v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonWaitingForWindow)
	require.Contains(t, waits.Message, opens.Format("2006-01-02T15:04:00Z"))
	o.condition(sn.Name, v1alpha1.ConditionReady, "False", v1alpha1.ReasonWaitingForWindow)
	o.condition(sn.Name, v1alpha1.ConditionReconciling, "True", v1alpha1.ReasonWaitingForWindow)
	require.Equal(t, defaultImage, o.imageOf(sn.Name, "us"))

	o.clock.add(2 * time.Hour)
	o.pass(sn.Name)
	o.condition(sn.Name, v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonMigrating)
	o.clock.add(2 * time.Hour)
	o.migrate(sn.Name)
	o.condition(sn.Name, v1alpha1.ConditionSchemaMigrated, "True", v1alpha1.ReasonMigrated)
	o.awaitRegion(sn.Name, "us", v1alpha1.RegionUpdated, "False", v1alpha1.ReasonWaitingForWindow)
	require.Equal(t, defaultImage, o.imageOf(sn.Name, "us"))
	o.edit(sn.Name, func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions[0].Replicas = new(int32(3)) })
	o.eventually("the number of pods, which does not wait", func() string {
		if *o.deployment(sn.Name, "us").Spec.Replicas == 3 {
			return ""
		}
		return "it is the old one"
	})
	require.Equal(t, defaultImage, o.imageOf(sn.Name, "us"))

	o.clock.add(22*time.Hour + 30*time.Minute)
	o.pass(sn.Name)
	o.waitImage(sn.Name, "us", "plaza.example/plaza:v2")

	// The new pods do not start: their repair does not wait for a window.
	o.clock.add(4 * time.Hour)
	o.setStuck(o.deployment(sn.Name, "us"))
	o.condition(sn.Name, v1alpha1.ConditionRegionsAvailable, "False", v1alpha1.ReasonRolloutStopped)
	o.edit(sn.Name, func(sn *v1alpha1.SocialNetwork) { sn.Spec.Image = "plaza.example/plaza:v3" })
	o.condition(sn.Name, v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonMigrating)
	o.migrate(sn.Name)
	o.waitImage(sn.Name, "us", "plaza.example/plaza:v3")
}

// TestUnknownTimeZone has a maintenance window that never opens.
func TestUnknownTimeZone(t *testing.T) {
	o := start(t)
	sn := o.up(sample(t, "socialnetwork-minimal"))
	o.edit(sn.Name, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Regions[0].PodAnnotations = map[string]string{"example.com/rolled": "true"}
		sn.Spec.MaintenanceWindows = []v1alpha1.MaintenanceWindow{{Start: "10:00", Duration: "1h", TimeZone: "Mars/Phobos"}}
	})
	c := o.condition(sn.Name, v1alpha1.ConditionReady, "False", v1alpha1.ReasonWindowInvalid)
	require.Contains(t, c.Message, `unknown time zone "Mars/Phobos"`)
	o.condition(sn.Name, v1alpha1.ConditionStalled, "True", v1alpha1.ReasonWindowInvalid)
}

// TestNetworksAreUpdatedInTurn changes two networks, of which one may be updated at a time.
func TestNetworksAreUpdatedInTurn(t *testing.T) {
	o := prepare(t)
	o.maxRollouts = 1
	o.run()
	t.Cleanup(o.end)
	first, second := sample(t, "socialnetwork-minimal"), sample(t, "socialnetwork-minimal")
	second.Name, second.Spec.Regions[0].Host = "acme", "other.local"
	o.up(first)
	o.up(second)
	change := func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Regions[0].PodAnnotations = map[string]string{"example.com/rolled": "true"}
	}
	isRolled := func(network string) bool {
		return o.deployment(network, "us").Spec.Template.Annotations["example.com/rolled"] != ""
	}
	o.edit(first.Name, change)
	o.eventually("the first network's update", func() string {
		if isRolled(first.Name) {
			return ""
		}
		return "it has not begun"
	})
	o.edit(second.Name, change)
	o.awaitRegion(second.Name, "us", v1alpha1.RegionUpdated, "False", v1alpha1.ReasonWaitingForTurn)
	waits := o.condition(second.Name, v1alpha1.ConditionReady, "False", v1alpha1.ReasonWaitingForTurn)
	require.Contains(t, waits.Message, o.namespace+"/"+first.Name)
	require.False(t, isRolled(second.Name))

	o.setReady(o.deployment(first.Name, "us"))
	o.condition(first.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	o.pass(second.Name)
	o.eventually("the second network's update", func() string {
		if isRolled(second.Name) {
			return ""
		}
		return "it has not begun"
	})
	o.setReady(o.deployment(second.Name, "us"))
	o.condition(second.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
}

// TestErrorRateStopsTheSoak is TestErrorRateStopsTheUpdate while the region soaks.
func TestErrorRateStopsTheSoak(t *testing.T) {
	start(t).badUpdate("1h")
}

// badUpdate updates a network to an image whose servers in us are ready but fail requests, and waits until the update stops.
func (o *operator) badUpdate(soak v1alpha1.Duration) *v1alpha1.SocialNetwork {
	o.t.Helper()
	sn := sample(o.t, "socialnetwork")
	sn.Spec.Rollout.Soak, sn.Spec.Image = soak, "plaza.example/plaza:good"
	o.up(sn)
	o.edit(sn.Name, func(sn *v1alpha1.SocialNetwork) { sn.Spec.Image = "plaza.example/plaza:bad" })
	o.condition(sn.Name, v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonMigrating)
	o.migrate(sn.Name)
	o.waitImage(sn.Name, "us", "plaza.example/plaza:bad")
	o.servers.all(func(s *server) {
		if s.status.Region == "us" {
			s.status.StartedAt, s.status.Requests = o.clock.now(), &statusz.Requests{Total: 1000, Failed: 60}
		}
	})
	o.setReady(o.deployment(sn.Name, "us"))
	c := o.condition(sn.Name, v1alpha1.ConditionRegionsAvailable, "False", v1alpha1.ReasonErrorRateHigh)
	require.Contains(o.t, c.Message, "60 of 1000 requests to the pods of us have failed since they started, more than 5%")
	o.awaitRegion(sn.Name, "eu", v1alpha1.RegionUpdated, "False", v1alpha1.ReasonErrorRateHigh)
	o.condition(sn.Name, v1alpha1.ConditionStalled, "True", v1alpha1.ReasonErrorRateHigh)
	require.Equal(o.t, "plaza.example/plaza:good", o.imageOf(sn.Name, "eu"))
	require.Equal(o.t, "plaza.example/plaza:good", o.imageOf(sn.Name, "sg"))
	return sn
}

// TestErrorRateStopsTheUpdate updates the first region to an image whose servers are ready but fail requests. The update stops there,
// and the earlier image is rolled out again, although no maintenance window is open.
func TestErrorRateStopsTheUpdate(t *testing.T) {
	o := start(t)
	sn := o.badUpdate("0s")

	o.edit(sn.Name, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Image = "plaza.example/plaza:good"
		closed := o.clock.now().UTC().Add(10 * time.Hour).Format("15:04")
		sn.Spec.MaintenanceWindows = []v1alpha1.MaintenanceWindow{{Start: closed, Duration: "1h"}}
	})
	o.condition(sn.Name, v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonMigrating)
	o.migrate(sn.Name)
	o.waitImage(sn.Name, "us", "plaza.example/plaza:good")
	o.servers.all(func(s *server) { s.status.Requests = &statusz.Requests{} })
	o.setReady(o.deployment(sn.Name, "us"))
	o.condition(sn.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
}
