package keys

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// keysSecret is an existing Secret with keys. A nil *keysSecret has no files and no annotations.
type keysSecret struct {
	secret  *corev1.Secret
	cluster *stage.Cluster
	cached  bool // the cache holds it
}

func (s *keysSecret) file(name string) keyring.Secret {
	if s == nil {
		return keyring.Secret{}
	}
	return keyring.NewSecret(string(s.secret.Data[name]))
}

func (s *keysSecret) annotations() map[string]string {
	if s == nil {
		return nil
	}
	return s.secret.Annotations
}

// find reads a Secret of the operator; it returns nil if there is none. A Secret that lost its label is missing from the
// cache but must not count as missing, so it is read from the API server and labelled again.
func (r *run) find(ctx context.Context, c *stage.Cluster, name string) (*keysSecret, error) {
	found, err := get(ctx, c, c.Cache, name)
	if err != nil || found != nil {
		return found, err
	}
	uncached, err := refetch(ctx, c, name)
	if err != nil || uncached == nil {
		return nil, err
	}
	uncached.cached = false
	r.out.Watch(c, uncached.secret)
	return uncached, nil
}

// refetch reads a cached Secret from the API server, before a decision that a stale copy must not drive.
func refetch(ctx context.Context, c *stage.Cluster, name string) (*keysSecret, error) {
	return get(ctx, c, c.APIReader, name)
}

func get(ctx context.Context, c *stage.Cluster, reader client.Reader, name string) (*keysSecret, error) {
	var secret corev1.Secret
	err := reader.Get(ctx, client.ObjectKey{Namespace: c.Namespace(), Name: name}, &secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &keysSecret{&secret, c, true}, nil
}

// object returns a Secret with keys. Nothing owns it, so that the garbage collector never deletes it, even if it was copied from another
// cluster: it outlives the network unless spec.deletionPolicy is Delete; see Delete.
func (r *run) object(c *stage.Cluster, name string, code v1alpha1.RegionCode, files map[string]keyring.Secret) *corev1.Secret {
	sn := r.pass.SN
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: c.Namespace(), Labels: render.KeyLabels(sn.Name, code), Annotations: render.KeepAnnotations(),
		},
		Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{},
	}
	secret.Annotations[keyring.AnnotationNetworkID] = r.id
	for file, content := range files {
		secret.Data[file] = []byte(content.Reveal())
	}
	if c.Name == "" {
		secret.Finalizers = []string{v1alpha1.FinalizerKeys}
	} else {
		secret.Labels[render.LabelOwnerNamespace] = sn.Namespace
	}
	return secret
}

// objectOf returns a Secret with the content that was saved of another.
func (r *run) objectOf(c *stage.Cluster, name string, code v1alpha1.RegionCode, saved keyring.Saved) *corev1.Secret {
	secret := r.object(c, name, code, saved.Files)
	maps.Copy(secret.Annotations, saved.Annotations)
	return secret
}
