package schema

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestBackoff(t *testing.T) {
	for attempt, want := range map[int32]time.Duration{
		0: 30 * time.Second, 1: 30 * time.Second, 2: time.Minute, 3: 2 * time.Minute, 6: 16 * time.Minute, 7: 30 * time.Minute, 1 << 30: 30 * time.Minute,
	} {
		require.Equal(t, want, backoff(attempt), "attempt %d", attempt)
	}
}

func TestMissingURL(t *testing.T) {
	for want, keys := range map[string][]string{
		"": {"url"}, "url-us": {}, "url-eu": {"url-us", "url-sg"}, "url-sg": {"url-us", "url-eu"},
	} {
		secret := &corev1.Secret{Data: map[string][]byte{}}
		for _, key := range keys {
			secret.Data[key] = []byte("x")
		}
		require.Equal(t, want, missingURL(secret))
	}
	all := &corev1.Secret{Data: map[string][]byte{"url-us": {1}, "url-eu": {1}, "url-sg": {1}}}
	require.Empty(t, missingURL(all))
}
