package steps

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

func TestAddCount(t *testing.T) {
	t.Parallel()
	var stored []byte
	stored = AddCount(stored, "posts", 0)
	require.Empty(t, stored)
	stored = AddCount(stored, "posts", 2)
	stored = AddCount(stored, "files", 1)
	stored = AddCount(stored, "posts", 3)
	require.JSONEq(t, `{"posts":5,"files":1}`, string(stored))
	require.Equal(t, map[string]int32{"posts": 5, "files": 1}, Counts(stored))
}

// TestNames checks that every step has a successor, and that unknown names restart a job.
func TestNames(t *testing.T) {
	t.Parallel()
	all := []Step{{Kind: "posts", Home: region.US}, {Kind: "posts", Home: region.EU}, {Kind: "files", Home: region.US}}
	for i := range all {
		require.Equal(t, i, indexOf(all, all[i].Name()))
		require.Equal(t, i+1, indexOf(all, nameAfter(all, i)))
	}
	require.Zero(t, indexOf(all, ""), "a job starts at the first step")
	require.Zero(t, indexOf(all, "a step of an older version"))
}
