package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
)

const importExample = "../../service/importer/testdata/example.jsonl"

// importInto returns a function that runs plaza import on a new network.
func importInto(t *testing.T) func(args ...string) (code int, stderr string) {
	t.Helper()
	settings := []string{"--database-url", testdb.New(t), "--network-id", strings.Repeat("a", 24), "--directory-key", strings.Repeat("k", 32)}
	code, _, stderr := plaza(t, append([]string{"migrate", "up"}, settings...)...)
	require.Zero(t, code, stderr)
	return func(args ...string) (int, string) {
		code, stdout, stderr := plaza(t, append(append([]string{"import", "--region", "eu"}, settings...), args...)...)
		require.Empty(t, stdout)
		return code, stderr
	}
}

// writeLines writes lines to a new file and returns its path.
func writeLines(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lines.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	return path
}

func TestImport(t *testing.T) {
	run := importInto(t)
	for _, counts := range []string{"done: 15 rows imported, 0 existed, 0 rejected", "done: 0 rows imported, 15 existed, 0 rejected"} {
		code, stderr := run(importExample)
		require.Zero(t, code, stderr)
		require.Contains(t, stderr, counts)
		require.Contains(t, stderr, "next: run the servers of all regions")
	}
	code, stderr := run("--from", "15", importExample)
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "done: 0 rows imported, 1 existed")

	const good, bad, last = `{"type":"user","userId":"dora"}`, `{"type":"user","userId":"dora","data":{"age":7}}`,
		`{"type":"user","userId":"eve"}`
	path := writeLines(t, good, bad, last)
	code, stderr = run(importExample, path)
	require.Equal(t, exitError, code)
	require.Contains(t, stderr, "stopped: 1 rows imported, 15 existed, 0 rejected")
	require.Contains(t, stderr, "next: plaza import --from 2 "+path+"\n")
	require.Contains(t, stderr, "plaza: "+path+":2: data.age: is not imported; a user has displayName")

	rejected := filepath.Join(t.TempDir(), "rejected.jsonl")
	code, stderr = run("--skip-invalid", rejected, path)
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "rejected "+path+":2: data.age")
	require.Contains(t, stderr, "done: 1 rows imported, 1 existed, 1 rejected")
	content, err := os.ReadFile(rejected)
	require.NoError(t, err)
	require.Equal(t, []string{bad + "\n"}, slices.Collect(strings.Lines(string(content))))

	code, stderr = run(filepath.Join(t.TempDir(), "missing.jsonl"))
	require.Equal(t, exitError, code)
	require.Contains(t, stderr, "missing.jsonl")
	code, stderr = run("--directory-key", strings.Repeat("l", 32), path)
	require.Equal(t, exitError, code)
	require.Contains(t, stderr, "the database belongs to another network")
}

func TestImportRefuses(t *testing.T) {
	settings := []string{"import", "--region", "eu", "--network-id", strings.Repeat("a", 24), "--directory-key", strings.Repeat("k", 32)}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no region":    {[]string{"import"}, exitUsage, "region: not set"},
		"no database":  {settings, exitUsage, "database-url: not set"},
		"from 0":       {append(settings, "--from", "0"), exitUsage, "--from must be at least 1"},
		"no schema":    {append(settings, "--database-url", testdb.New(t)), exitError, "run plaza migrate up"},
		"unreachable":  {append(settings, "--database-url", "postgresql://plaza:hunter2@127.0.0.1:1/plaza"), exitTransient, "connect"},
		"unknown flag": {append(settings, "--dry-run"), exitUsage, "unknown flag: --dry-run"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := plaza(t, c.args...)
			require.Equal(t, c.code, code, stderr)
			require.Empty(t, stdout)
			require.Contains(t, stderr, c.want)
			require.NotContains(t, stderr, "hunter2")
		})
	}
}
