package moderation_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/moderation"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/stagetest"
	"github.com/plaza-social/plaza/platform/statusz"
)

func settings(whitelist, report bool, limit, generation int) statusz.Moderation {
	return statusz.Moderation{
		IsWhitelistEnabled: whitelist, IsReportEnabled: report, FlagLimit: limit, Generation: generation,
		AsOf: stagetest.Start,
	}
}

func everywhere(m statusz.Moderation) map[v1alpha1.RegionCode]statusz.Moderation {
	return map[v1alpha1.RegionCode]statusz.Moderation{v1alpha1.RegionUS: m, v1alpha1.RegionEU: m, v1alpha1.RegionSG: m}
}

// newHarness returns a network of three regions with keys, at generation 2, whose servers run the spec's settings.
func newHarness(t *testing.T) *stagetest.Harness {
	t.Helper()
	h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU, v1alpha1.RegionSG)
	h.SettleKeys()
	h.TakeEvents()
	h.SN.Status.NetworkID, h.SN.Generation = "0123456789abcdef01234567", 2
	h.Servers.Moderation = everywhere(settings(false, true, 100, 2))
	h.Servers.UnreachableAPIs = map[string]bool{}
	return h
}

// takePushes returns the number of the region of each server that was pushed to, in order.
func takePushes(h *stagetest.Harness) string {
	var all []string
	for _, n := range []string{"0", "1", "2"} {
		for _, host := range h.Servers.Pushes {
			if strings.HasPrefix(host, "10.0."+n+".") {
				all = append(all, n)
			}
		}
	}
	h.Servers.Pushes = nil
	return strings.Join(all, " ")
}

// TestModeration runs two passes: the first may push, the second reads back.
func TestModeration(t *testing.T) {
	older, edited := settings(false, true, 100, 1), settings(true, false, 7, 2)
	edited.FlagHideLimit = 4
	differing := settings(true, true, 5, 1)
	for name, c := range map[string]struct {
		given   func(h *stagetest.Harness)
		reason  v1alpha1.Reason // after the first pass
		pushes  string          // of the first pass
		requeue time.Duration   // after the first pass
		events  string
		then    v1alpha1.Reason // after the second pass
		message string          // after the second pass
		pending string
	}{
		"all run the settings": {
			given: func(*stagetest.Harness) {}, reason: v1alpha1.ReasonModerationRuns, then: v1alpha1.ReasonModerationRuns,
			message: "All 6 servers in 3 regions run the spec's settings, as of generation 2.",
		},
		"same settings of another generation, such as that of another installation": {
			given:  func(h *stagetest.Harness) { h.Servers.Moderation = everywhere(older) },
			reason: v1alpha1.ReasonModerationRuns, then: v1alpha1.ReasonModerationRuns, message: "as of generation 1",
		},
		"one pod has the generation before": {
			given:  func(h *stagetest.Harness) { h.Servers.Pods[v1alpha1.RegionEU][1].Moderation = &older },
			reason: v1alpha1.ReasonModerationRuns, then: v1alpha1.ReasonModerationRuns, message: "as of generation 1",
		},
		"other settings of an older generation": {
			given:  func(h *stagetest.Harness) { h.Servers.Moderation = everywhere(differing) },
			reason: v1alpha1.ReasonModerationPushed, pushes: "0 1 2", requeue: time.Second, then: v1alpha1.ReasonModerationRuns,
		},
		"never pushed": {
			given:  func(h *stagetest.Harness) { h.Servers.Moderation = everywhere(settings(false, true, 250, 0)) },
			reason: v1alpha1.ReasonModerationPushed, pushes: "0 1 2", requeue: time.Second, then: v1alpha1.ReasonModerationRuns,
		},
		"changed outside the spec": {
			given:  func(h *stagetest.Harness) { h.Servers.Moderation = everywhere(edited) },
			reason: v1alpha1.ReasonModerationPushed, pushes: "0 1 2", requeue: time.Second, then: v1alpha1.ReasonModerationRuns,
			events: "ModerationDrift overwrote moderation settings that were changed outside the spec: whitelistEnabled=true, " +
				"reportEnabled=false, flagLimit=7, flagHideLimit=4",
		},
		"changed outside the spec, seen in one region": {
			given:  func(h *stagetest.Harness) { h.Servers.Moderation[v1alpha1.RegionSG] = edited },
			reason: v1alpha1.ReasonModerationPushed, pushes: "2", requeue: time.Second, events: "ModerationDrift",
			then: v1alpha1.ReasonModerationRuns,
		},
		"one pod keeps other settings": {
			given:  func(h *stagetest.Harness) { h.Servers.Pods[v1alpha1.RegionEU][1].Moderation = &edited },
			reason: v1alpha1.ReasonModerationPushed, pushes: "1", requeue: time.Second, events: "ModerationDrift",
			then: v1alpha1.ReasonModerationPushed, message: "not every server in eu reports them yet",
		},
		"one pod is unreachable": {
			given:  func(h *stagetest.Harness) { h.Servers.Pods[v1alpha1.RegionEU][1].Unreachable = true },
			reason: v1alpha1.ReasonServersSilent, then: v1alpha1.ReasonServersSilent, message: "eu (pod acme-eu-1: ",
		},
		"one pod cannot read the settings": {
			given: func(h *stagetest.Harness) {
				h.Servers.Pods[v1alpha1.RegionEU][1].Moderation = &statusz.Moderation{Error: "connection lost"}
			},
			reason: v1alpha1.ReasonServersSilent, then: v1alpha1.ReasonServersSilent, message: "pod acme-eu-1: connection lost",
		},
		"one pod has only an old copy": {
			given: func(h *stagetest.Harness) {
				m := edited
				m.Error = "connection lost"
				h.Servers.Pods[v1alpha1.RegionEU][1].Moderation = &m
			},
			reason: v1alpha1.ReasonServersSilent, then: v1alpha1.ReasonServersSilent, message: "connection lost",
		},
		"one pod has not read the settings yet": {
			given:  func(h *stagetest.Harness) { h.Servers.Pods[v1alpha1.RegionEU][1].Moderation = &statusz.Moderation{} },
			reason: v1alpha1.ReasonServersSilent, then: v1alpha1.ReasonServersSilent, message: "the settings were not read yet",
		},
		"a region without servers": {
			given:  func(h *stagetest.Harness) { delete(h.Servers.Pods, v1alpha1.RegionSG) },
			reason: v1alpha1.ReasonNoServers, then: v1alpha1.ReasonNoServers, message: "No server is ready in sg.",
		},
		"a region without servers, the others differ": {
			given: func(h *stagetest.Harness) {
				delete(h.Servers.Pods, v1alpha1.RegionSG)
				h.Servers.Moderation = everywhere(differing)
			},
			reason: v1alpha1.ReasonModerationPushed, pushes: "0 1", requeue: time.Second, then: v1alpha1.ReasonNoServers,
		},
		"one region is unreachable and gets the settings by replication": {
			given: func(h *stagetest.Harness) {
				h.Servers.Moderation = everywhere(differing)
				h.Servers.UnreachableAPIs["10.0.0.0"] = true
			},
			reason: v1alpha1.ReasonModerationPushed, pushes: "0 1 2", requeue: time.Second, then: v1alpha1.ReasonModerationRuns,
			message: "All 6 servers",
		},
		"one region is unreachable and keeps other settings": {
			given: func(h *stagetest.Harness) {
				h.Servers.Pods[v1alpha1.RegionUS][0].Moderation = &differing
				h.Servers.Moderation = everywhere(differing)
				h.Servers.UnreachableAPIs["10.0.0.0"] = true
			},
			reason: v1alpha1.ReasonModerationPushed, pushes: "0 1 2", requeue: time.Second,
			then: v1alpha1.ReasonModerationPushFailed, message: "region us: ",
		},
		"all regions are unreachable": {
			given: func(h *stagetest.Harness) {
				h.Servers.Moderation = everywhere(edited)
				h.Servers.UnreachableAPIs = map[string]bool{"10.0.0.0": true, "10.0.1.0": true, "10.0.2.0": true}
			},
			reason: v1alpha1.ReasonModerationPushFailed, pushes: "0 1 2", requeue: time.Second,
			then: v1alpha1.ReasonModerationPushFailed, message: "connection refused; region sg: ",
		},
		"rejected": {
			given: func(h *stagetest.Harness) {
				h.Servers.Moderation = everywhere(differing)
				h.Servers.PushError = &platformclient.ResponseError{Status: 422, Code: 500000}
			},
			reason: v1alpha1.ReasonModerationRefused, pushes: "0 1 2", then: v1alpha1.ReasonModerationRefused, message: "422, code 500000",
		},
		"rejected for now": {
			given: func(h *stagetest.Harness) {
				h.Servers.Moderation = everywhere(differing)
				h.Servers.PushError = &platformclient.ResponseError{Status: 503}
			},
			reason: v1alpha1.ReasonModerationPushFailed, pushes: "0 1 2", requeue: time.Second, then: v1alpha1.ReasonModerationPushFailed,
		},
		"signing keys are missing": {
			given: func(h *stagetest.Harness) {
				h.Servers.Moderation = everywhere(differing)
				h.LoseSecret("acme-signing-keys")
			},
			reason: v1alpha1.ReasonModerationPushFailed, requeue: 5 * time.Second,
			then: v1alpha1.ReasonModerationPushFailed, message: "reading Secret acme-signing-keys",
		},
		"paused, older generation": {
			given: func(h *stagetest.Harness) {
				h.SN.Spec.Paused = true // pausing itself is a new generation
				h.Servers.Moderation = everywhere(older)
			},
			reason: v1alpha1.ReasonModerationRuns, then: v1alpha1.ReasonModerationRuns, message: "as of generation 1",
		},
		"paused, changed outside the spec": {
			given: func(h *stagetest.Harness) {
				h.SN.Spec.Paused = true
				h.Servers.Moderation = everywhere(edited)
			},
			reason: v1alpha1.ReasonPausedBySpec, then: v1alpha1.ReasonPausedBySpec,
			message: "Servers in us, eu and sg do not run the spec's settings.",
			pending: "push the moderation settings to us, eu and sg",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			c.given(h)
			first := h.Run(moderation.Stage{})
			require.Empty(t, first.Errors)
			require.Equal(t, c.reason, first.Reason, first.Message)
			require.Equal(t, c.pushes, takePushes(h))
			require.Equal(t, c.requeue, first.Requeue)
			second := h.Run(moderation.Stage{})
			require.Equal(t, c.then, second.Reason, second.Message)
			require.Contains(t, second.Message, c.message)
			if c.events == "" {
				require.Empty(t, h.Events)
			} else {
				require.Len(t, h.Events, 1, "drift is recorded once, with the first push")
				require.Contains(t, h.Events[0], c.events)
			}
			require.Equal(t, c.pending, strings.Join(h.SN.Status.PendingChanges, "; "))
		})
	}
}

// TestModerationNeverWaits checks that one pass asks no server a second time: the settings are read back by the next pass.
func TestModerationNeverWaits(t *testing.T) {
	h := newHarness(t)
	h.SN.Spec.Moderation, h.SN.Generation = v1alpha1.Moderation{WhitelistEnabled: true, FlagLimit: 3, FlagHideLimit: 2}, 3
	requests := h.Servers.StatusRequests
	result := h.Run(moderation.Stage{})
	require.Equal(t, v1alpha1.ReasonModerationPushed, result.Reason)
	require.Equal(t, time.Second, result.Requeue)
	require.Equal(t, requests+6, h.Servers.StatusRequests, "only the reports of the pass")
	require.Equal(t, "0 1 2", takePushes(h))
	want := settings(true, false, 3, 3)
	want.FlagHideLimit = 2
	require.Equal(t, want, h.Servers.Moderation[v1alpha1.RegionSG])

	result = h.Run(moderation.Stage{})
	require.Equal(t, metav1.ConditionTrue, result.Status)
	require.Zero(t, result.Requeue)
	require.Empty(t, takePushes(h))
	require.Empty(t, h.Events)
	for _, region := range h.SN.Status.Regions {
		require.Equal(t, want.Hash(), region.ModerationHash)
	}
}

// TestModerationRetries pushes again, less often, while a server does not report the settings.
func TestModerationRetries(t *testing.T) {
	for _, before := range []metav1.Condition{
		{Status: metav1.ConditionTrue, Reason: string(v1alpha1.ReasonModerationRuns), ObservedGeneration: 2},
		// Of the spec before the last edit.
		{Status: metav1.ConditionFalse, Reason: string(v1alpha1.ReasonModerationPushFailed), ObservedGeneration: 1},
	} {
		h := newHarness(t)
		before.Type = v1alpha1.ConditionModerationApplied
		meta.SetStatusCondition(&h.SN.Status.Conditions, before)
		h.Servers.Pods[v1alpha1.RegionEU][1].Moderation = new(settings(true, true, 9, 1))
		for _, want := range []time.Duration{time.Second, 5 * time.Second, 5 * time.Second} {
			require.Equal(t, want, h.Run(moderation.Stage{}).Requeue)
			require.Equal(t, "1", takePushes(h))
		}
	}
}

// TestModerationHash checks that the hash of a region is that of settings that differ from the spec, whichever server runs them, and that a
// server that does not answer runs none.
func TestModerationHash(t *testing.T) {
	other, spec := settings(true, true, 9, 2), settings(false, true, 100, 2).Hash()
	for i := range 2 {
		h := newHarness(t)
		h.Servers.Pods[v1alpha1.RegionUS][i].Unreachable = true
		h.Servers.Pods[v1alpha1.RegionEU][i].Moderation = &other
		h.Servers.Pods[v1alpha1.RegionSG] = nil
		h.SN.Spec.Paused = true
		h.Run(moderation.Stage{})
		require.Equal(t, spec, h.SN.Status.Regions[0].ModerationHash)
		require.Equal(t, other.Hash(), h.SN.Status.Regions[1].ModerationHash)
		require.Empty(t, h.SN.Status.Regions[2].ModerationHash)
	}
}

// TestDriftDuringAPush changes the settings outside the spec between a push and its read-back: that is drift, too.
func TestDriftDuringAPush(t *testing.T) {
	h := newHarness(t)
	h.Servers.Moderation = everywhere(settings(true, true, 5, 1))
	require.Equal(t, v1alpha1.ReasonModerationPushed, h.Run(moderation.Stage{}).Reason)
	require.Empty(t, h.Events)

	h.Servers.Moderation = everywhere(settings(true, false, 7, 2))
	require.Equal(t, v1alpha1.ReasonModerationPushed, h.Run(moderation.Stage{}).Reason)
	require.Len(t, h.Events, 1)
	require.Contains(t, h.Events[0], "flagLimit=7, flagHideLimit=0")
	require.Equal(t, v1alpha1.ReasonModerationRuns, h.Run(moderation.Stage{}).Reason)
	require.Len(t, h.Events, 1)
}

// TestDriftAfterTheSettingsRan replaces settings that the servers ran by others of an older generation: that is drift, too.
func TestDriftAfterTheSettingsRan(t *testing.T) {
	h := newHarness(t)
	require.Equal(t, v1alpha1.ReasonModerationRuns, h.Run(moderation.Stage{}).Reason)
	h.Servers.Moderation = everywhere(settings(true, true, 5, 1))
	require.Equal(t, v1alpha1.ReasonModerationPushed, h.Run(moderation.Stage{}).Reason)
	require.Len(t, h.Events, 1)
	require.Contains(t, h.Events[0], "ModerationDrift")
}

// TestMembersReceiveSettings changes the settings of one region outside the spec: they are pushed to its servers over the connection to
// its cluster.
func TestMembersReceiveSettings(t *testing.T) {
	for number, code := range []v1alpha1.RegionCode{v1alpha1.RegionUS, v1alpha1.RegionEU, v1alpha1.RegionSG} {
		h := newHarness(t)
		h.Join(v1alpha1.RegionEU)
		h.Servers.Moderation[code] = settings(true, false, 7, 2)
		require.Equal(t, v1alpha1.ReasonModerationPushed, h.Run(moderation.Stage{}).Reason)
		require.Equal(t, strconv.Itoa(number), takePushes(h))
		require.Equal(t, v1alpha1.ReasonModerationRuns, h.Run(moderation.Stage{}).Reason)
	}
}
