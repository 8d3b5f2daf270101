package schema

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/dburl"
)

// readSecrets reads the Secrets that users created for the servers, in each cluster, and publishes their fingerprints, so that pod
// templates change with their content. It reports whether they are complete; otherwise it sets the condition.
func (r *run) readSecrets(ctx context.Context) bool {
	fingerprintKey, err := r.fingerprintKey(ctx)
	if err != nil {
		r.out.SetCondition(metav1.ConditionUnknown, v1alpha1.ReasonWaitingForKeys,
			"The migration waits for the network's identity; see KeysReady.")
		return false
	}
	r.out.Facts.SecretsFingerprints = map[*stage.Cluster]string{}
	for _, c := range r.pass.Usable() {
		if len(c.Network.Regions()) > 0 && !r.readSecretsIn(ctx, c, fingerprintKey) {
			return false
		}
	}
	return true
}

// readSecretsIn reads the Secrets in a cluster.
func (r *run) readSecretsIn(ctx context.Context, c *stage.Cluster, fingerprintKey []byte) bool {
	mac := hmac.New(sha256.New, fingerprintKey)
	for i, used := range render.UsedSecrets(&r.pass.SN.Spec, c.Network.Regions()) {
		if used.Optional {
			if _, err := c.UserSecret(ctx, used.Name); apierrors.IsNotFound(err) {
				continue
			}
		}
		secret := r.out.ReadSecret(ctx, r.pass, c, used.Name, "", used.Keys...)
		if secret == nil {
			return false
		}
		if missing := missingURL(secret); i == 0 && missing != "" {
			r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonSecretIncomplete,
				fmt.Sprintf("Secret %s has neither the key url nor the key %s.", used.Name, missing))
			return false
		}
		if key, err := invalidURL(secret); i == 0 && err != nil {
			r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonSecretIncomplete,
				fmt.Sprintf("The key %s of Secret %s is not valid: %s.", key, used.Name, err))
			return false
		}
		writeContent(mac, used.Name, secret)
	}
	r.out.Facts.SecretsFingerprints[c] = hex.EncodeToString(mac.Sum(nil))
	return true
}

// fingerprintKey returns the HMAC key of the fingerprint. It is derived from the network's identity, so that contents cannot be
// guessed from the fingerprint.
func (r *run) fingerprintKey(ctx context.Context) ([]byte, error) {
	identity, err := r.pass.Own().UserSecret(ctx, render.IdentitySecret(r.pass.SN.Name)) // it may have just been created or labelled
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, identity.Data[keyring.DirectoryKeyFile])
	_, _ = mac.Write([]byte("content of secrets"))
	return mac.Sum(nil), nil
}

// missingURL returns the first key that the database's Secret lacks, or "" if it is complete.
func missingURL(secret *corev1.Secret) string {
	if !isEmpty(secret, "url") {
		return ""
	}
	for _, code := range []string{"us", "eu", "sg"} {
		if key := "url-" + code; isEmpty(secret, key) {
			return key
		}
	}
	return ""
}

// isEmpty reports whether a Secret lacks a key, or has only white space in it.
func isEmpty(secret *corev1.Secret, key string) bool {
	return len(bytes.TrimSpace(secret.Data[key])) == 0
}

// invalidURL returns the first key of the database's Secret with a value that the platform refuses, and why.
func invalidURL(secret *corev1.Secret) (string, error) {
	for _, key := range render.DatabaseKeys() {
		if isEmpty(secret, key) {
			continue
		}
		if _, err := dburl.Parse(string(secret.Data[key])); err != nil {
			return key, err
		}
	}
	return "", nil
}

// writeContent writes a Secret's content in a fixed order.
func writeContent(w io.Writer, name string, secret *corev1.Secret) {
	_, _ = fmt.Fprintf(w, "%q", name)
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		_, _ = fmt.Fprintf(w, "%q%q", key, secret.Data[key])
	}
}
