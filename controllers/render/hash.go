package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// TemplateHash returns a hash of a Deployment's pod template as 64 hexadecimal characters.
func TemplateHash(d *appsv1.Deployment) string { return hashOf(d.Spec.Template) }

// ConfigurationHash returns a hash, as 64 hexadecimal characters, of what a region's pods read once, at startup: the
// configuration file, and the Secrets that become environment variables. It does not include keys and moderation
// settings, which a running server reads again. It is the value of AnnotationConfiguration.
func ConfigurationHash(n Network, r *v1alpha1.Region) string {
	return hashOf(struct {
		File    string `json:"file"`
		Secrets string `json:"secrets,omitempty"`
	}{Configuration(n, r), n.SecretsFingerprint})
}

// hashOf returns the SHA-256 of v as JSON, in which maps are ordered by key.
func hashOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("render: " + err.Error()) // a programming error: only plain structs are hashed
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
