package keys

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// recovery is the recovery Secret of a network: the operator's own copies of its keys, by the names of their sets.
type recovery struct {
	found *keysSecret
	// id is the id of the network whose keys these are; it is empty if there is no copy of the identity.
	id     string
	before map[string]keyring.Saved
	after  map[string]keyring.Saved // what the Secret should have
	broken bool
}

// readRecovery reads the recovery Secret. It reports whether it could be read: nothing may be created otherwise.
func (r *run) readRecovery(ctx context.Context) bool {
	name := render.RecoverySecret(r.pass.SN.Name)
	r.recovery = recovery{before: map[string]keyring.Saved{}, after: map[string]keyring.Saved{}}
	found, err := r.find(ctx, r.pass.Own(), name)
	if err != nil {
		r.problemf(v1alpha1.ReasonApplyFailed, "Secret %s could not be read: %s.", name, err)
		return false
	}
	r.recovery.found = found
	if found == nil {
		return true
	}
	for set := range found.secret.Data {
		saved, err := keyring.ParseSaved(found.file(set))
		if err != nil {
			r.recovery.broken = true
			r.problemf(v1alpha1.ReasonKeyFileBroken, "Secret %s, %s: %s. Restore it from a backup, or delete it to copy the present keys again.",
				name, set, err)
			continue
		}
		r.recovery.before[set] = saved
	}
	r.recovery.id = r.recovery.before[keyring.IdentitySet].Identity().NetworkID
	return true
}

// save records the content of a Secret, which was read and is valid, for the recovery Secret.
func (r *run) save(set string, found *keysSecret) {
	saved := keyring.Save(found.secret.Data, found.secret.Annotations)
	saved.Cluster = &found.cluster.Name
	r.recovery.after[set] = saved
}

// applyRecovery writes the recovery Secret: the keys that were read, and the copies of those that exist but could not be read or are
// invalid. The copies of another network are not replaced; see replaceIdentity.
func (r *run) applyRecovery() {
	if len(r.recovery.after) == 0 {
		return
	}
	isForeign := r.recovery.id != "" && r.recovery.id != r.id
	if isForeign && !r.isRefused() {
		r.problemf(v1alpha1.ReasonIdentityChanged,
			"Secret %s has keys of network %s, not of this one, which is %s, so that no copies of its keys are kept. Delete it if they are not "+
				"needed.",
			r.recovery.found.secret.Name, r.recovery.id, r.id)
	}
	if isForeign || r.recovery.broken {
		if r.recovery.found.isDeleted() && r.hasReadAll() {
			r.release(r.recovery.found)
		}
		return
	}
	data := map[string][]byte{}
	for set, saved := range r.recovery.before {
		if r.isKept(set) {
			data[set] = []byte(saved.Encode().Reveal())
		}
	}
	for set, saved := range r.recovery.after {
		data[set] = []byte(saved.Encode().Reveal())
	}
	own, sn := r.pass.Own(), r.pass.SN
	object := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: render.RecoverySecret(sn.Name), Namespace: own.Namespace(), Annotations: render.KeepAnnotations(),
			Finalizers: []string{v1alpha1.FinalizerKeys},
			Labels:     render.RecoveryLabels(sn.Name),
		},
		Type: corev1.SecretTypeOpaque,
		Data: data,
	}
	object.Annotations[keyring.AnnotationNetworkID] = r.id
	if r.recovery.found == nil {
		r.out.Apply(stage.Desired{Object: object, Mode: apply.CreateOnly, Cluster: own, IgnorePause: true})
		return
	}
	isComplete := len(r.released) == 0 && len(r.recovery.after) == len(data) // every Secret exists: the copies can be made again
	switch isDeleted := r.recovery.found.isDeleted(); {
	case isDeleted && isComplete:
		r.release(r.recovery.found)
	case isDeleted:
	case isComplete && r.hasOthers(data): // an update leaves what others wrote, such as kubectl plaza keys restore
		r.out.Deletions = append(r.out.Deletions, stage.Deletion{Object: r.recovery.found.secret, Cluster: own})
		r.out.RequeueAfter(restoredInterval)
	default:
		r.update(r.recovery.found, object, true)
	}
}

// hasReadAll reports whether this pass has read all sets of keys that exist.
func (r *run) hasReadAll() bool {
	for _, set := range append([]string{keyring.IdentitySet}, r.sets...) {
		if _, found := r.recovery.after[set]; !found && r.isKept(set) {
			return false
		}
	}
	return true
}

// hasOthers reports whether the recovery Secret has keys of other sets, such as those of a removed region.
func (r *run) hasOthers(data map[string][]byte) bool {
	for set := range r.recovery.before {
		if _, found := data[set]; !found {
			return true
		}
	}
	return false
}

// isKept reports whether a set of keys that was not read still belongs to the network. The server keys of a removed region do as long
// as they are retained.
func (r *run) isKept(set string) bool {
	code, isOfRegion := strings.CutPrefix(set, keyring.ServerKeysSet)
	if !isOfRegion {
		return true
	}
	region := v1alpha1.RegionCode(code)
	if r.pass.Network.Region(region) != nil {
		return r.pass.SN.Spec.ServerKeys.ExistingSecret == nil
	}
	// The retention is recorded at the end of the pass in which the region is gone, and by clusters that can be read.
	wasThere := slices.ContainsFunc(r.pass.SN.Status.Regions, func(s v1alpha1.RegionStatus) bool { return s.Code == region })
	if wasThere || r.pass.Unreadable() != nil {
		return true
	}
	return slices.ContainsFunc(r.pass.Status.RetainedKeys, func(k v1alpha1.RetainedKeys) bool { return k.Code == region })
}

// copyOf returns a copy of a set of keys of the network, and where it was found: in the recovery Secret, or in another cluster. The
// error is that of a cluster that could not be read.
func (r *run) copyOf(ctx context.Context, s keySet, id string) (keyring.Saved, string, error) {
	if saved, found := r.recovery.before[s.name]; found && r.recovery.id == id {
		return saved, "Secret " + render.RecoverySecret(r.pass.SN.Name), nil
	}
	for _, c := range r.pass.Usable() {
		if c == s.cluster {
			continue
		}
		found, err := refetch(ctx, c, s.secret)
		if err != nil {
			return keyring.Saved{}, "", fmt.Errorf("reading Secret %s %s: %w", s.secret, c.Where(), err)
		}
		if !found.has(s.file) || !r.isOurs(found) || found.networkID() != id {
			continue
		}
		return keyring.Save(found.secret.Data, found.secret.Annotations), c.Where(), nil
	}
	return keyring.Saved{}, "", nil
}

// isOurs reports whether a Secret has the labels of this network and no keys of another. The Secrets of a network of the operator in a
// member cluster do not name the namespace of an owner.
func (r *run) isOurs(found *keysSecret) bool {
	labels := found.secret.Labels
	isOfNamespace := found.cluster.Name == "" || labels[render.LabelOwnerNamespace] == r.pass.SN.Namespace
	return labels[render.LabelNetwork] == r.pass.SN.Name && isOfNamespace && r.foreign(found) == ""
}
