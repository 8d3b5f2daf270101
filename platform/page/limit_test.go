package page

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzLimit reads and changes the page size in arbitrary tokens.
func FuzzLimit(f *testing.F) {
	f.Add("", uint8(1))
	f.Add("AgEC", uint8(100))
	f.Add("eyJsaW1pdCI6MTB9", uint8(7))
	f.Fuzz(func(t *testing.T, token string, size uint8) {
		limit := 1 + int(size)%100
		limitOf(token)
		changed := withLimit(token, limit)
		if changed == "" {
			return // not a token of a list
		}
		require.Equal(t, limit, limitOf(changed))
		require.Equal(t, changed, withLimit(changed, limit))
	})
}
