package idempotency

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValidKey(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"": false, "a": true, "!~": true, "a b": false, "a\x7f": false, "é": false, "a\n": false,
		strings.Repeat("k", 255): true, strings.Repeat("k", 256): false,
	} {
		require.Equal(t, want, validKey(key), key)
	}
}

// FuzzValidKey checks that only visible ASCII characters are accepted.
func FuzzValidKey(f *testing.F) {
	f.Add("key-1")
	f.Add("\x00\xff é")
	f.Fuzz(func(t *testing.T, key string) {
		if !validKey(key) {
			return
		}
		require.LessOrEqual(t, len(key), 255)
		for _, b := range []byte(key) {
			require.True(t, b > 0x20 && b < 0x7f)
		}
	})
}

// TestOperations checks which operations take an Idempotency-Key.
func TestOperations(t *testing.T) {
	t.Parallel()
	outputs := newExecutor(t, &reader{}).operations
	for _, name := range []string{
		"PostService/CreatePost", "CommentService/CreateComment", "CommunityService/CreateCommunity",
		"MessageService/CreateMessage",
	} {
		require.Contains(t, outputs, "/plaza.v1."+name)
	}
	for _, name := range []string{"PostService/GetPost", "PostService/UpdatePost", "PostService/DeletePost"} {
		require.NotContains(t, outputs, "/plaza.v1."+name)
	}
}

// TestSecretAnswersAreKnown checks which operations with an Idempotency-Key have an answer with a secret.
func TestSecretAnswersAreKnown(t *testing.T) {
	t.Parallel()
	found := 0
	for procedure, operation := range newExecutor(t, &reader{}).operations {
		secret := false
		fields := operation.output.Descriptor().Fields()
		for i := range fields.Len() {
			secret = secret || strings.Contains(strings.ToLower(string(fields.Get(i).Name())), "secret")
		}
		require.Equal(t, secret, operation.secret, procedure)
		if secret {
			found++
		}
	}
	require.Equal(t, 1, found)
}
