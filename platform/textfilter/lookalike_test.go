package textfilter

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDisguisedWords checks that accents and letters of other scripts do not hide a word, and that words of other scripts
// are not mistaken for Latin ones.
func TestDisguisedWords(t *testing.T) {
	t.Parallel()
	list := &BlockList{}
	for regex, exact := range map[string]bool{"scam": true, "acc": true, "kurz": false, "сор": true, "burn out": false} {
		rule, err := CompileBlock(regex, exact)
		require.NoError(t, err)
		list.Add(rule)
	}
	for text, want := range map[string]bool{
		"a scam": true, "a sсam": true, "a sçám!": true, "ѕсаm": true, "Ｓcam": true, "s\u200bcam": true, "kürzer": true, "сор": true,
		"a búrn óut": true,
		"sс\u0301am": true, "my\nscam": true,
		"scams": false, "scan": false, "класс": false, "асс": false, "cop": false, "日本scаn": false, "": false,
	} {
		require.Equal(t, want, list.Refuses(text), "%q", text)
	}
}
