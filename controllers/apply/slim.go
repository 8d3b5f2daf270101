package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// longValue is the size in bytes from which a value of a ConfigMap is kept in the cache as its digest.
const longValue = 256

// digestPrefix begins a digest that stands for a value. A value that looks like one by itself is compared as it is.
const digestPrefix = "plaza.social/sha256:"

// SlimConfigMap is a transform of the cache: it keeps the digests of long values, such as dashboards, in place of the values.
// That is enough to see whether they are as they should be, and the operator never needs to read them.
func SlimConfigMap(object any) (any, error) {
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
