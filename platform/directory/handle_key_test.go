package directory

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

// FuzzHandleKey checks that a key does not depend on the form or case of ASCII letters, and is its own key.
func FuzzHandleKey(f *testing.F) {
	for _, handle := range []string{"", "alice", "ALICE", "аlice", "ａlice", "ſ", "İ", "ß", "ﬁ", "1l|I", "e\u0301", "rn", "\u0345"} {
		f.Add(handle)
	}
	f.Fuzz(func(t *testing.T, handle string) {
		key := handleKey(handle)
		require.Equal(t, key, handleKey(norm.NFD.String(handle)))
		require.Equal(t, key, handleKey(norm.NFC.String(handle)))
		lower := strings.Map(func(r rune) rune {
			if r >= 'A' && r <= 'Z' {
				return r + 'a' - 'A'
			}
			return r
		}, handle)
		require.Equal(t, key, handleKey(lower))
		require.Equal(t, key, handleKey(key))
	})
}
