package keys_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/keys"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/controllers/stagetest"
	"github.com/plaza-social/plaza/platform/auth"
)

const secretText = "hush-hush-hush-hush"

func TestNewNetwork(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU, v1alpha1.RegionUS)
	for _, pods := range h.Servers.Pods {
		for _, pod := range pods {
			pod.Unreachable = true
		}
	}
	pods := h.Servers.Pods
	h.Servers.Pods = nil
	require.Empty(t, h.RunKeys().Errors)
	require.Empty(t, h.SN.Status.NetworkID, "an identity counts once it has been read back")
	result := h.RunKeys()
	require.Empty(t, result.Errors)
	require.Equal(t, v1alpha1.ReasonNoServers, result.Reason)
	require.Equal(t, metav1.ConditionUnknown, result.Status, "no key is known to be refused")
	require.Len(t, h.Pass.Network.NetworkID, 24)
	require.Equal(t, h.Pass.Network.NetworkID, h.SN.Status.NetworkID)
	require.Equal(t, strings.TrimSpace(strings.Repeat("KeysCreated ", 6)), h.TakeEvents())
	require.Equal(t, "NoServers Pending", regionKeys(h, v1alpha1.RegionEU))

	h.Servers.Pods = pods
	require.Equal(t, v1alpha1.ReasonServersSilent, h.SettleKeys().Reason)
	require.Contains(t, h.Report.Results[0].Message, "connection refused")
	for _, pods := range h.Servers.Pods {
		for _, pod := range pods {
			pod.Unreachable = false
		}
	}
	pods[v1alpha1.RegionUS][1].StaleKeys = true
	require.Equal(t, v1alpha1.ReasonKeyPending, h.SettleKeys().Reason)
	require.Equal(t, "KeysVerified Active", regionKeys(h, v1alpha1.RegionEU))
	require.Equal(t, "KeyPending Pending", regionKeys(h, v1alpha1.RegionUS))
	require.Equal(t, "Region us: The new server key "+h.SN.Status.Regions[1].ServerKeys[0].ID+
		": accepted by 1 of 2 servers, not by pod acme-us-1 yet.", h.Report.Results[0].Message)
	require.Equal(t, 5*time.Second, h.Report.Results[0].Requeue)
	pods[v1alpha1.RegionUS][1].StaleKeys = false
	result = h.SettleKeys()
	require.Equal(t, metav1.ConditionTrue, result.Status)
	require.Equal(t, v1alpha1.ReasonKeysVerified, result.Reason)
	require.Equal(t, strings.TrimSpace(strings.Repeat("KeyActivated ", 2)), h.TakeEvents())
	require.Equal(t, stagetest.Start.Add(720*time.Hour), h.SN.Status.ServerKeys.NextRotation.UTC())
	require.Equal(t, 720*time.Hour, result.Requeue)
}

func TestSecretsOfKeys(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	for name, files := range map[string][]string{
		"acme-identity": {"directory-key", "network-id"}, "acme-signing-keys": {"signing-keys.json"}, "acme-api-keys": {"api-keys.json"},
		"acme-eu-server-keys": {"server-keys.json"},
	} {
		secret := h.Secret(name)
		require.Empty(t, secret.OwnerReferences, "they outlive the network")
		require.Equal(t, "true", secret.Labels[render.LabelWatched])
		require.Equal(t, "acme", secret.Labels[render.LabelNetwork])
		require.Equal(t, "keys", secret.Labels[render.LabelComponent])
		require.NotContains(t, secret.Labels, render.LabelInstance, "Argo CD tracks objects by it")
		require.Equal(t, "Prune=false,Delete=false", secret.Annotations["argocd.argoproj.io/sync-options"])
		require.Equal(t, "disabled", secret.Annotations["kustomize.toolkit.fluxcd.io/prune"])
		require.Equal(t, h.SN.Status.NetworkID, secret.Annotations[keyring.AnnotationNetworkID])
		require.Equal(t, []string{v1alpha1.FinalizerKeys}, secret.Finalizers)
		require.Len(t, secret.Data, len(files))
		for _, file := range files {
			require.NotEmpty(t, secret.Data[file])
		}
	}
	require.Equal(t, "eu", h.Secret("acme-eu-server-keys").Labels[render.LabelRegion])
	require.True(t, *h.Secret("acme-identity").Immutable)
	ring, err := auth.ParseKeyring(h.Secret("acme-signing-keys").Data["signing-keys.json"])
	require.NoError(t, err)
	require.Len(t, ring.IDs(), 1)
}

func TestIdentityIsCreatedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		harm   func(h *stagetest.Harness)
		reason v1alpha1.Reason
	}{
		"gone": {func(h *stagetest.Harness) {
			h.LoseSecret("acme-identity")
			h.LoseSecret("acme-recovery-keys")
		}, v1alpha1.ReasonKeysMissing},
		"empty": {
			func(h *stagetest.Harness) { h.EditSecret("acme-identity", func(s *corev1.Secret) { s.Data = nil }) },
			v1alpha1.ReasonIdentityChanged,
		},
		"broken": {func(h *stagetest.Harness) {
			h.EditSecret("acme-identity", func(s *corev1.Secret) { s.Data["network-id"] = []byte(secretText) })
		}, v1alpha1.ReasonIdentityChanged},
		"another": {func(h *stagetest.Harness) {
			h.EditSecret("acme-identity", func(s *corev1.Secret) { s.Data["network-id"] = []byte("111111111111111111111111") })
		}, v1alpha1.ReasonIdentityChanged},
	} {
		t.Run(name, func(t *testing.T) {
			h := stagetest.New(t, v1alpha1.RegionEU)
			h.SettleKeys()
			id := h.Pass.Network.NetworkID
			c.harm(h)
			result := h.SettleKeys()
			require.Equal(t, metav1.ConditionFalse, result.Status)
			require.Equal(t, c.reason, result.Reason)
			require.NotContains(t, result.Message, "hush")
			require.Equal(t, id, h.Pass.Network.NetworkID, "running servers are not changed")
			require.Equal(t, id, h.SN.Status.NetworkID)
			require.Equal(t, "KeysVerified Active", regionKeys(h, v1alpha1.RegionEU), "the server keys are still processed")
		})
	}
}

func TestIdentityOfARetainedNetwork(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	identity, serverKeys := h.Secret("acme-identity").ResourceVersion, h.Secret("acme-eu-server-keys").ResourceVersion
	id := h.Pass.Network.NetworkID
	h.DeleteSecret("acme-control-authority") // the garbage collector deletes what the network owns
	h.DeleteSecret("acme-eu-control")
	h.SN.Status, h.SN.UID = v1alpha1.SocialNetworkStatus{}, "uid-2"
	require.Equal(t, metav1.ConditionTrue, h.SettleKeys().Status)
	require.Equal(t, id, h.Pass.Network.NetworkID)
	require.Equal(t, identity, h.Secret("acme-identity").ResourceVersion, "the same network again")
	require.Equal(t, serverKeys, h.Secret("acme-eu-server-keys").ResourceVersion)
}

// TestFailedIdentity checks that nothing is created for an identity that was not stored.
func TestFailedIdentity(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	working := h.Client
	h.Client = noCreate{working}
	result := h.RunKeys()
	require.NotEmpty(t, result.Errors)
	require.Equal(t, v1alpha1.ReasonApplyFailed, result.Reason)
	require.Empty(t, h.SN.Status.NetworkID)
	h.Client = working
	require.Equal(t, metav1.ConditionTrue, h.SettleKeys().Status)
	require.NotEmpty(t, h.Pass.Network.NetworkID)
}

// TestUnreadableSecrets reports each Secret that cannot be read. Nothing is written because of it.
func TestUnreadableSecrets(t *testing.T) {
	for _, secret := range append(keySecrets, "acme-recovery-keys", "acme-control-authority", "acme-eu-control") {
		t.Run(secret, func(t *testing.T) {
			h := stagetest.New(t, v1alpha1.RegionEU)
			h.SettleKeys()
			h.TakeEvents()
			before := h.SecretVersions()
			h.Cache = stagetest.Unreadable{Client: h.Client, Prefix: secret}
			result := h.SettleKeys()
			require.Equal(t, v1alpha1.ReasonApplyFailed, result.Reason)
			require.Equal(t, metav1.ConditionFalse, result.Status)
			require.Contains(t, result.Message, "Secret "+secret+" could not be read: the cache is gone.")
			require.Equal(t, before, h.SecretVersions())
			require.Empty(t, h.TakeEvents())
			require.Empty(t, h.SN.Status.MissingKeys)
			h.Cache = nil
			require.Equal(t, v1alpha1.ReasonKeysVerified, h.SettleKeys().Reason)
		})
	}
}

// TestNewNetworkWithoutRecovery creates no identity while it is not known whether there is a copy of one.
func TestNewNetworkWithoutRecovery(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.Cache = stagetest.Unreadable{Client: h.Client, Prefix: "acme-recovery-keys"}
	require.Equal(t, v1alpha1.ReasonApplyFailed, h.SettleKeys().Reason)
	require.Empty(t, h.SecretVersions())
}

// TestEventsOfKeys checks that restored keys are worth a warning, and created ones are not.
func TestEventsOfKeys(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.RunKeys()
	require.Len(t, h.Report.Events, 1)
	require.Equal(t, v1alpha1.ReasonKeysCreated, h.Report.Events[0].Reason)
	require.False(t, h.Report.Events[0].Warning)
	require.Regexp(t, "^created the network's identity with network id [0-9a-f]{24}$", h.Report.Events[0].Message)
	h.SettleKeys()
	h.LoseSecret("acme-api-keys")
	h.RunKeys()
	require.Equal(t, []stage.Event{{
		Warning: true, Reason: v1alpha1.ReasonKeysRestored,
		Message: "restored the lost Secret acme-api-keys in the namespace from the copy Secret acme-recovery-keys",
	}}, h.Report.Events)
}

type noCreate struct{ client.Client }

func (noCreate) Create(context.Context, client.Object, ...client.CreateOption) error {
	return context.DeadlineExceeded
}

func TestSharedKeys(t *testing.T) {
	for name, c := range map[string]struct {
		harm   func(h *stagetest.Harness)
		reason v1alpha1.Reason
		events string
	}{
		"API keys by hand": {func(h *stagetest.Harness) {
			h.EditSecret("acme-api-keys", func(s *corev1.Secret) {
				s.Data["api-keys.json"] = []byte(`{"keys":[{"id":"a","key":"` + secretText + `"}]}`)
			})
		}, v1alpha1.ReasonKeysVerified, ""},
		"API keys broken": {func(h *stagetest.Harness) {
			h.EditSecret("acme-api-keys", func(s *corev1.Secret) { s.Data["api-keys.json"] = []byte(secretText) })
		}, v1alpha1.ReasonKeyFileBroken, ""},
		"signing keys broken": {func(h *stagetest.Harness) {
			h.EditSecret("acme-signing-keys", func(s *corev1.Secret) { s.Data["signing-keys.json"] = []byte(`{"hush":"` + secretText + `"}`) })
		}, v1alpha1.ReasonKeyFileBroken, ""},
		"server keys broken": {func(h *stagetest.Harness) {
			h.EditSecret("acme-eu-server-keys", func(s *corev1.Secret) { s.Data["server-keys.json"] = []byte(`{"keys":[{"key":"` + secretText) })
		}, v1alpha1.ReasonKeyFileBroken, ""},
		"labels gone": {func(h *stagetest.Harness) {
			for _, name := range []string{"acme-identity", "acme-api-keys", "acme-signing-keys", "acme-eu-server-keys"} {
				h.EditSecret(name, func(s *corev1.Secret) { s.Labels = nil })
			}
		}, v1alpha1.ReasonKeysVerified, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := stagetest.New(t, v1alpha1.RegionEU)
			h.SettleKeys()
			h.TakeEvents()
			c.harm(h)
			before := h.SecretVersions()
			result := h.SettleKeys()
			require.Equal(t, c.reason, result.Reason)
			require.Equal(t, c.events, h.TakeEvents())
			require.NotContains(t, result.Message, "hush")
			if c.reason == v1alpha1.ReasonKeyFileBroken {
				require.Equal(t, before, h.SecretVersions(), "a broken file is never overwritten")
			}
			if name == "labels gone" {
				require.Equal(t, "acme", h.Secret("acme-api-keys").Labels[render.LabelNetwork])
			}
		})
	}
}

// TestFirstKeyIsNotAccepted gives servers ten minutes to accept the first key of their region.
func TestFirstKeyIsNotAccepted(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	slow := h.Servers.Pods[v1alpha1.RegionEU][1]
	slow.StaleKeys = true
	require.Equal(t, v1alpha1.ReasonKeyPending, h.SettleKeys().Reason)
	h.Now = h.Now.Add(10 * time.Minute)
	result := h.SettleKeys()
	require.Equal(t, v1alpha1.ReasonKeyPending, result.Reason)
	require.Equal(t, 5*time.Second, result.Requeue)
	h.Now = h.Now.Add(time.Second)
	result = h.SettleKeys()
	require.Equal(t, v1alpha1.ReasonKeyNotAccepted, result.Reason)
	require.Equal(t, metav1.ConditionFalse, result.Status)
	require.Contains(t, result.Message, "accepted by 1 of 2 servers, not by pod acme-eu-1 yet.")
	require.Greater(t, result.Requeue, time.Minute, "the servers are asked at every resync")
	require.Equal(t, "KeyNotAccepted Pending", regionKeys(h, v1alpha1.RegionEU))
	slow.Unreachable = true
	require.Equal(t, v1alpha1.ReasonServersSilent, h.SettleKeys().Reason)
}

// TestActiveKeyIsNotAccepted reports a server that refuses the active key, and asks it again.
func TestActiveKeyIsNotAccepted(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.CreateSecret("mine", map[string]string{"server-keys.json": `{"keys":[{"id":"a","key":"` + secretText + `"}]}`})
	h.SN.Spec.ServerKeys.ExistingSecret = &v1alpha1.LocalSecretReference{Name: "mine"}
	h.Servers.Pods[v1alpha1.RegionEU][0].StaleKeys = true
	result := h.SettleKeys()
	require.Equal(t, v1alpha1.ReasonKeyNotAccepted, result.Reason)
	require.Equal(t, metav1.ConditionFalse, result.Status)
	require.Equal(t, "Region eu: The server key a: accepted by 1 of 2 servers, not by pod acme-eu-0 yet.", result.Message)
	require.Equal(t, 5*time.Second, result.Requeue)
	h.Servers.Pods[v1alpha1.RegionEU] = nil
	result = h.SettleKeys()
	require.Equal(t, v1alpha1.ReasonNoServers, result.Reason)
	require.Greater(t, result.Requeue, time.Minute)
}

// TestRotationWithoutServers removes the servers of a region for which a rotation waits: it is not stuck, because none refuses the key.
func TestRotationWithoutServers(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU, v1alpha1.RegionSG)
	h.SettleKeys()
	h.Servers.Pods[v1alpha1.RegionSG][0].StaleKeys = true
	h.SN.Annotations[v1alpha1.AnnotationRotate] = "now"
	h.SettleKeys()
	require.Equal(t, "RotationUnderWay Pending Active", regionKeys(h, v1alpha1.RegionSG))
	h.Now = h.Now.Add(11 * time.Minute)
	h.Servers.Pods[v1alpha1.RegionSG] = nil
	h.SettleKeys()
	require.Equal(t, "NoServers Pending Active", regionKeys(h, v1alpha1.RegionSG))
}

func TestRotation(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU, v1alpha1.RegionSG)
	h.SettleKeys()
	h.TakeEvents()
	first := h.SN.Status.Regions[0].ServerKeys[0].ID
	slow := h.Servers.Pods[v1alpha1.RegionSG][0]
	slow.StaleKeys = true
	h.SN.Annotations[v1alpha1.AnnotationRotate] = "now"
	result := h.SettleKeys()
	require.Equal(t, metav1.ConditionTrue, result.Status, "the active keys serve")
	require.Equal(t, v1alpha1.ReasonRotationUnderWay, result.Reason)
	require.Equal(t, "KeysVerified Active Retiring", regionKeys(h, v1alpha1.RegionEU))
	require.Equal(t, "RotationUnderWay Pending Active", regionKeys(h, v1alpha1.RegionSG))
	require.Equal(t, strings.Repeat("RotationStarted ", 2)+"KeyActivated KeyRetiring", h.TakeEvents())
	require.Equal(t, 5*time.Second, result.Requeue)

	h.Now = h.Now.Add(11 * time.Minute)
	result = h.SettleKeys()
	require.Equal(t, metav1.ConditionFalse, result.Status)
	require.Equal(t, v1alpha1.ReasonRotationStuck, result.Reason)
	require.Contains(t, result.Message, "acme-sg-0")

	h.Now = h.Now.Add(time.Hour)
	h.SettleKeys()
	require.Equal(t, "KeysVerified Active", regionKeys(h, v1alpha1.RegionEU))
	require.Equal(t, "KeyRevoked", h.TakeEvents())
	slow.StaleKeys = false
	result = h.SettleKeys()
	require.Equal(t, v1alpha1.ReasonKeysVerified, result.Reason)
	require.Equal(t, "KeysVerified Active Retiring", regionKeys(h, v1alpha1.RegionSG))
	require.NotEqual(t, first, h.SN.Status.Regions[0].ServerKeys[0].ID)
	require.Equal(t, h.Now.Add(time.Hour).Unix(), h.SN.Status.Regions[1].ServerKeys[1].NotAfter.Unix())
	require.Equal(t, stagetest.Start, h.SN.Status.ServerKeys.LastRotation.UTC(), "eu was the first")
	require.Equal(t, time.Hour, result.Requeue)

	h.Now = h.Now.Add(31 * 24 * time.Hour)
	h.SN.Spec.ServerKeys.RotateEvery = new(v1alpha1.Duration("744h"))
	h.TakeEvents()
	h.SettleKeys()
	require.Equal(t, "RotationStarted KeyRevoked RotationStarted KeyActivated KeyRetiring KeyActivated KeyRetiring", h.TakeEvents())
}

func TestKeysWhilePaused(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SN.Spec.Paused = true
	result := h.SettleKeys()
	require.Equal(t, v1alpha1.ReasonPausedBySpec, result.Reason)
	require.Empty(t, h.SecretVersions())
	require.Empty(t, h.TakeEvents())
	require.Len(t, h.SN.Status.PendingChanges, 1, "the other Secrets follow the identity")
	require.Contains(t, h.SN.Status.PendingChanges, "create Secret acme-identity")
	require.Empty(t, h.Pass.Network.NetworkID)

	h.SN.Spec.Paused = false
	h.SettleKeys()
	h.SN.Annotations[v1alpha1.AnnotationRotate] = "one"
	h.SettleKeys()
	h.TakeEvents()
	h.SN.Spec.Paused = true
	h.SN.Annotations[v1alpha1.AnnotationRotate] = "two"
	before := h.SecretVersions()
	result = h.SettleKeys()
	require.Equal(t, before, h.SecretVersions())
	require.Len(t, h.SN.Status.PendingChanges, 1)
	require.Contains(t, h.SN.Status.PendingChanges[0], "change Secret acme-eu-server-keys: started a rotation")
	require.Equal(t, v1alpha1.ReasonKeysVerified, result.Reason)
	h.Now = h.Now.Add(time.Hour)
	h.SettleKeys()
	require.Equal(t, "KeysVerified Active", regionKeys(h, v1alpha1.RegionEU), "revocation is not held up")
	require.Equal(t, "KeyRevoked", h.TakeEvents())
	require.Equal(t, 1, strings.Count(string(h.Secret("acme-eu-server-keys").Data["server-keys.json"]), `"id"`))
}

func TestExistingSecret(t *testing.T) {
	key := func(id, end string) string {
		return `{"id":"` + id + `","key":"` + secretText + id + `"` + end + `}`
	}
	for name, c := range map[string]struct {
		file   *string
		reason v1alpha1.Reason
		region string
		says   string
		again  time.Duration // 0 means not soon
	}{
		"missing":    {nil, v1alpha1.ReasonSecretMissing, "SecretMissing", "Secret mine does not exist", 3 * time.Second},
		"incomplete": {new(""), v1alpha1.ReasonSecretIncomplete, "SecretIncomplete", "Secret mine has no key server-keys.json", 0},
		"broken": {
			new(secretText), v1alpha1.ReasonKeyFileBroken, "KeyFileBroken", "Secret mine, server-keys.json: the key file is invalid", 0,
		},
		"over": {
			new(`{"keys":[` + key("a", `,"notAfter":"2026-01-01T00:00:00Z"`) + `]}`), v1alpha1.ReasonKeyFileBroken, "KeyFileBroken",
			"no valid key", 0,
		},
		"good": {
			new(`{"keys":[` + key("a", `,"notAfter":"2026-12-01T00:00:00Z"`) + "," + key("b", "") + `]}`), v1alpha1.ReasonKeysVerified,
			"KeysVerified Retiring Active", "All keys exist", time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC).Sub(stagetest.Start),
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := stagetest.New(t, v1alpha1.RegionEU)
			h.SN.Spec.ServerKeys.ExistingSecret = &v1alpha1.LocalSecretReference{Name: "mine"}
			h.SN.Annotations[v1alpha1.AnnotationRotate] = "now"
			if c.file != nil {
				h.CreateSecret("mine", map[string]string{"server-keys.json": *c.file})
			}
			result := h.SettleKeys()
			require.Equal(t, c.reason, result.Reason)
			require.Contains(t, result.Message, c.says)
			require.NotContains(t, result.Message, "hush")
			require.Equal(t, c.region, regionKeys(h, v1alpha1.RegionEU))
			if c.again > 0 {
				require.Equal(t, c.again, result.Requeue)
			} else {
				require.Greater(t, result.Requeue, time.Hour, "a change of the Secret starts a pass")
			}
			require.NotContains(t, h.SecretVersions(), "server-keys=", "no other Secret is created")
			require.Nil(t, h.SN.Status.ServerKeys.NextRotation)
			if c.file != nil {
				require.Equal(t, "true", h.Secret("mine").Labels[render.LabelWatched], "adopted by label")
				require.Equal(t, *c.file, string(h.Secret("mine").Data["server-keys.json"]))
			}
		})
	}
}

// TestChangeToKeysOfTheUser names a Secret that does not exist, or cannot be read, instead of the operator's: the status has no keys and no
// rotation of those any more.
func TestChangeToKeysOfTheUser(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	require.NotNil(t, h.SN.Status.ServerKeys.NextRotation)
	h.SN.Spec.ServerKeys.ExistingSecret = &v1alpha1.LocalSecretReference{Name: "mine"}
	h.SettleKeys()
	require.Equal(t, "SecretMissing", regionKeys(h, v1alpha1.RegionEU))
	require.Equal(t, v1alpha1.ServerKeysStatus{}, h.SN.Status.ServerKeys)
	h.Cache = stagetest.Unreadable{Client: h.Client, Prefix: "mine"}
	result := h.SettleKeys()
	require.Equal(t, "ApplyFailed", regionKeys(h, v1alpha1.RegionEU))
	require.Contains(t, result.Message, "Secret mine could not be read: the cache is gone.")
}

// TestBrokenServerKeys lists no keys of a file that is not valid.
func TestBrokenServerKeys(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	h.EditSecret("acme-eu-server-keys", func(s *corev1.Secret) { s.Data["server-keys.json"] = []byte(secretText) })
	h.SettleKeys()
	require.Equal(t, "KeyFileBroken", regionKeys(h, v1alpha1.RegionEU))
}

// TestRevokedKeys revokes the keys that the annotation and the spec name, also while the network is paused.
func TestRevokedKeys(t *testing.T) {
	for name, revoke := range map[string]func(h *stagetest.Harness, id string){
		"annotation": func(h *stagetest.Harness, id string) { h.SN.Annotations[v1alpha1.AnnotationRevoke] = "k-other " + id },
		"spec": func(h *stagetest.Harness, id string) {
			h.SN.Annotations[v1alpha1.AnnotationRevoke] = "k-other"
			h.SN.Spec.ServerKeys.Revoke = []string{id}
		},
	} {
		for _, paused := range []bool{false, true} {
			h := stagetest.New(t, v1alpha1.RegionEU)
			h.SettleKeys()
			h.SN.Annotations[v1alpha1.AnnotationRotate] = "now"
			h.SettleKeys()
			require.Equal(t, "KeysVerified Active Retiring", regionKeys(h, v1alpha1.RegionEU))
			revoke(h, h.SN.Status.Regions[0].ServerKeys[1].ID)
			h.SN.Spec.Paused = paused
			h.SettleKeys()
			require.Equal(t, "KeysVerified Active", regionKeys(h, v1alpha1.RegionEU), name)
			require.Equal(t, 1, strings.Count(string(h.Secret("acme-eu-server-keys").Data["server-keys.json"]), `"id"`), name)
		}
	}
}

// TestStaleCacheRotatesOnce gives the stage the Secret from before the rotation: it must not create another key.
func TestStaleCacheRotatesOnce(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	stale := staleSecret{Client: h.Client, secret: h.Secret("acme-eu-server-keys")}
	for _, pod := range h.Servers.Pods[v1alpha1.RegionEU] {
		pod.StaleKeys = true
	}
	h.SN.Annotations[v1alpha1.AnnotationRotate] = "now"
	h.SettleKeys()
	h.TakeEvents()
	before := h.SecretVersions()
	h.Cache = stale
	require.Empty(t, h.RunKeys().Errors)
	require.Empty(t, h.TakeEvents())
	require.Equal(t, before, h.SecretVersions())
}

// staleSecret is a cache with an old version of a Secret.
type staleSecret struct {
	client.Client

	secret *corev1.Secret
}

func (s staleSecret) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if secret, ok := object.(*corev1.Secret); ok && key.Name == s.secret.Name {
		s.secret.DeepCopyInto(secret)
		return nil
	}
	return s.Client.Get(ctx, key, object, options...)
}

// TestUserSecretIsLabelledByTheRunner checks that the stage itself writes nothing: it returns the Secret of the user, which the
// runner labels unless the network is paused.
func TestUserSecretIsLabelledByTheRunner(t *testing.T) {
	for name, c := range map[string]struct{ paused, labelled bool }{
		"running": {paused: false, labelled: true},
		"paused":  {paused: true, labelled: false},
	} {
		t.Run(name, func(t *testing.T) {
			h := stagetest.New(t, v1alpha1.RegionEU)
			h.SettleKeys()
			h.SN.Spec.Paused = c.paused
			h.SN.Spec.ServerKeys.ExistingSecret = &v1alpha1.LocalSecretReference{Name: "mine"}
			h.CreateSecret("mine", map[string]string{"server-keys.json": `{"keys":[{"id":"a","key":"` + secretText + `"}]}`})
			h.RunKeys()
			before := h.Secret("mine")

			out := keys.Stage{Random: h.Random}.Run(t.Context(), h.Pass)
			require.Equal(t, before.ResourceVersion, h.Secret("mine").ResourceVersion, "the stage wrote to the API server")
			if c.labelled {
				require.Equal(t, "true", before.Labels[render.LabelWatched])
				require.Empty(t, out.Watched, "it is labelled already")
			} else {
				require.NotContains(t, before.Labels, render.LabelWatched)
				require.Len(t, out.Watched, 1)
			}
		})
	}
}

// TestResultsContainNoKeys checks that no result of the stage contains a key.
func TestResultsContainNoKeys(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	h.SN.Annotations[v1alpha1.AnnotationRotate] = "now"
	h.SettleKeys()
	file, err := keyring.ParseFile(keyring.NewSecret(string(h.Secret("acme-eu-server-keys").Data["server-keys.json"])))
	require.NoError(t, err)
	status, err := json.Marshal(h.SN.Status)
	require.NoError(t, err)
	told := strings.Join(h.Events, "\n") + string(status)
	for _, entry := range file {
		require.NotContains(t, told, entry.Key.Reveal())
		for _, value := range h.Secret("acme-eu-server-keys").Annotations {
			require.NotContains(t, value, entry.Key.Reveal())
		}
	}
}

// regionKeys returns the reason of a region's KeysVerified condition and the states of its keys.
func regionKeys(h *stagetest.Harness, code v1alpha1.RegionCode) string {
	for _, region := range h.SN.Status.Regions {
		if region.Code != code {
			continue
		}
		words := []string{"?"}
		if c := meta.FindStatusCondition(region.Conditions, v1alpha1.RegionKeysVerified); c != nil {
			words[0] = c.Reason
		}
		for _, key := range region.ServerKeys {
			words = append(words, string(key.State))
		}
		return strings.Join(words, " ")
	}
	return "none"
}
