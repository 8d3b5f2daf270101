package controllers

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/auth"
)

const secretText = "hush-hush-hush-hush"

func TestKeysOfANewNetwork(t *testing.T) {
	w := newStageWorld(t, v1alpha1.RegionEU, v1alpha1.RegionUS)
	for _, pods := range w.servers.pods {
		for _, pod := range pods {
			pod.silent = true
		}
	}
	pods := w.servers.pods
	w.servers.pods = nil
	result := w.keys()
	require.Empty(t, result.errs)
	require.Equal(t, v1alpha1.ReasonNoServers, result.Reason)
	require.Equal(t, metav1.ConditionFalse, result.Status)
	require.Len(t, w.id, 24)
	require.Equal(t, w.id, w.sn.Status.NetworkID)
	require.Equal(t, strings.TrimSpace(strings.Repeat("KeysCreated ", 5)), w.took())
	require.Equal(t, "NoServers Pending", w.region(v1alpha1.RegionEU))

	w.servers.pods = pods
	require.Equal(t, v1alpha1.ReasonServersSilent, w.settle().Reason)
	require.Contains(t, w.out.results[0].Message, "connection refused")
	for _, pods := range w.servers.pods {
		for _, pod := range pods {
			pod.silent = false
		}
	}
	pods[v1alpha1.RegionUS][1].fresh = false
	require.Equal(t, v1alpha1.ReasonKeyPending, w.settle().Reason)
	require.Equal(t, "KeysVerified Active", w.region(v1alpha1.RegionEU))
	require.Equal(t, "KeyPending Pending", w.region(v1alpha1.RegionUS))
	require.Equal(t, "Region us: The new server key "+w.sn.Status.Regions[1].ServerKeys[0].ID+": accepted by 1 of 2 servers, not by pod acme-us-1 yet.", w.out.results[0].Message)
	require.Equal(t, verifyEvery, w.out.results[0].Requeue)
	pods[v1alpha1.RegionUS][1].fresh = true
	result = w.settle()
	require.Equal(t, metav1.ConditionTrue, result.Status)
	require.Equal(t, v1alpha1.ReasonKeysVerified, result.Reason)
	require.Equal(t, strings.TrimSpace(strings.Repeat("KeyActivated ", 2)), w.took())
	require.Equal(t, morning.Add(720*time.Hour), w.sn.Status.ServerKeys.NextRotation.UTC())
	require.Equal(t, 720*time.Hour, result.Requeue)
}

func TestSecretsOfKeys(t *testing.T) {
	w := newStageWorld(t, v1alpha1.RegionEU)
	w.settle()
	for name, files := range map[string][]string{
		"acme-identity": {"directory-key", "network-id"}, "acme-signing-keys": {"signing-keys.json"}, "acme-api-keys": {"api-keys.json"}, "acme-eu-server-keys": {"server-keys.json"},
	} {
		secret := w.secret(name)
		require.Empty(t, secret.OwnerReferences, "they outlive the network")
		require.Equal(t, "true", secret.Labels[render.LabelWatched])
		require.Equal(t, "acme", secret.Labels[render.LabelNetwork])
		require.Equal(t, "keys", secret.Labels[render.LabelComponent])
		require.Len(t, secret.Data, len(files))
		for _, file := range files {
			require.NotEmpty(t, secret.Data[file])
		}
	}
	require.Equal(t, "eu", w.secret("acme-eu-server-keys").Labels[render.LabelRegion])
	require.True(t, *w.secret("acme-identity").Immutable)
	ring, err := auth.ParseKeyring(w.secret("acme-signing-keys").Data["signing-keys.json"])
	require.NoError(t, err)
	require.Len(t, ring.IDs(), 1)
	w.sn.Spec.DeletionPolicy = v1alpha1.DeletionDelete
	require.Equal(t, metav1.ConditionTrue, w.settle().Status)
	for _, name := range []string{"acme-identity", "acme-signing-keys", "acme-api-keys", "acme-eu-server-keys"} {
		require.Equal(t, w.sn.UID, metav1.GetControllerOf(w.secret(name)).UID)
	}
}

func TestIdentityIsMadeOnce(t *testing.T) {
	for name, c := range map[string]struct {
		harm   func(w *stageWorld)
		reason v1alpha1.Reason
	}{
		"gone":  {func(w *stageWorld) { w.delete("acme-identity") }, v1alpha1.ReasonIdentityMissing},
		"empty": {func(w *stageWorld) { w.edit("acme-identity", func(s *corev1.Secret) { s.Data = nil }) }, v1alpha1.ReasonIdentityChanged},
		"broken": {func(w *stageWorld) {
			w.edit("acme-identity", func(s *corev1.Secret) { s.Data["network-id"] = []byte(secretText) })
		}, v1alpha1.ReasonIdentityChanged},
		"another": {func(w *stageWorld) {
			w.edit("acme-identity", func(s *corev1.Secret) { s.Data["network-id"] = []byte("111111111111111111111111") })
		}, v1alpha1.ReasonIdentityChanged},
	} {
		t.Run(name, func(t *testing.T) {
			w := newStageWorld(t, v1alpha1.RegionEU)
			w.settle()
			id := w.id
			c.harm(w)
			result := w.settle()
			require.Equal(t, metav1.ConditionFalse, result.Status)
			require.Equal(t, c.reason, result.Reason)
			require.NotContains(t, result.Message, "hush")
			require.Equal(t, id, w.id, "what runs stays as it is")
			require.Equal(t, id, w.sn.Status.NetworkID)
			require.Equal(t, "KeysVerified Active", w.region(v1alpha1.RegionEU), "the rest goes on")
		})
	}
}

func TestIdentityOfARetainedNetwork(t *testing.T) {
	w := newStageWorld(t, v1alpha1.RegionEU)
	w.settle()
	id, keys := w.id, w.versions()
	w.sn.Status, w.sn.UID = v1alpha1.SocialNetworkStatus{}, "uid-2"
	require.Equal(t, metav1.ConditionTrue, w.settle().Status)
	require.Equal(t, id, w.id)
	require.Equal(t, keys, w.versions(), "the same network again")
}

// TestFailedIdentity holds that nothing is made for an id that was not written.
func TestFailedIdentity(t *testing.T) {
	w := newStageWorld(t, v1alpha1.RegionEU)
	working := w.client
	w.client = noCreate{working}
	result := w.keys()
	require.NotEmpty(t, result.errs)
	require.Equal(t, v1alpha1.ReasonApplyFailed, result.Reason)
	require.Empty(t, w.id)
	require.Empty(t, w.sn.Status.NetworkID)
	w.client = working
	require.Equal(t, metav1.ConditionTrue, w.settle().Status)
	require.NotEmpty(t, w.id)
}

type noCreate struct{ client.Client }

func (noCreate) Create(context.Context, client.Object, ...client.CreateOption) error {
	return context.DeadlineExceeded
}

func TestSharedKeys(t *testing.T) {
	for name, c := range map[string]struct {
		harm   func(w *stageWorld)
		reason v1alpha1.Reason
		events string
	}{
		"signing keys gone":         {func(w *stageWorld) { w.delete("acme-signing-keys") }, v1alpha1.ReasonKeysVerified, "KeysCreated"},
		"API keys gone":             {func(w *stageWorld) { w.delete("acme-api-keys") }, v1alpha1.ReasonKeysVerified, "KeysCreated"},
		"API keys without the file": {func(w *stageWorld) { w.edit("acme-api-keys", func(s *corev1.Secret) { s.Data = nil }) }, v1alpha1.ReasonKeysVerified, "KeysCreated"},
		"API keys by hand": {func(w *stageWorld) {
			w.edit("acme-api-keys", func(s *corev1.Secret) {
				s.Data["api-keys.json"] = []byte(`{"keys":[{"id":"a","key":"` + secretText + `"}]}`)
			})
		}, v1alpha1.ReasonKeysVerified, ""},
		"API keys broken": {func(w *stageWorld) {
			w.edit("acme-api-keys", func(s *corev1.Secret) { s.Data["api-keys.json"] = []byte(secretText) })
		}, v1alpha1.ReasonKeyFileBroken, ""},
		"signing keys broken": {func(w *stageWorld) {
			w.edit("acme-signing-keys", func(s *corev1.Secret) { s.Data["signing-keys.json"] = []byte(`{"hush":"` + secretText + `"}`) })
		}, v1alpha1.ReasonKeyFileBroken, ""},
		"server keys broken": {func(w *stageWorld) {
			w.edit("acme-eu-server-keys", func(s *corev1.Secret) { s.Data["server-keys.json"] = []byte(`{"keys":[{"key":"` + secretText) })
		}, v1alpha1.ReasonKeyFileBroken, ""},
		"server keys gone": {func(w *stageWorld) { w.delete("acme-eu-server-keys") }, v1alpha1.ReasonKeysVerified, "KeysCreated KeyActivated"},
		"labels gone": {func(w *stageWorld) {
			for _, name := range []string{"acme-identity", "acme-api-keys", "acme-signing-keys", "acme-eu-server-keys"} {
				w.edit(name, func(s *corev1.Secret) { s.Labels = nil })
			}
		}, v1alpha1.ReasonKeysVerified, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newStageWorld(t, v1alpha1.RegionEU)
			w.settle()
			w.took()
			c.harm(w)
			before := w.versions()
			result := w.settle()
			require.Equal(t, c.reason, result.Reason)
			require.Equal(t, c.events, w.took())
			require.NotContains(t, result.Message, "hush")
			if c.reason == v1alpha1.ReasonKeyFileBroken {
				require.Equal(t, before, w.versions(), "a broken file is never overwritten")
			}
			if name == "labels gone" {
				require.Equal(t, "acme", w.secret("acme-api-keys").Labels[render.LabelNetwork])
			}
		})
	}
}

func TestRotation(t *testing.T) {
	w := newStageWorld(t, v1alpha1.RegionEU, v1alpha1.RegionSG)
	w.settle()
	w.took()
	first := w.sn.Status.Regions[0].ServerKeys[0].ID
	slow := w.servers.pods[v1alpha1.RegionSG][0]
	slow.fresh = false
	w.sn.Annotations[v1alpha1.AnnotationRotate] = "now"
	result := w.settle()
	require.Equal(t, metav1.ConditionTrue, result.Status, "the active keys serve")
	require.Equal(t, v1alpha1.ReasonRotationUnderWay, result.Reason)
	require.Equal(t, "KeysVerified Active Retiring", w.region(v1alpha1.RegionEU))
	require.Equal(t, "RotationUnderWay Pending Active", w.region(v1alpha1.RegionSG))
	require.Equal(t, strings.Repeat("RotationStarted ", 2)+"KeyActivated KeyRetiring", w.took())
	require.Equal(t, verifyEvery, result.Requeue)

	w.now = w.now.Add(11 * time.Minute)
	result = w.settle()
	require.Equal(t, metav1.ConditionFalse, result.Status)
	require.Equal(t, v1alpha1.ReasonRotationStuck, result.Reason)
	require.Contains(t, result.Message, "acme-sg-0")

	w.now = w.now.Add(time.Hour)
	w.settle()
	require.Equal(t, "KeysVerified Active", w.region(v1alpha1.RegionEU))
	require.Equal(t, "KeyRevoked", w.took())
	slow.fresh = true
	result = w.settle()
	require.Equal(t, v1alpha1.ReasonKeysVerified, result.Reason)
	require.Equal(t, "KeysVerified Active Retiring", w.region(v1alpha1.RegionSG))
	require.NotEqual(t, first, w.sn.Status.Regions[0].ServerKeys[0].ID)
	require.Equal(t, w.now.Add(time.Hour).Unix(), w.sn.Status.Regions[1].ServerKeys[1].NotAfter.Unix())
	require.Equal(t, morning, w.sn.Status.ServerKeys.LastRotation.UTC(), "eu was the first")
	require.Equal(t, time.Hour, result.Requeue)

	w.now = w.now.Add(31 * 24 * time.Hour)
	w.sn.Spec.ServerKeys.RotateEvery = new(v1alpha1.Duration("744h"))
	w.took()
	w.settle()
	require.Equal(t, "RotationStarted KeyRevoked RotationStarted KeyActivated KeyRetiring KeyActivated KeyRetiring", w.took())
}

func TestKeysWhilePaused(t *testing.T) {
	w := newStageWorld(t, v1alpha1.RegionEU)
	w.sn.Spec.Paused = true
	result := w.settle()
	require.Equal(t, v1alpha1.ReasonPausedBySpec, result.Reason)
	require.Empty(t, w.versions())
	require.Empty(t, w.took())
	require.Len(t, w.sn.Status.PendingChanges, 4)
	require.Contains(t, w.sn.Status.PendingChanges, "create Secret acme-identity")
	require.Empty(t, w.id)

	w.sn.Spec.Paused = false
	w.settle()
	w.sn.Annotations[v1alpha1.AnnotationRotate] = "one"
	w.settle()
	w.took()
	w.sn.Spec.Paused = true
	w.sn.Annotations[v1alpha1.AnnotationRotate] = "two"
	before := w.versions()
	result = w.settle()
	require.Equal(t, before, w.versions())
	require.Len(t, w.sn.Status.PendingChanges, 1)
	require.Contains(t, w.sn.Status.PendingChanges[0], "change Secret acme-eu-server-keys: a rotation started")
	require.Equal(t, v1alpha1.ReasonKeysVerified, result.Reason)
	w.now = w.now.Add(time.Hour)
	w.settle()
	require.Equal(t, "KeysVerified Active", w.region(v1alpha1.RegionEU), "revocation is not held up")
	require.Equal(t, "KeyRevoked", w.took())
	require.Equal(t, 1, strings.Count(string(w.secret("acme-eu-server-keys").Data["server-keys.json"]), `"id"`))
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
	}{
		"missing":    {nil, v1alpha1.ReasonSecretMissing, "SecretMissing", "There is no Secret mine"},
		"incomplete": {new(""), v1alpha1.ReasonSecretIncomplete, "SecretIncomplete", "Secret mine has no key server-keys.json"},
		"broken":     {new(secretText), v1alpha1.ReasonKeyFileBroken, "KeyFileBroken", "Secret mine, server-keys.json: the key file is broken"},
		"over":       {new(`{"keys":[` + key("a", `,"notAfter":"2026-01-01T00:00:00Z"`) + `]}`), v1alpha1.ReasonKeyFileBroken, "KeyFileBroken", "no key that is valid"},
		"good": {
			new(`{"keys":[` + key("a", `,"notAfter":"2026-12-01T00:00:00Z"`) + "," + key("b", "") + `]}`), v1alpha1.ReasonKeysVerified,
			"KeysVerified Retiring Active", "Every key exists",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newStageWorld(t, v1alpha1.RegionEU)
			w.sn.Spec.ServerKeys.ExistingSecret = &v1alpha1.LocalSecretReference{Name: "mine"}
			w.sn.Annotations[v1alpha1.AnnotationRotate] = "now"
			if c.file != nil {
				w.make("mine", map[string]string{"server-keys.json": *c.file})
			}
			result := w.settle()
			require.Equal(t, c.reason, result.Reason)
			require.Contains(t, result.Message, c.says)
			require.NotContains(t, result.Message, "hush")
			require.Equal(t, c.region, w.region(v1alpha1.RegionEU))
			require.NotContains(t, w.versions(), "server-keys=", "no Secret is made beside it")
			require.Nil(t, w.sn.Status.ServerKeys.NextRotation)
			if c.file != nil {
				require.Equal(t, "true", w.secret("mine").Labels[render.LabelWatched], "adopted by label")
				require.Equal(t, *c.file, string(w.secret("mine").Data["server-keys.json"]))
			}
		})
	}
}

// TestStaleCacheRotatesOnce lets the cache hold what was before the rotation: it must not make another key.
func TestStaleCacheRotatesOnce(t *testing.T) {
	w := newStageWorld(t, v1alpha1.RegionEU)
	w.settle()
	stale := w.secret("acme-eu-server-keys")
	for _, pod := range w.servers.pods[v1alpha1.RegionEU] {
		pod.fresh = false
	}
	w.sn.Annotations[v1alpha1.AnnotationRotate] = "now"
	w.settle()
	w.took()
	now := w.secret("acme-eu-server-keys")
	k := &keysPass{Keys: Keys{Random: w.random}, w: &World{
		SN: w.sn, Now: w.now, Cached: behind{labelled{w.client}, stale}, Fresh: w.client, Servers: w.servers, Status: w.sn.Status.DeepCopy(), Reports: w.servers.reports(),
	}}
	result, ok := k.managed(t.Context(), v1alpha1.RegionEU)
	require.True(t, ok)
	require.False(t, result.Changed)
	require.Empty(t, k.out.Events)
	require.Equal(t, string(now.Data[keyring.ServerKeysFile]), result.Content.Reveal())
}

type behind struct {
	client.Reader

	stale *corev1.Secret
}

func (b behind) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	b.stale.DeepCopyInto(object.(*corev1.Secret)) //nolint:forcetypeassert // it reads nothing else
	return nil
}

// TestNoKeyIsTold holds that nothing that leaves the stage has a key in it.
func TestNoKeyIsTold(t *testing.T) {
	w := newStageWorld(t, v1alpha1.RegionEU)
	w.settle()
	w.sn.Annotations[v1alpha1.AnnotationRotate] = "now"
	w.settle()
	file, err := keyring.ParseFile(keyring.NewSecret(string(w.secret("acme-eu-server-keys").Data["server-keys.json"])))
	require.NoError(t, err)
	status, err := json.Marshal(w.sn.Status)
	require.NoError(t, err)
	told := strings.Join(w.events, "\n") + string(status)
	for _, entry := range file {
		require.NotContains(t, told, entry.Key.Reveal())
		for _, value := range w.secret("acme-eu-server-keys").Annotations {
			require.NotContains(t, value, entry.Key.Reveal())
		}
	}
}
