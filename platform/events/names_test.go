package events

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
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

// TestRowsOfEarlierVersions checks that a row about one message is delivered like one about several.
func TestRowsOfEarlierVersions(t *testing.T) {
	t.Parallel()
	one := MessageCreated{Home: region.US, ChannelID: "c", FeedID: "f", MessageID: "m"}
	require.Equal(t, MessagesCreated{ChannelID: "c", FeedID: "f", MessageIDs: []string{"m"}, Homes: []region.Code{region.US}}, one.Several())
}

// TestOrderOfChanges checks what orders the events of an object: those about live reactions have no order.
func TestOrderOfChanges(t *testing.T) {
	t.Parallel()
	require.Equal(t, "post", Change{Kind: KindPost, ID: "post"}.orderKey())
	require.Equal(t, "feed", Change{Kind: KindMessage, ID: "message", Sequence: "feed"}.orderKey())
	require.Empty(t, Change{Kind: KindLive, ID: "post"}.orderKey())
}
