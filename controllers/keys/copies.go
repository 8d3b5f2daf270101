package keys

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// copies keeps the Secrets that all regions read equal in every member cluster with regions. The network's own namespace has the
// originals; the copies are kept and deleted with them.
func (r *run) copies(ctx context.Context) {
	var originals []*corev1.Secret
	for i, name := range render.SharedSecrets(r.pass.SN.Name) {
		if _, isValid := r.recovery.after[[]string{keyring.IdentitySet, keyring.SigningKeysSet, keyring.APIKeysSet}[i]]; !isValid {
			continue // the copies may be all that is left
		}
		found, err := get(ctx, r.pass.Own(), r.pass.Own().Cache, name)
		if err != nil {
			r.problemf(v1alpha1.ReasonApplyFailed, "Secret %s could not be read: %s.", name, err)
			return
		}
		if found != nil {
			originals = append(originals, found.secret)
		}
	}
	for _, c := range r.pass.Usable() {
		if c == r.pass.Own() || len(c.Network.Regions()) == 0 {
			continue
		}
		for _, original := range originals {
			r.copyTo(ctx, c, original)
		}
	}
}

// copyTo writes a copy in a member cluster. A copy of the keys of another network is never replaced: they may be the last.
func (r *run) copyTo(ctx context.Context, c *stage.Cluster, original *corev1.Secret) {
	live, err := get(ctx, c, c.Cache, original.Name)
	if err != nil {
		r.problemf(v1alpha1.ReasonApplyFailed, "Secret %s could not be read %s: %s.", original.Name, c.Where(), err)
		return
	}
	if foreign := r.foreign(live); foreign != "" {
		r.problemf(v1alpha1.ReasonIdentityChanged, "Secret %s %s belongs to another network%s. It is never replaced.", original.Name, c.Where(),
			foreign)
		return
	}
	r.out.Apply(stage.Desired{Object: r.objectOf(c, original.Name, "", keyring.Save(original.Data, original.Annotations)), Cluster: c})
}
