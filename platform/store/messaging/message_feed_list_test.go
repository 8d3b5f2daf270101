package messaging

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/core"
)

// TestNextMessageFeeds checks where a list goes on after a full page, after one that stopped, and that it ends with any other page.
func TestNextMessageFeeds(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }
	feeds := []MessageFeed{{ID: "b", LastMessageAt: at(3)}, {ID: "a", LastMessageAt: at(5)}, {ID: "c", LastMessageAt: at(5)}}
	stops := []core.Position{{Time: at(9), ID: "z"}}
	for name, c := range map[string]struct {
		list  MessageFeedList
		feeds []MessageFeed
		stops []core.Position
		want  MessageFeedList
		more  bool
	}{
		"full": {MessageFeedList{Limit: 3}, feeds, nil, MessageFeedList{Limit: 3, After: at(5), AfterID: "c"}, true},
		"full, backwards": {
			MessageFeedList{Limit: 3, Desc: true},
			feeds, nil,
			MessageFeedList{Limit: 3, Desc: true, After: at(3), AfterID: "b"},
			true,
		},
		"not full":       {MessageFeedList{Limit: 4}, feeds, nil, MessageFeedList{Limit: 4}, false},
		"stopped":        {MessageFeedList{Limit: 4}, feeds, stops, MessageFeedList{Limit: 4, After: at(9), AfterID: "z"}, true},
		"stopped, empty": {MessageFeedList{Limit: 4}, nil, stops, MessageFeedList{Limit: 4, After: at(9), AfterID: "z"}, true},
	} {
		got, more := c.list.Next(c.feeds, c.stops)
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.more, more, name)
	}
}
