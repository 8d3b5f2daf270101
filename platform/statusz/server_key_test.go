package statusz_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/statusz"
)

// TestServerKeyDigest checks that a digest proves one key by its id, and answers one nonce only.
func TestServerKeyDigest(t *testing.T) {
	t.Parallel()
	nonce := strings.Repeat("n", statusz.MinNonce)
	hash := sha256.Sum256([]byte("key"))
	require.Equal(t, "4ac659c822d2ed14baa64baba42b6a93ddb2429e182d14057d83591100416cf8", statusz.ServerKeyDigest(hash, "k1", nonce))
	seen := map[string]bool{}
	for _, digest := range []string{
		statusz.ServerKeyDigest(hash, "k1", nonce),
		statusz.ServerKeyDigest(hash, "k2", nonce),
		statusz.ServerKeyDigest(hash, "k1", nonce+"n"),
		statusz.ServerKeyDigest(hash, "k", "1"+nonce),
		statusz.ServerKeyDigest(sha256.Sum256([]byte("another key")), "k1", nonce),
	} {
		require.Len(t, digest, 64)
		require.False(t, seen[digest])
		seen[digest] = true
	}
}

// TestEvacuatedHas looks for a region and the keys that its own servers accept.
func TestEvacuatedHas(t *testing.T) {
	t.Parallel()
	e := &statusz.Evacuated{Regions: []statusz.EvacuatedRegion{
		{Region: "us", ServerKeys: []statusz.Key{{ID: "a"}}}, {Region: "eu", ServerKeys: []statusz.Key{{ID: "b"}, {ID: "c"}}},
	}}
	for name, tc := range map[string]struct {
		region string
		keys   []string
		want   bool
	}{
		"without keys": {"eu", nil, true}, "one key": {"eu", []string{"c"}, true}, "all keys": {"eu", []string{"c", "b"}, true},
		"a key of another region": {"eu", []string{"b", "a"}, false}, "another region": {"sg", nil, false},
	} {
		require.Equal(t, tc.want, e.Has(tc.region, tc.keys), name)
	}
	e = nil
	require.False(t, e.Has("eu", nil))
}
