package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFiles checks that the files of config/grafana are those that make generate writes.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, writeDashboards(dir))
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, file := range files {
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join("..", "..", folder, filepath.Base(file)))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "%s: run make generate", filepath.Base(file))
	}
}
