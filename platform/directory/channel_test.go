package directory_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/region"
)

func derive(key string) *directory.Directory {
	return directory.New(nil, region.EU, []byte(key), time.Now, slog.Default())
}

// TestDerivedIDs checks that derived ids are valid, the same on every server, and depend on the key.
func TestDerivedIDs(t *testing.T) {
	d := derive("a")
	homes := map[region.Code]bool{}
	for _, id := range []string{"x", "y", "z", "a b", "ü", "general", "random", "news", "help"} {
		internal := d.ChannelID(id)
		home, err := region.HomeOf(internal)
		require.NoError(t, err)
		homes[home] = true
		require.Equal(t, internal, derive("a").ChannelID(id))
		require.NotEqual(t, internal, derive("b").ChannelID(id))
	}
	require.Len(t, homes, 3, "ids are distributed over all homes")
	us, eu, sg := region.NewID(region.US), region.NewID(region.EU), region.NewID(region.SG)
	id := d.ConversationID([]string{sg, us, eu})
	require.Equal(t, id, d.ConversationID([]string{eu, sg, us, eu}))
	require.NotEqual(t, id, d.ConversationID([]string{eu, sg}))
	home, err := region.HomeOf(id)
	require.NoError(t, err)
	require.Equal(t, region.US, home, "the home of the smallest id")
}

// TestDerivedIDsOfGuestsAndPosts checks at which home guests and the live channels of posts are, and that their ids do not depend on the
// server.
func TestDerivedIDsOfGuestsAndPosts(t *testing.T) {
	d, again, other := derive("a"), derive("a"), derive("b")
	ids := map[string]bool{}
	for _, home := range region.All() {
		post := region.NewID(home)
		for _, id := range []struct{ got, again, other string }{
			{d.GuestID(home, "visitor", "device"), again.GuestID(home, "visitor", "device"), other.GuestID(home, "visitor", "device")},
			{d.GuestID(home, "visitor", "device 2"), again.GuestID(home, "visitor", "device 2"), other.GuestID(home, "visitor", "device 2")},
			{d.GuestID(home, "bot", "device"), again.GuestID(home, "bot", "device"), other.GuestID(home, "bot", "device")},
			{d.PostChannelID(post), again.PostChannelID(post), other.PostChannelID(post)},
			{d.ConversationID([]string{post}), again.ConversationID([]string{post}), other.ConversationID([]string{post})},
		} {
			at, err := region.HomeOf(id.got)
			require.NoError(t, err)
			require.Equal(t, home, at)
			require.Equal(t, id.got, id.again)
			require.NotEqual(t, id.got, id.other)
			ids[id.got] = true
		}
	}
	require.Len(t, ids, 15, "all differ")
}
