package events

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	t.Parallel()
	require.True(t, slices.IsSorted(names), "Known searches them")
	require.Len(t, slices.Compact(Names()), len(names))
	require.True(t, Known("post.created"))
	require.True(t, Known(MarkerUserSync))
	require.False(t, Known("post.invented"))
	require.False(t, Known(""))
}
