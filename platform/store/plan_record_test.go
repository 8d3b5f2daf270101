package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// plansVariable is the environment variable with the folder for the plans of each world, for people to read and compare.
const plansVariable = "PLAZA_TEST_PLANS"

// recordPlans returns a function that records the plan of a sample. The plans of a world become a file when the test ends,
// if plansVariable is set.
func recordPlans(t *testing.T, world string) func(s sample, plan string) {
	t.Helper()
	folder := os.Getenv(plansVariable)
	if folder == "" {
		return func(sample, string) {}
	}
	var all strings.Builder
	t.Cleanup(func() {
		require.NoError(t, os.MkdirAll(folder, 0o755))
		path := filepath.Join(folder, strings.ReplaceAll(world, " ", "-")+".txt")
		require.NoError(t, os.WriteFile(path, []byte(all.String()), 0o644))
	})
	return func(s sample, plan string) {
		_, _ = fmt.Fprintf(&all, "=== %s\n%s\narguments %v\n\n%s\n\n", s.name, strings.TrimSpace(s.SQL), s.Args, plan)
	}
}
