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

// TestOrderOfChanges checks what orders the events of an object: those about live reactions have no order.
func TestOrderOfChanges(t *testing.T) {
	t.Parallel()
	require.Equal(t, "post", Change{Kind: KindPost, ID: "post"}.orderKey())
	require.Equal(t, "feed", Change{Kind: KindMessage, ID: "message", Sequence: "feed"}.orderKey())
	require.Empty(t, Change{Kind: KindLive, ID: "post"}.orderKey())
}
