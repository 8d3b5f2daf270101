package export

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSafeName checks that the name of a file in an archive leads to no other folder.
func TestSafeName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a.txt": "a.txt", "x/a.txt": "a.txt", `x\a.txt`: "a.txt", "../../a.txt": "a.txt", `C:\..\a.txt`: "a.txt",
		"": "file", ".": "file", "..": "file", "/": "file", "x/..": "file", `x\..`: "file",
	} {
		require.Equal(t, want, safeName(name), name)
	}
}
