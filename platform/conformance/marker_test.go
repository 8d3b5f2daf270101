package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// messageFeed is a feed into which the tests push messages, as an external message store would.
type messageFeed struct {
	id, channel string
	users       []*apptest.Client
	segment     int
}

func newMessageFeed(channel string, home region.Code, users ...*apptest.Client) *messageFeed {
	return &messageFeed{id: region.NewID(home), channel: channel, users: users}
}

func messageID(segment int) string { return fmt.Sprint("message-", segment) }

// push adds a message.
func (f *messageFeed) push(t *testing.T, fields ...object) *apptest.Response {
	t.Helper()
	nextMillisecond()
	f.segment++
	body := with(object{"entityId": f.channel, "messageId": messageID(f.segment), "userIds": userIDs(f.users...)}, fields...)
	return admin(t).Do(t, http.MethodPut, fmt.Sprint(feedsPath, "/", f.id, "/segments/", f.segment), body).OK(t)
}

const (
	markersPath = "/api/v1/markers"
	feedsPath   = markersPath + "/message-feeds"
)

// marker returns a user's marker of the feed.
func (f *messageFeed) marker(t *testing.T, c *apptest.Client) *apptest.Response {
	t.Helper()
	return c.Do(t, http.MethodGet, feedsPath+"?messageFeedIds="+f.id, nil).OK(t)
}

// awaitMessage waits until the outbox delivered the feed's last message to a user at another home.
func (f *messageFeed) awaitMessage(t *testing.T, c *apptest.Client) *apptest.Response {
	t.Helper()
	var r *apptest.Response
	require.Eventually(t, func() bool {
		r = f.marker(t, c)
		return r.Has(t, "feedMarkers.0") && r.Int(t, "feedMarkers.0.lastSegment") == f.segment
	}, apptest.Patience, 10*time.Millisecond)
	return r
}

// feedMark is the part of a marker that the tests compare.
type feedMark struct {
	Read, Delivered, Unread, LastMention int
	Mentioned                            bool
}

func feedMarkOf(t *testing.T, r *apptest.Response) feedMark {
	t.Helper()
	m := "userFeedMarkers.0."
	return feedMark{
		r.Int(t, m+"readToSegment"), r.Int(t, m+"deliveredToSegment"), r.Int(t, m+"unreadCount"), r.Int(t, m+"lastMentionSegment"),
		r.Bool(t, m+"isMentioned"),
	}
}

func TestMarkersOfAUser(t *testing.T) {
	t.Parallel()
	author, reader := newUser(t, region.US, "author"), newUser(t, region.SG, "reader")
	channel := region.NewID(region.EU)
	f := newMessageFeed(channel, region.EU, author, reader)
	pushed := f.push(t, object{"creatorId": author.UserID})
	require.Equal(t, f.id, pushed.String(t, "feedMarkers.0.feedId"))
	require.Equal(t, 1, pushed.Int(t, "feedMarkers.0.lastSegment"))
	f.push(t, object{"creatorId": author.UserID, "mentionedUserIds": userIDs(reader)})
	f.push(t, object{"creatorId": author.UserID})

	r := f.awaitMessage(t, reader)
	require.ElementsMatch(t, []string{"userMarkers", "userFeedMarkers", "userEntityMarkers", "feedMarkers", "contentMarkers", "paging"},
		namesIn(r.JSON(t).(object)))
	for list, names := range map[string][]string{
		"userMarkers": {"userId", "lastSyncAt", "unreadCount", "isMentioned", "createdAt", "updatedAt"},
		"userFeedMarkers": {
			"userId", "entityId", "feedId", "readToSegment", "deliveredToSegment", "unreadCount", "lastMentionSegment",
			"isMentioned", "createdAt", "updatedAt",
		},
		"userEntityMarkers": {"userId", "entityId", "unreadCount", "isDeleted", "isMentioned", "createdAt", "updatedAt"},
		"feedMarkers":       {"feedId", "entityId", "lastSegment", "isDeleted", "createdAt", "updatedAt"},
	} {
		require.Len(t, r.List(t, list), 1, list)
		require.ElementsMatch(t, names, namesIn(r.Get(t, list+".0").(object)), list)
	}
	require.Equal(t, feedMark{Unread: 3, LastMention: 2, Mentioned: true}, feedMarkOf(t, r))
	require.Equal(t, feedMark{Read: 3, Delivered: 3}, feedMarkOf(t, f.awaitMessage(t, author)), "authors have read what they wrote")
	for _, list := range []string{"userMarkers", "userEntityMarkers"} {
		require.Equal(t, reader.InternalID, r.String(t, list+".0.userId"))
		require.Equal(t, 3, r.Int(t, list+".0.unreadCount"))
		require.True(t, r.Bool(t, list+".0.isMentioned"))
	}
	require.Equal(t, channel, r.String(t, "userEntityMarkers.0.entityId"))

	feed := feedsPath + "/" + f.id
	read := func(to int) feedMark {
		t.Helper()
		return feedMarkOf(t, reader.Do(t, http.MethodPut, feed+"/mark-read", object{"readToSegment": to}).OK(t))
	}
	deliver := func(segment int) feedMark {
		t.Helper()
		return feedMarkOf(t, reader.Do(t, http.MethodPut, feed+"/mark-delivering", object{"messageId": messageID(segment)}).OK(t))
	}
	require.Equal(t, feedMark{0, 2, 3, 2, true}, deliver(2))
	require.Equal(t, feedMark{1, 2, 2, 2, true}, read(1))
	require.Equal(t, feedMark{2, 2, 1, 2, false}, read(2))
	require.Equal(t, feedMark{2, 2, 1, 2, false}, read(1), "never back")
	require.Equal(t, feedMark{2, 2, 1, 2, false}, deliver(1))
	require.Equal(t, feedMark{3, 3, 0, 2, false}, read(100), "never past the last")

	late := newUser(t, region.US, "late")
	f.users = append(f.users, late)
	f.push(t, object{"creatorId": author.UserID})
	require.Equal(t, feedMark{Read: 3, Delivered: 3, Unread: 1}, feedMarkOf(t, f.awaitMessage(t, late)), "earlier messages count as read")
}

func TestMarkersOfChannels(t *testing.T) {
	t.Parallel()
	user, other := newUser(t, region.EU, "user"), newUser(t, region.EU, "other")
	channel, quiet := region.NewID(region.EU), region.NewID(region.EU)
	feeds := []*messageFeed{
		newMessageFeed(channel, region.EU, user, other), newMessageFeed(channel, region.EU, user),
		newMessageFeed(quiet, region.EU, user),
	}
	for i, f := range feeds {
		for range i + 1 {
			f.push(t)
		}
		f.awaitMessage(t, user)
	}
	list := func(c *apptest.Client, ids ...string) *apptest.Response {
		t.Helper()
		return c.Do(t, http.MethodGet, markersPath+"/channels?"+url.Values{"channelIds[]": ids}.Encode(), nil).OK(t)
	}
	r := list(user, channel, quiet, "nothing")
	unread := map[string]int{}
	for i := range r.List(t, "userEntityMarkers") {
		m := fmt.Sprint("userEntityMarkers.", i)
		unread[r.String(t, m+".entityId")] = r.Int(t, m+".unreadCount")
	}
	require.Equal(t, map[string]int{channel: 3, quiet: 3}, unread)
	require.Equal(t, 6, r.Int(t, "userMarkers.0.unreadCount"))
	require.Equal(t, 1, list(other, channel, quiet).Int(t, "userMarkers.0.unreadCount"))
	require.Equal(t, 6, user.Do(t, http.MethodGet, markersPath+"/userMarker", nil).OK(t).Int(t, "userMarkers.0.unreadCount"))
	of := user.Do(t, http.MethodGet, markersPath+"/user-message-feed?channelIds[]="+channel, nil).OK(t)
	require.Len(t, of.List(t, "userFeedMarkers"), 2)
	require.Len(t, of.List(t, "feedMarkers"), 2)

	r = user.Do(t, http.MethodPut, markersPath+"/channels/"+channel+"/mark-read", nil).OK(t)
	require.Len(t, r.List(t, "userFeedMarkers"), 2)
	require.Equal(t, 0, r.Int(t, "userEntityMarkers.0.unreadCount"))
	require.Equal(t, 3, r.Int(t, "userMarkers.0.unreadCount"))
	require.Equal(t, 1, list(other, channel).Int(t, "userEntityMarkers.0.unreadCount"), "others read for themselves")

	admin(t).Do(t, http.MethodDelete, feedsPath+"/"+feeds[2].id, nil).OK(t)
	require.Eventually(t, func() bool { return list(user, quiet).Bool(t, "userEntityMarkers.0.isDeleted") }, apptest.Patience,
		10*time.Millisecond)
	r = list(user, quiet)
	require.Equal(t, 0, r.Int(t, "userEntityMarkers.0.unreadCount"))
	require.Equal(t, 0, r.Int(t, "userMarkers.0.unreadCount"))
	require.True(t, feeds[2].marker(t, user).Bool(t, "feedMarkers.0.isDeleted"))
	requireRefused(t, admin(t).Do(t, http.MethodDelete, feedsPath+"/"+feeds[2].id, nil), http.StatusNotFound, 400400)
	body := object{"entityId": quiet, "messageId": "x", "userIds": userIDs(user)}
	requireRefused(t, admin(t).Do(t, http.MethodPut, feedsPath+"/"+feeds[2].id+"/segments/9", body), http.StatusNotFound, 400400)
}

func TestReadingAFeed(t *testing.T) {
	t.Parallel()
	user := newUser(t, region.US, "user")
	f := newMessageFeed(region.NewID(region.US), region.US, user)
	f.push(t)
	f.awaitMessage(t, user)
	reading := func(path string, body any) feedMark {
		t.Helper()
		return feedMarkOf(t, user.Do(t, http.MethodPost, feedsPath+path, body).OK(t))
	}
	before := time.Now()
	require.Equal(t, feedMark{Read: 1, Delivered: 1}, reading("/reading", object{"messageFeedIds": []string{f.id}}))
	var until time.Time
	require.NoError(t, connectTo(t, user.Network).QueryRow(t.Context(), "SELECT reading_until FROM user_feed_markers WHERE feed_id = $1",
		f.id).Scan(&until))
	require.WithinRange(t, until, before.Truncate(time.Millisecond).Add(time.Minute), time.Now().Add(time.Minute))
	f.push(t)
	require.Equal(t, feedMark{Read: 2, Delivered: 2}, feedMarkOf(t, f.awaitMessage(t, user)), "read as it comes")
	for _, stop := range []string{"/stop-readings", "/stop-reading"} {
		before := f.segment
		require.Equal(t, feedMark{Read: before, Delivered: before}, reading("/"+f.id+stop, nil))
		f.push(t)
		require.Equal(t, feedMark{Read: before, Delivered: before, Unread: 1}, feedMarkOf(t, f.awaitMessage(t, user)))
		require.Equal(t, feedMark{Read: before + 1, Delivered: before + 1}, reading("/"+f.id+"/start-reading", nil))
	}
	execute(t, user.Network, "UPDATE user_feed_markers SET reading_until = now() - INTERVAL '1 second' WHERE feed_id = $1", f.id)
	last := f.segment
	f.push(t)
	require.Equal(t, feedMark{Read: last, Delivered: last, Unread: 1}, feedMarkOf(t, f.awaitMessage(t, user)), "the period has ended")
}

func TestSyncMarkers(t *testing.T) {
	t.Parallel()
	user := newUser(t, region.SG, "user")
	channel := region.NewID(region.SG)
	const feeds = 130
	for range feeds {
		newMessageFeed(channel, region.SG, user).push(t)
	}
	require.Eventually(t, func() bool {
		return user.Do(t, http.MethodGet, markersPath+"/userMarker", nil).OK(t).Int(t, "userMarkers.0.unreadCount") == feeds
	}, apptest.Patience, 10*time.Millisecond)
	sync := func(since any) (synced string, ids []string) {
		t.Helper()
		r := user.Do(t, http.MethodPost, markersPath+"/sync", object{"deviceLastSyncAt": since}).OK(t)
		return r.String(t, "userMarkers.0.lastSyncAt"), r.Strings(t, "feedMarkers", "feedId")
	}
	seen := map[string]bool{}
	var since any
	for {
		synced, ids := sync(since)
		since = synced
		if len(ids) == 0 {
			break
		}
		for _, id := range ids {
			require.False(t, seen[id])
			seen[id] = true
		}
	}
	require.Len(t, seen, feeds)
	f := newMessageFeed(channel, region.SG, user)
	f.push(t)
	f.awaitMessage(t, user)
	ahead, ids := sync("2999-01-01T00:00:00.000Z")
	require.Empty(t, ids)
	require.Less(t, ahead, "2999", "the clock of the device is ahead")
	unchanged, ids := sync(ahead)
	require.Empty(t, ids)
	require.Equal(t, ahead, unchanged)
	_, ids = sync(since)
	require.Equal(t, []string{f.id}, ids)
	r := user.Do(t, http.MethodGet, markersPath+"/userMarker", nil).OK(t)
	require.NotNil(t, r.Get(t, "userMarkers.0.lastSyncAt"))
	require.Nil(t, newUser(t, region.SG, "fresh").Do(t, http.MethodGet, markersPath+"/userMarker", nil).OK(t).Get(t,
		"userMarkers.0.lastSyncAt"))
}

func TestMarkerRefusals(t *testing.T) {
	t.Parallel()
	user, stranger := newUser(t, region.EU, "user"), newUser(t, region.EU, "stranger")
	f := newMessageFeed(region.NewID(region.EU), region.EU, user)
	f.push(t)
	f.awaitMessage(t, user)
	feed := feedsPath + "/" + f.id
	for _, c := range []struct {
		by           *apptest.Client
		method, path string
		body         any
		status, code int
	}{
		{stranger, http.MethodPut, feed + "/mark-read", object{"readToSegment": 1}, 404, 400400},
		{stranger, http.MethodPut, feed + "/mark-delivering", object{"messageId": messageID(1)}, 404, 400400},
		{stranger, http.MethodPost, feed + "/start-reading", nil, 404, 400400},
		{stranger, http.MethodPut, markersPath + "/channels/" + f.channel + "/mark-read", nil, 404, 400400},
		{user, http.MethodPut, feed + "/mark-delivering", object{"messageId": "unknown"}, 404, 400400},
		{user, http.MethodPut, feed + "/mark-delivering", nil, 422, 500000},
		{user, http.MethodPut, feed + "/mark-read", object{"readToSegment": -1}, 422, 500000},
		{user, http.MethodPut, feed + "/mark-read", object{"readToSegment": "x"}, 422, 500000},
		{user, http.MethodGet, feedsPath, nil, 422, 500000},
		{user, http.MethodGet, markersPath + "/channels", nil, 422, 500000},
		{user, http.MethodPost, feedsPath + "/reading", nil, 422, 500000},
		{user, http.MethodPost, markersPath + "/sync", object{"deviceLastSyncAt": "yesterday"}, 422, 500000},
		{user, http.MethodPut, feed + "/segments/2", object{"entityId": f.channel, "messageId": "m", "userIds": userIDs(user)}, 403, 400300},
		{user, http.MethodDelete, feed, nil, 403, 400300},
		{admin(t), http.MethodGet, markersPath + "/userMarker", nil, 403, 400300},
		{
			admin(t), http.MethodPut, feed + "/segments/2",
			object{"entityId": f.channel, "messageId": "m", "userIds": []string{"unknown-user"}},
			404, 400400,
		},
		{admin(t), http.MethodPut, feed + "/segments/2", object{"entityId": "another", "messageId": "m", "userIds": userIDs(user)}, 400, 400000},
		{admin(t), http.MethodPut, feed + "/segments/0", object{"entityId": f.channel, "messageId": "m", "userIds": userIDs(user)}, 422, 500000},
		{
			admin(t), http.MethodPut, feedsPath + "/x/segments/1",
			object{"entityId": f.channel, "messageId": "m", "userIds": userIDs(user)},
			422,
			500000,
		},
		{admin(t), http.MethodDelete, feedsPath + "/x", nil, 404, 400400},
	} {
		requireRefused(t, c.by.Do(t, c.method, c.path, c.body), c.status, c.code)
	}
	require.Empty(t, f.marker(t, stranger).List(t, "userFeedMarkers"))
}

// TestMarkerEvents checks that every change of a user's markers is sent to that user only.
func TestMarkerEvents(t *testing.T) {
	t.Parallel()
	one, other := newUser(t, region.US, "one"), newUser(t, region.SG, "other")
	f := newMessageFeed(region.NewID(region.EU), region.EU, one, other)
	s, theirs := one.At(region.EU).Listen(t, markerStream, ""), other.Listen(t, markerStream, "")
	told := func(s *apptest.Stream, who *apptest.Client, unread int) {
		t.Helper()
		e := s.Next(t)
		require.Equal(t, "marker.user-sync", e.Name)
		require.ElementsMatch(t, []string{"userMarkers", "userFeedMarkers", "userEntityMarkers"}, namesIn(e.Decode(t)))
		r := e.Response()
		for _, list := range []string{"userMarkers", "userFeedMarkers", "userEntityMarkers"} {
			require.Len(t, r.List(t, list), 1)
			require.Equal(t, who.InternalID, r.String(t, list+".0.userId"))
			require.Equal(t, unread, r.Int(t, list+".0.unreadCount"), list)
		}
	}
	f.push(t)
	told(s, one, 1)
	told(theirs, other, 1)
	f.push(t)
	told(s, one, 2)
	told(theirs, other, 2)
	one.Do(t, http.MethodPut, feedsPath+"/"+f.id+"/mark-read", object{"readToSegment": 1}).OK(t)
	told(s, one, 1)
	one.Do(t, http.MethodPut, feedsPath+"/"+f.id+"/mark-read", object{"readToSegment": 1}).OK(t) // no change
	one.Do(t, http.MethodPost, markersPath+"/sync", nil).OK(t)                                   // no change either
	start := theirs.LastID
	one.Do(t, http.MethodPost, feedsPath+"/reading", object{"messageFeedIds": []string{f.id}}).OK(t)
	told(s, one, 0)
	f.push(t)
	told(s, one, 0)
	told(theirs, other, 3)
	told(other.Listen(t, markerStream, start), other, 3)
	admin(t).Do(t, http.MethodDelete, feedsPath+"/"+f.id, nil).OK(t)
	e := s.Next(t)
	require.Equal(t, true, e.Response().Get(t, "userEntityMarkers.0.isDeleted"))
	told(theirs, other, 0)
}
