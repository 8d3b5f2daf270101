package keys_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/keys"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stagetest"
	"github.com/plaza-social/plaza/platform/statusz"
)

// TestRegionReturnsToItsCluster moves a region away from a cluster that cannot be reached, rotates its keys and moves it back: the Secret
// that was left there is older, and is replaced.
func TestRegionReturnsToItsCluster(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU)
	eu := h.Join(v1alpha1.RegionEU)
	h.SettleKeys()
	left := eu.Secret("acme-eu-server-keys")
	eu.Reason = v1alpha1.ReasonClusterUnreachable
	h.Move(v1alpha1.RegionEU, nil)
	h.SettleKeys()
	require.Equal(t, left.Data, h.Secret("acme-eu-server-keys").Data, "the region keeps its keys")
	h.SN.Annotations[v1alpha1.AnnotationRotate] = "now"
	h.SettleKeys()
	rotated := h.Secret("acme-eu-server-keys")
	require.NotEqual(t, left.Data, rotated.Data)

	delete(h.SN.Annotations, v1alpha1.AnnotationRotate)
	eu.Reason = ""
	h.Move(v1alpha1.RegionEU, eu)
	require.Equal(t, v1alpha1.ReasonKeysVerified, h.SettleKeys().Reason)
	require.Equal(t, rotated.Data, eu.Secret("acme-eu-server-keys").Data)
	require.Equal(t, rotated.Annotations, eu.Secret("acme-eu-server-keys").Annotations)

	eu.EditSecret("acme-eu-server-keys", func(s *corev1.Secret) { s.Data = left.Data; s.Annotations = left.Annotations })
	h.SettleKeys()
	require.Equal(t, left.Data, eu.Secret("acme-eu-server-keys").Data, "a Secret of the same cluster is never replaced")
}

// ofAnotherNetwork makes a Secret one of a network with the same name: of the operator in the member cluster, or of another namespace.
var ofAnotherNetwork = map[string]func(s *corev1.Secret){
	"of the member's operator": func(s *corev1.Secret) {
		delete(s.Labels, render.LabelOwnerNamespace)
		s.Annotations[keyring.AnnotationNetworkID] = "111111111111111111111111"
	},
	"of another namespace":  func(s *corev1.Secret) { s.Labels[render.LabelOwnerNamespace] = "other" },
	"with another identity": func(s *corev1.Secret) { s.Annotations[keyring.AnnotationNetworkID] = "111111111111111111111111" },
}

// TestForeignSecretsInMembers checks that the keys of another network in a member cluster are not restored, copied or replaced.
func TestForeignSecretsInMembers(t *testing.T) {
	for name, change := range ofAnotherNetwork {
		t.Run(name, func(t *testing.T) {
			h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU)
			eu := h.Join(v1alpha1.RegionEU)
			h.SettleKeys()
			before := map[string]map[string][]byte{}
			for _, secret := range append(render.SharedSecrets("acme"), "acme-eu-server-keys") {
				eu.EditSecret(secret, change)
				eu.EditSecret(secret, func(s *corev1.Secret) {
					if !isImmutable(s) {
						s.Data["foreign"] = []byte("x")
					}
				})
				before[secret] = eu.Secret(secret).Data
			}
			h.EditSecret("acme-recovery-keys", func(s *corev1.Secret) { delete(s.Data, "server-keys-eu") })
			h.LoseSecret("acme-recovery-keys")
			h.LoseSecret("acme-api-keys")
			result := h.SettleKeys()
			require.Equal(t, v1alpha1.ReasonKeysMissing, result.Reason, result.Message)
			require.Equal(t, []string{"acme-api-keys"}, h.SN.Status.MissingKeys)
			require.NotContains(t, h.Secret("acme-recovery-keys").Data, "server-keys-eu")
			for secret, data := range before {
				require.Equal(t, data, eu.Secret(secret).Data, secret)
			}
			deleteIn(t, h, 1)
			for secret := range before {
				exists := eu.Client.Get(t.Context(), client.ObjectKey{Namespace: "plaza", Name: secret}, &corev1.Secret{}) == nil
				require.Equal(t, name != "with another identity", exists, secret)
			}
		})
	}
}

func isImmutable(s *corev1.Secret) bool { return s.Immutable != nil && *s.Immutable }

// deleteIn deletes the keys of the network in a cluster, of which 0 is the operator's own.
func deleteIn(t *testing.T, h *stagetest.Harness, i int) {
	t.Helper()
	for range 2 {
		_, err := keys.Delete(t.Context(), h.Clusters()[i])
		require.NoError(t, err)
	}
}

// TestDeleteLeavesRecoveryKeysOfMembers deletes a network: the recovery Secret of a network of the member's operator is not its own.
func TestDeleteLeavesRecoveryKeysOfMembers(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	eu := h.Join(v1alpha1.RegionEU)
	h.SettleKeys()
	eu.CreateSecret("acme-recovery-keys", nil)
	eu.EditSecret("acme-recovery-keys", func(s *corev1.Secret) { s.Labels = render.RecoveryLabels("acme") })
	deleteIn(t, h, 0)
	deleteIn(t, h, 1)
	require.Empty(t, h.API.SecretVersions())
	require.Regexp(t, `^acme-recovery-keys=\d+$`, eu.API.SecretVersions())
}

// TestForeignIdentityIsNotAdopted creates a network whose member cluster has the identity of another network with the same name.
func TestForeignIdentityIsNotAdopted(t *testing.T) {
	for name, change := range ofAnotherNetwork {
		if name == "with another identity" { // a network is recreated under its own name and namespace
			continue
		}
		t.Run(name, func(t *testing.T) {
			first := stagetest.New(t, v1alpha1.RegionEU)
			eu := first.Join(v1alpha1.RegionEU)
			first.SettleKeys()
			before := eu.Secret("acme-identity")
			eu.EditSecret("acme-identity", change)
			h := stagetest.New(t, v1alpha1.RegionEU)
			h.Random = first.Random
			h.Move(v1alpha1.RegionEU, eu)
			h.Members = append(h.Members, eu)
			require.Contains(t, h.SettleKeys().Message, "belongs to another network")
			require.NotEqual(t, first.SN.Status.NetworkID, h.SN.Status.NetworkID)
			require.Equal(t, before.Data, eu.Secret("acme-identity").Data)
		})
	}
}

// TestIdentitiesOfSeveralNetworks creates a network whose member clusters have the identities of two networks of this name: neither is
// chosen until it is known which one belongs to the network.
func TestIdentitiesOfSeveralNetworks(t *testing.T) {
	var random io.Reader
	former := func(code v1alpha1.RegionCode) (*stagetest.Member, string) {
		first := stagetest.New(t, code)
		if random != nil {
			first.Random = random
		}
		m := first.Join(code)
		first.SettleKeys()
		random = first.Random
		return m, first.SN.Status.NetworkID
	}
	eu, euID := former(v1alpha1.RegionEU)
	sg, sgID := former(v1alpha1.RegionSG)
	require.NotEqual(t, euID, sgID)
	begin := func() *stagetest.Harness {
		h := stagetest.New(t, v1alpha1.RegionEU, v1alpha1.RegionSG)
		h.Move(v1alpha1.RegionEU, eu)
		h.Move(v1alpha1.RegionSG, sg)
		h.Members = append(h.Members, eu, sg)
		return h
	}
	h := begin()
	result := h.SettleKeys()
	require.Equal(t, v1alpha1.ReasonKeysMissing, result.Reason)
	require.Equal(t, []string{"acme-identity"}, h.SN.Status.MissingKeys)
	copies := []string{euID + " in namespace plaza of cluster cluster-eu", sgID + " in namespace plaza of cluster cluster-sg"}
	slices.Sort(copies)
	require.Equal(t, "Secret acme-identity does not exist, and its copies are of several networks: "+strings.Join(copies, ", ")+
		". Delete those of the others.", result.Message)
	require.Empty(t, h.API.SecretVersions())

	known := begin()
	known.SN.Status.NetworkID = sgID
	known.SettleKeys()
	require.Equal(t, sgID, string(known.Secret("acme-identity").Data[keyring.NetworkIDFile]), "the id of the status decides")

	sg.LoseSecret("acme-identity")
	h.SettleKeys()
	require.Equal(t, euID, h.SN.Status.NetworkID)
	require.Empty(t, h.SN.Status.MissingKeys)
	require.Equal(t, eu.Secret("acme-identity").Data, h.Secret("acme-identity").Data)
}

// TestCopiesOfValidKeys checks that an invalid file does not replace the copies in member clusters.
func TestCopiesOfValidKeys(t *testing.T) {
	for _, secret := range []string{"acme-signing-keys", "acme-api-keys"} {
		t.Run(secret, func(t *testing.T) {
			h := stagetest.New(t, v1alpha1.RegionEU)
			eu := h.Join(v1alpha1.RegionEU)
			h.SettleKeys()
			h.SN.Annotations[v1alpha1.AnnotationRotateSigning], h.SN.Annotations[v1alpha1.AnnotationRotateAPI] = "now", "now"
			h.SettleKeys()
			before := eu.Secret(secret)
			require.Equal(t, before.Data, h.Secret(secret).Data)
			require.NotContains(t, before.Labels, render.LabelOwner, "the copy outlives the network, as the original does")
			require.NotEmpty(t, before.Annotations[keyring.AnnotationActive])
			for _, name := range keyring.Annotations() {
				require.Equal(t, h.Secret(secret).Annotations[name], before.Annotations[name], "a restored Secret continues the rotation")
			}
			h.EditSecret(secret, func(s *corev1.Secret) {
				for file := range s.Data {
					s.Data[file] = []byte(secretText)
				}
			})
			require.Equal(t, v1alpha1.ReasonKeyFileBroken, h.SettleKeys().Reason)
			require.Equal(t, before.Data, eu.Secret(secret).Data)
		})
	}
}

// TestCopiesOfTheOtherKeys checks that the copies of valid keys follow them while other keys are invalid.
func TestCopiesOfTheOtherKeys(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	eu := h.Join(v1alpha1.RegionEU)
	h.SettleKeys()
	h.EditSecret("acme-signing-keys", func(s *corev1.Secret) { s.Data["signing-keys.json"] = []byte(secretText) })
	before := eu.Secret("acme-api-keys").Data
	h.SN.Annotations[v1alpha1.AnnotationRotateAPI] = "now"
	h.SettleKeys()
	require.NotEqual(t, before, h.Secret("acme-api-keys").Data)
	require.Equal(t, h.Secret("acme-api-keys").Data, eu.Secret("acme-api-keys").Data)
}

// TestRefusedIdentityIsLost loses the identity that the database refused: no other one is created instead.
func TestRefusedIdentityIsLost(t *testing.T) {
	h, _, _ := lost(t)
	id := h.SN.Status.NetworkID
	h.LoseSecret("acme-identity")
	h.LoseSecret("acme-recovery-keys")
	require.Equal(t, v1alpha1.ReasonKeysMissing, h.SettleKeys().Reason)
	require.Equal(t, id, h.SN.Status.NetworkID)
	require.NotContains(t, h.SecretVersions(), "acme-identity=")
}

// TestIncompleteCopyOfTheIdentity checks that a copy without the directory key is not restored.
func TestIncompleteCopyOfTheIdentity(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	h.LoseSecret("acme-identity")
	h.EditSecret("acme-recovery-keys", func(s *corev1.Secret) {
		id := keyring.Save(map[string][]byte{keyring.NetworkIDFile: []byte(h.SN.Status.NetworkID)}, nil)
		s.Data["identity"] = []byte(id.Encode().Reveal())
	})
	require.Equal(t, v1alpha1.ReasonKeysMissing, h.SettleKeys().Reason)
	require.NotContains(t, h.SecretVersions(), "acme-identity=")
}

// TestKeysThatAreDeleted deletes the keys of a network in a cluster: those with a finalizer of others are counted until it is removed.
func TestKeysThatAreDeleted(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	h.EditSecret("acme-api-keys", func(s *corev1.Secret) { s.Finalizers = append(s.Finalizers, "of/others") })
	for _, want := range []int{1, 0} {
		left, err := keys.Delete(t.Context(), h.Clusters()[0])
		require.NoError(t, err)
		require.Equal(t, want, left)
		if want == 1 {
			require.Regexp(t, `^acme-api-keys=\d+$`, withoutControl(h), "the others are gone")
			h.EditSecret("acme-api-keys", func(s *corev1.Secret) { s.Finalizers = nil })
		}
	}
	require.Empty(t, withoutControl(h))
}

// withoutControl returns the versions of the Secrets, apart from those of control calls.
func withoutControl(h *stagetest.Harness) string {
	versions := slices.DeleteFunc(strings.Fields(h.API.SecretVersions()), func(v string) bool { return strings.Contains(v, "control") })
	return strings.Join(versions, " ")
}

// TestKeysOfANetworkThatIsGone lets the Secrets go that were deleted after their network, and keeps the others.
func TestKeysOfANetworkThatIsGone(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	network := client.ObjectKeyFromObject(h.SN)
	before := h.SecretVersions()
	require.NoError(t, keys.ReleaseDeleted(t.Context(), h.Client, network))
	require.Equal(t, before, h.SecretVersions())
	h.DeleteSecret("acme-signing-keys")
	h.DeleteSecret("acme-recovery-keys")
	before = h.SecretVersions()
	for _, other := range []client.ObjectKey{{Namespace: network.Namespace, Name: "other"}, {Namespace: "other", Name: network.Name}} {
		require.NoError(t, keys.ReleaseDeleted(t.Context(), h.Client, other))
		require.Equal(t, before, h.SecretVersions(), "they are not keys of %s", other)
	}
	require.NoError(t, keys.ReleaseDeleted(t.Context(), h.Client, network))
	require.NotContains(t, h.SecretVersions(), "acme-signing-keys=")
	require.NotContains(t, h.SecretVersions(), "acme-recovery-keys=")
	require.Equal(t, []string{v1alpha1.FinalizerKeys}, h.Secret("acme-identity").Finalizers)
}

// TestSetsAreNotKnown loses API keys together with the annotation that names the sets that exist, while a cluster cannot be read.
func TestSetsAreNotKnown(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU)
	eu := h.Join(v1alpha1.RegionEU)
	h.SettleKeys()
	before := h.Secret("acme-api-keys")
	h.EditSecret("acme-identity", func(s *corev1.Secret) { delete(s.Annotations, keyring.AnnotationKeySets) })
	h.LoseSecret("acme-api-keys")
	h.LoseSecret("acme-recovery-keys")
	eu.Reason = v1alpha1.ReasonClusterUnreachable
	result := h.RunKeys()
	require.Equal(t, v1alpha1.ReasonClusterUnreachable, result.Reason)
	require.NotContains(t, h.API.SecretVersions(), "acme-api-keys=")
	eu.Reason = ""
	require.Equal(t, v1alpha1.ReasonKeysVerified, h.SettleKeys().Reason)
	require.Equal(t, before.Data, h.Secret("acme-api-keys").Data)
}

// TestKeysOfAnEvacuatedRegionAreLost reports them, although the network does not depend on the region.
func TestKeysOfAnEvacuatedRegionAreLost(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU)
	h.SettleKeys()
	h.SN.Spec.Regions[1].EvacuateTo = v1alpha1.RegionUS
	h.LoseSecret("acme-eu-server-keys")
	h.LoseSecret("acme-recovery-keys")
	require.Equal(t, v1alpha1.ReasonKeysMissing, h.SettleKeys().Reason)
	require.Equal(t, []string{"acme-eu-server-keys"}, h.SN.Status.MissingKeys)
}

// refuse makes the database refuse the identity of a network.
func refuse(h *stagetest.Harness) { h.SN.Status.Schema.LastError = "plaza: " + statusz.OtherNetwork }

// lost returns a network that has lost all its keys and was created again with others, which its database refuses. The backup has the
// first ones.
func lost(t *testing.T) (*stagetest.Harness, map[string][]byte, string) {
	t.Helper()
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	id, backup := h.SN.Status.NetworkID, h.Secret("acme-recovery-keys").Data
	for _, secret := range append(keySecrets, "acme-recovery-keys") {
		h.LoseSecret(secret)
	}
	h.SN.Status = v1alpha1.SocialNetworkStatus{}
	h.SettleKeys()
	refuse(h)
	h.SettleKeys()
	return h, backup, id
}

// TestReplacementIsInterrupted replaces refused keys, while the status of the pass that deletes them is not written.
func TestReplacementIsInterrupted(t *testing.T) {
	h, backup, id := lost(t)
	h.EditSecret("acme-recovery-keys", func(s *corev1.Secret) { s.Data = backup })
	for range 3 {
		before := h.SN.Status.DeepCopy()
		h.RunKeys()
		h.SN.Status = *before
	}
	result := h.SettleKeys()
	require.Equal(t, v1alpha1.ReasonKeysVerified, result.Reason, result.Message)
	require.Equal(t, id, h.SN.Status.NetworkID)
	require.Empty(t, h.SN.Status.MissingKeys)
}

// TestReplacementWhilePaused replaces refused keys when the network is not paused any more.
func TestReplacementWhilePaused(t *testing.T) {
	h, backup, id := lost(t)
	h.EditSecret("acme-recovery-keys", func(s *corev1.Secret) { s.Data = backup })
	h.SN.Spec.Paused = true
	before := h.SecretVersions()
	result := h.SettleKeys()
	require.Equal(t, v1alpha1.ReasonPausedBySpec, result.Reason, result.Message)
	require.Zero(t, h.Report.Requeue)
	require.Equal(t, before, h.SecretVersions())
	h.SN.Spec.Paused = false
	require.Equal(t, v1alpha1.ReasonKeysVerified, h.SettleKeys().Reason)
	require.Equal(t, id, h.SN.Status.NetworkID)
}

// TestAcceptedIdentityIsNotReplaced gives a network that has served the address of another database, after its status was lost: its keys
// are not the ones to be replaced.
func TestAcceptedIdentityIsNotReplaced(t *testing.T) {
	_, backup, other := lost(t)
	h := stagetest.New(t, v1alpha1.RegionEU)
	for range 200 { // other random bytes than those of the backup
		_, err := h.Random.Read(make([]byte, 64))
		require.NoError(t, err)
	}
	h.SettleKeys()
	h.SN.Status.Schema.Completed = "target"
	h.SettleKeys()
	id, before := h.SN.Status.NetworkID, h.Secret("acme-identity").Data
	require.NotEqual(t, other, id)
	h.SN.Status = v1alpha1.SocialNetworkStatus{}
	refuse(h)
	require.Equal(t, metav1.ConditionTrue, h.SettleKeys().Status, "the migration reports the wrong database")
	require.Empty(t, h.SN.Status.MissingKeys)
	h.EditSecret("acme-recovery-keys", func(s *corev1.Secret) { s.Data = backup })
	refuse(h)
	result := h.SettleKeys()
	require.Equal(t, v1alpha1.ReasonIdentityChanged, result.Reason)
	require.Contains(t, result.Message, "not of this one, which is "+id+", so that no copies of its keys are kept.")
	require.Equal(t, id, h.SN.Status.NetworkID)
	require.Equal(t, before, h.Secret("acme-identity").Data)
	require.Equal(t, backup, h.Secret("acme-recovery-keys").Data)
	h.DeleteSecret("acme-recovery-keys")
	require.Equal(t, v1alpha1.ReasonKeysVerified, h.SettleKeys().Reason)
	require.Equal(t, id, h.Secret("acme-recovery-keys").Annotations[keyring.AnnotationNetworkID])
	h.EditSecret("acme-recovery-keys", func(s *corev1.Secret) { s.Data = backup })
	h.EditSecret("acme-api-keys", func(s *corev1.Secret) { s.Data["api-keys.json"] = []byte(secretText) })
	h.DeleteSecret("acme-api-keys")
	h.SettleKeys()
	require.Equal(t, []string{v1alpha1.FinalizerKeys}, h.Secret("acme-api-keys").Finalizers,
		"the copy is of another network: the file may be repaired")
	h.LoseSecret("acme-api-keys")
	h.SettleKeys()
	require.Equal(t, []string{"acme-api-keys"}, h.SN.Status.MissingKeys, "the keys of another network do not replace them")
}
