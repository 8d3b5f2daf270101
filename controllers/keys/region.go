package keys

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

const (
	// verifyInterval is how often servers are asked about a key that not all of them accept yet.
	verifyInterval = 5 * time.Second
	// verifyDeadline is how long verification may take before the condition reports a problem.
	verifyDeadline = 10 * time.Minute
	// defaultOverlap is for objects that were created without the defaults of the CRD.
	defaultOverlap = time.Hour
	// maxKeysInStatus is how many keys of a region its status lists.
	maxKeysInStatus = 20
)

// regions advances the server keys of each region.
func (r *run) regions(ctx context.Context) {
	status := &r.pass.Status.ServerKeys
	*status = v1alpha1.ServerKeysStatus{}
	for i := range r.pass.SN.Spec.Regions {
		code := r.pass.SN.Spec.Regions[i].Code
		cluster := r.pass.ClusterOf(code)
		if !cluster.IsUsable() {
			r.notVerified(code, cluster.Reason, cluster.Message)
			continue
		}
		if r.id == "" { // it is not known whose keys there are
			continue
		}
		if r.pass.SN.Spec.ServerKeys.ExistingSecret != nil {
			r.userKeys(ctx, cluster, code)
			continue
		}
		if result, ok := r.managedKeys(ctx, cluster, code); ok {
			status.LastRotation = earliest(status.LastRotation, result.LastRotation)
			status.NextRotation = earliest(status.NextRotation, result.NextRotation)
		}
	}
}

func earliest(a *metav1.Time, b time.Time) *metav1.Time {
	if b.IsZero() || (a != nil && !b.Before(a.Time)) {
		return a
	}
	return &metav1.Time{Time: b.Truncate(time.Second)}
}

// userKeys reports on the keys of the Secret that the spec names, which its owner rotates.
func (r *run) userKeys(ctx context.Context, c *stage.Cluster, code v1alpha1.RegionCode) {
	name := r.pass.SN.Spec.ServerKeys.ExistingSecret.Name
	r.pass.Region(code).ServerKeys = nil
	secret, err := c.UserSecret(ctx, name)
	switch {
	case apierrors.IsNotFound(err):
		r.notVerified(code, v1alpha1.ReasonSecretMissing,
			fmt.Sprintf("Secret %s does not exist %s; the operator continues once it is created.", name, c.Where()))
		r.out.RequeueAfter(stage.MissingInterval)
		return
	case err != nil:
		r.notVerified(code, v1alpha1.ReasonApplyFailed, fmt.Sprintf("Secret %s could not be read: %s.", name, err))
		return
	}
	r.out.Watch(c, secret)
	if len(secret.Data[keyring.ServerKeysFile]) == 0 {
		r.notVerified(code, v1alpha1.ReasonSecretIncomplete, fmt.Sprintf("Secret %s has no key %s.", name, keyring.ServerKeysFile))
		return
	}
	states, candidate, err := keyring.Existing((&keysSecret{secret: secret}).file(keyring.ServerKeysFile), r.pass.Now)
	if err != nil {
		r.notVerified(code, v1alpha1.ReasonKeyFileBroken, fmt.Sprintf("Secret %s, %s: %s.", name, keyring.ServerKeysFile, err))
		return
	}
	r.setKeyStatus(code, states)
	for _, state := range states {
		if !state.NotAfter.IsZero() {
			r.out.RequeueAfter(state.NotAfter.Sub(r.pass.Now))
		}
	}
	r.setVerified(code, r.verify(ctx, code, candidate), candidate.ID)
}

// managedKeys runs the state machine of a region's keys. The cached Secret is good enough to find that there is nothing to
// do; a change is decided again on what the API server has.
func (r *run) managedKeys(ctx context.Context, c *stage.Cluster, code v1alpha1.RegionCode) (keyring.Result, bool) {
	name := render.ServerKeysSecret(r.pass.SN.Name, code)
	found, err := r.find(ctx, c, name)
	if err != nil {
		r.notVerified(code, v1alpha1.ReasonApplyFailed, fmt.Sprintf("Secret %s could not be read: %s.", name, err))
		return keyring.Result{}, false
	}
	if foreign := r.foreign(found); foreign != "" {
		r.notVerified(code, v1alpha1.ReasonApplyFailed, fmt.Sprintf("Secret %s %s belongs to another network%s.", name, c.Where(), foreign))
		return keyring.Result{}, false
	}
	if saved, moved := r.movedKeys(c, code, found); moved {
		r.createCopy(r.serverKeySet(c, code), found, saved, "in Secret "+render.RecoverySecret(r.pass.SN.Name))
		return keyring.Result{}, false
	}
	if !found.hasServerKeys() && r.restore(ctx, r.serverKeySet(c, code), found) != mayCreate {
		return keyring.Result{}, false
	}
	existed := found.hasServerKeys()
	result, v, err := r.step(ctx, code, found)
	if err == nil && result.Changed && found != nil && found.cached {
		if found, err = refetch(ctx, c, name); err == nil {
			if existed && !found.hasServerKeys() || r.foreign(found) != "" { // the cache was stale
				r.out.RequeueAfter(restoredInterval)
				return keyring.Result{}, false
			}
			result, v, err = r.step(ctx, code, found)
		}
	}
	set := r.serverKeySet(c, code)
	if err != nil {
		reason := v1alpha1.ReasonApplyFailed
		if _, ok := errors.AsType[*keyring.BrokenError](err); ok {
			reason = v1alpha1.ReasonKeyFileBroken
			if r.releaseDeleted(set, found, false) {
				return keyring.Result{}, false
			}
		}
		r.pass.Region(code).ServerKeys = nil
		r.notVerified(code, reason, fmt.Sprintf("Secret %s, %s: %s.", name, keyring.ServerKeysFile, err))
		return keyring.Result{}, false
	}
	if existed {
		r.save(set.name, found)
		if r.releaseDeleted(set, found, true) {
			return keyring.Result{}, false
		}
	}
	r.write(c, code, name, found, result)
	r.setStatus(code, name, result, v)
	return result, true
}

// movedKeys returns the keys that a region had in another cluster, and reports whether the Secret of this cluster has others: it was left
// there when the region moved away, while the cluster could not be reached.
func (r *run) movedKeys(c *stage.Cluster, code v1alpha1.RegionCode, found *keysSecret) (keyring.Saved, bool) {
	saved, isSaved := r.recovery.before[keyring.ServerKeysSet+string(code)]
	if found == nil || !isSaved || r.recovery.id != r.id || saved.Cluster == nil || *saved.Cluster == c.Name {
		return keyring.Saved{}, false
	}
	return saved, !isEqual(saved, keyring.Save(found.secret.Data, nil))
}

// step asks the servers about the newest key and runs one step of the state machine.
func (r *run) step(ctx context.Context, code v1alpha1.RegionCode, found *keysSecret) (keyring.Result, verification, error) {
	file := found.file(keyring.ServerKeysFile)
	candidate, exists, err := keyring.Candidate(file, found.annotations())
	if err != nil {
		return keyring.Result{}, verification{}, err
	}
	var v verification
	if exists {
		v = r.verify(ctx, code, candidate)
	}
	sn := r.pass.SN
	in := keyring.Input{
		Content: file, Annotations: found.annotations(),
		RotateEvery: keyring.DefaultRotateEvery, Overlap: cmp.Or(sn.Spec.ServerKeys.Overlap.Or(0), defaultOverlap),
		Now: r.pass.Now, Random: r.Random, Request: sn.Annotations[v1alpha1.AnnotationRotate],
		Revoke: append(strings.Fields(sn.Annotations[v1alpha1.AnnotationRevoke]), sn.Spec.ServerKeys.Revoke...),
		Paused: sn.Spec.Paused || (found != nil && !found.cached), // what cannot be written yet is not decided yet either
	}
	if every := sn.Spec.ServerKeys.RotateEvery; every != nil {
		in.RotateEvery = cmp.Or(every.Or(0), keyring.DefaultRotateEvery)
	}
	if v.succeeded() {
		in.Verified = candidate.ID
	}
	result, err := keyring.Step(in)
	return result, v, err
}

// write applies the decision of the state machine to the Secret. Revocations are applied even while the network is paused.
func (r *run) write(c *stage.Cluster, code v1alpha1.RegionCode, name string, found *keysSecret, result keyring.Result) {
	object := r.object(c, name, code, map[string]keyring.Secret{keyring.ServerKeysFile: result.Content})
	maps.Copy(object.Annotations, result.Annotations)
	var desired *stage.Desired
	switch {
	case found == nil && result.Changed:
		desired = r.create(c, object)
	case found != nil && !found.cached:
		r.out.RequeueAfter(time.Second)
		return
	case found != nil:
		desired = r.update(found, object, result.Changed && r.pass.SN.Spec.Paused)
	}
	r.recordStep(desired, name, fmt.Sprintf("region %s: ", code), result)
}

// recordStep records the events of a step, with a prefix, and what it would change if the network were not paused.
func (r *run) recordStep(desired *stage.Desired, secret, prefix string, result keyring.Result) {
	for _, event := range result.Events {
		r.eventf(desired, event.Reason, "%s%s", prefix, event)
	}
	for _, event := range result.Pending {
		r.out.Pending = append(r.out.Pending, fmt.Sprintf("change Secret %s: %s", secret, event))
	}
}

// setStatus fills in the status of a region's keys.
func (r *run) setStatus(code v1alpha1.RegionCode, name string, result keyring.Result, v verification) {
	r.setKeyStatus(code, result.Keys)
	if !result.Due.IsZero() {
		r.out.RequeueAfter(max(result.Due.Sub(r.pass.Now), time.Second))
	}
	ids := map[v1alpha1.KeyState]string{}
	for _, key := range result.Keys {
		ids[key.State] = key.ID
	}
	pending, active := ids[v1alpha1.KeyPending], ids[v1alpha1.KeyActive]
	switch {
	case pending == "" && active == "":
		r.notVerified(code, v1alpha1.ReasonPausedBySpec, fmt.Sprintf("The first key of Secret %s is created when spec.paused is false.", name))
	case pending != "":
		if v.id != pending {
			v = r.unverified(code, pending)
		}
		r.setPending(code, v, active != "")
	default:
		r.setVerified(code, v, active)
	}
}

// setPending reports a key that not all servers accept yet. In a rotation the active key is still accepted.
func (r *run) setPending(code v1alpha1.RegionCode, v verification, rotation bool) {
	reason, message := v.failure(v1alpha1.ReasonKeyPending)
	if rotation && len(v.answers) > 0 {
		reason = v1alpha1.ReasonRotationUnderWay
	}
	overdue := r.unverifiedFor(code) > verifyDeadline && reason != v1alpha1.ReasonNoServers
	if !overdue && len(v.answers) > 0 {
		r.out.RequeueAfter(verifyInterval)
	}
	switch {
	case overdue && rotation:
		reason = v1alpha1.ReasonRotationStuck
	case overdue && reason == v1alpha1.ReasonKeyPending:
		reason = v1alpha1.ReasonKeyNotAccepted
	}
	message = fmt.Sprintf("The new server key %s: %s", v.id, message)
	if rotation && !overdue {
		r.out.SetRegionCondition(code, v1alpha1.RegionKeysVerified, metav1.ConditionFalse, reason, message)
		r.rotating = append(r.rotating, code)
		return
	}
	r.notVerified(code, reason, message)
}

// setVerified reports whether all servers accept the active key.
func (r *run) setVerified(code v1alpha1.RegionCode, v verification, id string) {
	if v.succeeded() {
		r.out.SetRegionCondition(code, v1alpha1.RegionKeysVerified, metav1.ConditionTrue, v1alpha1.ReasonKeysVerified,
			fmt.Sprintf("The server key %s is accepted by %s.", id, serverCount(len(v.answers))))
		return
	}
	reason, message := v.failure(v1alpha1.ReasonKeyNotAccepted)
	if reason != v1alpha1.ReasonNoServers {
		r.out.RequeueAfter(verifyInterval)
	}
	r.notVerified(code, reason, fmt.Sprintf("The server key %s: %s", id, message))
}

// notVerified reports that no key of a region is known to be accepted. The network does not depend on an evacuated region, but lost keys
// are always reported.
func (r *run) notVerified(code v1alpha1.RegionCode, reason v1alpha1.Reason, message string) {
	r.out.SetRegionCondition(code, v1alpha1.RegionKeysVerified, reason.Status(), reason, message)
	if !r.pass.IsEvacuated(code) || reason == v1alpha1.ReasonKeysMissing {
		r.problemf(reason, "Region %s: %s", code, message)
	}
}

// unverifiedFor returns how long the region's newest key has not been verified.
func (r *run) unverifiedFor(code v1alpha1.RegionCode) time.Duration {
	c := meta.FindStatusCondition(r.pass.Region(code).Conditions, v1alpha1.RegionKeysVerified)
	if c == nil || c.Status != metav1.ConditionFalse {
		return 0
	}
	return r.pass.Now.Sub(c.LastTransitionTime.Time)
}

// setKeyStatus lists a region's keys in its status.
func (r *run) setKeyStatus(code v1alpha1.RegionCode, states []keyring.KeyState) {
	r.pass.Region(code).ServerKeys = keyStatus(states)
}

func keyStatus(states []keyring.KeyState) []v1alpha1.KeyStatus {
	list := make([]v1alpha1.KeyStatus, 0, len(states))
	for _, state := range states[:min(len(states), maxKeysInStatus)] {
		key := v1alpha1.KeyStatus{ID: state.ID, State: state.State}
		if !state.NotAfter.IsZero() {
			key.NotAfter = &metav1.Time{Time: state.NotAfter.Truncate(time.Second)}
		}
		list = append(list, key)
	}
	return list
}
