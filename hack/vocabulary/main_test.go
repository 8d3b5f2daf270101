package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPhrases(t *testing.T) {
	phrases, err := parsePhrases(phraseFile)
	require.NoError(t, err)
	require.NotEmpty(t, phrases)
	for _, p := range phrases {
		require.NotEmpty(t, p.instead, p)
		require.Empty(t, p.FindString("the plain English of this repository"), p)
	}
	_, err = parsePhrases("without a replacement")
	require.ErrorContains(t, err, `"without a replacement" has no =>`)
	_, err = parsePhrases("( => text")
	require.Error(t, err)
}

func TestCheck(t *testing.T) {
	phrases, err := parsePhrases("nobody => \"no user\"\nis over => \"has ended\"")
	require.NoError(t, err)
	for name, test := range map[string]struct {
		content string
		lines   []int
	}{
		"a.go":       {"package a // nobody\n\nvar nobody = \"\" // the call\n// is\n// over\nvar s = \"x\" + `\nis over`\n", []int{1, 4, 7}},
		"a.proto":    {"// nobody\nmessage Nobody {} // Nobody\nstring nobody = 1;\n", []int{1, 2}},
		"a.yaml":     {"nobody: 1 # nobody\n", []int{1}},
		"a.sh":       {"nobody\n# It is over.\n", []int{2}},
		"a.sql":      {"SELECT 'nobody'; -- nobody\n", []int{1}},
		"a.md":       {"This is\nover. Runs as `nobody`.\n", []int{1}},
		"Makefile":   {"x: ## For nobody.\n", []int{1}},
		"a.txt":      {"nobody\n", nil},
		"gen/a.go":   {"// nobody\n", nil},
		".git/a.md":  {"nobody\n", nil},
		"anybody.go": {"// busybody\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			file := filepath.Join(root, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
			require.NoError(t, os.WriteFile(file, []byte(test.content), 0o600))
			var lines []int
			require.NoError(t, check(root, phrases, func(f finding) {
				require.Equal(t, file, f.file)
				lines = append(lines, f.line)
			}))
			require.ElementsMatch(t, test.lines, lines)
		})
	}
	require.Equal(t, `a.go:3: "nobody": write "no user"`, finding{"a.go", 3, "nobody", `"no user"`}.String())
}

// TestRepository checks the whole repository.
func TestRepository(t *testing.T) {
	phrases, err := parsePhrases(phraseFile)
	require.NoError(t, err)
	require.NoError(t, check("../..", phrases, func(f finding) { t.Error(f) }))
}
