package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// longValue is the size in bytes from which the cache holds the digest of a ConfigMap's value instead of the value.
const longValue = 256

// digestPrefix marks a digest that replaces a value.
const digestPrefix = "plaza.social/sha256:"

// TrimConfigMap is a transform of the cache that replaces long values, such as dashboards, by their digests. Digests
// are enough to detect changes, and the operator never reads the values.
func TrimConfigMap(object any) (any, error) {
	m, ok := object.(*corev1.ConfigMap)
	if !ok {
		return object, nil
	}
	for key, value := range m.Data {
		if len(value) >= longValue {
			m.Data[key] = digestOf(value)
		}
	}
	return m, nil
}

func digestOf(value string) string {
	sum := sha256.Sum256([]byte(value))
	return digestPrefix + hex.EncodeToString(sum[:])
}

func isDigest(value string) bool { return strings.HasPrefix(value, digestPrefix) }
