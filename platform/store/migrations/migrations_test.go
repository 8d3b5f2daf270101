package migrations_test

import (
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
