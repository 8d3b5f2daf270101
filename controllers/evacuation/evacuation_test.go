package evacuation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/evacuation"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/controllers/stagetest"
	"github.com/plaza-social/plaza/platform/auth"
)

// started returns a network with keys and the regions us and eu.
func started(t *testing.T) *stagetest.Harness {
	t.Helper()
	h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU)
	h.SettleKeys()
	h.TakeEvents()
	return h
}

func run(h *stagetest.Harness) stage.Result {
	h.T.Helper()
	result := h.Run(evacuation.Stage{})
	require.Empty(h.T, result.Errors)
	return result
}

// condition returns the reason of the condition Evacuated of region eu, or "".
func condition(h *stagetest.Harness) string {
	if c := meta.FindStatusCondition(h.SN.Status.Regions[1].Conditions, v1alpha1.RegionEvacuated); c != nil {
		return c.Reason
	}
	return ""
}

func TestNoEvacuation(t *testing.T) {
	h := started(t)
	before := h.SecretVersions()
	result := run(h)
	require.Equal(t, metav1.ConditionTrue, result.Status)
	require.Equal(t, v1alpha1.ReasonNoEvacuation, result.Reason)
	require.Empty(t, condition(h))
	require.Zero(t, result.Requeue)
	require.Equal(t, before, h.SecretVersions())
}

func TestEvacuation(t *testing.T) {
	h := started(t)
	h.SN.Spec.Regions[1].EvacuateTo = v1alpha1.RegionUS
	h.Servers.Pods[v1alpha1.RegionUS][1].StaleKeys = true
	run(h) // writes the Secret
	result := run(h)
	require.Equal(t, metav1.ConditionFalse, result.Status)
	require.Equal(t, v1alpha1.ReasonEvacuationStarting, result.Reason)
	require.Equal(t, "Pod acme-us-1 of us does not work for eu yet.", result.Message)
	require.Equal(t, 5*time.Second, result.Requeue)

	h.Servers.Pods[v1alpha1.RegionUS][1].StaleKeys = false
	result = run(h)
	require.Equal(t, metav1.ConditionTrue, result.Status)
	require.Equal(t, v1alpha1.ReasonEvacuated, result.Reason)
	require.Equal(t, "us serves the hosts of eu, accepts its server keys and does its background work.", result.Message)
	require.Zero(t, result.Requeue)
	require.Equal(t, "Evacuated", condition(h))
	require.Equal(t, v1alpha1.RegionUS, h.SN.Status.Regions[1].EvacuatedTo)

	content := string(h.Secret("acme-us-evacuation").Data[render.EvacuationFile])
	file, err := keyring.ParseFile(keyring.NewSecret(string(h.Secret("acme-eu-server-keys").Data[keyring.ServerKeysFile])))
	require.NoError(t, err)
	require.Contains(t, content, auth.KeyDigest(file[0].Key.Reveal()))
	require.NotContains(t, content, file[0].Key.Reveal())

	h.SN.Spec.Regions[1].EvacuateTo = ""
	result = run(h)
	require.Equal(t, v1alpha1.ReasonEvacuationEnding, result.Reason, "servers still have the Secret, which the stage sweep deletes")
	require.Equal(t, metav1.ConditionFalse, result.Status)
	require.Equal(t, "Servers of us still work for eu, which is not evacuated any more.", result.Message)
	require.Equal(t, 5*time.Second, result.Requeue)
	require.Equal(t, "EvacuationEnding", condition(h))
	h.LoseSecret("acme-us-evacuation")
	require.Equal(t, v1alpha1.ReasonNoEvacuation, run(h).Reason)
	require.Empty(t, condition(h))
	require.Empty(t, h.SN.Status.Regions[1].EvacuatedTo)
	require.Equal(t, "NoEvacuation", h.TakeEvents())
}

// TestEvacuationFollowsKeys rotates and revokes keys of the evacuated region, the latter while the network is paused.
func TestEvacuationFollowsKeys(t *testing.T) {
	h := started(t)
	h.SN.Spec.Regions[1].EvacuateTo = v1alpha1.RegionUS
	run(h)
	run(h)
	old := h.SN.Status.Regions[1].ServerKeys[0].ID
	h.SN.Annotations[v1alpha1.AnnotationRotate] = "now"
	h.SettleKeys()
	slow := h.Servers.Pods[v1alpha1.RegionUS][1]
	slow.StaleKeys = true
	run(h)
	require.Len(t, h.SN.Status.Regions[1].ServerKeys, 2)
	require.Equal(t, v1alpha1.ReasonEvacuationStarting, run(h).Reason, "a server does not accept the new key yet")
	slow.StaleKeys = false
	require.Equal(t, v1alpha1.ReasonEvacuated, run(h).Reason)
	require.Contains(t, string(h.Secret("acme-us-evacuation").Data[render.EvacuationFile]), h.SN.Status.Regions[1].ServerKeys[0].ID)
	require.Contains(t, string(h.Secret("acme-us-evacuation").Data[render.EvacuationFile]), old)

	h.SN.Spec.Paused, h.SN.Spec.ServerKeys.Revoke = true, []string{old}
	run(h)
	require.NotContains(t, string(h.Secret("acme-us-evacuation").Data[render.EvacuationFile]), old)
}

func TestEvacuationProblems(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(h *stagetest.Harness)
		want   v1alpha1.Reason
		status metav1.ConditionStatus
		says   string
	}{
		"no servers": {
			func(h *stagetest.Harness) { h.Servers.Pods[v1alpha1.RegionUS] = nil },
			v1alpha1.ReasonNoServers, metav1.ConditionUnknown, "No server of us is ready, to which eu is evacuated.",
		},
		"silent servers": {
			func(h *stagetest.Harness) { h.Servers.Pods[v1alpha1.RegionUS][0].Unreachable = true },
			v1alpha1.ReasonServersSilent, metav1.ConditionUnknown, "Pod acme-us-0 of us: ",
		},
		"no keys": {
			func(h *stagetest.Harness) { h.LoseSecret("acme-eu-server-keys") },
			v1alpha1.ReasonEvacuationKeysUnknown, metav1.ConditionFalse,
			"server keys: Secret acme-eu-server-keys could not be read in the namespace: ",
		},
		"broken keys": {func(h *stagetest.Harness) {
			h.LoseSecret("acme-eu-server-keys")
			h.CreateSecret("acme-eu-server-keys", map[string]string{"server-keys.json": "{"})
		}, v1alpha1.ReasonEvacuationKeysUnknown, metav1.ConditionFalse, "server keys: Secret acme-eu-server-keys, server-keys.json: "},
		"a pause": {
			func(h *stagetest.Harness) { h.SN.Spec.Paused = true },
			v1alpha1.ReasonPausedBySpec, metav1.ConditionFalse, "eu is evacuated to us when spec.paused is false.",
		},
		"lost servers of the region itself": {
			func(h *stagetest.Harness) { h.Servers.Pods[v1alpha1.RegionEU] = nil },
			v1alpha1.ReasonEvacuated, metav1.ConditionTrue, "us serves the hosts of eu",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := started(t)
			h.SN.Spec.Regions[1].EvacuateTo = v1alpha1.RegionUS
			tc.change(h)
			run(h)
			result := run(h)
			require.Equal(t, tc.want, result.Reason, result.Message)
			require.Equal(t, tc.status, result.Status)
			require.Contains(t, result.Message, tc.says)
			c := meta.FindStatusCondition(h.SN.Status.Regions[1].Conditions, v1alpha1.RegionEvacuated)
			require.Equal(t, string(tc.want), c.Reason)
			require.Equal(t, tc.status, c.Status)
			require.Equal(t, result.Message, c.Message)
		})
	}
}

// TestSecretsOfEvacuations checks that the Secrets are watched, and deleted together with the network.
func TestSecretsOfEvacuations(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU)
	h.Join(v1alpha1.RegionEU)
	h.SettleKeys()
	h.SN.Spec.Regions[1].EvacuateTo = v1alpha1.RegionUS
	run(h)
	for secret, region := range map[string]string{"acme-us-evacuation": "us", "acme-server-key-digests": ""} {
		made := h.Secret(secret)
		require.Equal(t, "true", made.Labels[render.LabelWatched], secret)
		require.Equal(t, "acme", made.Labels[render.LabelNetwork], secret)
		require.Equal(t, string(render.ComponentKeys), made.Labels[render.LabelComponent], secret)
		require.Equal(t, region, made.Labels[render.LabelRegion], secret)
		require.True(t, metav1.IsControlledBy(made, h.SN), secret)
	}
	require.Len(t, h.Secret("acme-server-key-digests").Data, 1, "those of regions in other clusters")
}

// TestTwoEvacuations evacuates two regions, of which the second needs attention: the condition is about that one.
func TestTwoEvacuations(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU, v1alpha1.RegionSG)
	h.SettleKeys()
	h.LoseSecret("acme-sg-server-keys")
	h.SN.Spec.Regions[2].EvacuateTo = v1alpha1.RegionUS
	run(h)
	require.Equal(t, v1alpha1.ReasonEvacuationKeysUnknown, run(h).Reason)
	h.Servers.Pods[v1alpha1.RegionUS][1].StaleKeys = true
	h.SN.Spec.Regions[1].EvacuateTo = v1alpha1.RegionUS
	run(h)
	result := run(h)
	require.Equal(t, string(v1alpha1.ReasonEvacuationStarting), condition(h))
	require.Equal(t, v1alpha1.ReasonEvacuationKeysUnknown, result.Reason)
	require.Contains(t, result.Message,
		"us serves the hosts of sg, but does not know its server keys: Secret acme-sg-server-keys could not be read")
	h.CreateSecret("acme-sg-server-keys", map[string]string{"server-keys.json": `{"keys":[]}`})
	require.Equal(t, v1alpha1.ReasonEvacuationStarting, run(h).Reason)
	h.Servers.Pods[v1alpha1.RegionUS][1].StaleKeys = false
	require.Contains(t, run(h).Message, "us serves the hosts of eu, accepts")
}

// TestSecondEvacuationWhilePaused evacuates a second region to the same one while the network is paused: a key of the first that is revoked
// is not accepted any more, whichever of them is first.
func TestSecondEvacuationWhilePaused(t *testing.T) {
	for first, second := range map[int]int{1: 2, 2: 1} {
		h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU, v1alpha1.RegionSG)
		h.SettleKeys()
		h.SN.Spec.Regions[first].EvacuateTo = v1alpha1.RegionUS
		run(h)
		require.Equal(t, v1alpha1.ReasonEvacuated, run(h).Reason)
		id := h.SN.Status.Regions[first].ServerKeys[0].ID
		require.Contains(t, string(h.Secret("acme-us-evacuation").Data[render.EvacuationFile]), id)
		h.SN.Spec.Paused, h.SN.Spec.Regions[second].EvacuateTo = true, v1alpha1.RegionUS
		h.SN.Spec.ServerKeys.Revoke = []string{id}
		run(h)
		require.NotContains(t, string(h.Secret("acme-us-evacuation").Data[render.EvacuationFile]), id)
	}
}

// TestUnreadableDigests checks that the Secrets of evacuations stay as they are if the digests that were recorded cannot be read.
func TestUnreadableDigests(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU)
	h.Join(v1alpha1.RegionEU)
	h.SettleKeys()
	h.SN.Spec.Regions[1].EvacuateTo = v1alpha1.RegionUS
	run(h)
	before := h.SecretVersions()
	h.Cache = stagetest.Unreadable{Client: h.Client, Prefix: "acme-server-key-digests"}
	result := run(h)
	require.Equal(t, metav1.ConditionUnknown, result.Status)
	require.Equal(t, v1alpha1.ReasonApplyFailed, result.Reason)
	require.Equal(t, "Secret acme-server-key-digests could not be read: the cache is gone", result.Message)
	require.Empty(t, result.Objects)
	require.Equal(t, before, h.SecretVersions())
}

// TestKeysOfEvacuatedRegion checks that KeysReady does not depend on the servers of an evacuated region.
func TestKeysOfEvacuatedRegion(t *testing.T) {
	h := started(t)
	h.Servers.Pods[v1alpha1.RegionEU] = nil
	require.NotEqual(t, metav1.ConditionTrue, h.SettleKeys().Status)
	h.SN.Spec.Regions[1].EvacuateTo = v1alpha1.RegionUS
	require.Equal(t, metav1.ConditionTrue, h.SettleKeys().Status)
}

// TestRevokedKeysOfALostRegion revokes keys of an evacuated region whose cluster cannot be reached: the digests that were recorded before
// are not accepted any more.
func TestRevokedKeysOfALostRegion(t *testing.T) {
	for name, revoke := range map[string]func(h *stagetest.Harness, id string){
		"in the spec":      func(h *stagetest.Harness, id string) { h.SN.Spec.ServerKeys.Revoke = []string{id} },
		"by an annotation": func(h *stagetest.Harness, id string) { h.SN.Annotations[v1alpha1.AnnotationRevoke] = "other " + id },
		"while the network is paused": func(h *stagetest.Harness, id string) {
			h.SN.Spec.Paused, h.SN.Spec.ServerKeys.Revoke = true, []string{id}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU)
			eu := h.Join(v1alpha1.RegionEU)
			h.SettleKeys()
			run(h)
			require.Contains(t, h.Objects(), "Secret/acme-server-key-digests")
			eu.Reason = v1alpha1.ReasonClusterUnreachable
			h.SN.Spec.Regions[1].EvacuateTo = v1alpha1.RegionUS
			run(h)
			require.Equal(t, v1alpha1.ReasonEvacuated, run(h).Reason)
			id := h.SN.Status.Regions[1].ServerKeys[0].ID
			digests := func() string { return string(h.Secret("acme-us-evacuation").Data[render.EvacuationFile]) }
			require.Contains(t, digests(), id)
			revoke(h, id)
			run(h)
			require.NotContains(t, digests(), id)
			require.Equal(t, v1alpha1.ReasonEvacuated, run(h).Reason)
		})
	}
}

// TestEvacuationWithoutRecord evacuates a region whose cluster was never reached.
func TestEvacuationWithoutRecord(t *testing.T) {
	h := started(t)
	h.Join(v1alpha1.RegionEU).Reason = v1alpha1.ReasonClusterUnreachable
	h.SN.Spec.Regions[1].EvacuateTo = v1alpha1.RegionUS
	run(h)
	result := run(h)
	require.Equal(t, v1alpha1.ReasonEvacuationKeysUnknown, result.Reason)
	require.Contains(t, result.Message, "they were not recorded before")
}
