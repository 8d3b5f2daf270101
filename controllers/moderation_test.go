package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/regional"
	"github.com/plaza-social/plaza/platform/statusz"
)

// running are settings that servers run.
func running(whitelist, report bool, limit, generation int) statusz.Moderation {
	return statusz.Moderation{IsWhitelistEnabled: whitelist, IsReportEnabled: report, FlagLimit: limit, Generation: generation, AsOf: morning}
}

func everywhere(m statusz.Moderation) map[v1alpha1.RegionCode]statusz.Moderation {
	return map[v1alpha1.RegionCode]statusz.Moderation{v1alpha1.RegionUS: m, v1alpha1.RegionEU: m, v1alpha1.RegionSG: m}
}

// withKeys is a network of three regions with keys, generation 2, and servers that run what the spec says.
func withKeys(t *testing.T) *stageWorld {
	t.Helper()
	w := newStageWorld(t, v1alpha1.RegionUS, v1alpha1.RegionEU, v1alpha1.RegionSG)
	w.settle()
	w.took()
	w.sn.Generation = 2
	w.servers.moderation = everywhere(running(false, true, 100, 2))
	w.servers.lost = map[string]bool{}
	return w
}

func (w *stageWorld) moderate() stageResult {
	w.t.Helper()
	return w.pass(Moderation{ReadBackEvery: time.Millisecond, ReadBackWithin: 20 * time.Millisecond})
}

func TestModeration(t *testing.T) {
	old, other := running(false, true, 100, 1), running(true, false, 7, 2)
	for name, c := range map[string]struct {
		given  func(w *stageWorld)
		status metav1.ConditionStatus
		reason v1alpha1.Reason
		pushes string // the regions pushed to, by the end of their addresses
		events string
		says   string
		waits  string
	}{
		"all run it": {
			given: func(*stageWorld) {}, status: metav1.ConditionTrue, reason: v1alpha1.ReasonModerationRuns,
			says: "6 servers of 3 regions run the spec's settings, as of generation 2.",
		},
		"an older generation": {
			given:  func(w *stageWorld) { w.servers.moderation = everywhere(old) },
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonModerationRuns, pushes: "0 1 2", says: "as of generation 2",
		},
		"other settings of an older generation": {
			given:  func(w *stageWorld) { w.servers.moderation = everywhere(running(true, true, 5, 1)) },
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonModerationRuns, pushes: "0 1 2",
		},
		"never pushed": {
			given:  func(w *stageWorld) { w.servers.moderation = everywhere(running(false, true, 250, 0)) },
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonModerationRuns, pushes: "0 1 2",
		},
		"changed by hand": {
			given:  func(w *stageWorld) { w.servers.moderation = everywhere(other) },
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonModerationRuns, pushes: "0 1 2",
			events: "ModerationDrift the moderation settings had been changed to whitelistEnabled=true, reportEnabled=false, flagLimit=7 by other means; the spec's were put back",
		},
		"changed by hand, seen at one region": {
			given:  func(w *stageWorld) { w.servers.moderation[v1alpha1.RegionSG] = other },
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonModerationRuns, pushes: "2", events: "ModerationDrift",
		},
		"one pod does not follow": {
			given:  func(w *stageWorld) { w.servers.pods[v1alpha1.RegionEU][1].runs = &other },
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonModerationPushed, pushes: "1", says: "not every server in eu reports them yet", events: "ModerationDrift",
		},
		"one pod is silent": {
			given:  func(w *stageWorld) { w.servers.pods[v1alpha1.RegionEU][1].silent = true },
			status: metav1.ConditionUnknown, reason: v1alpha1.ReasonServersSilent, says: "eu (pod acme-eu-1: the server does not answer",
		},
		"one pod has not read them": {
			given: func(w *stageWorld) {
				w.servers.pods[v1alpha1.RegionEU][1].runs = &statusz.Moderation{Error: "the database is away"}
			},
			status: metav1.ConditionUnknown, reason: v1alpha1.ReasonServersSilent, says: "pod acme-eu-1: the database is away",
		},
		"one pod has read them before": {
			given: func(w *stageWorld) {
				m := other
				m.Error = "the database is away"
				w.servers.pods[v1alpha1.RegionEU][1].runs = &m
			},
			status: metav1.ConditionUnknown, reason: v1alpha1.ReasonServersSilent, says: "the database is away",
		},
		"a pod that never read them": {
			given:  func(w *stageWorld) { w.servers.pods[v1alpha1.RegionEU][1].runs = &statusz.Moderation{} },
			status: metav1.ConditionUnknown, reason: v1alpha1.ReasonServersSilent, says: "the settings were not read yet",
		},
		"a region without servers": {
			given:  func(w *stageWorld) { delete(w.servers.pods, v1alpha1.RegionSG) },
			status: metav1.ConditionUnknown, reason: v1alpha1.ReasonNoServers, says: "No server is ready in sg.",
		},
		"a region without servers, and the others differ": {
			given: func(w *stageWorld) {
				delete(w.servers.pods, v1alpha1.RegionSG)
				w.servers.moderation = everywhere(old)
			},
			status: metav1.ConditionUnknown, reason: v1alpha1.ReasonNoServers, pushes: "0 1",
		},
		"one region's API is away": {
			given: func(w *stageWorld) {
				w.servers.moderation = everywhere(old)
				w.servers.lost["10.1.0.0"] = true
			},
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonModerationRuns, pushes: "0 1 2", says: "6 servers",
		},
		"every region's API is away": {
			given: func(w *stageWorld) {
				w.servers.moderation = everywhere(other)
				w.servers.lost = map[string]bool{"10.1.0.0": true, "10.1.0.1": true, "10.1.0.2": true}
			},
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonModerationPushFailed, pushes: "0 1 2", says: "region eu: the server does not answer: connection refused",
		},
		"refused": {
			given: func(w *stageWorld) {
				w.servers.moderation = everywhere(old)
				w.servers.refuse = &regional.AnswerError{Status: 422, Code: 500000}
			},
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonModerationRefused, pushes: "0 1 2", says: "region us: the server answered 422, code 500000",
		},
		"signing keys gone": {
			given: func(w *stageWorld) {
				w.servers.moderation = everywhere(old)
				w.delete("acme-signing-keys")
			},
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonModerationPushFailed, says: "reading Secret acme-signing-keys",
		},
		"paused, and nothing to do": {
			given: func(w *stageWorld) {
				w.sn.Spec.Paused = true
				w.servers.moderation = everywhere(old) // the pause itself is a new generation
			},
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonModerationRuns, says: "as of generation 1",
		},
		"paused, and changed by hand": {
			given: func(w *stageWorld) {
				w.sn.Spec.Paused = true
				w.servers.moderation = everywhere(other)
			},
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonPausedBySpec, says: "Servers in us, eu and sg run other settings than the spec's.",
			waits: "push the moderation settings to us, eu and sg",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := withKeys(t)
			c.given(w)
			result := w.moderate()
			require.Empty(t, result.errs)
			require.Equal(t, c.status, result.Status, result.Message)
			require.Equal(t, c.reason, result.Reason)
			require.Contains(t, result.Message, c.says)
			require.Equal(t, c.pushes, w.pushes())
			if c.events == "" {
				require.Empty(t, w.events)
			} else {
				require.Len(t, w.events, 1)
				require.Contains(t, w.events[0], c.events)
			}
			require.Equal(t, c.waits, strings.Join(w.sn.Status.PendingChanges, "; "))
		})
	}
}

// pushes lists the regions that were pushed to, by the last number of their address.
func (w *stageWorld) pushes() string {
	var all []string
	for _, n := range []string{"0", "1", "2"} {
		for _, host := range w.servers.pushes {
			if strings.HasSuffix(host, "."+n) {
				all = append(all, n)
			}
		}
	}
	w.servers.pushes = nil
	return strings.Join(all, " ")
}

func TestModerationSettles(t *testing.T) {
	w := withKeys(t)
	w.sn.Spec.Moderation, w.sn.Generation = v1alpha1.Moderation{WhitelistEnabled: true, FlagLimit: 3}, 3
	require.Equal(t, metav1.ConditionTrue, w.moderate().Status)
	require.Equal(t, "0 1 2", w.pushes())
	require.Equal(t, running(true, false, 3, 3), w.servers.moderation[v1alpha1.RegionSG])
	for _, region := range w.sn.Status.Regions {
		require.Equal(t, running(true, false, 3, 0).Hash(), region.ModerationHash)
	}
	asked := w.servers.asked
	require.Equal(t, metav1.ConditionTrue, w.moderate().Status)
	require.Empty(t, w.pushes(), "nothing to do")
	require.Equal(t, asked+6, w.servers.asked, "the reports of the pass are enough")
	require.Empty(t, w.events)
}

func TestModerationHashOfARegionThatDiffers(t *testing.T) {
	w := withKeys(t)
	other := running(true, true, 9, 2)
	w.servers.pods[v1alpha1.RegionEU][0].runs = &other
	w.sn.Spec.Paused = true
	w.moderate()
	require.Equal(t, other.Hash(), w.sn.Status.Regions[1].ModerationHash)
	require.Equal(t, running(false, true, 100, 2).Hash(), w.sn.Status.Regions[0].ModerationHash)
}
