package reaction

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
)

func TestLiveReactionsAreBounded(t *testing.T) {
	t.Parallel()
	var b liveReactions
	of := func(post string) events.Change { return events.Change{Kind: events.KindLive, ID: post} }
	many := make([]events.LiveReaction, maxLiveOfPost-1)
	require.Len(t, b.add(region.US, of("post"), many), maxLiveOfPost-1)
	require.Len(t, b.add(region.US, of("post"), many), 1, "the others are left out")
	require.Empty(t, b.add(region.US, of("post"), many))
	require.Len(t, b.add(region.EU, of("post"), many[:1]), 1, "another home")
	for i := range maxLivePosts - 1 {
		require.Len(t, b.add(region.US, of(strconv.Itoa(i)), many[:1]), 1)
	}
	require.Empty(t, b.add(region.US, of("another post"), many[:1]))

	sent := map[string]int{}
	for more := true; more; {
		var changes []events.Change
		changes, more = b.take(region.US)
		require.LessOrEqual(t, len(changes), maxLiveSent)
		for _, c := range changes {
			sent[c.ID] += len(c.Live)
		}
	}
	require.Len(t, sent, maxLivePosts)
	require.Equal(t, maxLiveOfPost, sent["post"])
	changes, more := b.take(region.US)
	require.Empty(t, changes)
	require.False(t, more)
}
