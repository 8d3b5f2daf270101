package controllers

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// secrets reads what the servers get from Secrets that people made, and lets the pods' templates follow their content.
func (Schema) secrets(ctx context.Context, w *World) (Outcome, bool) {
	names := []string{w.SN.Spec.Database.SecretRef.Name}
	if storage := w.SN.Spec.Storage; storage != nil && storage.SecretRef != nil {
		names = append(names, storage.SecretRef.Name)
	}
	secretKey, err := identityKey(ctx, w)
	if err != nil {
		return Unknown(v1alpha1.ReasonWaitingForKeys, "The network's identity could not be read: "+err.Error()), false
	}
	mac := hmac.New(sha256.New, secretKey)
	for i, name := range names {
		secret, err := w.UserSecret(ctx, name)
		if apierrors.IsNotFound(err) {
			return False(v1alpha1.ReasonSecretMissing, fmt.Sprintf("There is no Secret %s in the namespace; make it, and the network goes on by itself.", name)), false
		}
		if err != nil {
			return Unknown(v1alpha1.ReasonApplyFailed, err.Error()), false
		}
		if missing := missingURL(secret); i == 0 && missing != "" {
			return False(v1alpha1.ReasonSecretIncomplete, fmt.Sprintf("Secret %s has neither the key url nor the key %s.", name, missing)), false
		}
		addContent(mac, name, secret)
		w.hide(secret)
	}
	w.Network.SecretsFingerprint = hex.EncodeToString(mac.Sum(nil))
	return Outcome{}, true
}

// identityKey is what the fingerprint of Secrets is keyed with: nobody without the network's identity can try out contents.
func identityKey(ctx context.Context, w *World) ([]byte, error) {
	key := client.ObjectKey{Namespace: w.SN.Namespace, Name: render.IdentitySecret(w.SN.Name)}
	var identity corev1.Secret
	err := w.Cached.Get(ctx, key, &identity)
	if apierrors.IsNotFound(err) { // it was made a moment ago
		err = w.Fresh.Get(ctx, key, &identity)
	}
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, identity.Data[render.DirectoryKeyFile])
	_, _ = mac.Write([]byte("content of secrets"))
	return mac.Sum(nil), nil
}

// missingURL names the key that the database's Secret lacks for some home.
func missingURL(secret *corev1.Secret) string {
	if len(secret.Data["url"]) > 0 {
		return ""
	}
	for _, code := range []string{"us", "eu", "sg"} {
		if key := "url-" + code; len(secret.Data[key]) == 0 {
			return key
		}
	}
	return ""
}

// addContent writes a Secret's content in one order.
func addContent(mac io.Writer, name string, secret *corev1.Secret) {
	_, _ = fmt.Fprintf(mac, "%q", name)
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		_, _ = fmt.Fprintf(mac, "%q%q", key, secret.Data[key])
	}
}

// shortestHidden is how long a value has to be to be hidden: a shorter one, such as a port or a region, would be hidden in
// every other word.
const shortestHidden = 6

// hide lets no message show what a Secret holds: neither a value, nor the password within one that is a URL.
func (w *World) hide(secret *corev1.Secret) {
	for _, value := range secret.Data {
		hidden := []string{strings.TrimSpace(string(value))}
		if parsed, err := url.Parse(hidden[0]); err == nil && parsed.User != nil {
			if password, has := parsed.User.Password(); has {
				hidden = append(hidden, password, url.QueryEscape(password))
			}
		}
		for _, text := range hidden {
			if len(text) >= shortestHidden {
				w.hidden = append(w.hidden, text, "[secret]")
			}
		}
	}
}

// redact takes out of a text what must not be shown.
func (w *World) redact(text string) string { return strings.NewReplacer(w.hidden...).Replace(text) }
