package hostile

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFindingsHaveTests checks that the tests that README.md names exist.
func TestFindingsHaveTests(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	declared := map[string]bool{}
	platform := os.DirFS("..")
	declaration := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	require.NoError(t, fs.WalkDir(platform, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := fs.ReadFile(platform, path)
		for _, match := range declaration.FindAllSubmatch(content, -1) {
			declared[string(match[1])] = true
		}
		return err
	}))
	named := regexp.MustCompile("`(Test\\w+)`").FindAllSubmatch(readme, -1)
	require.NotEmpty(t, named)
	for _, match := range named {
		require.True(t, declared[string(match[1])], "%s does not exist", match[1])
	}
}
