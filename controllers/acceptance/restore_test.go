package acceptance

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/plugin"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/statusz"
)

// TestKeysAreRestoredFromBackup loses a network and all its Secrets, and restores the keys with kubectl plaza: before the network is
// created again, and when the database has refused the keys that the operator created.
func TestKeysAreRestoredFromBackup(t *testing.T) {
	o := start(t)
	name := o.up(sample(t, "socialnetwork-minimal")).Name
	o.settle(name)
	folder := t.TempDir()
	identity, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "key.txt"), []byte(identity.String()), 0o600))
	content, err := env.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "kubeconfig"), content, 0o600))
	file := filepath.Join(folder, "keys.age")
	run := func(args ...string) string {
		var out bytes.Buffer
		cmd := plugin.New()
		cmd.SetOut(&out)
		cmd.SetArgs(append(args, "--kubeconfig", filepath.Join(folder, "kubeconfig"), "-n", o.namespace))
		require.NoError(t, cmd.ExecuteContext(t.Context()), out.String())
		return out.String()
	}
	restore := []string{"keys", "restore", name, "--file", file, "--identity", filepath.Join(folder, "key.txt")}
	run("keys", "backup", name, "--file", file, "--recipient", identity.Recipient().String())
	id := get(o, &v1alpha1.SocialNetwork{}, name).Status.NetworkID
	secrets := append(render.SharedSecrets(name), render.RecoverySecret(name))
	before := map[string]map[string][]byte{}
	for _, secret := range secrets {
		before[secret] = get(o, &corev1.Secret{}, secret).Data
	}
	lose := func() {
		require.NoError(t, o.client.Delete(t.Context(), get(o, &v1alpha1.SocialNetwork{}, name)))
		o.eventually("the network to go", func() string {
			if o.exists(&v1alpha1.SocialNetwork{}, name) {
				return "it exists"
			}
			return ""
		})
		require.NoError(t, o.client.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace(o.namespace),
			client.MatchingLabels{render.LabelNetwork: name}))
		require.NoError(t, o.client.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace(o.namespace),
			client.MatchingLabels{render.LabelRecoveryOf: name}))
		// No garbage collector runs.
		jobs := []client.DeleteAllOfOption{client.InNamespace(o.namespace), client.PropagationPolicy(metav1.DeletePropagationBackground)}
		require.NoError(t, o.client.DeleteAllOf(t.Context(), &batchv1.Job{}, jobs...))
		o.eventually("the Secrets to go", func() string {
			for _, secret := range secrets {
				if err := o.client.Get(t.Context(), client.ObjectKey{Namespace: o.namespace, Name: secret},
					&corev1.Secret{}); !apierrors.IsNotFound(err) {
					return secret + " exists"
				}
			}
			return ""
		})
	}
	restored := func() {
		t.Helper()
		require.Equal(t, id, get(o, &v1alpha1.SocialNetwork{}, name).Status.NetworkID)
		o.eventually("the Secrets to be restored", func() string {
			for _, secret := range secrets[:3] {
				var found corev1.Secret
				if err := o.client.Get(t.Context(), client.ObjectKey{Namespace: o.namespace, Name: secret}, &found); err != nil {
					return err.Error()
				}
				if !maps.EqualFunc(before[secret], found.Data, bytes.Equal) {
					return secret + " has other keys"
				}
			}
			return ""
		})
	}

	lose()
	require.Contains(t, run(restore...), "Create it now: the operator adopts the keys.")
	o.apply(sample(t, "socialnetwork-minimal"))
	o.eventually("the network's id", func() string {
		return notEqual(get(o, &v1alpha1.SocialNetwork{}, name).Status.NetworkID, id)
	})
	restored()
	require.Contains(t, run(restore...), "No keys are missing.")

	lose()
	o.apply(sample(t, "socialnetwork-minimal"))
	o.failMigration(name, "plaza: "+statusz.OtherNetwork+": 1")
	o.condition(name, v1alpha1.ConditionKeysReady, metav1.ConditionFalse, v1alpha1.ReasonKeysMissing)
	require.NotEqual(t, id, get(o, &v1alpha1.SocialNetwork{}, name).Status.NetworkID)
	require.Contains(t, run(restore...), "No keys are missing.")
	restored()
}
