package conformance

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// tick is the interval at which tests look whether the outbox has delivered something.
const tick = 10 * time.Millisecond

// countRows returns the number of rows of a table that belong to a subchannel.
func countRows(t *testing.T, n *apptest.Network, table, feedID string) int {
	t.Helper()
	conn := connectTo(t, n)
	var count int
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()+" WHERE feed_id = $1",
		feedID).Scan(&count))
	return count
}

// mark waits until a user's marker of the subchannel has read up to a segment.
func (c *chat) mark(t *testing.T, by *apptest.Client, segment int) feedMark {
	t.Helper()
	return feedMarkOf(t, (&messageFeed{id: c.id, segment: segment}).awaitMessage(t, by))
}

// TestMessagesMoveMarkers checks that a message reaches the members of every region and no one else.
func TestMessagesMoveMarkers(t *testing.T) {
	t.Parallel()
	author, reader, mentioned := newUser(t, region.EU, "author"), newUser(t, region.US, "reader"), newUser(t, region.SG, "mentioned")
	stranger := newUser(t, region.US, "stranger")
	c := newChat(t, author, reader, mentioned)
	c.newMessage(t, author, "1")
	second := c.newMessage(t, author, "2", object{"mentionedUsers": []object{{"userIds": userIDs(mentioned, author)}}})
	require.Equal(t, feedMark{Read: 2, Delivered: 2}, c.mark(t, author, 2), "who writes has read, and mentions not themselves")
	require.Equal(t, feedMark{Unread: 2}, c.mark(t, reader, 2))
	require.Eventually(t, func() bool { return c.mark(t, mentioned, 2) == feedMark{Unread: 2, LastMention: 2, Mentioned: true} },
		apptest.Patience, tick)
	require.Empty(t, (&messageFeed{id: c.id}).marker(t, stranger).List(t, "feedMarkers"))

	delivering := feedsPath + "/" + c.id + "/mark-delivering"
	r := reader.Do(t, http.MethodPut, delivering, object{"messageId": second}).OK(t)
	require.Equal(t, feedMark{Delivered: 2, Unread: 2}, feedMarkOf(t, r))
	r = mentioned.Do(t, http.MethodPut, feedsPath+"/"+c.id+"/mark-read", object{"readToSegment": 2}).OK(t)
	require.Equal(t, feedMark{Read: 2, Delivered: 2, LastMention: 2}, feedMarkOf(t, r))

	content := author.Do(t, http.MethodGet, markersPath+"/messages?messageIds[]="+second+"&messageIds[]=x", nil).OK(t)
	require.Len(t, content.List(t, "contentMarkers"), 1)
	require.Equal(t, second, content.String(t, "contentMarkers.0.contentId"))
	require.Equal(t, c.id, content.String(t, "contentMarkers.0.feedId"))
	require.Equal(t, author.InternalID, content.String(t, "contentMarkers.0.creatorId"))
	require.Equal(t, 2, content.Int(t, "contentMarkers.0.segment"))
	require.Equal(t, 1, content.Int(t, "contentMarkers.0.readCount"))
	require.Equal(t, 2, content.Int(t, "contentMarkers.0.deliveredCount"))
	require.Len(t, content.List(t, "feedMarkers"), 1)
	require.Len(t, content.List(t, "userMarkers"), 1)
	require.Empty(t, stranger.Do(t, http.MethodGet, markersPath+"/messages?messageIds[]="+second, nil).OK(t).List(t, "contentMarkers"))
	users := func(kind, query string) *apptest.Response {
		t.Helper()
		return author.Do(t, http.MethodGet, markersPath+"/messages/"+second+"/"+kind+"-users"+query, nil).OK(t)
	}
	names := func(r *apptest.Response) []string {
		t.Helper()
		var ids []string
		for _, id := range r.List(t, "publicUserIds") {
			ids = append(ids, id.(string))
		}
		return ids
	}
	require.Equal(t, []string{mentioned.UserID}, names(users("read", "")))
	require.ElementsMatch(t, userIDs(reader, mentioned), names(users("delivered", "")))
	first := users("delivered", "?options[limit]=1")
	require.Equal(t, userIDs(reader), names(first), "in the order of internal ids: home us before sg")
	require.Equal(t, userIDs(mentioned), names(users("delivered", "?options[token]="+first.String(t, "paging.next"))))
	require.Equal(t, userIDs(reader), names(users("delivered", "?options[token]=eyJsaW1pdCI6MX0=")), "a first token as clients make it")
	requireRefused(t, author.Do(t, http.MethodGet, markersPath+"/messages/"+second+"/read-users?options[token]=x", nil),
		http.StatusUnprocessableEntity, 500000)
}

// TestMembershipMovesMarkers checks that a new member has read all earlier messages, a former member has no unread
// messages, and a returning member has read the messages that they missed.
func TestMembershipMovesMarkers(t *testing.T) {
	t.Parallel()
	author, guest := newUser(t, region.EU, "author"), newUser(t, region.US, "guest")
	c := newChat(t, author)
	entity := func() (unread int, gone bool) {
		t.Helper()
		r := guest.Do(t, http.MethodGet, markersPath+"/channels?channelIds[]="+c.id, nil).OK(t)
		if !r.Has(t, "userEntityMarkers.0") {
			return -1, false
		}
		return r.Int(t, "userEntityMarkers.0.unreadCount"), r.Bool(t, "userEntityMarkers.0.isDeleted")
	}
	join := func() {
		t.Helper()
		nextMillisecond()
		guest.Do(t, http.MethodPost, c.path("/join"), nil).OK(t)
	}
	c.newMessage(t, author, "1")
	c.newMessage(t, author, "2")
	join()
	require.Equal(t, feedMark{Read: 2, Delivered: 2}, c.mark(t, guest, 2))
	c.newMessage(t, author, "3")
	require.Equal(t, feedMark{Read: 2, Delivered: 2, Unread: 1}, c.mark(t, guest, 3))
	guest.Do(t, http.MethodDelete, c.path("/leave"), nil).OK(t)
	require.Eventually(t, func() bool { unread, gone := entity(); return unread == 0 && gone }, apptest.Patience, tick)
	c.newMessage(t, author, "4")
	join()
	require.Equal(t, feedMark{Read: 4, Delivered: 4}, c.mark(t, guest, 4))
	require.Eventually(t, func() bool { unread, gone := entity(); return unread == 0 && !gone }, apptest.Patience, tick)
	c.newMessage(t, author, "5")
	require.Equal(t, feedMark{Read: 4, Delivered: 4, Unread: 1}, c.mark(t, guest, 5))
	c.ban(t, author, guest)
	require.Eventually(t, func() bool { unread, gone := entity(); return unread == 0 && gone }, apptest.Patience, tick)
	require.Equal(t, 0, guest.Do(t, http.MethodGet, markersPath+"/userMarker", nil).OK(t).Int(t, "userMarkers.0.unreadCount"))
}

func TestDeletedSubchannelsCountAsRead(t *testing.T) {
	t.Parallel()
	author, reader := newUser(t, region.EU, "author"), newUser(t, region.SG, "reader")
	c := newChat(t, author, reader)
	in := &chat{id: c.subchannel(t, author, "short")}
	in.newMessage(t, author, "1")
	require.Equal(t, feedMark{Unread: 1}, in.mark(t, reader, 1))
	author.Do(t, http.MethodDelete, subchannelsPath+"/"+in.id, nil).OK(t)
	require.Eventually(t, func() bool {
		return (&messageFeed{id: in.id}).marker(t, reader).Bool(t, "feedMarkers.0.isDeleted")
	}, apptest.Patience, tick)
	require.Equal(t, 0, reader.Do(t, http.MethodGet, markersPath+"/userMarker", nil).OK(t).Int(t, "userMarkers.0.unreadCount"))
}

// TestPushSegmentIsForOutsideStores checks that segments of the platform's own subchannels cannot be pushed.
func TestPushSegmentIsForOutsideStores(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	c := newChat(t, author)
	body := object{"entityId": c.id, "messageId": "m", "userIds": userIDs(author)}
	requireRefused(t, admin(t).Do(t, http.MethodPut, feedsPath+"/"+c.id+"/segments/7", body), http.StatusBadRequest, 400000)
	requireRefused(t, admin(t).Do(t, http.MethodDelete, feedsPath+"/"+c.id, nil), http.StatusBadRequest, 400000)
	require.InDelta(t, 1, requireMessage(t, c.sendMessage(t, author, "first"))["segment"], 0)
}

// TestMessageEventRecipients has members of every region and a stranger listen. The members get the event of a
// message, the stranger gets nothing until a message in another channel of theirs.
func TestMessageEventRecipients(t *testing.T) {
	t.Parallel()
	author, stranger := newUser(t, region.EU, "author"), newUser(t, region.US, "stranger")
	banned := newUser(t, region.US, "banned")
	var members []*apptest.Client
	for _, home := range region.All() {
		members = append(members, newUser(t, home, "member"))
	}
	c, theirs := newChat(t, author, append(members, banned)...), newChat(t, stranger, banned)
	c.ban(t, author, banned)
	outside := []*apptest.Stream{stranger.Listen(t, markerStream, ""), banned.Listen(t, markerStream, "")}
	var streams []*apptest.Stream
	for i, m := range members {
		streams = append(streams, m.At(region.All()[(i+1)%3]).Listen(t, markerStream, ""))
	}
	c.newMessage(t, author, "hello")
	for i, s := range streams {
		e := s.Next(t)
		require.Equal(t, "marker.user-sync", e.Name)
		r := e.Response()
		require.Equal(t, members[i].InternalID, r.String(t, "userFeedMarkers.0.userId"))
		require.Equal(t, c.id, r.String(t, "userFeedMarkers.0.feedId"))
		require.Equal(t, 1, r.Int(t, "userFeedMarkers.0.unreadCount"))
		require.Equal(t, c.id, r.String(t, "userEntityMarkers.0.entityId"))
		require.Equal(t, 1, r.Int(t, "userMarkers.0.unreadCount"))
	}
	theirs.newMessage(t, stranger, "what comes next to others is something else")
	for _, s := range outside {
		require.Equal(t, theirs.id, s.Next(t).Response().String(t, "userFeedMarkers.0.feedId"))
	}
}

// TestManyMessagesToManyMembers writes messages concurrently. Every member's marker reaches the last segment, in
// whichever order the outbox delivers its rows.
func TestManyMessagesToManyMembers(t *testing.T) {
	t.Parallel()
	const size, messages = 130, 6 // more than one page of members
	author := newUser(t, region.EU, "author")
	var members []*apptest.Client
	for i := range size {
		members = append(members, newUser(t, region.All()[i%3], fmt.Sprint("m", i)))
	}
	c := newChat(t, author, members...)
	done := make(chan int, messages)
	for n := range messages {
		go func() { done <- c.sendMessage(t, author, strconv.Itoa(n)).Status }()
	}
	for range messages {
		require.Equal(t, http.StatusOK, <-done)
	}
	for _, m := range members {
		require.Equal(t, feedMark{Unread: messages}, c.mark(t, m, messages))
	}
}

// TestLiveChannelsHaveNoMarkers checks that messages of a live channel are not counted as unread.
func TestLiveChannelsHaveNoMarkers(t *testing.T) {
	t.Parallel()
	author, reader := newUser(t, region.EU, "author"), newUser(t, region.US, "reader")
	live, other := newChatOf(t, author, object{"type": "live"}, reader), newChat(t, author, reader)
	id := live.newMessage(t, author, "went by")
	other.newMessage(t, author, "stays")
	require.Equal(t, feedMark{Unread: 1}, other.mark(t, reader, 1))
	for _, read := range []*apptest.Response{
		reader.Do(t, http.MethodPut, feedsPath+"/"+live.id+"/mark-read", object{"readToSegment": 1}),
		reader.Do(t, http.MethodPost, feedsPath+"/"+live.id+"/start-reading", nil),
		reader.Do(t, http.MethodPut, markersPath+"/channels/"+live.id+"/mark-read", nil),
	} {
		requireFailure(t, notFound, read)
	}
	require.Empty(t, (&messageFeed{id: live.id}).marker(t, reader).List(t, "feedMarkers"))
	r := reader.Do(t, http.MethodGet, markersPath+"/messages?messageIds[]="+id, nil).OK(t)
	require.Equal(t, 0, r.Int(t, "contentMarkers.0.deliveredCount"))
}

// TestReadBeforeMarkerUpdate marks a message read before the outbox updated the marker, with each operation that
// does so. A stranger cannot.
func TestReadBeforeMarkerUpdate(t *testing.T) {
	t.Parallel()
	author, stranger := newUser(t, region.EU, "author"), newUser(t, region.SG, "stranger")
	reader := newUser(t, region.US, "reader")
	for name, read := range map[string]func(c *chat, by *apptest.Client, message string) *apptest.Response{
		"seen": func(c *chat, by *apptest.Client, _ string) *apptest.Response {
			return by.Do(t, http.MethodPost, "/api/v3/channels/seen", object{"channels": []object{{"channelId": c.id, "readToSegment": 2}}})
		},
		"subchannel": func(c *chat, by *apptest.Client, _ string) *apptest.Response {
			return by.Do(t, http.MethodPut, feedsPath+"/"+c.id+"/mark-read", object{"readToSegment": 2})
		},
		"channel": func(c *chat, by *apptest.Client, _ string) *apptest.Response {
			return by.Do(t, http.MethodPut, markersPath+"/channels/"+c.id+"/mark-read", nil)
		},
	} {
		for range 5 {
			c := newChat(t, author, reader)
			c.newMessage(t, author, "1")
			message := c.newMessage(t, author, "2")
			read(c, reader, message).OK(t)
			require.Equal(t, "2", fmt.Sprint(channelUser(t, reader, c.id)["readToSegment"]), name)
			if name != "seen" {
				requireRefused(t, read(c, stranger, message), http.StatusNotFound, 400400)
			}
			require.Empty(t, (&messageFeed{id: c.id}).marker(t, stranger).List(t, "feedMarkers"), name)
		}
	}
}

// TestMarkersOfAnEmptyChannel reads the markers of a channel without messages.
func TestMarkersOfAnEmptyChannel(t *testing.T) {
	t.Parallel()
	author, reader := newUser(t, region.EU, "author"), newUser(t, region.US, "reader")
	for _, op := range []struct{ method, path string }{
		{http.MethodPut, "/%s/mark-read"}, {http.MethodPost, "/%s/start-reading"}, {http.MethodPost, "/%s/stop-reading"},
	} {
		c := newChat(t, author, reader)
		r := reader.Do(t, op.method, feedsPath+fmt.Sprintf(op.path, c.id), nil).OK(t)
		require.Equal(t, feedMark{}, feedMarkOf(t, r), op.path)
	}
	c := newChat(t, author, reader)
	reader.Do(t, http.MethodPut, markersPath+"/channels/"+c.id+"/mark-read", nil).OK(t)
	reader.Do(t, http.MethodPost, feedsPath+"/reading", object{"messageFeedIds": []string{c.id}}).OK(t)
	c.newMessage(t, author, "1")
	require.Equal(t, feedMark{Read: 1, Delivered: 1}, c.mark(t, reader, 1), "who looks at it reads what comes")
}
