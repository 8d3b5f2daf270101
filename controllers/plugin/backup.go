package plugin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
)

func (p *plugin) keys() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Back up the keys of a network, and restore lost ones",
		Long: "Back up the keys of a network in an encrypted file, and restore lost keys from it. controllers/KEYS.md describes which keys\n" +
			"there are, and which of them the operator restores by itself.",
		Example: "  kubectl plaza keys backup acme --file acme-keys.age --recipient age1…\n" +
			"  kubectl plaza keys restore acme --file acme-keys.age --identity key.txt",
	}
	cmd.AddCommand(p.backupKeys(), p.restoreKeys())
	return cmd
}

func (p *plugin) backupKeys() *cobra.Command {
	var file string
	var overwrite bool
	var to recipients
	cmd := &cobra.Command{
		Use:   "backup NETWORK --file FILE (--recipient KEY | --recipients-file FILE | --passphrase | --passphrase-file FILE)",
		Short: "Write an encrypted backup of the keys of a network",
		Long: "Write a backup of the keys of a network, encrypted with age (https://age-encryption.org). The keys are those of the Secret\n" +
			"<network>-recovery-keys, in which the operator keeps copies of all of them. They are neither printed nor written unencrypted.\n\n" +
			"Encrypt for the public key of an identity that is kept elsewhere (age-keygen creates one), or with a passphrase. It needs the\n" +
			"right to get Secrets and SocialNetworks in the namespace.",
		Example: "  age-keygen -o key.txt                                  # prints the public key, age1…; keep the file elsewhere\n" +
			"  kubectl plaza keys backup acme --file acme-keys.age --recipient age1…\n" +
			"  kubectl plaza keys backup acme --file - --passphrase-file passphrase.txt >acme-keys.age",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file != "-" && !overwrite {
				if err := checkAbsent(file); err != nil {
					return err
				}
			}
			b, notes, err := p.collect(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			encryptTo, err := to.read(cmd.Context(), p)
			if err != nil {
				return err
			}
			encrypted, err := encrypt(b.Encode(), encryptTo)
			if err != nil {
				return err
			}
			out := &printer{w: cmd.OutOrStdout()}
			if file == "-" {
				_, err = out.w.Write(encrypted)
				out.w = cmd.ErrOrStderr()
			} else {
				err = writeFile(file, encrypted, overwrite)
			}
			if err != nil {
				return fmt.Errorf("writing the backup: %w", err)
			}
			return printBackup(out, b, notes, file, to)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&file, "file", "f", "", "the backup; - is the standard output")
	flags.BoolVar(&overwrite, "overwrite", false, "replace the file if it exists")
	flags.StringArrayVar(&to.keys, "recipient", nil, "public key of age for which the backup is encrypted; may be repeated")
	flags.StringArrayVar(&to.files, "recipients-file", nil, "file with public keys of age, one per line; may be repeated")
	flags.BoolVar(&to.passphrase, "passphrase", false, "encrypt with a passphrase that is read from the terminal")
	flags.StringVar(&to.passphraseFile, "passphrase-file", "", "encrypt with the passphrase in a file")
	_ = cmd.MarkFlagRequired("file") // the flag exists
	cmd.MarkFlagsOneRequired("recipient", "recipients-file", "passphrase", "passphrase-file")
	for _, key := range []string{"recipient", "recipients-file"} {
		cmd.MarkFlagsMutuallyExclusive(key, "passphrase")
		cmd.MarkFlagsMutuallyExclusive(key, "passphrase-file")
	}
	cmd.MarkFlagsMutuallyExclusive("passphrase", "passphrase-file")
	return cmd
}

func printBackup(out *printer, b keyring.Backup, notes []string, file string, to recipients) error {
	name, opener, flag := file, "the identity file", " --identity FILE"
	if file == "-" {
		name = "BACKUP"
	}
	switch {
	case to.passphraseFile != "":
		opener, flag = "the passphrase", " --passphrase-file FILE"
	case to.passphrase:
		opener, flag = "the passphrase", ""
	}
	out.linef("%s has the keys of network %s, network id %s, of %s:", name, b.Network, b.NetworkID, b.CreatedAt.Format(time.RFC3339))
	for _, set := range sorted(b.Sets) {
		out.linef("  %s", set)
	}
	for _, note := range notes {
		out.linef("%s", note)
	}
	out.linef("Keep it outside of the cluster, and %s apart from it: without %s the backup is useless.", opener, opener)
	out.linef("To restore lost keys: kubectl plaza keys restore %s -n %s --file %s%s", b.Network, b.Namespace, name, flag)
	return out.err
}

// collect returns the keys of a network, and what the backup does not have.
func (p *plugin) collect(ctx context.Context, name string) (keyring.Backup, []string, error) {
	sn, err := p.networkIfAny(ctx, name)
	if err != nil {
		return keyring.Backup{}, nil, err
	}
	key := client.ObjectKey{Namespace: p.namespace, Name: render.RecoverySecret(name)}
	found, err := p.secretIfAny(ctx, key.Name)
	if err != nil {
		return keyring.Backup{}, nil, err
	}
	if found == nil {
		return keyring.Backup{}, nil, fmt.Errorf("the Secret %s does not exist: the operator creates it together with the keys of the network; "+
			"check the name and the namespace, and that the operator runs", key)
	}
	recovery := readRecovery(found)
	if invalid := sorted(recovery.invalid); len(invalid) > 0 {
		return keyring.Backup{}, nil, fmt.Errorf("the Secret %s, %s: %w", key, invalid[0], recovery.invalid[invalid[0]])
	}
	identity := recovery.sets[keyring.IdentitySet]
	if missing := slices.DeleteFunc(expectedSets(sn, identity), recovery.has); len(missing) > 0 {
		return keyring.Backup{}, nil,
			fmt.Errorf("the Secret %s has no copy of %s, so that the backup would not be complete. The operator copies new keys within "+
				"seconds; kubectl plaza status %s -n %s shows whether keys are missing", key, strings.Join(missing, ", "), name, p.namespace)
	}
	b := keyring.Backup{
		Network: name, Namespace: p.namespace, NetworkID: identity.Identity().NetworkID, CreatedAt: p.now(),
		Sets: recovery.sets,
	}
	if sn != nil && sn.Status.NetworkID != "" && sn.Status.NetworkID != b.NetworkID {
		return keyring.Backup{}, nil, fmt.Errorf("the Secret %s has the keys of network %s, but the id of SocialNetwork %s is %s", key,
			b.NetworkID, name, sn.Status.NetworkID)
	}
	var notes []string
	if sn != nil && sn.Spec.ServerKeys.ExistingSecret != nil {
		notes = append(notes, fmt.Sprintf("The server keys are not in it: they are in Secret %s, which its owner backs up.",
			sn.Spec.ServerKeys.ExistingSecret.Name))
	}
	return b, notes, b.Check()
}

// expectedSets returns the sets of keys that a network should have: by its spec, or if it does not exist by its identity.
func expectedSets(sn *v1alpha1.SocialNetwork, identity keyring.Saved) []string {
	sets := []string{keyring.IdentitySet, keyring.SigningKeysSet, keyring.APIKeysSet}
	switch {
	case sn == nil:
		for set := range strings.FieldsSeq(identity.Annotations[keyring.AnnotationKeySets]) {
			if !slices.Contains(sets, set) {
				sets = append(sets, set)
			}
		}
	case sn.Spec.ServerKeys.ExistingSecret == nil:
		for i := range sn.Spec.Regions {
			sets = append(sets, keyring.ServerKeysSet+string(sn.Spec.Regions[i].Code))
		}
	}
	return sets
}

// networkIfAny reads a network; it returns nil if it does not exist.
func (p *plugin) networkIfAny(ctx context.Context, name string) (*v1alpha1.SocialNetwork, error) {
	sn, err := p.network(ctx, name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return sn, err
}

// secretIfAny reads a Secret; it returns nil if it does not exist.
func (p *plugin) secretIfAny(ctx context.Context, name string) (*corev1.Secret, error) {
	var secret corev1.Secret
	err := p.client.Get(ctx, client.ObjectKey{Namespace: p.namespace, Name: name}, &secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s/%s: %w", p.namespace, name, err)
	}
	return &secret, nil
}

// recovery is the content of a recovery Secret.
type recovery struct {
	sets    map[string]keyring.Saved
	invalid map[string]error // by the names of the sets that are not valid
	id      string           // of the network; empty if it is not known
}

func (r recovery) has(set string) bool {
	_, found := r.sets[set]
	return found
}

func readRecovery(secret *corev1.Secret) recovery {
	r := recovery{sets: map[string]keyring.Saved{}, invalid: map[string]error{}, id: secret.Annotations[keyring.AnnotationNetworkID]}
	for set, text := range secret.Data {
		saved, err := keyring.ParseSaved(keyring.NewSecret(string(text)))
		if err == nil {
			err = saved.Check(set)
		}
		if err != nil {
			r.invalid[set] = err
			continue
		}
		r.sets[set] = saved
	}
	if r.has(keyring.IdentitySet) {
		r.id = r.sets[keyring.IdentitySet].Identity().NetworkID
	}
	return r
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
