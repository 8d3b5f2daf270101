package controllers

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/regional"
	"github.com/plaza-social/plaza/controllers/render"
)

// Keys is the stage that makes the network's identity and keys, and rotates its server keys.
type Keys struct {
	// Random is where keys come from; nil: the system.
	Random io.Reader
}

// Condition is KeysReady.
func (Keys) Condition() string { return v1alpha1.ConditionKeysReady }

// Run looks at every Secret with keys, and goes on with the rotation of each region. No Secret's trouble stops another.
func (s Keys) Run(ctx context.Context, w *World) Outcome {
	if s.Random == nil {
		s.Random = rand.Reader
	}
	k := &keysPass{Keys: s, w: w}
	k.identity(ctx)
	k.shared(ctx, render.SigningKeysSecret(w.SN.Name), keyring.SigningKeysFile, keyring.NewSigningKeys, func(file keyring.Secret) error {
		return regional.CheckSigningKeys(file, w.Now)
	})
	k.shared(ctx, render.APIKeysSecret(w.SN.Name), keyring.APIKeysFile, keyring.NewAPIKeys, func(file keyring.Secret) error {
		_, _, err := keyring.Existing(file, w.Now)
		return err
	})
	k.regions(ctx)
	k.sum()
	return k.out
}

// keysPass is one run of the stage.
type keysPass struct {
	Keys

	w        *World
	out      Outcome
	findings []finding
	rotating []string // regions with a rotation under way
}

// finding is why the keys are not ready.
type finding struct {
	reason  v1alpha1.Reason
	message string
}

func (k *keysPass) foundf(reason v1alpha1.Reason, format string, args ...any) {
	k.findings = append(k.findings, finding{reason, fmt.Sprintf(format, args...)})
}

// happenedf is what has happened once an object is written; nil for one that is not to be.
func (k *keysPass) happenedf(with *Desired, reason v1alpha1.Reason, format string, args ...any) {
	if with == nil {
		return
	}
	with.Events = append(with.Events, Event{
		Reason: reason, Message: fmt.Sprintf(format, args...), Warning: reason == v1alpha1.ReasonKeyAdopted,
	})
}

// sum says what holds: the first finding that a person should look at, else the first.
func (k *keysPass) sum() {
	if len(k.findings) == 0 {
		if len(k.rotating) > 0 {
			k.out.Say(metav1.ConditionTrue, v1alpha1.ReasonRotationUnderWay, fmt.Sprintf("Every region accepts its active server key; a new one is being introduced in %s.", list(k.rotating)))
			return
		}
		k.out.Say(metav1.ConditionTrue, v1alpha1.ReasonKeysVerified, "Every key exists, and every server accepts its region's server key.")
		return
	}
	worst := k.findings[0]
	if i := slices.IndexFunc(k.findings, func(f finding) bool { return f.reason.IsTrouble() }); i >= 0 {
		worst = k.findings[i]
	}
	k.out.Say(metav1.ConditionFalse, worst.reason, worst.message)
}

// identity finds the network's id and directory key, or makes them where there never were any.
func (k *keysPass) identity(ctx context.Context) {
	name := render.IdentitySecret(k.w.SN.Name)
	known := k.w.SN.Status.NetworkID
	found, err := k.find(ctx, name)
	switch {
	case err != nil:
		k.foundf(v1alpha1.ReasonApplyFailed, "Secret %s could not be read: %s.", name, err)
	case found == nil && known != "":
		k.foundf(v1alpha1.ReasonIdentityMissing, "Secret %s is gone; restore it from a backup. What runs stays as it is.", name)
	case found == nil:
		k.newIdentity(name)
	default:
		k.takeIdentity(found, known)
	}
}

func (k *keysPass) takeIdentity(found *keysSecret, known string) {
	identity := keyring.Identity{
		DirectoryKey: found.file(keyring.DirectoryKeyFile), NetworkID: found.file(keyring.NetworkIDFile).Reveal(),
	}
	if err := identity.Check(); err != nil {
		k.foundf(v1alpha1.ReasonIdentityChanged, "Secret %s: %s.", found.secret.Name, err)
		return
	}
	if known != "" && known != identity.NetworkID {
		k.foundf(v1alpha1.ReasonIdentityChanged, "Secret %s is of another network: restore the one of network %s.", found.secret.Name, known)
		return
	}
	k.w.Network.NetworkID, k.w.Status.NetworkID = identity.NetworkID, identity.NetworkID
	object := k.object(found.secret.Name, "", map[string]keyring.Secret{
		keyring.DirectoryKeyFile: identity.DirectoryKey, keyring.NetworkIDFile: found.file(keyring.NetworkIDFile),
	})
	object.Immutable = new(true)
	k.keep(found, object, false)
}

// newIdentity makes one. It counts when it is written: what follows must never be made for an id that nobody keeps.
func (k *keysPass) newIdentity(name string) {
	identity, err := keyring.NewIdentity(k.Random)
	if err != nil {
		k.foundf(v1alpha1.ReasonProgressing, "The network's identity: %s.", err)
		return
	}
	object := k.object(name, "", map[string]keyring.Secret{
		keyring.DirectoryKeyFile: identity.DirectoryKey, keyring.NetworkIDFile: keyring.NewSecret(identity.NetworkID),
	})
	object.Immutable = new(true)
	made := k.create(object)
	if k.w.SN.Spec.Paused {
		return
	}
	k.happenedf(made, v1alpha1.ReasonKeysCreated, "the network's identity was made: network id %s", identity.NetworkID)
	w := k.w
	k.out.After = func(context.Context) error {
		w.Network.NetworkID, w.Status.NetworkID = identity.NetworkID, identity.NetworkID
		return nil
	}
}

// shared finds a Secret that all regions read, or makes it.
func (k *keysPass) shared(ctx context.Context, name, file string, generate func(io.Reader) (keyring.Secret, error), check func(keyring.Secret) error) {
	found, err := k.find(ctx, name)
	if err != nil {
		k.foundf(v1alpha1.ReasonApplyFailed, "Secret %s could not be read: %s.", name, err)
		return
	}
	if found != nil && found.file(file).Reveal() != "" {
		if err := check(found.file(file)); err != nil {
			k.foundf(v1alpha1.ReasonKeyFileBroken, "Secret %s, %s: %s.", name, file, err)
			return
		}
		k.keep(found, k.object(name, "", map[string]keyring.Secret{file: found.file(file)}), false)
		return
	}
	content, err := generate(k.Random)
	if err != nil {
		k.foundf(v1alpha1.ReasonProgressing, "Secret %s: %s.", name, err)
		return
	}
	object := k.object(name, "", map[string]keyring.Secret{file: content})
	var made *Desired
	if found == nil {
		made = k.create(object)
	} else {
		made = k.keep(found, object, false)
	}
	if !k.w.SN.Spec.Paused {
		k.happenedf(made, v1alpha1.ReasonKeysCreated, "Secret %s was made", name)
	}
}

// create makes a Secret that is not there.
func (k *keysPass) create(object *corev1.Secret) *Desired {
	if k.w.SN.Spec.Paused {
		k.foundf(v1alpha1.ReasonPausedBySpec, "Secret %s is made when spec.paused is false.", object.Name)
	}
	return k.out.Want(Desired{Object: object, Mode: apply.CreateOnly})
}

// keep brings a Secret that is there to what it should be, upon the version that was read. One that the cache does not hold
// yet waits for the next pass: it was labelled a moment ago.
func (k *keysPass) keep(found *keysSecret, object *corev1.Secret, evenPaused bool) *Desired {
	if !found.cached {
		k.out.Within(time.Second)
		return nil
	}
	object.ResourceVersion = found.secret.ResourceVersion
	return k.out.Want(Desired{Object: object, Mode: apply.Locked, EvenPaused: evenPaused})
}
