package keys

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// isDeleted reports whether a Secret was deleted, and only its finalizer keeps it.
func (s *keysSecret) isDeleted() bool { return s != nil && !s.secret.DeletionTimestamp.IsZero() }

// releaseDeleted lets a deleted Secret go if the recovery Secret has its keys, or if they are not valid; a later pass restores it.
// It reports whether the Secret is deleted: then nothing else is done with it.
func (r *run) releaseDeleted(s keySet, found *keysSecret, isValid bool) bool {
	if !found.isDeleted() {
		return false
	}
	_, isSaved := r.recovery.before[s.name]
	isSaved = isSaved && (r.id == "" || r.recovery.id == r.id)
	if !isValid && found.has(s.file) && !isSaved {
		return false // it may be repaired by hand, and nothing else is left
	}
	r.missingf(s, v1alpha1.ReasonProgressing, "Secret %s was deleted; it is restored from its copy.", s.secret)
	r.out.RequeueAfter(restoredInterval)
	copied := r.recovery.id == r.id && isEqual(r.recovery.before[s.name], keyring.Save(found.secret.Data, nil))
	if isValid && !copied {
		return true // until it is copied
	}
	r.release(found)
	return true
}

// releaseRemoved lets the deleted Secrets with server keys go that the spec does not ask for: they were deleted on purpose.
func (r *run) releaseRemoved(ctx context.Context) {
	for _, code := range v1alpha1.RegionCodes() {
		if r.pass.Network.Region(code) != nil && r.pass.SN.Spec.ServerKeys.ExistingSecret == nil {
			continue
		}
		found, err := get(ctx, r.pass.Own(), r.pass.Own().Cache, render.ServerKeysSecret(r.pass.SN.Name, code))
		if err == nil && found.isDeleted() && r.isOurs(found) {
			r.release(found)
		}
	}
}

func (r *run) release(found *keysSecret) {
	r.released = append(r.released, found.secret.Name)
	r.out.Released = append(r.out.Released, stage.Deletion{Object: found.secret, Cluster: found.cluster})
}

// isEqual reports whether both have the same files.
func isEqual(a, b keyring.Saved) bool {
	return maps.EqualFunc(a.Files, b.Files, keyring.Secret.Equal)
}

// Delete deletes the Secrets with the keys of a network in a cluster, as spec.deletionPolicy says, and returns how many are left, which
// have finalizers of others.
func Delete(ctx context.Context, c *stage.Cluster) (int, error) {
	found, err := list(ctx, c, c.APIReader, c.Network.SN.Namespace, c.Network.SN.Name)
	if err != nil {
		return 0, err
	}
	applier, left := apply.Applier{Client: c.Client, APIReader: c.APIReader}, 0
	for i := range found {
		secret := &found[i]
		if err := applier.Release(ctx, secret, v1alpha1.FinalizerKeys); err != nil {
			return 0, err
		}
		if err := applier.Delete(ctx, secret); err != nil {
			return 0, err
		}
		if slices.ContainsFunc(secret.Finalizers, func(f string) bool { return f != v1alpha1.FinalizerKeys }) {
			left++
		}
	}
	return left, nil
}

// ReleaseDeleted lets the deleted Secrets go that have the keys of a network that does not exist in the operator's cluster.
func ReleaseDeleted(ctx context.Context, cluster client.Client, network client.ObjectKey) error {
	c := &stage.Cluster{Client: cluster}
	c.Network.SN = &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Name: network.Name, Namespace: network.Namespace}}
	found, err := list(ctx, c, cluster, network.Namespace, network.Name)
	if err != nil {
		return err
	}
	for i := range found {
		if found[i].DeletionTimestamp.IsZero() {
			continue
		}
		if err := (apply.Applier{Client: cluster}).Release(ctx, &found[i], v1alpha1.FinalizerKeys); err != nil {
			return err
		}
	}
	return nil
}

// list lists the Secrets with the keys of a network in a cluster.
func list(ctx context.Context, c *stage.Cluster, reader client.Reader, namespace, network string) ([]corev1.Secret, error) {
	keys := client.MatchingLabels{render.LabelNetwork: network, render.LabelComponent: string(render.ComponentKeys)}
	if c.Name != "" {
		keys[render.LabelOwnerNamespace] = namespace
	}
	var found []corev1.Secret
	all := []client.MatchingLabels{keys}
	if c.Name == "" {
		all = append(all, client.MatchingLabels{render.LabelRecoveryOf: network})
	}
	for _, labels := range all {
		var secrets corev1.SecretList
		if err := reader.List(ctx, &secrets, client.InNamespace(c.Namespace()), labels); err != nil {
			return nil, fmt.Errorf("listing the Secrets with keys %s: %w", c.Where(), err)
		}
		found = append(found, secrets.Items...)
	}
	return found, nil
}
