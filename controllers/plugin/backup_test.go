package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/scheme"
)

// keysWorld runs the commands of keys on a fake API server, and checks that nothing that they print has a key.
type keysWorld struct {
	t        *testing.T
	p        *plugin
	dir      string
	sets     map[string]keyring.Saved
	id       string
	identity *age.X25519Identity
	secrets  []string  // what must never be printed
	typed    []string  // what the user types when asked
	in       io.Reader // the standard input
	operator func(reads int, sn *v1alpha1.SocialNetwork)
	reads    int // of the network
}

const passphrase = "correct horse battery staple"

func newKeysWorld(t *testing.T) *keysWorld {
	t.Helper()
	w := &keysWorld{t: t, dir: t.TempDir()}
	identity, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	w.identity = identity
	w.write("key.txt", identity.String()+"\n")
	w.write("recipients.txt", "# of the vault\n"+identity.Recipient().String()+"\n")
	w.write("passphrase.txt", passphrase+"\n")
	w.secrets = []string{identity.String(), passphrase}
	w.sets, w.id = w.newSets(1)
	c := fake.NewClientBuilder().WithScheme(scheme.New()).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			err := c.Get(ctx, key, object, options...)
			if sn, ok := object.(*v1alpha1.SocialNetwork); ok && err == nil {
				w.reads++
				if w.operator != nil {
					w.operator(w.reads, sn)
				}
			}
			return err
		},
	}).Build()
	w.p = &plugin{
		namespace: "plaza", connection: connection{client: c}, poll: time.Nanosecond, workFactor: 5,
		now: func() time.Time { return time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC) },
		ask: func(context.Context, string) (keyring.Secret, error) {
			if len(w.typed) == 0 {
				return keyring.Secret{}, errors.New("there is no terminal")
			}
			text := w.typed[0]
			w.typed = w.typed[1:]
			return keyring.NewSecret(text), nil
		},
	}
	return w
}

// newSets returns the keys of a network with the regions us and eu, and its id.
func (w *keysWorld) newSets(seed byte) (map[string]keyring.Saved, string) {
	w.t.Helper()
	random := rand.NewChaCha8([32]byte{seed})
	identity, err := keyring.NewIdentity(random)
	require.NoError(w.t, err)
	signing, err := keyring.NewSigningKeys(random)
	require.NoError(w.t, err)
	api, err := keyring.NewAPIKeys(random)
	require.NoError(w.t, err)
	w.secrets = append(w.secrets, identity.DirectoryKey.Reveal())
	save := func(file string, content keyring.Secret) keyring.Saved {
		for word := range strings.SplitSeq(content.Reveal(), `"`) {
			if len(word) > 40 {
				w.secrets = append(w.secrets, word)
			}
		}
		return keyring.Save(map[string][]byte{file: []byte(content.Reveal())}, nil)
	}
	sets := map[string]keyring.Saved{
		"identity": keyring.Save(map[string][]byte{
			keyring.DirectoryKeyFile: []byte(identity.DirectoryKey.Reveal()), keyring.NetworkIDFile: []byte(identity.NetworkID),
		}, map[string]string{keyring.AnnotationKeySets: "api-keys server-keys-eu server-keys-us signing-keys"}),
		"signing-keys": save(keyring.SigningKeysFile, signing), "api-keys": save(keyring.APIKeysFile, api),
	}
	for _, code := range []string{"us", "eu"} {
		key, err := keyring.NewAPIKeys(random) // of the same form
		require.NoError(w.t, err)
		sets["server-keys-"+code] = save(keyring.ServerKeysFile, key)
	}
	return sets, identity.NetworkID
}

func (w *keysWorld) path(name string) string { return filepath.Join(w.dir, name) }

func (w *keysWorld) write(name, content string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(w.path(name), []byte(content), 0o600))
}

func (w *keysWorld) readFile(name string) string {
	w.t.Helper()
	content, err := os.ReadFile(w.path(name))
	require.NoError(w.t, err)
	return string(content)
}

// create creates an object as the operator or a user would.
func (w *keysWorld) create(object client.Object) {
	w.t.Helper()
	object.SetNamespace("plaza")
	require.NoError(w.t, w.p.client.Create(w.t.Context(), object))
}

// network creates the network with the regions us and eu.
func (w *keysWorld) network(change func(*v1alpha1.SocialNetwork)) {
	w.t.Helper()
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Name: "acme"}}
	sn.Spec.Regions = []v1alpha1.Region{{Code: v1alpha1.RegionUS}, {Code: v1alpha1.RegionEU}}
	sn.Status.NetworkID = w.id
	set(&sn.Status.Conditions, v1alpha1.ReasonKeysVerified)
	if change != nil {
		change(sn)
	}
	w.create(sn)
}

// set sets the condition KeysReady.
func set(conditions *[]metav1.Condition, reason v1alpha1.Reason) {
	*conditions = []metav1.Condition{{Type: v1alpha1.ConditionKeysReady, Reason: string(reason), Message: "Secrets do not exist."}}
}

// missing reports missing keys.
func missing(secrets ...string) func(*v1alpha1.SocialNetwork) {
	return func(sn *v1alpha1.SocialNetwork) {
		sn.Status.MissingKeys = secrets
		set(&sn.Status.Conditions, v1alpha1.ReasonKeysMissing)
	}
}

// recovery creates the recovery Secret as the operator does.
func (w *keysWorld) recovery(sets map[string]keyring.Saved, id string) {
	w.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Name: "acme-recovery-keys", Labels: render.RecoveryLabels("acme"), Annotations: render.KeepAnnotations(),
		Finalizers: []string{v1alpha1.FinalizerKeys},
	}, Type: corev1.SecretTypeOpaque, Data: map[string][]byte{}}
	secret.Annotations[keyring.AnnotationNetworkID] = id
	for name, saved := range sets {
		secret.Data[name] = []byte(saved.Encode().Reveal())
	}
	w.create(secret)
}

// without returns sets without some.
func without(sets map[string]keyring.Saved, names ...string) map[string]keyring.Saved {
	left := maps.Clone(sets)
	for _, name := range names {
		delete(left, name)
	}
	return left
}

// secret reads a Secret.
func (w *keysWorld) secret(name string) *corev1.Secret {
	w.t.Helper()
	var secret corev1.Secret
	require.NoError(w.t, w.p.client.Get(w.t.Context(), client.ObjectKey{Namespace: "plaza", Name: name}, &secret))
	return &secret
}

// requireRecovery checks the content of the recovery Secret.
func (w *keysWorld) requireRecovery(sets map[string]keyring.Saved) *corev1.Secret {
	w.t.Helper()
	secret := w.secret("acme-recovery-keys")
	want := map[string][]byte{}
	for name, saved := range sets {
		want[name] = []byte(saved.Encode().Reveal())
	}
	require.Equal(w.t, want, secret.Data)
	return secret
}

// try runs a command of keys, with the names of files of the directory as !name, and returns both outputs.
func (w *keysWorld) try(args ...string) (stdout, stderr string, err error) {
	w.t.Helper()
	for i := range args {
		if name, isFile := strings.CutPrefix(args[i], "!"); isFile {
			args[i] = w.path(name)
		}
	}
	var out, errs bytes.Buffer
	cmd := w.p.keys()
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetIn(w.in)
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(w.t.Context())
	for _, secret := range w.secrets {
		require.NotContains(w.t, out.String()+errs.String()+fmt.Sprintf("%v %+v %#v", err, err, err), secret)
	}
	return out.String(), errs.String(), err
}

// run runs a command that must succeed.
func (w *keysWorld) run(args ...string) string {
	w.t.Helper()
	out, _, err := w.try(args...)
	require.NoError(w.t, err, out)
	return out
}

// refused runs a command that must fail, and returns the error.
func (w *keysWorld) refused(args ...string) string {
	w.t.Helper()
	_, _, err := w.try(args...)
	require.Error(w.t, err)
	return err.Error()
}

// backup writes acme.age, a backup of sets.
func (w *keysWorld) backup(sets map[string]keyring.Saved, id string) {
	w.t.Helper()
	b := keyring.Backup{Network: "acme", Namespace: "plaza", NetworkID: id, CreatedAt: w.p.now(), Sets: sets}
	w.encrypted(b.Encode().Reveal())
}

// encrypted writes acme.age, which has a text.
func (w *keysWorld) encrypted(text string) {
	w.t.Helper()
	file, err := encrypt(keyring.NewSecret(text), []age.Recipient{w.identity.Recipient()})
	require.NoError(w.t, err)
	w.write("acme.age", string(file))
}

// TestBackupRoundTrip backs up with every kind of encryption, loses the Secret, and restores it.
func TestBackupRoundTrip(t *testing.T) {
	for name, tc := range map[string]struct {
		backup, restore []string
		typed           []string
	}{
		"recipient":       {[]string{"--recipient", "RECIPIENT"}, []string{"--identity", "!key.txt"}, nil},
		"recipients file": {[]string{"--recipients-file", "!recipients.txt"}, []string{"--identity", "!key.txt"}, nil},
		"two recipients": {
			[]string{"--recipients-file", "!recipients.txt", "--recipient", "RECIPIENT"},
			[]string{"--identity", "!key.txt"},
			nil,
		},
		"passphrase file": {
			[]string{"--passphrase-file", "!passphrase.txt"},
			[]string{"--passphrase-file", "!passphrase.txt"},
			nil,
		},
		"passphrase on the terminal":   {[]string{"--passphrase"}, nil, []string{passphrase, passphrase, passphrase}},
		"passphrase file and terminal": {[]string{"--passphrase-file", "!passphrase.txt"}, nil, []string{passphrase}},
		"passphrase of another computer": {
			[]string{"--passphrase"},
			[]string{"--passphrase-file", "!crlf.txt"},
			[]string{passphrase, passphrase},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newKeysWorld(t)
			w.write("crlf.txt", passphrase+"\r\n")
			w.typed = tc.typed
			w.network(nil)
			w.recovery(w.sets, w.id)
			before := w.secret("acme-recovery-keys")
			for i := range tc.backup {
				if tc.backup[i] == "RECIPIENT" {
					tc.backup[i] = w.identity.Recipient().String()
				}
			}
			out := w.run(append([]string{"backup", "acme", "--file", "!acme.age"}, tc.backup...)...)
			require.Contains(t, out, "acme.age has the keys of network acme, network id "+w.id+", of 2026-11-23T10:00:00Z:\n"+
				"  api-keys\n  identity\n  server-keys-eu\n  server-keys-us\n  signing-keys\n")
			require.Contains(t, out, "To restore lost keys: kubectl plaza keys restore acme -n plaza --file ")
			info, err := os.Stat(w.path("acme.age"))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode())
			require.True(t, strings.HasPrefix(w.readFile("acme.age"), "-----BEGIN AGE ENCRYPTED FILE-----\n"))

			require.NoError(t, w.p.client.Delete(t.Context(), before))
			before.Finalizers = nil
			require.NoError(t, w.p.client.Patch(t.Context(), before,
				client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
			out = w.run(append([]string{"restore", "acme", "--file", "!acme.age"}, tc.restore...)...)
			require.Contains(t, out,
				"Secret plaza/acme-recovery-keys has from the backup now: api-keys, identity, server-keys-eu, server-keys-us, signing-keys.\n")
			require.Contains(t, out, "No keys are missing.")
			after, want := w.requireRecovery(w.sets), &metav1.ObjectMeta{
				Labels: render.RecoveryLabels("acme"), Annotations: render.KeepAnnotations(), Finalizers: []string{v1alpha1.FinalizerKeys},
			}
			want.Annotations[keyring.AnnotationNetworkID] = w.id
			require.Equal(t, want.Labels, after.Labels)
			require.Equal(t, want.Annotations, after.Annotations)
			require.Equal(t, want.Finalizers, after.Finalizers)
			require.Empty(t, w.typed, "everything was asked for")
		})
	}
}

func TestBackupFlags(t *testing.T) {
	w := newKeysWorld(t)
	w.network(nil)
	w.recovery(w.sets, w.id)
	w.write("empty.txt", "\n")
	w.write("large.txt", strings.Repeat("#", maxKeyFile+1))
	recipient := w.identity.Recipient().String()
	for _, tc := range []struct {
		want  string
		typed []string
		args  []string
	}{
		{"accepts 1 arg(s), received 0", nil, []string{"--file", "!a", "--recipient", recipient}},
		{`required flag(s) "file" not set`, nil, []string{"acme", "--recipient", recipient}},
		{
			"at least one of the flags in the group [recipient recipients-file passphrase passphrase-file] is required", nil,
			[]string{"acme", "--file", "!a"},
		},
		{"none of the others can be", nil, []string{"acme", "--file", "!a", "--recipient", recipient, "--passphrase"}},
		{"none of the others can be", nil, []string{
			"acme", "--file", "!a", "--recipients-file", "!recipients.txt", "--passphrase-file",
			"!passphrase.txt",
		}},
		{"none of the others can be", nil, []string{"acme", "--file", "!a", "--passphrase", "--passphrase-file", "!passphrase.txt"}},
		{"--recipient 1 is not a public key of age", nil, []string{"acme", "--file", "!a", "--recipient", w.identity.String()}},
		{"--recipient 2 is not a public key of age", nil, []string{"acme", "--file", "!a", "--recipient", recipient, "--recipient", ""}},
		{"key.txt has no public keys of age: error at line 1", nil, []string{"acme", "--file", "!a", "--recipients-file", "!key.txt"}},
		{"empty.txt has no public keys of age: no recipients found", nil, []string{"acme", "--file", "!a", "--recipients-file", "!empty.txt"}},
		{"large.txt has more than 65536 bytes", nil, []string{"acme", "--file", "!a", "--recipients-file", "!large.txt"}},
		{"no such file", nil, []string{"acme", "--file", "!a", "--recipients-file", "!none"}},
		{"empty.txt is empty: want a passphrase", nil, []string{"acme", "--file", "!a", "--passphrase-file", "!empty.txt"}},
		{"there is no terminal", nil, []string{"acme", "--file", "!a", "--passphrase"}},
		{"the passphrase is empty", []string{""}, []string{"acme", "--file", "!a", "--passphrase"}},
		{"the passphrases differ", []string{passphrase, "other"}, []string{"acme", "--file", "!a", "--passphrase"}},
		{"there is no terminal", []string{passphrase}, []string{"acme", "--file", "!a", "--passphrase"}},
		{"no such file or directory", nil, []string{"acme", "--file", "!none/a", "--recipient", recipient}},
	} {
		w.typed = tc.typed
		require.Contains(t, w.refused(append([]string{"backup"}, tc.args...)...), tc.want, tc.args)
		require.NoFileExists(t, w.path("a"))
	}
}

// TestBackupIsComplete refuses to back up less than all keys of the network.
func TestBackupIsComplete(t *testing.T) {
	for name, tc := range map[string]struct {
		sets    func(w *keysWorld) map[string]keyring.Saved
		network func(*v1alpha1.SocialNetwork)
		absent  bool // the network does not exist
		want    string
	}{
		"no Secret": {nil, nil, false, "Secret plaza/acme-recovery-keys does not exist"},
		"no identity": {
			func(w *keysWorld) map[string]keyring.Saved { return without(w.sets, "identity") }, nil, false,
			"Secret plaza/acme-recovery-keys has no copy of identity, so that the backup would not be complete",
		},
		"no shared keys": {func(w *keysWorld) map[string]keyring.Saved {
			return without(w.sets, "api-keys",
				"signing-keys")
		}, nil, false, "no copy of signing-keys, api-keys,"},
		"no server keys": {
			func(w *keysWorld) map[string]keyring.Saved { return without(w.sets, "server-keys-eu") }, nil,
			false, "no copy of server-keys-eu,",
		},
		"no server keys, without the network": {
			func(w *keysWorld) map[string]keyring.Saved { return without(w.sets, "server-keys-eu") }, nil,
			true, "no copy of server-keys-eu,",
		},
		"empty": {func(*keysWorld) map[string]keyring.Saved { return nil }, nil, true, "no copy of identity, signing-keys, api-keys,"},
		"invalid": {func(w *keysWorld) map[string]keyring.Saved {
			return map[string]keyring.Saved{"api-keys": keyring.Save(map[string][]byte{"api-keys.json": []byte("{" + w.secrets[2])}, nil)}
		}, nil, false, "Secret plaza/acme-recovery-keys, api-keys: the key file is invalid: it is not valid JSON"},
		"another network": {func(w *keysWorld) map[string]keyring.Saved { return w.sets }, func(sn *v1alpha1.SocialNetwork) {
			sn.Status.NetworkID = "111111111111111111111111"
		}, false, "but the id of SocialNetwork acme is 111111111111111111111111"},
		"own server keys": {func(w *keysWorld) map[string]keyring.Saved {
			return without(w.sets, "server-keys-eu", "server-keys-us")
		}, func(sn *v1alpha1.SocialNetwork) {
			sn.Spec.ServerKeys.ExistingSecret = &v1alpha1.LocalSecretReference{Name: "own-keys"}
		}, false, ""},
		"deleted network": {func(w *keysWorld) map[string]keyring.Saved { return w.sets }, nil, true, ""},
		"retained keys": {
			func(w *keysWorld) map[string]keyring.Saved { return w.sets },
			func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions = sn.Spec.Regions[:1] }, false, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newKeysWorld(t)
			if !tc.absent {
				w.network(tc.network)
			}
			if tc.sets != nil {
				w.recovery(tc.sets(w), "")
			}
			args := []string{"backup", "acme", "--file", "!acme.age", "--recipients-file", "!recipients.txt"}
			if tc.want != "" {
				require.Contains(t, w.refused(args...), tc.want)
				require.NoFileExists(t, w.path("acme.age"))
				return
			}
			out := w.run(args...)
			if name == "own server keys" {
				require.Contains(t, out, "The server keys are not in it: they are in Secret own-keys, which its owner backs up.")
			}
			file := []byte(w.readFile("acme.age"))
			text, err := decrypt(file, []age.Identity{w.identity})
			require.NoError(t, err)
			b, err := keyring.ParseBackup(text)
			require.NoError(t, err)
			require.Len(t, b.Sets, len(tc.sets(w)))
		})
	}
}

// TestBackupFile checks that a file is never overwritten by mistake, nor written in part.
func TestBackupFile(t *testing.T) {
	w := newKeysWorld(t)
	w.network(nil)
	w.recovery(w.sets, w.id)
	args := []string{"backup", "acme", "--recipients-file", "!recipients.txt", "--file"}
	require.NoError(t, os.WriteFile(w.path("acme.age"), []byte("before"), 0o644))
	require.Contains(t, w.refused(append(args, "!acme.age")...), "acme.age exists: --overwrite replaces it")
	require.Equal(t, "before", w.readFile("acme.age"))
	require.NoError(t, os.Symlink("nowhere", w.path("link")))
	require.Contains(t, w.refused(append(args, "!link")...), "link exists")

	w.run(append(args, "!acme.age", "--overwrite")...)
	require.Contains(t, w.readFile("acme.age"), "BEGIN AGE ENCRYPTED FILE")
	info, err := os.Stat(w.path("acme.age"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())

	require.NoError(t, os.Mkdir(w.path("folder"), 0o700))
	require.Contains(t, w.refused(append(args, "!folder", "--overwrite")...), "writing the backup")
	entries, err := os.ReadDir(w.dir)
	require.NoError(t, err)
	for _, entry := range entries {
		require.False(t, strings.HasPrefix(entry.Name(), "."), "no temporary file is left: %s", entry.Name())
	}

	stdout, stderr, err := w.try(append(args, "-")...)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(stdout, "-----BEGIN AGE"))
	require.True(t, strings.HasSuffix(stdout, "END AGE ENCRYPTED FILE-----\n"), "nothing else is in the file")
	require.Contains(t, stderr, "BACKUP has the keys of network acme")
	w.in = strings.NewReader(stdout)
	require.Contains(t, w.run("restore", "acme", "--file", "-", "--identity", "!key.txt"), "No keys are missing.")
}

// TestLargestBackup encrypts as much as a Secret can have, and more than a backup may have.
func TestLargestBackup(t *testing.T) {
	w := newKeysWorld(t)
	to := []age.Recipient{w.identity.Recipient()}
	file, err := encrypt(keyring.NewSecret(strings.Repeat("k", corev1.MaxSecretSize)), to)
	require.NoError(t, err)
	require.Less(t, len(file), maxBackup)
	_, err = encrypt(keyring.NewSecret(strings.Repeat("k", maxBackup)), to)
	require.ErrorContains(t, err, "the backup would have more than 2097152 bytes")
}
