//go:build recipe

package recipe

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFollow follows the recipe in a copy of the tree, and then leaves out each step to see the failure that the recipe quotes.
func TestFollow(t *testing.T) {
	steps, tree := read(t), newTree(t)
	for _, step := range steps {
		for _, block := range step.Blocks {
			require.NoError(t, block.Write(tree.root), step.Title)
		}
		tree.runAll(t, step)
	}
	for _, step := range steps {
		for _, failure := range step.Failures {
			t.Run(step.Title, func(t *testing.T) { tree.requireFailure(t, step, failure) })
		}
	}
}

// tree is a copy of the files of the repository.
type tree struct{ root string }

func newTree(t *testing.T) tree {
	t.Helper()
	c := tree{t.TempDir()}
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	require.NoError(t, err)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		c.copy(t, name)
	}
	return c
}

// copy copies a file, unless it has been deleted from the working tree.
func (c tree) copy(t *testing.T, name string) {
	t.Helper()
	from := filepath.Join(root, name)
	info, err := os.Stat(from)
	if os.IsNotExist(err) {
		return
	}
	require.NoError(t, err)
	content, err := os.ReadFile(from)
	require.NoError(t, err)
	to := filepath.Join(c.root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o700))
	require.NoError(t, os.WriteFile(to, content, info.Mode().Perm()))
}

// run runs a command of the recipe and returns its output.
func (c tree) run(t *testing.T, command string) (string, error) {
	t.Helper()
	t.Logf("%s", command)
	run := exec.CommandContext(context.WithoutCancel(t.Context()), // it also runs in cleanups
		"bash", "-euo", "pipefail", "-c", command)
	run.Dir = c.root
	output, err := run.CombinedOutput()
	return string(output), err
}

// runAll runs the commands of a step.
func (c tree) runAll(t *testing.T, step Step) {
	t.Helper()
	for _, command := range step.Commands {
		output, err := c.run(t, command)
		require.NoError(t, err, "%s: %s\n%s", step.Title, command, output)
	}
}

// requireFailure leaves out a step, or a line of it, until the test ends.
func (c tree) requireFailure(t *testing.T, step Step, f Failure) {
	t.Helper()
	t.Cleanup(func() { c.runAll(t, step) })
	for _, b := range step.Blocks {
		left := ""
		if f.Line != "" {
			left = withoutLine(b.Text, f.Line)
		}
		c.replace(t, b, left)
	}
	c.runAll(t, step)
	output, err := c.run(t, f.Command)
	require.Error(t, err, "%s passes without it", f.Command)
	require.Contains(t, output, f.Quote)
}

// replace replaces a block, with its file if nothing else is in it, until the test ends.
func (c tree) replace(t *testing.T, b Block, left string) {
	t.Helper()
	path := filepath.Join(c.root, b.Path)
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(written), b.Text)
	t.Cleanup(func() { require.NoError(t, os.WriteFile(path, written, 0o600)) })
	rest := strings.Replace(string(written), b.Text, left, 1)
	if rest == "" {
		require.NoError(t, os.Remove(path))
	} else {
		require.NoError(t, os.WriteFile(path, []byte(rest), 0o600))
	}
}

// withoutLine returns a text without the lines that are line.
func withoutLine(text, line string) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.TrimSpace(l) == line }), "")
}
