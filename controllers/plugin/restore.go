package plugin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
)

// restoration are the flags of keys restore.
type restoration struct {
	file, from     string
	identities     []string
	passphraseFile string
	replace, wait  bool
	timeout        time.Duration
}

func (p *plugin) restoreKeys() *cobra.Command {
	var r restoration
	cmd := &cobra.Command{
		Use:   "restore NETWORK --file FILE [--identity FILE | --passphrase-file FILE]",
		Short: "Restore lost keys of a network from a backup",
		Long: "Restore lost keys of a network from a backup. It writes them to the Secret <network>-recovery-keys, from which the operator\n" +
			"creates the Secrets that do not exist, and waits for that. It changes no Secret that exists: copies that the recovery Secret has\n" +
			"are kept, because they are newer.\n\n" +
			"It works before and after the SocialNetwork is created: the operator adopts the keys of a recovery Secret that it finds. A backup\n" +
			"of a network with another network id is refused, unless the database has refused the identity that the operator created in its\n" +
			"place. It needs the right to get, create and update Secrets, and to get SocialNetworks, in the namespace.",
		Example: "  kubectl plaza keys restore acme --file acme-keys.age --identity key.txt\n" +
			"  kubectl plaza keys restore acme --file acme-keys.age   # asks for the passphrase",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := r.read(cmd, p)
			if err != nil {
				return fmt.Errorf("reading the backup %s: %w", r.file, err)
			}
			return r.run(cmd, p, args[0], b)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&r.file, "file", "f", "", "the backup; - is the standard input")
	flags.StringArrayVar(&r.identities, "identity", nil, "file with an identity of age for which the backup is encrypted; may be repeated")
	flags.StringVar(&r.passphraseFile, "passphrase-file", "", "file with the passphrase of the backup")
	flags.StringVar(&r.from, "from-network", "", "name of the network in the backup; default: NETWORK")
	flags.BoolVar(&r.replace, "replace", false, "replace the copies that the recovery Secret has by those of the backup")
	flags.BoolVar(&r.wait, "wait", true, "wait until the operator has restored the keys")
	flags.DurationVar(&r.timeout, "timeout", 2*time.Minute, "how long to wait")
	_ = cmd.MarkFlagRequired("file") // the flag exists
	cmd.MarkFlagsMutuallyExclusive("identity", "passphrase-file")
	return cmd
}

// read decrypts and checks the backup.
func (r restoration) read(cmd *cobra.Command, p *plugin) (keyring.Backup, error) {
	var content []byte
	var err error
	if r.file == "-" {
		content, err = readAll(cmd.InOrStdin(), "it", maxBackup)
	} else {
		content, err = readFile(r.file, maxBackup)
	}
	if err != nil {
		return keyring.Backup{}, err
	}
	isPassphrase, err := hasPassphrase(content)
	if err != nil {
		return keyring.Backup{}, err
	}
	with, err := r.decryptWith(cmd.Context(), p, isPassphrase)
	if err != nil {
		return keyring.Backup{}, err
	}
	text, err := decrypt(content, with)
	if err != nil {
		return keyring.Backup{}, err
	}
	return keyring.ParseBackup(text)
}

// decryptWith returns the identities of the flags, or that of the passphrase.
func (r restoration) decryptWith(ctx context.Context, p *plugin, isPassphrase bool) ([]age.Identity, error) {
	switch {
	case isPassphrase && len(r.identities) > 0:
		return nil, errors.New("it is encrypted with a passphrase, not for an identity: use --passphrase-file, or neither to be asked")
	case isPassphrase:
		passphrase, err := p.passphrase(ctx, r.passphraseFile, false)
		if err != nil {
			return nil, err
		}
		identity, err := age.NewScryptIdentity(passphrase.Reveal())
		if err != nil {
			return nil, err
		}
		return []age.Identity{identity}, nil
	case len(r.identities) == 0:
		return nil, errors.New("it is encrypted for an identity: --identity names the file with it")
	}
	var all []age.Identity
	for _, path := range r.identities {
		content, err := readFile(path, maxKeyFile)
		if err != nil {
			return nil, err
		}
		found, err := age.ParseIdentities(bytes.NewReader(content))
		if err != nil { // the error of a malformed identity may quote it
			return nil, fmt.Errorf("%s has no valid identity of age, such as AGE-SECRET-KEY-1…; decrypt it first if it is encrypted", path)
		}
		all = append(all, found...)
	}
	return all, nil
}

// run writes the keys of a backup, and waits for the operator.
func (r restoration) run(cmd *cobra.Command, p *plugin, name string, b keyring.Backup) error {
	if want := cmp.Or(r.from, name); b.Network != want {
		return fmt.Errorf("the backup has the keys of network %s, not of %s; if those of %s are to become those of %s, add --from-network %s",
			b.Network, want, b.Network, name, b.Network)
	}
	out := &printer{w: cmd.OutOrStdout()}
	out.linef("The backup has the keys of network %s in namespace %s, network id %s, of %s.", b.Network, b.Namespace, b.NetworkID,
		b.CreatedAt.Format(time.RFC3339))
	var w written
	err := retry.OnError(retry.DefaultRetry, func(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) },
		func() error {
			var err error
			w, err = r.write(cmd.Context(), p, name, b)
			return err
		})
	if err != nil {
		return err
	}
	w.print(out, p.namespace+"/"+render.RecoverySecret(name))
	if w.network == nil {
		out.linef("SocialNetwork %s does not exist in namespace %s. Create it now: the operator adopts the keys.", name, p.namespace)
		return out.err
	}
	lost := w.lost(name)
	if len(lost) > 0 {
		out.linef("The backup has no keys for %s; controllers/KEYS.md describes how to give them up.", strings.Join(lost, ", "))
	}
	if !r.wait {
		out.linef("To see whether the operator has restored them: kubectl plaza status %s -n %s", name, p.namespace)
		return out.err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), r.timeout)
	defer cancel()
	err = p.await(ctx, name, "for the operator to restore the keys", out, func(sn *v1alpha1.SocialNetwork) (string, bool, error) {
		state := waitsFor(sn, b.NetworkID, lost)
		return state, state == "", nil
	})
	if timeUp(ctx) != nil && err != nil {
		return fmt.Errorf("%w Check that the operator runs; nothing has to be repeated", err)
	}
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		return fmt.Errorf("the other keys are restored, but %s are still missing", strings.Join(lost, ", "))
	}
	out.linef("No keys are missing. To see the state of the network: kubectl plaza status %s -n %s", name, p.namespace)
	return out.err
}

// written is what was written to a recovery Secret.
type written struct {
	network  *v1alpha1.SocialNetwork // nil if it does not exist
	secret   *corev1.Secret
	restored []string // sets that the Secret has from the backup now
	kept     []string // sets of both that were kept
	unused   []string // sets of the backup that the network does not use
	invalid  []string // sets of the Secret that are not valid, and that the backup does not have
}

func (w written) print(out *printer, secret string) {
	for _, line := range []struct {
		format string
		sets   []string
	}{
		{"Secret %s has from the backup now: %s.", w.restored},
		{"Secret %s keeps its own copies, which are newer: %s.", w.kept},
		{"Not written to Secret %s, because the spec does not ask for them: %s.", w.unused},
		{"Secret %s has copies that are not valid, and that the backup does not have: %s.", w.invalid},
	} {
		if len(line.sets) > 0 {
			out.linef(line.format, secret, strings.Join(line.sets, ", "))
		}
	}
}

// lost returns the missing Secrets of which the recovery Secret has no keys.
func (w written) lost(name string) []string {
	available := map[string]bool{}
	for set := range w.secret.Data {
		available[secretOf(name, set)] = true
	}
	return slices.DeleteFunc(slices.Clone(w.network.Status.MissingKeys), func(secret string) bool { return available[secret] })
}

// secretOf returns the name of the Secret with a set of keys.
func secretOf(network, set string) string {
	if code, isOfRegion := strings.CutPrefix(set, keyring.ServerKeysSet); isOfRegion {
		return render.ServerKeysSecret(network, v1alpha1.RegionCode(code))
	}
	return network + "-" + set
}

// write writes the recovery Secret, on top of the version that it has read.
func (r restoration) write(ctx context.Context, p *plugin, name string, b keyring.Backup) (written, error) {
	sn, err := p.networkIfAny(ctx, name)
	if err != nil {
		return written{}, err
	}
	identity, err := p.secretIfAny(ctx, render.IdentitySecret(name))
	if err != nil {
		return written{}, err
	}
	if err := checkID(sn, identity, b.NetworkID, name); err != nil {
		return written{}, err
	}
	found, err := p.secretIfAny(ctx, render.RecoverySecret(name))
	if err != nil {
		return written{}, err
	}
	if found == nil {
		w := merge(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: render.RecoverySecret(name), Namespace: p.namespace}, Type: corev1.SecretTypeOpaque,
		}, sn, name, b, false)
		if err := p.client.Create(ctx, w.secret, client.FieldOwner(fieldOwner)); err != nil {
			return written{}, fmt.Errorf("creating Secret %s/%s: %w", p.namespace, w.secret.Name, err)
		}
		return w, nil
	}
	id := readRecovery(found).id
	switch {
	case id == b.NetworkID || len(found.Data) == 0:
	case id == "" && !r.replace:
		return written{}, fmt.Errorf("the Secret %s/%s does not say of which network its keys are: --replace replaces all of them", p.namespace,
			found.Name)
	case id != "" && !isIdentityMissing(sn, name):
		return written{}, fmt.Errorf("the Secret %s/%s has the keys of another network, %s: delete it first if they are not needed any more",
			p.namespace, found.Name, id)
	}
	if id != b.NetworkID {
		found.Data = nil
	}
	before := found.DeepCopy()
	w := merge(found, sn, name, b, r.replace)
	if len(w.restored) == 0 && maps.Equal(before.Labels, w.secret.Labels) && maps.Equal(before.Annotations, w.secret.Annotations) {
		return w, nil
	}
	if err := p.client.Update(ctx, w.secret, client.FieldOwner(fieldOwner)); err != nil { // it has the resourceVersion that was read
		return written{}, fmt.Errorf("changing Secret %s/%s: %w", p.namespace, w.secret.Name, err)
	}
	return w, nil
}

// isIdentityMissing reports whether the operator asks for the identity of a network.
func isIdentityMissing(sn *v1alpha1.SocialNetwork, name string) bool {
	return sn != nil && slices.Contains(sn.Status.MissingKeys, render.IdentitySecret(name))
}

// checkID refuses the keys of another network than that of the namespace. If the identity is missing although its Secret exists, the
// database has refused it: the operator created it after a loss, and replaces it by that of the backup.
func checkID(sn *v1alpha1.SocialNetwork, identity *corev1.Secret, id, name string) error {
	present := ""
	if identity != nil {
		present = string(identity.Data[keyring.NetworkIDFile])
	}
	switch {
	case isIdentityMissing(sn, name) && present == id:
		return fmt.Errorf("the backup has the identity of Secret %s, which the database has refused: restore one of the network that the "+
			"database belongs to", identity.Name)
	case isIdentityMissing(sn, name) && present != "":
		return nil
	case sn != nil && sn.Status.NetworkID != "" && sn.Status.NetworkID != id:
		return fmt.Errorf("the backup is of network %s, but the id of SocialNetwork %s is %s: with keys of another network no user of the "+
			"database can be found",
			id, name, sn.Status.NetworkID)
	case present != "" && present != id:
		return fmt.Errorf("the backup is of network %s, but Secret %s has the identity of network %s, which the operator uses", id,
			identity.Name, present)
	}
	return nil
}

// merge adds the sets of a backup to a recovery Secret: those that it does not have or that are not valid, or all.
func merge(secret *corev1.Secret, sn *v1alpha1.SocialNetwork, name string, b keyring.Backup, replace bool) written {
	w, now := written{network: sn, secret: secret}, readRecovery(secret)
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	for _, set := range sorted(b.Sets) {
		text := []byte(b.Sets[set].Encode().Reveal())
		switch {
		case now.has(set) && (!replace || bytes.Equal(secret.Data[set], text)):
			w.kept = append(w.kept, set)
		case !isUsed(sn, set):
			w.unused = append(w.unused, set)
		default:
			secret.Data[set] = text
			w.restored = append(w.restored, set)
		}
	}
	for _, set := range sorted(now.invalid) {
		if _, found := b.Sets[set]; !found {
			w.invalid = append(w.invalid, set)
		}
	}
	if secret.Labels == nil {
		secret.Labels = map[string]string{}
	}
	if secret.Annotations == nil {
		secret.Annotations = map[string]string{}
	}
	maps.Copy(secret.Labels, render.RecoveryLabels(name))
	maps.Copy(secret.Annotations, render.KeepAnnotations())
	secret.Annotations[keyring.AnnotationNetworkID] = b.NetworkID
	if secret.DeletionTimestamp.IsZero() {
		controllerutil.AddFinalizer(secret, v1alpha1.FinalizerKeys)
	}
	return w
}

// isUsed reports whether a network uses a set of keys: not the server keys of a region that its spec does not have.
func isUsed(sn *v1alpha1.SocialNetwork, set string) bool {
	code, isOfRegion := strings.CutPrefix(set, keyring.ServerKeysSet)
	if sn == nil || !isOfRegion {
		return true
	}
	if slices.ContainsFunc(sn.Status.RetainedKeys, func(k v1alpha1.RetainedKeys) bool { return string(k.Code) == code }) {
		return true
	}
	_, _, err := region(sn, code)
	return err == nil && sn.Spec.ServerKeys.ExistingSecret == nil
}

// waitsFor returns what the operator has not restored yet.
func waitsFor(sn *v1alpha1.SocialNetwork, id string, lost []string) string {
	missing := slices.DeleteFunc(slices.Clone(sn.Status.MissingKeys), func(secret string) bool { return slices.Contains(lost, secret) })
	c := meta.FindStatusCondition(sn.Status.Conditions, v1alpha1.ConditionKeysReady)
	switch {
	case len(missing) > 0:
		return "The operator has not restored yet: " + strings.Join(missing, ", ") + "."
	case sn.Status.NetworkID != id:
		return fmt.Sprintf("The operator has not adopted network id %s yet; it reports %s.", id, orDash(sn.Status.NetworkID))
	case c == nil:
		return "The operator has not reported the state of the keys yet."
	case c.Reason == string(v1alpha1.ReasonKeysMissing) && len(lost) == 0:
		return "The operator reports: " + c.Message
	}
	return ""
}
