// Package keys is the stage that creates the identity and the keys of a network and rotates its server keys. The decisions
// about single keys are those of package keyring; this package reads and writes the Secrets and asks the servers.
package keys

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/keyring"
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
	p.Status.MissingKeys = nil
	r.unread = !r.readRecovery(ctx)
	r.identity(ctx)
	if r.id != "" { // otherwise it is not known whose keys the others are
		r.shared(ctx, r.signingKeys())
		r.shared(ctx, r.apiKeys())
	}
	r.regions(ctx)
	if r.id != "" {
		r.releaseRemoved(ctx)
		r.copies(ctx)
		r.control(ctx)
		r.applyIdentity()
		r.applyRecovery()
	}
	r.summarize()
	return r.out
}

// run is one run of the stage.
type run struct {
	Stage

	pass     *stage.Pass
	out      stage.Outcome
	problems []stage.Problem
	rotating []v1alpha1.RegionCode // regions with a rotation in progress

	id       string // of the network: as its status or its identity says; empty if it has none yet
	recovery recovery
	unread   bool // the recovery Secret could not be read
	// identityFound is the Secret of the valid identity that was read; nil if there is none.
	identityFound *keysSecret
	identityRead  keyring.Identity
	sets, givenUp []string // see AnnotationKeySets and AnnotationGivenUp
	hasSets       bool     // the identity says which sets exist
	released      []string // the names of deleted Secrets that go
}

func (r *run) problemf(reason v1alpha1.Reason, format string, args ...any) {
	r.problems = append(r.problems, stage.Problem{Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// eventf adds an event that is recorded once the object is applied. It does nothing if desired is nil.
func (r *run) eventf(desired *stage.Desired, reason v1alpha1.Reason, format string, args ...any) {
	if desired == nil {
		return
	}
	desired.Events = append(desired.Events, stage.Event{
		Reason: reason, Message: fmt.Sprintf(format, args...),
		Warning: reason == v1alpha1.ReasonKeyAdopted || reason == v1alpha1.ReasonKeysRestored,
	})
}

// summarize sets the condition. It is Unknown if the only problem is that servers could not be asked: whether they accept the keys is
// then not known.
func (r *run) summarize() {
	switch first := r.firstProblem(); {
	case first != nil:
		r.out.SetCondition(first.Reason.Status(), first.Reason, first.Message)
	case len(r.rotating) > 0:
		r.out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonRotationUnderWay,
			fmt.Sprintf("Every region accepts its active server key; a rotation is in progress in %s.", stage.JoinNames(r.rotating)))
	default:
		r.out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonKeysVerified,
			"All keys exist, and every server accepts the server key of its region.")
	}
}

// firstProblem returns the problem to report, or nil: one of missing keys, otherwise one that needs attention, otherwise one that is
// certain, otherwise one with a cluster, otherwise the first.
func (r *run) firstProblem() *stage.Problem {
	return stage.First(r.problems,
		func(reason v1alpha1.Reason) bool { return reason == v1alpha1.ReasonKeysMissing },
		func(reason v1alpha1.Reason) bool { return reason.NeedsAttention() && !reason.IsUnknown() },
		func(reason v1alpha1.Reason) bool { return !reason.IsUnknown() },
		v1alpha1.Reason.IsOfCluster)
}

// shared checks a shared Secret, or creates it.
func (r *run) shared(ctx context.Context, s sharedSecret) {
	found, err := r.find(ctx, r.pass.Own(), s.secret)
	if err != nil {
		r.problemf(v1alpha1.ReasonApplyFailed, "Secret %s could not be read: %s.", s.secret, err)
		return
	}
	if !found.has(s.file) {
		if r.restore(ctx, s.keySet, found) == mayCreate {
			r.createShared(s, found)
		}
		return
	}
	if err := s.check(found.file(s.file)); err != nil {
		if r.releaseDeleted(s.keySet, found, false) {
			return
		}
		r.problemf(v1alpha1.ReasonKeyFileBroken, "Secret %s, %s: %s.", s.secret, s.file, err)
		return
	}
	r.rotateShared(ctx, s, found)
}

func (r *run) createShared(s sharedSecret, found *keysSecret) {
	content, err := s.generate(r.Random)
	if err != nil {
		r.problemf(v1alpha1.ReasonProgressing, "Secret %s could not be created: %s.", s.secret, err)
		return
	}
	object := r.object(r.pass.Own(), s.secret, "", map[string]keyring.Secret{s.file: content})
	desired := r.createOrUpdate(r.pass.Own(), found, object, false)
	r.eventf(desired, v1alpha1.ReasonKeysCreated, "created the keys of Secret %s", s.secret)
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
