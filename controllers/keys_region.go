package controllers

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
)

const (
	// verifyEvery is how often servers are asked about a key that not all of them accept yet.
	verifyEvery = 5 * time.Second
	// stuckAfter is how long that may take before a person should look.
	stuckAfter = 10 * time.Minute
	// defaultOverlap is for a spec that was made without the CRD's defaults.
	defaultOverlap = time.Hour
	// maxKeysShown is how many keys a status lists.
	maxKeysShown = 20
)

// regions goes on with each region's server keys.
func (k *keysPass) regions(ctx context.Context) {
	status := &k.w.Status.ServerKeys
	*status = v1alpha1.ServerKeysStatus{}
	for i := range k.w.SN.Spec.Regions {
		code := k.w.SN.Spec.Regions[i].Code
		if k.w.SN.Spec.ServerKeys.ExistingSecret != nil {
			k.existing(ctx, code)
			continue
		}
		result, ok := k.managed(ctx, code)
		if !ok {
			continue
		}
		status.LastRotation = earliest(status.LastRotation, result.LastRotation)
		status.NextRotation = earliest(status.NextRotation, result.NextRotation)
	}
}

func earliest(a *metav1.Time, b time.Time) *metav1.Time {
	if b.IsZero() || (a != nil && !b.Before(a.Time)) {
		return a
	}
	return &metav1.Time{Time: b.Truncate(time.Second)}
}

// existing looks at the Secret that the spec names: its keys are shown and verified, and its owner rotates them.
func (k *keysPass) existing(ctx context.Context, code v1alpha1.RegionCode) {
	name := k.w.SN.Spec.ServerKeys.ExistingSecret.Name
	k.w.Region(code).ServerKeys = nil
	secret, err := k.w.UserSecret(ctx, name)
	if err != nil {
		if apierrors.IsNotFound(err) {
			k.regionFails(code, v1alpha1.ReasonSecretMissing, fmt.Sprintf("There is no Secret %s in the namespace; make it, and the network goes on by itself.", name))
			return
		}
		k.regionFails(code, v1alpha1.ReasonApplyFailed, fmt.Sprintf("Secret %s could not be read: %s.", name, err))
		return
	}
	found := &keysSecret{secret: secret}
	if len(secret.Data[keyring.ServerKeysFile]) == 0 {
		k.regionFails(code, v1alpha1.ReasonSecretIncomplete, fmt.Sprintf("Secret %s has no key %s.", name, keyring.ServerKeysFile))
		return
	}
	states, candidate, err := keyring.Existing(found.file(keyring.ServerKeysFile), k.w.Now)
	if err != nil {
		k.regionFails(code, v1alpha1.ReasonKeyFileBroken, fmt.Sprintf("Secret %s, %s: %s.", name, keyring.ServerKeysFile, err))
		return
	}
	k.show(code, states)
	for _, state := range states {
		if !state.NotAfter.IsZero() {
			k.out.Within(state.NotAfter.Sub(k.w.Now))
		}
	}
	k.tellVerified(code, k.verify(ctx, code, candidate), candidate.ID)
}

// managed goes on with the state machine of a region's keys. What the cache holds is enough to find nothing to do; what
// changes something is decided upon what the API server has.
func (k *keysPass) managed(ctx context.Context, code v1alpha1.RegionCode) (keyring.Result, bool) {
	name := render.ServerKeysSecret(k.w.SN.Name, code)
	found, err := k.find(ctx, name)
	if err != nil {
		k.regionFails(code, v1alpha1.ReasonApplyFailed, fmt.Sprintf("Secret %s could not be read: %s.", name, err))
		return keyring.Result{}, false
	}
	result, v, err := k.step(ctx, code, found)
	if err == nil && result.Changed && found != nil && found.cached {
		if found, err = k.again(ctx, name, true); err == nil {
			result, v, err = k.step(ctx, code, found)
		}
	}
	if err != nil {
		reason := v1alpha1.ReasonApplyFailed
		if isBroken(err) {
			reason = v1alpha1.ReasonKeyFileBroken
		}
		k.w.Region(code).ServerKeys = nil
		k.regionFails(code, reason, fmt.Sprintf("Secret %s, %s: %s.", name, keyring.ServerKeysFile, err))
		return keyring.Result{}, false
	}
	k.write(code, name, found, result)
	k.tell(code, name, result, v)
	return result, true
}

// step asks the servers about the newest key, and lets the state machine decide.
func (k *keysPass) step(ctx context.Context, code v1alpha1.RegionCode, found *keysSecret) (keyring.Result, verification, error) {
	file := found.file(keyring.ServerKeysFile)
	candidate, known, err := keyring.Candidate(file, found.annotations())
	if err != nil {
		return keyring.Result{}, verification{}, err
	}
	var v verification
	if known {
		v = k.verify(ctx, code, candidate)
	}
	spec := k.w.SN.Spec.ServerKeys
	in := keyring.Input{
		Content: file, Annotations: found.annotations(),
		RotateEvery: keyring.DefaultRotateEvery, Overlap: durationOf(spec.Overlap, defaultOverlap),
		Now: k.w.Now, Random: k.Random, Request: k.w.SN.Annotations[v1alpha1.AnnotationRotate], Paused: k.w.SN.Spec.Paused || (found != nil && !found.cached), // what cannot be written yet is not decided either
	}
	if spec.RotateEvery != nil {
		in.RotateEvery = durationOf(*spec.RotateEvery, keyring.DefaultRotateEvery)
	}
	if v.all() {
		in.Verified = candidate.ID
	}
	result, err := keyring.Step(in)
	return result, v, err
}

func durationOf(d v1alpha1.Duration, otherwise time.Duration) time.Duration {
	if parsed, err := time.ParseDuration(string(d)); err == nil && parsed > 0 {
		return parsed
	}
	return otherwise
}

// write brings the Secret to what the state machine decided. A revocation is not held up by a pause.
func (k *keysPass) write(code v1alpha1.RegionCode, name string, found *keysSecret, result keyring.Result) {
	object := k.object(name, code, map[string]keyring.Secret{keyring.ServerKeysFile: result.Content})
	object.Annotations = result.Annotations
	var with *Desired
	switch {
	case found == nil && result.Changed:
		with = k.create(object)
	case found != nil && !found.cached:
		k.out.Within(time.Second)
		return
	case found != nil:
		with = k.keep(found, object, result.Changed && k.w.SN.Spec.Paused)
	}
	for _, event := range result.Events {
		k.happenedf(with, reasonOf[event.Type], "region %s: %s", code, event)
	}
	for _, event := range result.Waits {
		k.out.Pending = append(k.out.Pending, fmt.Sprintf("change Secret %s: %s", name, event))
	}
}

var reasonOf = map[keyring.EventType]v1alpha1.Reason{
	keyring.Created:         v1alpha1.ReasonKeysCreated,
	keyring.RotationStarted: v1alpha1.ReasonRotationStarted,
	keyring.KeyAdopted:      v1alpha1.ReasonKeyAdopted,
	keyring.KeyActivated:    v1alpha1.ReasonKeyActivated,
	keyring.KeyRetiring:     v1alpha1.ReasonKeyRetiring,
	keyring.KeyRevoked:      v1alpha1.ReasonKeyRevoked,
}

// tell fills in the status of a region's keys.
func (k *keysPass) tell(code v1alpha1.RegionCode, name string, result keyring.Result, v verification) {
	k.show(code, result.Keys)
	if !result.Due.IsZero() {
		k.out.Within(max(result.Due.Sub(k.w.Now), time.Second))
	}
	pending, active := "", ""
	for _, key := range result.Keys {
		switch key.State {
		case v1alpha1.KeyPending:
			pending = key.ID
		case v1alpha1.KeyActive:
			active = key.ID
		case v1alpha1.KeyRetiring:
		}
	}
	switch {
	case pending == "" && active == "":
		k.regionFails(code, v1alpha1.ReasonPausedBySpec, fmt.Sprintf("Secret %s gets its first key when spec.paused is false.", name))
	case pending != "":
		if v.id != pending {
			v = k.unasked(code, pending)
		}
		k.tellPending(code, v, active != "", pending)
	default:
		k.tellVerified(code, v, active)
	}
}

// tellPending says that a key waits for servers.
func (k *keysPass) tellPending(code v1alpha1.RegionCode, v verification, rotation bool, id string) {
	reason, message := v.says(v1alpha1.ReasonKeyPending)
	if rotation && len(k.w.Reports[code]) > 0 {
		reason = v1alpha1.ReasonRotationUnderWay
	}
	stuck := k.notVerifiedFor(code) > stuckAfter && reason != v1alpha1.ReasonNoServers
	if !stuck && len(k.w.Reports[code]) > 0 {
		k.out.Within(verifyEvery)
	}
	switch {
	case stuck && rotation:
		reason = v1alpha1.ReasonRotationStuck
	case stuck && reason == v1alpha1.ReasonKeyPending:
		reason = v1alpha1.ReasonKeyNotAccepted
	}
	message = fmt.Sprintf("The new server key %s: %s", id, message)
	k.out.RegionCondition(code, v1alpha1.RegionKeysVerified, metav1.ConditionFalse, reason, message)
	if rotation && !stuck {
		k.rotating = append(k.rotating, string(code))
		return
	}
	k.foundf(reason, "Region %s: %s", code, message)
}

// tellVerified says whether the key to use is accepted.
func (k *keysPass) tellVerified(code v1alpha1.RegionCode, v verification, id string) {
	if v.all() {
		k.out.RegionCondition(code, v1alpha1.RegionKeysVerified, metav1.ConditionTrue, v1alpha1.ReasonKeysVerified,
			fmt.Sprintf("The server key %s is accepted by %s.", id, servers(len(v.answers))))
		return
	}
	reason, message := v.says(v1alpha1.ReasonKeyNotAccepted)
	if reason != v1alpha1.ReasonNoServers {
		k.out.Within(verifyEvery)
	}
	message = fmt.Sprintf("The server key %s: %s", id, message)
	k.regionFails(code, reason, message)
}

// regionFails says that a region has no key that is known to be accepted.
func (k *keysPass) regionFails(code v1alpha1.RegionCode, reason v1alpha1.Reason, message string) {
	k.out.RegionCondition(code, v1alpha1.RegionKeysVerified, metav1.ConditionFalse, reason, message)
	k.foundf(reason, "Region %s: %s", code, message)
}

// notVerifiedFor is how long the region's newest key has waited for servers.
func (k *keysPass) notVerifiedFor(code v1alpha1.RegionCode) time.Duration {
	c := meta.FindStatusCondition(k.w.Region(code).Conditions, v1alpha1.RegionKeysVerified)
	if c == nil || c.Status != metav1.ConditionFalse {
		return 0
	}
	return k.w.Now.Sub(c.LastTransitionTime.Time)
}

// show lists a region's keys in the status.
func (k *keysPass) show(code v1alpha1.RegionCode, states []keyring.KeyState) {
	shown := make([]v1alpha1.KeyStatus, 0, len(states))
	for _, state := range states[:min(len(states), maxKeysShown)] {
		key := v1alpha1.KeyStatus{ID: state.ID, State: state.State}
		if !state.NotAfter.IsZero() {
			key.NotAfter = &metav1.Time{Time: state.NotAfter.Truncate(time.Second)}
		}
		shown = append(shown, key)
	}
	k.w.Region(code).ServerKeys = shown
}
