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
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
		r.out.SetCondition(metav1.ConditionUnknown, v1alpha1.ReasonWaitingForKeys, "The migration waits for the network's identity; see KeysReady.")
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
		secret, err := c.UserSecret(ctx, used.Name)
		switch {
		case apierrors.IsNotFound(err) && used.Optional:
			continue
		case apierrors.IsNotFound(err):
			r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonSecretMissing,
				fmt.Sprintf("Secret %s does not exist %s; the operator continues once it is created.", used.Name, c.Where()))
			r.out.RequeueAfter(missingInterval)
			return false
		case err != nil:
			r.out.SetCondition(metav1.ConditionUnknown, v1alpha1.ReasonApplyFailed, err.Error())
			return false
		}
		r.out.Watch(c, secret)
		r.pass.RedactSecret(secret)
		if missing := missingKey(secret, used, i == 0); missing != "" {
			r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonSecretIncomplete, fmt.Sprintf("Secret %s %s.", used.Name, missing))
			return false
		}
		if key, err := invalidURL(secret); i == 0 && err != nil {
			r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonSecretIncomplete, fmt.Sprintf("The key %s of Secret %s is not valid: %s.", key, used.Name, err))
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
	key := client.ObjectKey{Namespace: r.pass.SN.Namespace, Name: render.IdentitySecret(r.pass.SN.Name)}
	var identity corev1.Secret
	err := r.pass.Own().Cache.Get(ctx, key, &identity)
	if apierrors.IsNotFound(err) { // it has just been created or labelled
		err = r.pass.Own().APIReader.Get(ctx, key, &identity)
	}
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, identity.Data[keyring.DirectoryKeyFile])
	_, _ = mac.Write([]byte("content of secrets"))
	return mac.Sum(nil), nil
}

// missingInterval is how often a Secret that does not exist is looked for: it is not cached, because it has no label yet.
const missingInterval = 3 * time.Second

// missingKey returns what a Secret lacks, or "" if it is complete.
func missingKey(secret *corev1.Secret, used render.UsedSecret, isDatabase bool) string {
	if missing := missingURL(secret); isDatabase && missing != "" {
		return "has neither the key url nor the key " + missing
	}
	for _, key := range used.Keys {
		if isEmpty(secret, key) {
			return "has no key " + key
		}
	}
	return ""
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
