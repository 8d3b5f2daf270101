// Package keys is the stage that creates the identity and the keys of a network and rotates its server keys. The decisions
// about single keys are those of package keyring; this package reads and writes the Secrets and asks the servers.
package keys

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
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// Stage creates and rotates keys.
type Stage struct {
	// Random is the source of randomness; nil means crypto/rand.
	Random io.Reader
}

// Condition returns KeysReady.
func (Stage) Condition() string { return v1alpha1.ConditionKeysReady }

// Run checks every Secret with keys and advances the rotation of each region. A problem with one Secret does not keep the
// others from being processed.
func (s Stage) Run(ctx context.Context, p *stage.Pass) stage.Outcome {
	if s.Random == nil {
		s.Random = rand.Reader
	}
	r := &run{Stage: s, pass: p}
	r.identity(ctx)
	r.shared(ctx, r.signingKeys())
	r.shared(ctx, r.apiKeys())
	r.regions(ctx)
	r.copies(ctx)
	r.control(ctx)
	r.summarize()
	return r.out
}

// run is one run of the stage.
type run struct {
	Stage

	pass     *stage.Pass
	out      stage.Outcome
	problems []problem
	rotating []v1alpha1.RegionCode // regions with a rotation in progress
}

// problem is a reason for KeysReady to be False.
type problem struct {
	reason  v1alpha1.Reason
	message string
}

func (r *run) problemf(reason v1alpha1.Reason, format string, args ...any) {
	r.problems = append(r.problems, problem{reason, fmt.Sprintf(format, args...)})
}

// eventf adds an event that is recorded once the object is applied. It does nothing if desired is nil.
func (r *run) eventf(desired *stage.Desired, reason v1alpha1.Reason, format string, args ...any) {
	if desired == nil {
		return
	}
	desired.Events = append(desired.Events, stage.Event{
		Reason: reason, Message: fmt.Sprintf(format, args...), Warning: reason == v1alpha1.ReasonKeyAdopted,
	})
}

// summarize sets the condition: the first problem that needs attention, otherwise one with a cluster, otherwise the first problem. It is Unknown if the
// only problem is that servers could not be asked: whether they accept the keys is then not known.
func (r *run) summarize() {
	if len(r.problems) > 0 {
		first := r.problems[0]
		if i := slices.IndexFunc(r.problems, func(p problem) bool { return p.reason.IsOfCluster() }); i >= 0 {
			first = r.problems[i]
		}
		if i := slices.IndexFunc(r.problems, func(p problem) bool { return !p.reason.IsUnknown() }); i >= 0 {
			first = r.problems[i]
		}
		if i := slices.IndexFunc(r.problems, func(p problem) bool { return p.reason.NeedsAttention() && !p.reason.IsUnknown() }); i >= 0 {
			first = r.problems[i]
		}
		status := metav1.ConditionFalse
		if first.reason.IsUnknown() {
			status = metav1.ConditionUnknown
		}
		r.out.SetCondition(status, first.reason, first.message)
		return
	}
	if len(r.rotating) > 0 {
		r.out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonRotationUnderWay,
			fmt.Sprintf("Every region accepts its active server key; a rotation is in progress in %s.", stage.JoinNames(r.rotating)))
		return
	}
	r.out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonKeysVerified, "All keys exist, and every server accepts the server key of its region.")
}

// identity publishes the network's id, or creates the identity of a network that never had one.
func (r *run) identity(ctx context.Context) {
	name := render.IdentitySecret(r.pass.SN.Name)
	known := r.pass.SN.Status.NetworkID
	found, err := r.find(ctx, r.pass.Own(), name)
	switch {
	case err != nil:
		r.problemf(v1alpha1.ReasonApplyFailed, "Secret %s could not be read: %s.", name, err)
	case found == nil && known != "":
		r.problemf(v1alpha1.ReasonIdentityMissing, "Secret %s is missing; restore it from a backup. Running servers are not changed.", name)
	case found == nil:
		r.createIdentity(name)
	default:
		r.useIdentity(found, known)
	}
}

func (r *run) useIdentity(found *keysSecret, known string) {
	identity := keyring.Identity{
		DirectoryKey: found.file(keyring.DirectoryKeyFile), NetworkID: found.file(keyring.NetworkIDFile).Reveal(),
	}
	if err := identity.Check(); err != nil {
		r.problemf(v1alpha1.ReasonIdentityChanged, "Secret %s: %s.", found.secret.Name, err)
		return
	}
	if known != "" && known != identity.NetworkID {
		r.problemf(v1alpha1.ReasonIdentityChanged, "Secret %s belongs to another network; restore the Secret of network %s.", found.secret.Name, known)
		return
	}
	r.out.Facts.NetworkID, r.pass.Status.NetworkID = identity.NetworkID, identity.NetworkID
	r.update(found, r.identityObject(found.secret.Name, identity), false)
}

// createIdentity creates the identity. It is published by the next pass, when it has been read back: nothing may be
// created for an id that was not stored.
func (r *run) createIdentity(name string) {
	identity, err := keyring.NewIdentity(r.Random)
	if err != nil {
		r.problemf(v1alpha1.ReasonProgressing, "The network's identity could not be created: %s.", err)
		return
	}
	created := r.create(r.pass.Own(), r.identityObject(name, identity))
	r.eventf(created, v1alpha1.ReasonKeysCreated, "created the network's identity with network id %s", identity.NetworkID)
	r.out.RequeueAfter(time.Second)
}

func (r *run) identityObject(name string, identity keyring.Identity) *corev1.Secret {
	object := r.object(r.pass.Own(), name, "", map[string]keyring.Secret{
		keyring.DirectoryKeyFile: identity.DirectoryKey, keyring.NetworkIDFile: keyring.NewSecret(identity.NetworkID),
	})
	object.Immutable = new(true)
	return object
}

// shared checks a shared Secret, or creates it.
func (r *run) shared(ctx context.Context, s sharedSecret) {
	found, err := r.find(ctx, r.pass.Own(), s.name)
	if err != nil {
		r.problemf(v1alpha1.ReasonApplyFailed, "Secret %s could not be read: %s.", s.name, err)
		return
	}
	if content := found.file(s.file); content.Reveal() != "" {
		if err := s.check(content); err != nil {
			r.problemf(v1alpha1.ReasonKeyFileBroken, "Secret %s, %s: %s.", s.name, s.file, err)
			return
		}
		r.rotateShared(ctx, s, found)
		return
	}
	content, err := s.generate(r.Random)
	if err != nil {
		r.problemf(v1alpha1.ReasonProgressing, "Secret %s could not be created: %s.", s.name, err)
		return
	}
	object := r.object(r.pass.Own(), s.name, "", map[string]keyring.Secret{s.file: content})
	var desired *stage.Desired
	if found == nil {
		desired = r.create(r.pass.Own(), object)
	} else {
		desired = r.update(found, object, false)
	}
	r.eventf(desired, v1alpha1.ReasonKeysCreated, "created the keys of Secret %s", s.name)
}

// create creates a Secret. While the network is paused it is only listed.
func (r *run) create(c *stage.Cluster, object *corev1.Secret) *stage.Desired {
	if r.pass.SN.Spec.Paused {
		r.problemf(v1alpha1.ReasonPausedBySpec, "Secret %s is created when spec.paused is false.", object.Name)
	}
	return r.out.Apply(stage.Desired{Object: object, Mode: apply.CreateOnly, Cluster: c})
}

// update applies a Secret on top of the version that was read. A Secret that the cache does not hold yet waits for the next
// pass; it has just been labelled.
func (r *run) update(found *keysSecret, object *corev1.Secret, ignorePause bool) *stage.Desired {
	if !found.cached {
		r.out.RequeueAfter(time.Second)
		return nil
	}
	object.ResourceVersion = found.secret.ResourceVersion
	return r.out.Apply(stage.Desired{Object: object, Mode: apply.Locked, IgnorePause: ignorePause, Cluster: found.cluster})
}
