package migrations_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/migrations"
)

func TestTargetIsTheLastStep(t *testing.T) {
	names := migrations.Names()
	require.True(t, slices.IsSorted(names))
	for _, name := range names {
		number, err := strconv.ParseInt(strings.SplitN(name, "_", 2)[0], 10, 64)
		require.NoError(t, err, name)
		require.LessOrEqual(t, number, migrations.Target())
		require.True(t, strings.HasSuffix(name, ".sql"), name)
	}
}

// TestReleasedStepsComeFirst fails if a step is put before one of the previous release: databases have those, and would never get it.
func TestReleasedStepsComeFirst(t *testing.T) {
	text, err := os.ReadFile("testdata/released.txt")
	require.NoError(t, err)
	released := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	require.NotEmpty(t, released)
	require.Equal(t, released, migrations.Names()[:len(released)])
}
