package keys

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
)

// keysSecret is an existing Secret with keys. A nil *keysSecret has no files and no annotations.
type keysSecret struct {
	secret *corev1.Secret
	cached bool // the cache holds it
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
func (r *run) find(ctx context.Context, name string) (*keysSecret, error) {
	found, err := get(ctx, r.pass.Cache, r.key(name))
	if err != nil || found != nil {
		return found, err
	}
	uncached, err := get(ctx, r.pass.APIReader, r.key(name))
	if err != nil || uncached == nil {
		return nil, err
	}
	uncached.cached = false
	r.out.Watch(uncached.secret)
	return uncached, nil
}

// refetch reads a cached Secret from the API server, before a decision that a stale copy must not drive.
func (r *run) refetch(ctx context.Context, name string) (*keysSecret, error) {
	return get(ctx, r.pass.APIReader, r.key(name))
}

func (r *run) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: r.pass.SN.Namespace, Name: name}
}

func get(ctx context.Context, reader client.Reader, key client.ObjectKey) (*keysSecret, error) {
	var secret corev1.Secret
	err := reader.Get(ctx, key, &secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &keysSecret{&secret, true}, nil
}

// object returns a Secret with keys. It outlives the network unless spec.deletionPolicy is Delete: then the network owns it,
// and it is garbage-collected together with the network.
func (r *run) object(name string, code v1alpha1.RegionCode, files map[string]keyring.Secret) *corev1.Secret {
	sn := r.pass.SN
	labels := render.Labels(sn.Name, render.ComponentKeys)
	if code != "" {
		labels = render.RegionLabels(sn.Name, render.ComponentKeys, code)
	}
	labels[render.LabelWatched] = "true"
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: sn.Namespace, Labels: labels},
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{},
	}
	for file, content := range files {
		secret.Data[file] = []byte(content.Reveal())
	}
	if sn.Spec.DeletionPolicy == v1alpha1.DeletionDelete {
		secret.OwnerReferences = []metav1.OwnerReference{render.OwnerReference(sn)}
	}
	return secret
}
