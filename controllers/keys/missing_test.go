package keys_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stagetest"
	"github.com/plaza-social/plaza/platform/statusz"
)

// keySecrets are the Secrets with the keys of a network with one region, in the order in which they are created.
var keySecrets = []string{"acme-identity", "acme-signing-keys", "acme-api-keys", "acme-eu-server-keys"}

// TestLostSecretsAreRestored loses each Secret, in several ways: the operator restores it with the same keys.
func TestLostSecretsAreRestored(t *testing.T) {
	for name, lose := range map[string]func(h *stagetest.Harness, secret string){
		"deleted": func(h *stagetest.Harness, secret string) { h.DeleteSecret(secret) },
		"lost":    func(h *stagetest.Harness, secret string) { h.LoseSecret(secret) },
		"deleted together with its copy": func(h *stagetest.Harness, secret string) {
			h.DeleteSecret(secret)
			h.DeleteSecret("acme-recovery-keys")
		},
		"without its file": func(h *stagetest.Harness, secret string) {
			if secret == "acme-identity" {
				h.DeleteSecret(secret) // it is immutable
				return
			}
			h.EditSecret(secret, func(s *corev1.Secret) { s.Data = nil })
		},
		"deleted while the network is paused": func(h *stagetest.Harness, secret string) {
			h.SN.Spec.Paused = true
			h.DeleteSecret(secret)
		},
		"deleted, and the status lost": func(h *stagetest.Harness, secret string) {
			h.SN.Status = v1alpha1.SocialNetworkStatus{}
			h.DeleteSecret(secret)
		},
	} {
		for _, secret := range keySecrets {
			t.Run(name+"/"+secret, func(t *testing.T) {
				h := stagetest.New(t, v1alpha1.RegionEU)
				h.SettleKeys()
				h.TakeEvents()
				before := h.Secret(secret)
				lose(h, secret)
				result := h.SettleKeys()
				require.Equal(t, v1alpha1.ReasonKeysVerified, result.Reason, result.Message)
				require.Equal(t, "KeysRestored", h.TakeEvents())
				after := h.Secret(secret)
				require.Equal(t, before.Data, after.Data)
				require.Equal(t, before.Labels, after.Labels)
				require.Equal(t, before.Annotations, after.Annotations)
				require.Empty(t, h.SN.Status.MissingKeys)
			})
		}
	}
}

// TestAllSecretsAreRestored loses all Secrets but one that has copies.
func TestAllSecretsAreRestored(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU, v1alpha1.RegionUS)
	h.SettleKeys()
	h.TakeEvents()
	id := h.SN.Status.NetworkID
	all := append([]string{"acme-us-server-keys"}, keySecrets...)
	for _, secret := range all {
		h.LoseSecret(secret)
	}
	require.Equal(t, v1alpha1.ReasonKeysVerified, h.SettleKeys().Reason)
	require.Equal(t, strings.TrimSpace(strings.Repeat("KeysRestored ", 5)), h.TakeEvents())
	require.Equal(t, id, h.SN.Status.NetworkID)

	h.LoseSecret("acme-recovery-keys")
	require.Equal(t, v1alpha1.ReasonKeysVerified, h.SettleKeys().Reason)
	require.Len(t, h.Secret("acme-recovery-keys").Data, 5, "the copies are made again")
	require.NotContains(t, h.Secret("acme-recovery-keys").Labels, "plaza.social/network",
		"it is not deleted together with the others by a label")
}

// TestEverythingIsDeleted deletes every Secret of the namespace at once, as kubectl delete secret --all does.
func TestEverythingIsDeleted(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	before := map[string]map[string][]byte{}
	all := append([]string{"acme-recovery-keys"}, keySecrets...)
	for _, secret := range all {
		before[secret] = h.Secret(secret).Data
		h.DeleteSecret(secret)
	}
	require.Equal(t, v1alpha1.ReasonKeysVerified, h.SettleKeys().Reason)
	for _, secret := range all {
		require.Equal(t, before[secret], h.Secret(secret).Data, secret)
		require.Zero(t, h.Secret(secret).DeletionTimestamp)
	}
}

// TestMissingKeys loses each Secret together with its copies. Nothing replaces it, until it is given up.
func TestMissingKeys(t *testing.T) {
	for _, secret := range keySecrets {
		t.Run(secret, func(t *testing.T) {
			h := stagetest.New(t, v1alpha1.RegionEU)
			h.SettleKeys()
			h.TakeEvents()
			id, before := h.SN.Status.NetworkID, h.Secret(secret)
			lose := func() {
				h.LoseSecret(secret)
				h.LoseSecret("acme-recovery-keys")
			}
			lose()
			for _, value := range []string{"", "yes", "111111111111111111111111"} {
				h.SN.Annotations[v1alpha1.AnnotationGiveUpKeys] = value
				result := h.SettleKeys()
				require.Equal(t, metav1.ConditionFalse, result.Status)
				require.Equal(t, v1alpha1.ReasonKeysMissing, result.Reason)
				require.Contains(t, result.Message, "Secret "+secret+" does not exist in the namespace, and no copy of ")
				require.Contains(t, result.Message, "kubectl plaza keys restore acme -n plaza --file BACKUP")
				require.Equal(t, []string{secret}, h.SN.Status.MissingKeys)
				require.NotContains(t, h.SecretVersions(), secret+"=")
				require.Empty(t, h.TakeEvents())
			}
			h.SN.Annotations[v1alpha1.AnnotationGiveUpKeys] = id
			result := h.SettleKeys()
			if secret == "acme-identity" {
				require.Equal(t, v1alpha1.ReasonKeysMissing, result.Reason, "no user could be found with another one")
				return
			}
			require.Equal(t, v1alpha1.ReasonKeysVerified, result.Reason, result.Message)
			require.Contains(t, h.TakeEvents(), "KeysCreated")
			require.NotEqual(t, before.Data, h.Secret(secret).Data)
			require.Empty(t, h.SN.Status.MissingKeys)

			lose()
			result = h.SettleKeys()
			require.Equal(t, v1alpha1.ReasonKeysMissing, result.Reason, "the annotation works once")
			require.Contains(t, result.Message, "first remove the annotation")
			delete(h.SN.Annotations, v1alpha1.AnnotationGiveUpKeys)
			h.SettleKeys()
			h.SN.Annotations[v1alpha1.AnnotationGiveUpKeys] = id
			require.Equal(t, v1alpha1.ReasonKeysVerified, h.SettleKeys().Reason)
		})
	}
}

// TestRecoveryKeepsValidKeys checks that an invalid file does not replace the copy of the valid one, which deleting the Secret restores.
func TestRecoveryKeepsValidKeys(t *testing.T) {
	for _, secret := range keySecrets[1:] {
		t.Run(secret, func(t *testing.T) {
			h := stagetest.New(t, v1alpha1.RegionEU)
			h.SettleKeys()
			before := h.Secret(secret)
			h.EditSecret(secret, func(s *corev1.Secret) {
				for file := range s.Data {
					s.Data[file] = []byte(secretText)
				}
			})
			require.Equal(t, v1alpha1.ReasonKeyFileBroken, h.SettleKeys().Reason)
			h.DeleteSecret("acme-recovery-keys")
			require.Equal(t, v1alpha1.ReasonKeyFileBroken, h.SettleKeys().Reason)
			require.NotZero(t, h.Secret("acme-recovery-keys").DeletionTimestamp, "it has the only valid copy")
			h.DeleteSecret(secret)
			require.Equal(t, v1alpha1.ReasonKeysVerified, h.SettleKeys().Reason)
			require.Equal(t, before.Data, h.Secret(secret).Data)
			require.Len(t, h.Secret("acme-recovery-keys").Data, 4)
			require.Zero(t, h.Secret("acme-recovery-keys").DeletionTimestamp)
		})
	}
}

// TestRecoveryFollowsTheKeys checks that a rotated key is restored, and that a removed region leaves the copies when its keys do.
func TestRecoveryFollowsTheKeys(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU, v1alpha1.RegionUS)
	h.SettleKeys()
	h.SN.Annotations[v1alpha1.AnnotationRotate] = "now"
	h.SettleKeys()
	rotated := h.Secret("acme-eu-server-keys")
	h.DeleteSecret("acme-eu-server-keys")
	h.SettleKeys()
	require.Equal(t, rotated.Data, h.Secret("acme-eu-server-keys").Data)
	require.Equal(t, rotated.Annotations, h.Secret("acme-eu-server-keys").Annotations)

	h.SN.Spec.Regions = h.SN.Spec.Regions[:1]
	h.RunKeys()
	require.Contains(t, h.Secret("acme-recovery-keys").Data, "server-keys-us", "the sweep records the retention after this stage")
	h.SN.Status.RetainedKeys = []v1alpha1.RetainedKeys{{Code: v1alpha1.RegionUS}}
	h.SettleKeys()
	require.Contains(t, h.Secret("acme-recovery-keys").Data, "server-keys-us")
	require.Contains(t, h.Secret("acme-identity").Annotations[keyring.AnnotationKeySets], "server-keys-us")
	h.SN.Status.RetainedKeys = nil
	h.EditSecret("acme-recovery-keys", func(s *corev1.Secret) { // as restored from a backup, by another field manager
		data := s.Data
		h.LoseSecret(s.Name)
		h.CreateSecret(s.Name, map[string]string{})
		*s = *h.Secret(s.Name)
		s.Data = data
	})
	h.SettleKeys()
	require.NotContains(t, h.Secret("acme-recovery-keys").Data, "server-keys-us")
	require.Equal(t, "api-keys server-keys-eu signing-keys", h.Secret("acme-identity").Annotations[keyring.AnnotationKeySets])
}

// TestEmptyList restores server keys whose list was emptied.
func TestEmptyList(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	before := h.Secret("acme-eu-server-keys").Data
	h.EditSecret("acme-eu-server-keys", func(s *corev1.Secret) { s.Data["server-keys.json"] = []byte(`{"keys":[]}`) })
	require.Equal(t, v1alpha1.ReasonKeysVerified, h.SettleKeys().Reason)
	require.Equal(t, before, h.Secret("acme-eu-server-keys").Data)
}

// TestStaleCacheCreatesNothing decides on a rotation while the Secret of the cache is gone: it is restored, and no key is created.
func TestStaleCacheCreatesNothing(t *testing.T) {
	for _, secret := range []string{"acme-eu-server-keys", "acme-signing-keys"} {
		t.Run(secret, func(t *testing.T) {
			h := stagetest.New(t, v1alpha1.RegionEU)
			h.SettleKeys()
			h.TakeEvents()
			before := h.Secret(secret)
			h.Cache = staleSecret{Client: h.Client, secret: before}
			h.LoseSecret(secret)
			h.SN.Annotations[v1alpha1.AnnotationRotate], h.SN.Annotations[v1alpha1.AnnotationRotateSigning] = "now", "now"
			h.RunKeys()
			require.NotContains(t, h.TakeEvents(), "KeysCreated")
			require.NotContains(t, h.SecretVersions(), secret+"=")
			h.Cache = nil
			h.SN.Annotations = map[string]string{}
			h.SettleKeys()
			require.Equal(t, before.Data, h.Secret(secret).Data)
		})
	}
}

// TestDeletedBeforeTheCopy deletes keys of which there is no copy yet: they go only when they are copied.
func TestDeletedBeforeTheCopy(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	h.LoseSecret("acme-recovery-keys")
	h.DeleteSecret("acme-api-keys")
	result := h.RunKeys()
	require.Equal(t, v1alpha1.ReasonProgressing, result.Reason)
	require.Equal(t, "Secret acme-api-keys was deleted; it is restored from its copy.", result.Message)
	require.Equal(t, time.Second, result.Requeue)
	require.Equal(t, []string{v1alpha1.FinalizerKeys}, h.Secret("acme-api-keys").Finalizers)
	h.RunKeys()
	require.NotContains(t, h.SecretVersions(), "acme-api-keys=")
}

// TestRemovedRegionIsDeleted deletes the retained keys of a removed region: they go, and do not come back.
func TestRemovedRegionIsDeleted(t *testing.T) {
	for removed, kept := range map[v1alpha1.RegionCode]v1alpha1.RegionCode{
		v1alpha1.RegionUS: v1alpha1.RegionEU, v1alpha1.RegionSG: v1alpha1.RegionUS,
	} {
		h := stagetest.New(t, kept, removed)
		h.SettleKeys()
		h.SN.Spec.Regions = h.SN.Spec.Regions[:1]
		h.SN.Status.RetainedKeys = []v1alpha1.RetainedKeys{{Code: removed}}
		h.SettleKeys()
		secret := render.ServerKeysSecret("acme", removed)
		h.DeleteSecret(secret)
		h.SettleKeys()
		require.NotContains(t, h.SecretVersions(), secret+"=")
		h.SN.Status.RetainedKeys = nil
		h.SettleKeys()
		require.NotContains(t, h.Secret("acme-recovery-keys").Data, "server-keys-"+string(removed))
	}
}

// TestUnusedServerKeys names another Secret with server keys, and deletes those of the operator: they go, and do not come back.
func TestUnusedServerKeys(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	h.CreateSecret("mine", map[string]string{"server-keys.json": `{"keys":[{"id":"a","key":"` + secretText + `"}]}`})
	h.SN.Spec.ServerKeys.ExistingSecret = &v1alpha1.LocalSecretReference{Name: "mine"}
	require.Equal(t, v1alpha1.ReasonKeysVerified, h.SettleKeys().Reason)
	h.DeleteSecret("acme-eu-server-keys")
	require.Equal(t, v1alpha1.ReasonKeysVerified, h.SettleKeys().Reason)
	require.NotContains(t, h.SecretVersions(), "acme-eu-server-keys=")
	require.NotContains(t, h.Secret("acme-recovery-keys").Data, "server-keys-eu")
}

// TestBrokenRecovery checks that a recovery Secret that is invalid is neither used nor overwritten.
func TestBrokenRecovery(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	h.EditSecret("acme-recovery-keys", func(s *corev1.Secret) { s.Data["api-keys"] = []byte(secretText) })
	before := h.SecretVersions()
	result := h.SettleKeys()
	require.Equal(t, v1alpha1.ReasonKeyFileBroken, result.Reason)
	require.NotContains(t, result.Message, "hush")
	require.Equal(t, before, h.SecretVersions())
	h.DeleteSecret("acme-api-keys")
	require.Equal(t, v1alpha1.ReasonKeyFileBroken, h.SettleKeys().Reason)
	require.NotEmpty(t, h.Secret("acme-api-keys").Data, "its finalizer keeps it")
	h.LoseSecret("acme-api-keys")
	require.Equal(t, v1alpha1.ReasonKeysMissing, h.SettleKeys().Reason)
	h.DeleteSecret("acme-recovery-keys")
	require.Equal(t, v1alpha1.ReasonKeysMissing, h.SettleKeys().Reason)
	require.NotZero(t, h.Secret("acme-recovery-keys").DeletionTimestamp, "it may be repaired by hand, and have the lost keys")
	h.SN.Annotations[v1alpha1.AnnotationGiveUpKeys] = h.SN.Status.NetworkID
	require.Equal(t, v1alpha1.ReasonKeysVerified, h.SettleKeys().Reason, "as the message says, deleting it copies the present keys")
	require.Len(t, h.Secret("acme-recovery-keys").Data, 4)
}

// TestLostIdentityIsRefused creates a network again that lost every Secret, on the database that it served: the database refuses the new
// identity, and the keys of a backup replace those that were created.
func TestLostIdentityIsRefused(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	before, id := map[string]*corev1.Secret{}, h.SN.Status.NetworkID
	backup := h.Secret("acme-recovery-keys")
	for _, secret := range append(keySecrets, "acme-recovery-keys") {
		before[secret] = h.Secret(secret)
		h.LoseSecret(secret)
	}
	h.SN.Status = v1alpha1.SocialNetworkStatus{}
	h.SettleKeys()
	require.NotEqual(t, id, h.SN.Status.NetworkID, "the database was not asked yet")
	h.SN.Status.Schema.LastError = "plaza: " + statusz.OtherNetwork
	result := h.SettleKeys()
	require.Equal(t, v1alpha1.ReasonKeysMissing, result.Reason)
	require.Equal(t, []string{"acme-identity"}, h.SN.Status.MissingKeys)
	require.Contains(t, result.Message, "kubectl plaza keys restore acme -n plaza --file BACKUP")

	h.EditSecret("acme-recovery-keys", func(s *corev1.Secret) { s.Data = backup.Data }) // as the command does
	h.SettleKeys()
	require.Equal(t, id, h.SN.Status.NetworkID)
	for _, secret := range keySecrets {
		require.Equal(t, before[secret].Data, h.Secret(secret).Data)
	}
}
