package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// TemplateHash returns a hash of a Deployment's pod template, in 64 hexadecimal characters. Two templates with the same hash
// are the same to the last byte.
func TemplateHash(d *appsv1.Deployment) string { return hashOf(d.Spec.Template) }

// ConfigurationHash returns the hash of what a region's pods read once, at their start, in 64 hexadecimal characters: the
// configuration file, and the Secrets that become variables. Keys and moderation settings are read again while a server
// runs, and are not in it. It is the value of AnnotationConfiguration.
func ConfigurationHash(n Network, r *v1alpha1.Region) string {
	return hashOf(struct {
		File    string `json:"file"`
		Secrets string `json:"secrets,omitempty"`
	}{Configuration(n, r), n.SecretsFingerprint})
}

// hashOf returns the SHA-256 of v as JSON, which writes maps in the order of their keys.
func hashOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("render: " + err.Error()) // a programming error: what is hashed here are plain structs
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
