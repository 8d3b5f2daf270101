package plugin

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/scheme"
)

// restore is the command of most tests.
func restore(args ...string) []string {
	return append([]string{"restore", "acme", "--file", "!acme.age", "--identity", "!key.txt"}, args...)
}

// TestRestoreRefusesFiles refuses files that are no complete backup, before anything is written.
func TestRestoreRefusesFiles(t *testing.T) {
	w := newKeysWorld(t)
	w.network(missing("acme-api-keys"))
	w.backup(w.sets, w.id)
	valid := w.readFile("acme.age")
	other := newKeysWorld(t)
	w.write("other.txt", other.identity.String())
	w.write("broken.txt", strings.Replace(w.identity.String(), "AGE-SECRET-KEY-1", "AGE-SECRET-KEY-1A", 1))
	w.write("encrypted.txt", valid)
	w.secrets = append(w.secrets, other.identity.String(), w.readFile("broken.txt"))
	const notABackup = "it is not an armored file of age, or it is damaged"
	for _, tc := range []struct{ name, content, want string }{
		{"empty", "", notABackup},
		{"an identity", w.identity.String(), notABackup},
		{"without its end", valid[:len(valid)-40], notABackup},
		{"without its middle", valid[:len(valid)/2] + valid[len(valid)/2+65:], notABackup},
		{"half", valid[:len(valid)/2], notABackup},
		{"with other bytes", strings.Replace(valid, valid[len(valid)-200:len(valid)-190], "AAAAAAAAAA", 1), notABackup},
		{"with more", valid + "more", notABackup},
		{"of the largest size", valid + strings.Repeat("\n", 1000) + strings.Repeat("#", maxBackup-len(valid)-1000), notABackup},
		{"of one byte more", valid + strings.Repeat("\n", maxBackup+1-len(valid)), "acme.age has more than 2097152 bytes"},
	} {
		w.write("acme.age", tc.content)
		require.Contains(t, w.refused(restore()...), "reading the backup "+w.path("acme.age")+": ", tc.name)
		require.Contains(t, w.refused(restore()...), tc.want, tc.name)
	}
	w.write("acme.age", valid)
	for _, tc := range []struct {
		want string
		args []string
	}{
		{"the identity or passphrase is not that of the backup", []string{"--identity", "!other.txt"}},
		{"broken.txt has no valid identity of age", []string{"--identity", "!broken.txt"}},
		{"encrypted.txt has no valid identity of age, such as AGE-SECRET-KEY-1…; decrypt it first", []string{"--identity", "!encrypted.txt"}},
		{"no such file", []string{"--identity", "!none"}},
		{"it is encrypted for an identity: --identity names the file with it", nil},
		{"it is encrypted for an identity", []string{"--passphrase-file", "!passphrase.txt"}},
		{"none of the others can be", []string{"--identity", "!key.txt", "--passphrase-file", "!passphrase.txt"}},
	} {
		require.Contains(t, w.refused(append([]string{"restore", "acme", "--file", "!acme.age"}, tc.args...)...), tc.want)
	}
	require.Contains(t, w.refused("restore", "acme"), `required flag(s) "file" not set`)
	require.Contains(t, w.refused("restore", "--file", "!acme.age"), "accepts 1 arg(s), received 0")
	require.Contains(t, w.refused("restore", "acme", "--file", "!none"), "no such file")
	found, err := w.p.secretIfAny(t.Context(), "acme-recovery-keys")
	require.NoError(t, err)
	require.Nil(t, found, "nothing was written")

	require.Contains(t, w.run(restore("--identity", "!other.txt", "--wait=false")...), "has from the backup now",
		"one of several identities is enough")
}

// TestRestoreRefusesPassphrases refuses what does not decrypt a backup with a passphrase.
func TestRestoreRefusesPassphrases(t *testing.T) {
	w := newKeysWorld(t)
	w.recovery(w.sets, w.id)
	w.run("backup", "acme", "--file", "!acme.age", "--passphrase-file", "!passphrase.txt")
	w.write("other.txt", "incorrect horse battery staple")
	require.Contains(t, w.refused("restore", "acme", "--file", "!acme.age", "--passphrase-file", "!other.txt"),
		"the identity or passphrase is not that of the backup")
	require.Contains(t, w.refused("restore", "acme", "--file", "!acme.age", "--identity", "!key.txt"),
		"it is encrypted with a passphrase, not for an identity")
	require.Contains(t, w.refused("restore", "acme", "--file", "!acme.age"), "there is no terminal")
	w.typed = []string{"incorrect"}
	require.Contains(t, w.refused("restore", "acme", "--file", "!acme.age"), "the identity or passphrase is not that of the backup")
}

// TestRestoreRefusesContents refuses what was encrypted but is not a valid backup.
func TestRestoreRefusesContents(t *testing.T) {
	w := newKeysWorld(t)
	good := keyring.Backup{Network: "acme", Namespace: "plaza", NetworkID: w.id, CreatedAt: w.p.now(), Sets: w.sets}
	text := good.Encode().Reveal()
	broken := func(set, file, content string) string {
		b := good
		b.Sets = without(w.sets)
		b.Sets[set] = keyring.Save(map[string][]byte{file: []byte(content)}, nil)
		return b.Encode().Reveal()
	}
	lacking := func(set string) string {
		b := good
		b.Sets = without(w.sets, set)
		return b.Encode().Reveal()
	}
	key := w.secrets[len(w.secrets)-1]
	for name, tc := range map[string]struct{ text, want string }{
		"no JSON":   {key, "it is not a backup of keys"},
		"a list":    {"[]", "it is not a backup of keys"},
		"no format": {"{}", "it is not a backup of keys"},
		"a later format": {
			strings.Replace(text, "plaza-keys/1", "plaza-keys/2", 1),
			`it has the format "plaza-keys/2", not plaza-keys/1: a later version wrote it`,
		},
		"unknown fields": {
			strings.Replace(text, `"format"`, `"`+key[:20]+`": 1, "format"`, 1),
			"it has fields that the format plaza-keys/1 does not have",
		},
		"two documents": {text + text, "it is not a backup of keys"},
		"no date":       {strings.Replace(text, "2026-11-23T10:00:00Z", "yesterday", 1), "createdAt is not an RFC 3339 time"},
		"no name":       {strings.Replace(text, `"network": "acme"`, `"network": ""`, 1), "it does not name the network and its namespace"},
		"control sequences": {
			strings.Replace(text, `"namespace": "plaza"`, `"namespace": "\u001b[2J"`, 1),
			"it does not name the network and its namespace",
		},
		"another id": {
			strings.Replace(text, `"networkID": "`+w.id, `"networkID": "111111111111111111111111`, 1),
			"its identity is that of another network than networkID",
		},
		"no identity": {lacking("identity"), "it has no identity"},
		"a short id": {
			strings.ReplaceAll(text, w.id, "0123"),
			`"identity": the key file is invalid: network-id is not 24 lowercase hexadecimal characters`,
		},
		"no directory key": {broken("identity", "network-id", w.id), `"identity": the key file is invalid: directory-key is missing or empty`},
		"broken keys":      {broken("api-keys", "api-keys.json", key), `"api-keys": the key file is invalid: it is not valid JSON`},
		"no keys": {
			broken("server-keys-eu", "server-keys.json", `{"keys": []}`),
			`"server-keys-eu": the key file is invalid: it has no keys`,
		},
		"no file": {broken("server-keys-eu", "keys.json", key), `"server-keys-eu": the key file is invalid: it is missing or empty`},
		"a short seed": {
			broken("signing-keys", "signing-keys.json", `{"keys": [{"kid": "s-1", "seed": "c2hvcnQgYnV0IGxvbmc="}]}`),
			`"signing-keys": the key file is invalid: key 1: the seed is not the base64 of 32 bytes`,
		},
		"an unknown set": {broken("database", "url", key), `"database": no set of keys has this name in this version`},
		"a bad file name": {
			broken("api-keys", "../api-keys.json", key),
			`"api-keys": the key file is invalid: a file has a name that a Secret cannot have`,
		},
	} {
		w.encrypted(tc.text)
		require.Contains(t, w.refused(restore()...), tc.want, name)
	}
	w.encrypted(text)
	require.Contains(t, w.refused("restore", "other", "--file", "!acme.age", "--identity", "!key.txt"),
		"the backup has the keys of network acme, not of other; if those of acme "+
			"are to become those of other, add --from-network acme")
	require.Contains(t, w.refused(restore("--from-network", "other")...), "the backup has the keys of network acme, not of other")
	found, err := w.p.secretIfAny(t.Context(), "acme-recovery-keys")
	require.NoError(t, err)
	require.Nil(t, found, "nothing was written")
	out := w.run("restore", "other", "--file", "!acme.age", "--identity", "!key.txt", "--from-network", "acme")
	require.Contains(t, out, "Secret plaza/other-recovery-keys has from the backup now")
	require.Equal(t, "other", w.secret("other-recovery-keys").Labels["plaza.social/recovery-of"])
}

// TestRestoreBeforeTheNetwork restores the keys of a network that does not exist yet.
func TestRestoreBeforeTheNetwork(t *testing.T) {
	w := newKeysWorld(t)
	w.backup(w.sets, w.id)
	out := w.run(restore()...)
	require.Contains(t, out, "SocialNetwork acme does not exist in namespace plaza. Create it now: the operator adopts the keys.")
	w.requireRecovery(w.sets)
	require.Contains(t, w.run(restore()...),
		"keeps its own copies, which are newer: api-keys, identity, server-keys-eu, server-keys-us, signing-keys.", "it can be repeated")
}

// TestRestoreMerges restores only what the recovery Secret of the same network does not have.
func TestRestoreMerges(t *testing.T) {
	w := newKeysWorld(t)
	newer, _ := w.newSets(2)
	newer["identity"] = w.sets["identity"]
	w.network(missing("acme-api-keys"))
	w.recovery(without(newer, "api-keys", "server-keys-eu"), w.id)
	secret := w.secret("acme-recovery-keys")
	secret.Data["server-keys-eu"] = []byte("{") // not valid
	secret.Labels = nil                         // the cache does not hold it
	secret.Annotations["mine"] = "kept"
	require.NoError(t, w.p.client.Update(t.Context(), secret))
	w.backup(w.sets, w.id)
	w.operator = func(reads int, sn *v1alpha1.SocialNetwork) {
		if reads > 3 {
			missing()(sn)
		}
		if reads > 5 {
			set(&sn.Status.Conditions, v1alpha1.ReasonKeyPending)
		}
	}
	out := w.run(restore()...)
	require.Contains(t, out, "Secret plaza/acme-recovery-keys has from the backup now: api-keys, server-keys-eu.\n"+
		"Secret plaza/acme-recovery-keys keeps its own copies, which are newer: identity, server-keys-us, signing-keys.\n"+
		"The operator has not restored yet: acme-api-keys.\nThe operator reports: Secrets do not exist.\nNo keys are missing.")
	merged := without(newer)
	merged["api-keys"], merged["server-keys-eu"] = w.sets["api-keys"], w.sets["server-keys-eu"]
	after := w.requireRecovery(merged)
	require.Equal(t, "acme", after.Labels["plaza.social/recovery-of"])
	require.Equal(t, "true", after.Labels["plaza.social/watched"])
	require.Equal(t, "kept", after.Annotations["mine"])

	w.operator = func(_ int, sn *v1alpha1.SocialNetwork) {
		sn.Status.MissingKeys, sn.Status.Conditions[0].Reason = nil, "KeysVerified"
	}
	require.Contains(t, w.run(restore("--replace")...), "has from the backup now: server-keys-us, signing-keys.")
	w.requireRecovery(w.sets)
}

// TestRestoreLeavesOut does not restore the server keys of regions that the spec does not have.
func TestRestoreLeavesOut(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.SocialNetwork)
		unused []string
	}{
		"a removed region": {func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions = sn.Spec.Regions[:1] }, []string{"server-keys-eu"}},
		"a retained region": {func(sn *v1alpha1.SocialNetwork) {
			sn.Spec.Regions, sn.Status.RetainedKeys = sn.Spec.Regions[:1], []v1alpha1.RetainedKeys{{Code: v1alpha1.RegionEU}}
		}, nil},
		"own server keys": {func(sn *v1alpha1.SocialNetwork) {
			sn.Spec.ServerKeys.ExistingSecret = &v1alpha1.LocalSecretReference{Name: "own-keys"}
		}, []string{"server-keys-eu", "server-keys-us"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newKeysWorld(t)
			w.network(tc.change)
			w.backup(w.sets, w.id)
			out := w.run(restore()...)
			w.requireRecovery(without(w.sets, tc.unused...))
			if len(tc.unused) > 0 {
				require.Contains(t, out, "because the spec does not ask for them: "+strings.Join(tc.unused, ", "))
			}
		})
	}
}

// TestRestoreOfOtherNetworks refuses the keys of another network, unless the database has refused the present ones.
func TestRestoreOfOtherNetworks(t *testing.T) {
	const otherID = "111111111111111111111111"
	for name, tc := range map[string]struct {
		network  func(*v1alpha1.SocialNetwork) // nil: it does not exist
		identity string                        // the id of the Secret with the identity, if it exists
		recovery string                        // that of the recovery Secret
		want     string
	}{
		"another network": {
			func(sn *v1alpha1.SocialNetwork) { sn.Status.NetworkID = otherID }, "", "",
			"but the id of SocialNetwork acme is " + otherID,
		},
		"a lost identity of another": {
			func(sn *v1alpha1.SocialNetwork) { missing("acme-identity")(sn); sn.Status.NetworkID = otherID },
			"", "", "but the id of SocialNetwork acme is " + otherID,
		},
		"other missing keys": {
			func(sn *v1alpha1.SocialNetwork) { missing("acme-api-keys")(sn); sn.Status.NetworkID = otherID },
			otherID, "", "but the id of SocialNetwork acme is " + otherID,
		},
		"an identity without a network": {nil, otherID, "", "but Secret acme-identity has the identity of network " + otherID},
		"an identity that is not reported": {
			func(sn *v1alpha1.SocialNetwork) { sn.Status.NetworkID = "" }, otherID, "",
			"but Secret acme-identity has the identity of network " + otherID,
		},
		"copies of another": {
			func(*v1alpha1.SocialNetwork) {}, "", otherID,
			"Secret plaza/acme-recovery-keys has the keys of another network, " + otherID + ": delete it first",
		},
		"copies without a network": {nil, "", otherID, "has the keys of another network"},
		"the refused identity itself": {
			missing("acme-identity"), "OWN", "OWN",
			"the backup has the identity of Secret acme-identity, which the database has refused",
		},

		"a lost identity":               {missing("acme-identity"), "", "", ""},
		"a lost identity, other copies": {missing("acme-identity"), "", otherID, ""},
		"a refused identity": {
			func(sn *v1alpha1.SocialNetwork) { missing("acme-identity")(sn); sn.Status.NetworkID = otherID },
			otherID, otherID, "",
		},
		"a refused identity, no copies": {
			func(sn *v1alpha1.SocialNetwork) { missing("acme-identity")(sn); sn.Status.NetworkID = otherID },
			otherID, "", "",
		},
		"no status":                   {func(sn *v1alpha1.SocialNetwork) { sn.Status = v1alpha1.SocialNetworkStatus{} }, "", "", ""},
		"its own identity, no status": {func(sn *v1alpha1.SocialNetwork) { sn.Status = v1alpha1.SocialNetworkStatus{} }, "OWN", "OWN", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newKeysWorld(t)
			own := func(id string) string { return strings.ReplaceAll(id, "OWN", w.id) }
			if tc.network != nil {
				w.network(tc.network)
			}
			if tc.identity != "" {
				w.create(&corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Name: "acme-identity"},
					Data:       map[string][]byte{"network-id": []byte(own(tc.identity))},
				})
			}
			if tc.recovery != "" {
				sets, _ := w.newSets(3)
				sets["identity"].Files[keyring.NetworkIDFile] = keyring.NewSecret(own(tc.recovery))
				sets["server-keys-sg"] = sets["server-keys-eu"]
				w.recovery(without(sets, "api-keys"), own(tc.recovery))
			}
			w.backup(w.sets, w.id)
			if tc.want != "" {
				require.Contains(t, w.refused(restore()...), tc.want)
				require.Contains(t, w.refused(restore("--replace")...), tc.want)
				return
			}
			w.operator = func(reads int, sn *v1alpha1.SocialNetwork) {
				if reads > 3 {
					sn.Status.MissingKeys, sn.Status.NetworkID = nil, w.id
					set(&sn.Status.Conditions, v1alpha1.ReasonKeysRestored)
				}
			}
			require.Contains(t, w.run(restore()...), "No keys are missing.")
			if tc.recovery != "OWN" {
				secret := w.requireRecovery(w.sets)
				require.Equal(t, w.id, secret.Annotations[keyring.AnnotationNetworkID])
			}
		})
	}
}

// TestRestoreOfUnknownCopies replaces copies that do not say of which network they are only on request.
func TestRestoreOfUnknownCopies(t *testing.T) {
	w := newKeysWorld(t)
	w.recovery(without(w.sets, "identity"), "")
	w.backup(w.sets, w.id)
	require.Contains(t, w.refused(restore()...), "does not say of which network its keys are: --replace replaces all of them")
	w.run(restore("--replace")...)
	w.requireRecovery(w.sets)
}

// TestRestoreIncomplete restores from a backup that does not have all missing keys, and reports invalid copies.
func TestRestoreIncomplete(t *testing.T) {
	w := newKeysWorld(t)
	w.network(missing("acme-api-keys", "acme-eu-server-keys"))
	w.recovery(without(w.sets, "api-keys", "server-keys-eu"), w.id)
	secret := w.secret("acme-recovery-keys")
	secret.Data["server-keys-sg"] = []byte("{")
	require.NoError(t, w.p.client.Update(t.Context(), secret))
	w.backup(without(w.sets, "server-keys-eu"), w.id)
	w.operator = func(reads int, sn *v1alpha1.SocialNetwork) {
		if reads > 2 {
			sn.Status.MissingKeys = sn.Status.MissingKeys[1:]
		}
	}
	out, _, err := w.try(restore()...)
	require.ErrorContains(t, err, "the other keys are restored, but acme-eu-server-keys are still missing")
	require.Contains(t, out, "The backup has no keys for acme-eu-server-keys; controllers/KEYS.md describes how to give them up.")
	require.Contains(t, out, "has copies that are not valid, and that the backup does not have: server-keys-sg.")
}

// TestRestoreWaits ends at the timeout, and says what it waited for.
func TestRestoreWaits(t *testing.T) {
	w := newKeysWorld(t)
	w.network(missing("acme-api-keys"))
	w.backup(w.sets, w.id)
	require.Contains(t, w.refused(restore("--timeout", "20ms")...),
		"waiting for the operator to restore the keys: context deadline exceeded; the last state: "+
			"The operator has not restored yet: acme-api-keys. Check that the operator runs; nothing has to be repeated")
	w.requireRecovery(w.sets)
	reads := w.reads
	out := w.run(restore("--wait=false")...)
	require.Contains(t, out, "To see whether the operator has restored them: kubectl plaza status acme -n plaza")
	require.Equal(t, reads+1, w.reads)

	for _, tc := range []struct {
		want   string
		change func(*v1alpha1.SocialNetwork)
	}{
		{
			"The operator has not adopted network id " + w.id + " yet; it reports -.",
			func(sn *v1alpha1.SocialNetwork) { sn.Status.NetworkID, sn.Status.MissingKeys = "", nil },
		},
		{
			"The operator has not reported the state of the keys yet.",
			func(sn *v1alpha1.SocialNetwork) { sn.Status.Conditions, sn.Status.MissingKeys = nil, nil },
		},
	} {
		w.operator = func(_ int, sn *v1alpha1.SocialNetwork) { tc.change(sn) }
		require.Contains(t, w.refused(restore("--timeout", "20ms")...), tc.want)
	}
}

// TestRestoreOnTopOfChanges decides again when the Secret has changed since it was read.
func TestRestoreOnTopOfChanges(t *testing.T) {
	w := newKeysWorld(t)
	newer, _ := w.newSets(2)
	w.recovery(without(w.sets, "api-keys"), w.id)
	w.backup(w.sets, w.id)
	updates := 0
	w.p.client = interceptor.NewClient(w.p.client.(client.WithWatch), interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			if updates++; updates == 1 { // the operator is faster
				now := w.secret("acme-recovery-keys")
				now.Data["api-keys"] = []byte(newer["api-keys"].Encode().Reveal())
				require.NoError(t, c.Update(ctx, now))
			}
			return c.Update(ctx, object, options...)
		},
	})
	w.run(restore()...)
	want := without(w.sets)
	want["api-keys"] = newer["api-keys"]
	w.requireRecovery(want)

	created := 0
	w2 := newKeysWorld(t)
	w2.backup(w2.sets, w2.id)
	w2.p.client = interceptor.NewClient(w2.p.client.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if created++; created == 1 {
				require.NoError(t, c.Create(ctx, object.DeepCopyObject().(client.Object)))
			}
			return c.Create(ctx, object, options...)
		},
	})
	require.Contains(t, w2.run(restore()...), "keeps its own copies")
}

// TestRestoreWithoutRights reports the error of the API server.
func TestRestoreWithoutRights(t *testing.T) {
	w := newKeysWorld(t)
	w.backup(w.sets, w.id)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "acme-recovery-keys", nil)
	for _, verb := range []string{"get", "create"} {
		w.p.client = fake.NewClientBuilder().WithScheme(scheme.New()).WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				if _, isSecret := object.(*corev1.Secret); isSecret && verb == "get" {
					return forbidden
				}
				return c.Get(ctx, key, object, options...)
			},
			Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return forbidden },
		}).Build()
		require.Contains(t, w.refused(restore()...), "secrets \"acme-recovery-keys\" is forbidden", verb)
	}
}
