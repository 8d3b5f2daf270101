package keys_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/stagetest"
	"github.com/plaza-social/plaza/platform/auth"
)

// statesOf returns the states of keys of the status, such as "Active Retiring".
func statesOf(keys []v1alpha1.KeyStatus) string {
	var states []string
	for _, key := range keys {
		states = append(states, string(key.State))
	}
	return strings.Join(states, " ")
}

// issuer returns an issuer of tokens with the network's signing keys, at the time of the harness.
func issuer(h *stagetest.Harness) *auth.Issuer {
	h.T.Helper()
	ring, err := auth.ParseKeyring(h.Secret("acme-signing-keys").Data[keyring.SigningKeysFile])
	require.NoError(h.T, err)
	return auth.NewIssuer(h.SN.Status.NetworkID, ring, auth.WithIssuerClock(func() time.Time { return h.Now }))
}

// kids returns the ids of the signing keys in the order of the file.
func kids(h *stagetest.Harness) []string {
	h.T.Helper()
	var doc struct{ Keys []struct{ Kid string } }
	require.NoError(h.T, json.Unmarshal(h.Secret("acme-signing-keys").Data[keyring.SigningKeysFile], &doc))
	var ids []string
	for _, key := range doc.Keys {
		ids = append(ids, key.Kid)
	}
	return ids
}

// TestSigningKeysRotate rotates on request. Servers verify with the new key before any signs with it, and tokens of the old key are
// valid for as long as they would have been.
func TestSigningKeysRotate(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU, v1alpha1.RegionUS)
	h.SettleKeys()
	h.TakeEvents()
	old := kids(h)
	token, _, err := issuer(h).MintAdmin("test", 720*time.Hour)
	require.NoError(t, err)
	slow := h.Servers.Pods[v1alpha1.RegionUS][1]
	slow.StaleKeys = true
	h.SN.Annotations[v1alpha1.AnnotationRotateSigning] = "now"
	require.Equal(t, 5*time.Second, h.RunKeys().Requeue)
	h.RunKeys()
	require.Equal(t, "RotationStarted", h.TakeEvents())
	require.Equal(t, "Active Pending", statesOf(h.SN.Status.SigningKeys))
	require.Len(t, kids(h), 2)
	require.Equal(t, old[0], kids(h)[0], "the first key signs")
	require.Regexp(t, "^s-20261121-", kids(h)[1])

	slow.StaleKeys = false
	require.Equal(t, metav1.ConditionTrue, h.SettleKeys().Status)
	require.Equal(t, "KeyActivated KeyRetiring", h.TakeEvents())
	require.Equal(t, "Active Retiring", statesOf(h.SN.Status.SigningKeys))
	require.Equal(t, old[0], kids(h)[1], "the new one signs")
	end := h.SN.Status.SigningKeys[1].NotAfter.Time
	require.Equal(t, h.Now.Add(721*time.Hour), end, "the validity of access tokens, and a margin")
	require.NotContains(t, h.Secret("acme-api-keys").Annotations, keyring.AnnotationActive, "the API keys are not rotated")

	h.Now = h.Now.Add(720*time.Hour - time.Second)
	h.SettleKeys()
	_, err = issuer(h).Verify(token)
	require.NoError(t, err)
	fresh, _, err := issuer(h).MintAdmin("test", 720*time.Hour)
	require.NoError(t, err)
	h.TakeEvents()
	h.Now = end
	h.SettleKeys()
	require.Len(t, kids(h), 1)
	require.Contains(t, h.TakeEvents(), "KeyRevoked")
	require.Empty(t, h.SN.Status.SigningKeys)
	_, err = issuer(h).Verify(token)
	require.Error(t, err)
	_, err = issuer(h).Verify(fresh)
	require.NoError(t, err)
	versions := h.SecretVersions()
	h.RunKeys()
	require.Equal(t, versions, h.SecretVersions(), "the request was handled")
}

// TestSharedKeysWaitForServers rotates while no server is ready: the new keys do not become active before one has read them.
func TestSharedKeysWaitForServers(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	pods := h.Servers.Pods[v1alpha1.RegionEU]
	h.Servers.Pods[v1alpha1.RegionEU] = nil
	h.SN.Annotations[v1alpha1.AnnotationRotateSigning] = "now"
	h.SettleKeys()
	require.Equal(t, "Active Pending", statesOf(h.SN.Status.SigningKeys))
	h.Servers.Pods[v1alpha1.RegionEU] = pods
	h.SettleKeys()
	require.Equal(t, "Active Retiring", statesOf(h.SN.Status.SigningKeys))
}

// TestAPIKeysRotate rotates by the schedule of the spec, with an overlap of the spec.
func TestAPIKeysRotate(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	first := h.Secret("acme-api-keys").Data[keyring.APIKeysFile]
	every, overlap := v1alpha1.Duration("1000h"), v1alpha1.Duration("100h")
	h.SN.Spec.APIKeys = &v1alpha1.SharedKeys{RotateEvery: &every, Overlap: &overlap}
	h.SettleKeys()
	require.Equal(t, first, h.Secret("acme-api-keys").Data[keyring.APIKeysFile])
	h.Now = h.Now.Add(1000*time.Hour - time.Second)
	h.SettleKeys()
	require.Empty(t, h.SN.Status.APIKeys)
	h.SN.Spec.Paused = true
	h.Now = h.Now.Add(time.Second)
	h.RunKeys()
	require.Equal(t, first, h.Secret("acme-api-keys").Data[keyring.APIKeysFile])
	require.Contains(t, h.SN.Status.PendingChanges[0], "change Secret acme-api-keys: started a rotation with the new API key a-")
	h.SN.Spec.Paused = false
	h.SettleKeys()
	require.Equal(t, "Active Retiring", statesOf(h.SN.Status.APIKeys))
	require.Equal(t, h.Now.Add(100*time.Hour), h.SN.Status.APIKeys[1].NotAfter.Time)
	file, err := keyring.ParseFile(keyring.NewSecret(string(h.Secret("acme-api-keys").Data[keyring.APIKeysFile])))
	require.NoError(t, err)
	require.Len(t, file, 2)
	h.Now = h.Now.Add(100 * time.Hour)
	h.SettleKeys()
	require.Empty(t, h.SN.Status.APIKeys)
	require.NotContains(t, h.TakeEvents(), "KeyAdopted", "the key of an earlier version is in use")
}

// TestOverlapOfSigningKeys checks that no overlap ends before the tokens do.
func TestOverlapOfSigningKeys(t *testing.T) {
	for name, c := range map[string]struct {
		overlap, access, variable v1alpha1.Duration
		want                      time.Duration
	}{
		"a short overlap":                {"1m", "100h", "200h", 201 * time.Hour},
		"a shorter lifetime of a region": {"1m", "100h", "50h", 101 * time.Hour},
		"the default lifetime":           {"1m", "", "", 721 * time.Hour},
		"a long overlap":                 {"1000h", "100h", "200h", 1000 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			h := stagetest.New(t, v1alpha1.RegionEU)
			h.SettleKeys()
			h.SN.Spec.SigningKeys = &v1alpha1.SharedKeys{Overlap: &c.overlap}
			h.SN.Spec.Server = &v1alpha1.Server{Tokens: &v1alpha1.Tokens{AccessLifetime: c.access}}
			h.SN.Spec.Regions[0].Env = []corev1.EnvVar{{Name: "OTHER", Value: "9000h"}, {Name: "PLAZA_ACCESS_TOKEN_TTL", Value: string(c.variable)}}
			h.SN.Annotations[v1alpha1.AnnotationRotateSigning] = "now"
			h.SettleKeys()
			require.Equal(t, h.Now.Add(c.want), h.SN.Status.SigningKeys[1].NotAfter.Time)
		})
	}
}

// TestBrokenSigningKeys checks that a file with an unknown field is not overwritten.
func TestBrokenSigningKeys(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.SettleKeys()
	broken := []byte(`{"keys":[{"kid":"s1","seed":"` + secretText + `"}]}`)
	h.EditSecret("acme-signing-keys", func(s *corev1.Secret) { s.Data[keyring.SigningKeysFile] = broken })
	h.SN.Annotations[v1alpha1.AnnotationRotateSigning] = "now"
	result := h.SettleKeys()
	require.Equal(t, v1alpha1.ReasonKeyFileBroken, result.Reason)
	require.Equal(t, broken, h.Secret("acme-signing-keys").Data[keyring.SigningKeysFile])
}
