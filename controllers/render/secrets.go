package render

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// UsedSecret is a Secret of a user that pods read at startup, so that they restart when it changes.
type UsedSecret struct {
	Name string
	// Keys are those that it must have.
	Keys []string
	// Optional reports whether it may be missing.
	Optional bool
}

// UsedSecrets returns the Secrets that the spec names and the pods of some regions read at startup: first that of the database, then
// the others, each once.
func UsedSecrets(spec *v1alpha1.SocialNetworkSpec, regions []*v1alpha1.Region) []UsedSecret {
	used := []UsedSecret{{Name: spec.Database.SecretRef.Name}}
	add := func(ref *v1alpha1.LocalSecretReference, keys ...string) {
		if ref != nil {
			used = addSecret(used, UsedSecret{Name: ref.Name, Keys: keys})
		}
	}
	if spec.Storage != nil {
		add(spec.Storage.SecretRef)
	}
	if tls := spec.Database.TLS; tls != nil {
		add(tls.CASecretRef, CAFile)
		add(tls.ClientSecretRef, corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
		add(tls.OwnerSecretRef, corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	}
	if push := spec.Push; push != nil {
		if push.FCM != nil {
			add(&push.FCM.CredentialsSecretRef, FCMKey)
		}
		if push.APNs != nil {
			add(&push.APNs.KeySecretRef, APNsKey)
		}
		if push.Web != nil {
			add(&push.Web.KeySecretRef, WebPushKey)
		}
	}
	if spec.Server != nil && spec.Server.Media != nil {
		add(spec.Server.Media.KeySecretRef, MediaKey)
	}
	for _, region := range regions {
		for _, env := range region.Env {
			if env.ValueFrom == nil || env.ValueFrom.SecretKeyRef == nil {
				continue
			}
			ref := env.ValueFrom.SecretKeyRef
			one := UsedSecret{Name: ref.Name, Optional: ref.Optional != nil && *ref.Optional}
			if !one.Optional {
				one.Keys = []string{ref.Key}
			}
			used = addSecret(used, one)
		}
	}
	return used
}

// addSecret adds a Secret, or what is required of it to an entry that exists.
func addSecret(used []UsedSecret, one UsedSecret) []UsedSecret {
	i := slices.IndexFunc(used, func(u UsedSecret) bool { return u.Name == one.Name })
	if i < 0 {
		return append(used, one)
	}
	used[i].Optional = used[i].Optional && one.Optional
	for _, key := range one.Keys {
		if !slices.Contains(used[i].Keys, key) {
			used[i].Keys = append(used[i].Keys, key)
		}
	}
	return used
}
