//go:build recipe

package recipe

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFollow follows the recipe in a copy of the tree, and then leaves out each step to see the failure that the recipe quotes.
func TestFollow(t *testing.T) {
	steps, tree := read(t), newTree(t)
	for _, step := range steps {
		tree.write(t, step.Blocks...)
		for _, command := range step.Commands {
			output, err := tree.run(t, command)
			require.NoError(t, err, "%s: %s\n%s", step.Title, command, output)
		}
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

func (c tree) write(t *testing.T, blocks ...Block) {
	t.Helper()
	for _, b := range blocks {
		require.NoError(t, b.Write(c.root))
	}
}

// run runs a command of the recipe and returns its output.
func (c tree) run(t *testing.T, command string) (string, error) {
	t.Helper()
	t.Logf("%s", command)
	run := exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-euo", "pipefail", "-c", command)
	run.Dir = c.root
	output, err := run.CombinedOutput()
	return string(output), err
}

// generate generates code if a proto has changed.
func (c tree) generate(t *testing.T, steps ...Step) {
	t.Helper()
	for _, step := range steps {
		for _, command := range step.Commands {
			output, err := c.run(t, command)
			require.NoError(t, err, "%s\n%s", command, output)
		}
	}
}

// requireFailure leaves out a step, or a line of it, and restores the tree afterwards.
func (c tree) requireFailure(t *testing.T, step Step, f Failure) {
	t.Helper()
	for _, path := range Paths([]Step{step}) {
		path = filepath.Join(c.root, path)
		written, err := os.ReadFile(path)
		require.NoError(t, err)
		rest := string(written)
		for _, b := range step.Blocks {
			if f.Line == "" {
				rest = strings.Replace(rest, b.Text, "", 1)
			}
		}
		if f.Line != "" {
			rest = withoutLine(rest, f.Line, step)
		}
		require.NotEqual(t, string(written), rest)
		if rest == "" {
			require.NoError(t, os.Remove(path))
		} else {
			require.NoError(t, os.WriteFile(path, []byte(rest), 0o600))
		}
		defer func() {
			require.NoError(t, os.WriteFile(path, written, 0o600))
			c.generate(t, step)
		}()
	}
	c.generate(t, step)
	output, err := c.run(t, f.Command)
	require.Error(t, err, "%s passes without it", f.Command)
	require.Contains(t, output, f.Quote)
}

// withoutLine returns a file without a line of a block of a step.
func withoutLine(file, line string, step Step) string {
	for _, b := range step.Blocks {
		before, after, found := strings.Cut(b.Text, line)
		if !found {
			continue
		}
		before = before[:strings.LastIndex(before, "\n")+1]
		_, after, _ = strings.Cut(after, "\n")
		file = strings.Replace(file, b.Text, before+after, 1)
	}
	return file
}
