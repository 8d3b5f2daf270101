package controllers

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
)

// keysSecret is a Secret with keys that is there.
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

// find reads a Secret; nil where there is none. One that lost its label is not in the cache, and must not count as missing.
func (k *keysPass) find(ctx context.Context, name string) (*keysSecret, error) {
	var secret corev1.Secret
	err := k.w.Cached.Get(ctx, client.ObjectKey{Namespace: k.w.SN.Namespace, Name: name}, &secret)
	if err == nil {
		return &keysSecret{&secret, true}, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, err
	}
	unseen, err := k.w.UserSecret(ctx, name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &keysSecret{unseen, false}, nil
}

// again reads a Secret from the API server, before something is decided upon what the cache holds.
func (k *keysPass) again(ctx context.Context, name string, cached bool) (*keysSecret, error) {
	var secret corev1.Secret
	err := k.w.Fresh.Get(ctx, client.ObjectKey{Namespace: k.w.SN.Namespace, Name: name}, &secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &keysSecret{&secret, cached}, nil
}

// object is a Secret with keys as it should be. It outlives the network unless the spec says otherwise: then the network
// owns it, and it is collected with it.
func (k *keysPass) object(name string, code v1alpha1.RegionCode, files map[string]keyring.Secret) *corev1.Secret {
	sn := k.w.SN
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

// list writes names as a person would: eu, sg and us.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
