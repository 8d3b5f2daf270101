package recipe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the repository.
const root = "../.."

// maxFiles is how many files a feature takes that are written by hand.
const maxFiles = 8

// read returns the steps of the recipe.
func read(t *testing.T) []Step {
	t.Helper()
	markdown, err := os.ReadFile(filepath.Join(root, Document))
	require.NoError(t, err)
	steps, err := Parse(string(markdown))
	require.NoError(t, err)
	return steps
}

// TestRecipeFits checks that every block of the recipe has a place in the tree, and how many files it takes.
func TestRecipeFits(t *testing.T) {
	t.Parallel()
	steps, below := read(t), t.TempDir()
	paths := Paths(steps)
	require.NotEmpty(t, paths)
	require.LessOrEqual(t, len(paths), maxFiles, "files that are written by hand")
	for _, path := range paths {
		copied := filepath.Join(below, filepath.FromSlash(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(copied), 0o700))
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		if !os.IsNotExist(err) {
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(copied, content, 0o600))
		}
		require.DirExists(t, filepath.Join(root, filepath.FromSlash(filepath.Dir(path))))
	}
	for _, step := range steps {
		for _, block := range step.Blocks {
			require.NoError(t, block.Write(below), step.Title)
		}
		require.True(t, len(step.Blocks) == 0 || len(step.Failures) > 0 || step.Title == steps[len(steps)-2].Title,
			"%s does not say what fails without it", step.Title)
	}
	require.NotEmpty(t, steps[len(steps)-1].Commands, "what must pass")
}

// TestParse reads each kind of block.
func TestParse(t *testing.T) {
	t.Parallel()
	markdown := strings.ReplaceAll(`# Title

Create 'ignored':

## 1. A step

What it is for.
Two lines.

Create 'a/b.go':

'''go
package b
'''

In 'c.go', after the line
'x {':

'''go
	y
'''

Append to 'd':

'''proto
z
'''

Then run it:

'''sh
make it
'''

Without the line 'y', 'make test' fails:
'no y'.

Without this step, 'make' fails: 'no b'.

## What must pass
`, "'", "`")
	steps, err := Parse(markdown)
	require.NoError(t, err)
	require.Equal(t, []Step{
		{
			Title: "1. A step",
			Blocks: []Block{
				{Path: "a/b.go", Whole: true, Text: "package b\n"}, {Path: "c.go", After: "x {", Text: "\ty\n"}, {Path: "d", Text: "z\n"},
			},
			Commands: []string{"make it"},
			Failures: []Failure{{"y", "make test", "no y"}, {"", "make", "no b"}},
		},
		{Title: "What must pass"},
	}, steps)
	require.Equal(t, []string{"a/b.go", "c.go", "d"}, Paths(steps))
	for name, wrong := range map[string]string{
		"does not say where":         "## 1\n\nSomewhere:\n\n```go\nx\n```\n",
		"does not end":               "## 1\n\nCreate `x`:\n\n```go\nx\n",
		"does not say which command": "## 1\n\nWithout this step, it fails.\n",
	} {
		_, err := Parse(wrong)
		require.ErrorContains(t, err, name)
	}
}

// TestWrite puts blocks into files.
func TestWrite(t *testing.T) {
	t.Parallel()
	below := t.TempDir()
	block := Block{Path: "a", Whole: true, Text: "one\n\ttwo\n"}
	require.NoError(t, block.Write(below))
	require.ErrorContains(t, block.Write(below), "a exists already")
	require.NoError(t, Block{Path: "a", After: "two", Text: "three\n"}.Write(below))
	require.ErrorContains(t, Block{Path: "a", After: "four", Text: "five\n"}.Write(below), "a has no line four")
	require.NoError(t, Block{Path: "a", Text: "end\n"}.Write(below))
	require.Error(t, Block{Path: "b", Text: "end\n"}.Write(below))
	written, err := os.ReadFile(filepath.Join(below, "a"))
	require.NoError(t, err)
	require.Equal(t, "one\n\ttwo\nthree\nend\n", string(written))
}
