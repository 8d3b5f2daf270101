package keys

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// copies keeps the Secrets that all regions read equal in every member cluster with regions. The network's own namespace has the
// originals; a copy is deleted together with the network.
func (r *run) copies(ctx context.Context) {
	var originals []*corev1.Secret
	for _, name := range render.SharedSecrets(r.pass.SN.Name) {
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
			r.out.Apply(stage.Desired{Object: copyIn(c, original), Cluster: c})
		}
	}
}

// copyIn returns a copy of a Secret in a member cluster.
func copyIn(c *stage.Cluster, original *corev1.Secret) *corev1.Secret {
	labels := render.Labels(c.Network.SN.Name, render.ComponentKeys)
	labels[render.LabelWatched] = "true"
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: original.Name, Namespace: c.Namespace(), Labels: labels},
		Type:       corev1.SecretTypeOpaque,
		Data:       original.Data,
	}
	c.Network.SetOwner(&secret.ObjectMeta)
	return secret
}
