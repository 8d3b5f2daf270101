package marker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestMove(t *testing.T) {
	mark := messaging.FeedMarker{LastSegment: 10, ReadTo: 5, DeliveredTo: 7}
	for _, c := range []struct {
		name string
		move move
		want bool
	}{
		{"nothing", move{}, false},
		{"to where it is", move{5, 7}, false},
		{"backward", move{4, 6}, false},
		{"read", move{6, 0}, true},
		{"delivered", move{0, 8}, true},
		{"delivered, but not read", move{4, 8}, true},
		{"past the end", move{11, 11}, true},
		{"last known", toLastKnown(mark), true},
		{"end", toEnd(mark), true},
	} {
		require.Equal(t, c.want, c.move.changes(mark), c.name)
	}
	read := messaging.FeedMarker{LastSegment: 10, ReadTo: 10, DeliveredTo: 10}
	require.False(t, toEnd(read).changes(read), "a marker does not move past the last segment")
}

func TestMoves(t *testing.T) {
	mark := messaging.FeedMarker{LastSegment: 10, LastMention: 8, ReadTo: 5}
	for _, c := range []struct {
		segment int64
		move    messaging.MarkerMove
		want    bool
	}{
		{10, messaging.MarkerMove{LastMention: 8, ReadTo: 5}, false},
		{9, messaging.MarkerMove{}, false},
		{11, messaging.MarkerMove{}, true},
		{9, messaging.MarkerMove{LastMention: 9}, true},
		{9, messaging.MarkerMove{ReadTo: 6}, true},
	} {
		require.Equal(t, c.want, moves(c.segment, c.move, mark))
	}
}

func TestAdvances(t *testing.T) {
	mark := messaging.FeedMarker{LastSegment: 10, LastMention: 4, ReadTo: 6}
	for _, c := range []struct {
		name    string
		segment int64
		user    messaging.MarkerAdvance
		want    bool
	}{
		{"new message", 11, messaging.MarkerAdvance{}, true},
		{"old message", 10, messaging.MarkerAdvance{}, false},
		{"old mention", 4, messaging.MarkerAdvance{Mentioned: true}, false},
		{"mention that arrives late", 5, messaging.MarkerAdvance{Mentioned: true}, true},
		{"own message that arrives late", 7, messaging.MarkerAdvance{Author: true}, true},
		{"own message that is read", 6, messaging.MarkerAdvance{Author: true}, false},
	} {
		require.Equal(t, c.want, advances(c.segment, mark, c.user), c.name)
	}
}

func TestContentOf(t *testing.T) {
	users := view.MessageMentionsJSON([]view.MessageMention{{Type: view.MentionUser, UserIDs: []string{"a", "author"}}})
	all := view.MessageMentionsJSON([]view.MessageMention{{Type: view.MentionChannel}})
	for name, c := range map[string]struct {
		message messaging.Message
		user    string
		want    bool
	}{
		"none":               {messaging.Message{CreatorID: "author"}, "a", false},
		"user":               {messaging.Message{CreatorID: "author", Mentions: users}, "a", true},
		"other user":         {messaging.Message{CreatorID: "author", Mentions: users}, "b", false},
		"author":             {messaging.Message{CreatorID: "author", Mentions: users}, "author", false},
		"channel":            {messaging.Message{CreatorID: "author", Mentions: all}, "b", true},
		"channel and author": {messaging.Message{CreatorID: "author", Mentions: all}, "author", false},
	} {
		require.Equal(t, c.want, contentOf(c.message).mentions(c.user), name)
	}
}

func TestBehind(t *testing.T) {
	marks := []messaging.FeedMarker{{FeedID: "a", LastSegment: 5}, {FeedID: "b", LastSegment: 9}}
	to := func(segment int64) func(messaging.FeedMarker) move {
		return func(messaging.FeedMarker) move { return move{segment, 0} }
	}
	require.Empty(t, selection{feeds: []string{"a", "b"}}.behind(marks, to(5)))
	require.Equal(t, []string{"a"}, selection{feeds: []string{"a", "b"}}.behind(marks, to(6)))
	require.Equal(t, []string{"a", "b"}, selection{feeds: []string{"a", "b"}}.behind(marks, toEnd))
	require.Equal(t, []string{"c"}, selection{feeds: []string{"a", "c"}}.behind(marks, toLastKnown), "a feed without a marker")
	require.Equal(t, []string{"channel"}, selection{entities: []string{"channel"}}.behind(marks, to(1)), "its default subchannel")
}

func TestFirstPage(t *testing.T) {
	at := func(n int) time.Time { return time.UnixMilli(int64(n)) }
	marks := func(n, sameFrom int) []messaging.FeedMarker {
		rows := make([]messaging.FeedMarker, n)
		for i := range rows {
			rows[i].UpdatedAt = at(min(i, sameFrom))
		}
		return rows
	}
	require.Empty(t, firstPage(nil))
	require.Len(t, firstPage(marks(syncPage, 1000)), syncPage)
	require.Len(t, firstPage(marks(syncPage+50, 1000)), syncPage)
	require.Len(t, firstPage(marks(syncPage+50, syncPage)), syncPage, "the same time starts after the page")
	require.Len(t, firstPage(marks(syncPage+50, syncPage-1)), syncPage+50, "the same time is not split")
}

func TestIDBounds(t *testing.T) {
	for _, home := range region.All() {
		after, end := idBounds(home)
		for _, other := range region.All() {
			id := region.NewID(other)
			require.Equal(t, home == other, id > after && id < end, "%s of %s", id, other)
		}
	}
}

func TestCursorOf(t *testing.T) {
	limit := int32(7)
	for _, c := range []struct {
		name    string
		options *plazav1.MarkerPageOptions
		want    int // the limit; 0 for an error
	}{
		{"none", nil, 10},
		{"limit", &plazav1.MarkerPageOptions{Limit: &limit}, 7},
		{"nonsense", &plazav1.MarkerPageOptions{Token: "nonsense"}, 0},
		{"a token", &plazav1.MarkerPageOptions{Token: page.Cursor{Limit: 3, ID: region.FixedID(region.EU)}.Token()}, 3},
		{"backward", &plazav1.MarkerPageOptions{Token: page.Cursor{Limit: 3, ID: region.FixedID(region.EU), Back: true}.Token()}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			cursor, err := cursorOf(c.options)
			require.Equal(t, c.want == 0, err != nil)
			if err == nil {
				require.Equal(t, c.want, cursor.Limit)
			}
		})
	}
}
