package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

const root = "../../"

// TestReadme compares the tables of controllers/README.md with the code.
func TestReadme(t *testing.T) {
	have, err := os.ReadFile(root + readmeFile)
	require.NoError(t, err)
	want, err := generate(string(have), root+reasonsFile)
	require.NoError(t, err)
	require.Equal(t, want, string(have), "run make generate")
	for line := range strings.Lines(want) {
		if path, found := strings.CutPrefix(line, "| ["); found && strings.Contains(line, "/runbooks/") {
			_, path, _ = strings.Cut(path, "](")
			path, _, _ = strings.Cut(path, ")")
			require.FileExists(t, root+"controllers/"+path)
		}
	}
}

// TestReasons checks that every constant has a row with its comment.
func TestReasons(t *testing.T) {
	table, err := reasonTable(root + reasonsFile)
	require.NoError(t, err)
	source, err := os.ReadFile(root + reasonsFile)
	require.NoError(t, err)
	require.Equal(t, strings.Count(string(source), " Reason = \""), strings.Count(table, "\n")-2)
	require.Contains(t, table, "| SchemaMigrated | `"+string(v1alpha1.ReasonMigrated)+
		"` | The database has the schema that the image needs. |\n")
	require.Contains(t, table, "|  | `"+string(v1alpha1.ReasonNotPaused)+"` | spec.paused is false. |\n")
	require.Contains(t, table, "| KeysReady; KeysVerified of a region; events about keys | `"+string(v1alpha1.ReasonKeysVerified)+"` | ")
	require.Contains(t, table, "|  | `"+string(v1alpha1.ReasonMigrating)+
		"` | A migration is running; regions keep their pods until it has completed. |\n")
}

func TestWrite(t *testing.T) {
	readme := filepath.Join(t.TempDir(), "README.md")
	require.NoError(t,
		os.WriteFile(readme, []byte("# A\n<!-- alerts -->\nwritten before\n<!-- /alerts -->\nb\n<!-- reasons -->\n<!-- /reasons -->\nc\n"),
			0o600))
	require.NoError(t, write(readme, root+reasonsFile))
	text, err := os.ReadFile(readme)
	require.NoError(t, err)
	require.NotContains(t, string(text), "written before")
	require.Contains(t, string(text), "# A\n<!-- alerts -->\n| alert ")
	require.Contains(t, string(text), "|\n<!-- /alerts -->\nb\n<!-- reasons -->\n| condition ")
	require.Contains(t, string(text), "|\n<!-- /reasons -->\nc\n")

	require.NoError(t, os.WriteFile(readme, []byte("no markers\n"), 0o600))
	require.ErrorContains(t, write(readme, root+reasonsFile), `controllers/README.md has no lines "<!-- alerts -->" and "<!-- /alerts -->"`)
	require.Error(t, write(readme+"x", root+reasonsFile))
	require.Error(t, write(readme, root+"README.md"))
}

// TestComments checks that a reason without a matching comment is an error.
func TestComments(t *testing.T) {
	for name, test := range map[string]struct{ source, want string }{
		"no comment":      {"\tReasonA Reason = \"A\"", `the comment of ReasonA does not begin with "ReasonA: "`},
		"another comment": {"\t// ReasonB: b.\n\tReasonA Reason = \"A\"", `the comment of ReasonA does not begin with "ReasonA: "`},
		"no literal":      {"\t// ReasonA: a.\n\tReasonA Reason = other", "ReasonA is not a literal"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "conditions.go")
			require.NoError(t, os.WriteFile(path, []byte("package a\n\n// Reasons of X.\nconst (\n"+test.source+"\n)\n"), 0o600))
			_, err := reasonTable(path)
			require.ErrorContains(t, err, test.want)
		})
	}
}
