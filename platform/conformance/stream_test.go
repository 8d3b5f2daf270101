package conformance

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// severalStream is the path of the stream of several events.
const severalStream = "/realtime/events"

// topics returns the query of a stream.
func topics(all ...string) string { return "?" + url.Values{"topic": all}.Encode() }

// postOf returns the post that an event is about.
func postOf(t *testing.T, e apptest.StreamEvent) string {
	t.Helper()
	return e.Response().String(t, "data.posts.0.postId")
}

// TestStreamOfAName checks that a stream has the events of its name in the communities of its user, wherever the user is connected.
func TestStreamOfAName(t *testing.T) {
	t.Parallel()
	owner, member, stranger := newUser(t, region.US, "owner"), newUser(t, region.EU, "member"), newUser(t, region.EU, "stranger")
	community, own := newCommunity(t, owner), newCommunity(t, stranger)
	join(t, community, member)
	updates := member.At(region.SG).Listen(t, "/realtime/post.updated", "")
	other := stranger.Listen(t, "/realtime/post.updated", "")
	both := member.Listen(t, severalStream+"?event=post.created&event=post.deleted", "")

	edit := func(by *apptest.Client, post string) {
		by.Do(t, http.MethodPut, "/api/v4/posts/"+post, object{"data": object{"text": "edited"}}).OK(t)
	}
	post, foreign := newPost(t, owner, community), newPost(t, stranger, own)
	edit(owner, post)
	edit(stranger, foreign)
	owner.Do(t, http.MethodDelete, "/api/v3/posts/"+post, nil).OK(t)

	e := updates.Next(t)
	require.Equal(t, "post.updated", e.Name)
	require.Equal(t, post, postOf(t, e))
	r := e.Response()
	require.Equal(t, e.Name, r.String(t, "eventType"))
	require.Equal(t, communityTopic(owner, community)+"/post/"+post, r.String(t, "path"))
	require.Equal(t, owner.InternalID, r.String(t, "senderId"))
	require.Regexp(t, `^eu-\d+\.sg-\d+\.us-\d+$`, e.ID)
	require.Equal(t, foreign, postOf(t, other.Next(t)), "a stranger receives only the events of the own communities")
	require.Equal(t, "post.created", both.Next(t).Name)
	require.Equal(t, "post.deleted", both.Next(t).Name)
}

// TestStreamOfWhatConcernsAUser checks which events a stream has whose client names no topics.
func TestStreamOfWhatConcernsAUser(t *testing.T) {
	t.Parallel()
	boss, user := newUser(t, region.US, "boss"), newUser(t, region.EU, "user")
	community, chat := newCommunity(t, boss), newChatOf(t, boss, object{"isPublic": false}, user)
	join(t, community, user)
	s := user.Listen(t, severalStream, "")
	follow(t, boss, user)
	follow(t, user, boss)
	post := newWallPost(t, user)
	inCommunity := newPost(t, boss, community)
	message := chat.newMessage(t, boss, "hello")
	feed := chat.subchannel(t, boss, "s")
	boss.Do(t, http.MethodPut, channelPath(chat.id), object{"displayName": "new"}).OK(t)
	user.Do(t, http.MethodPut, "/api/v3/users", object{"userId": user.UserID, "displayName": "Again"}).OK(t)
	waiting := map[string]bool{"marker.user-sync ": true}
	for event, id := range map[string]string{
		"message.created ": message, "message-feed.created ": feed, "channel.updated ": chat.id, "user.updated ": user.InternalID,
		"follow.created of ": user.UserID, "follow.created by ": user.UserID,
	} {
		waiting[event+id] = true
	}
	waiting["post.created "+post], waiting["post.created "+inCommunity] = true, true
	for len(waiting) > 0 {
		e := s.Next(t)
		r := e.Response()
		for _, at := range []string{"messages.0.messageId", "messageFeeds.0.messageFeedId", "channels.0._id", "users.0._id", "posts.0.postId"} {
			if r.Has(t, "data."+at) {
				delete(waiting, e.Name+" "+r.String(t, "data."+at))
			}
		}
		if e.Name == "follow.created" {
			delete(waiting, "follow.created of "+r.String(t, "data.follows.0.to"))
			delete(waiting, "follow.created by "+r.String(t, "data.follows.0.from"))
		}
		if e.Name == "marker.user-sync" {
			delete(waiting, "marker.user-sync ")
		}
	}
}

// TestStreamResumes writes in all homes while a client is away, which then receives each event once.
func TestStreamResumes(t *testing.T) {
	t.Parallel()
	reader := newUser(t, region.EU, "reader")
	var filters, communities []string
	var owners []*apptest.Client
	for _, home := range region.All() {
		owner := newUser(t, home, "owner")
		community := newCommunity(t, owner)
		owners, communities, filters = append(owners, owner), append(communities, community),
			append(filters, communityTopic(owner, community)+"/post/+")
	}
	var written []string
	write := func() {
		for i, owner := range owners {
			written = append(written, newPost(t, owner, communities[i]))
		}
	}
	received := map[string]bool{}
	receive := func(s *apptest.Stream, n int) {
		for range n {
			e := s.Next(t)
			require.Equal(t, "post.created", e.Name, e.Data)
			require.False(t, received[postOf(t, e)], "twice")
			received[postOf(t, e)] = true
		}
	}
	path := severalStream + topics(filters...)
	s := reader.Listen(t, path, "")
	write()
	receive(s, 2)
	s.Close()
	write()
	again := reader.At(region.US).Listen(t, path, s.LastID)
	write()
	receive(again, 7)
	for _, post := range written {
		require.True(t, received[post])
	}
}

// TestClosedStreamsDoNotCount opens and closes more streams, one after the other, than a user can have at a time.
func TestClosedStreamsDoNotCount(t *testing.T) {
	t.Parallel()
	user := newUser(t, region.EU, "user")
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Patience)
	defer cancel()
	for _, path := range []string{severalStream + topics(user.Network.NetworkID+"/user/"+user.InternalID), addedStream} {
		for range 20 {
			s := user.ListenAgain(ctx, t, path, "") // the server notices a little later that the last one was closed
			require.NotNil(t, s, path)
			s.Close()
		}
	}
}

// TestStreamReset resumes at positions that the logs do not have.
func TestStreamReset(t *testing.T) {
	t.Parallel()
	user := newUser(t, region.EU, "user")
	path := severalStream + topics(user.Network.NetworkID+"/user/"+user.InternalID)
	s := user.Listen(t, path, "")
	rename := func() {
		user.Do(t, http.MethodPut, "/api/v3/users", object{"userId": user.UserID, "displayName": "Again"}).OK(t)
	}
	rename()
	at := strings.Split(s.Next(t).ID, ".")
	for name, id := range map[string]string{
		"an event that does not exist yet": "eu-9000000000." + at[1] + "." + at[2], "a home without a position": at[0] + "." + at[2],
		"another stream": at[0],
	} {
		resumed := user.Listen(t, path, id)
		require.Equal(t, "reset", resumed.Next(t).Name, name)
		rename()
		require.Equal(t, "user.updated", resumed.Next(t).Name, name)
		resumed.Close()
	}
}

// TestStreamRefusals lists who may not open streams of topics, and what they may not name.
func TestStreamRefusals(t *testing.T) {
	t.Parallel()
	user, other := newUser(t, region.EU, "user"), newUser(t, region.US, "other")
	hidden := newCommunity(t, other, object{"isPublic": false})
	network := user.Network.NetworkID
	for path, want := range map[string]struct{ status, code int }{
		severalStream + "?event=post.invented":                                     {http.StatusUnprocessableEntity, 500000},
		severalStream + "?event=":                                                  {http.StatusUnprocessableEntity, 500000},
		severalStream + topics("post"):                                             {http.StatusUnprocessableEntity, 500000},
		severalStream + topics(strings.Repeat("a", 24)+"/user/+"):                  {http.StatusUnprocessableEntity, 500000},
		severalStream + topics(network+"/user/"+user.InternalID+"/a#"):             {http.StatusUnprocessableEntity, 500000},
		severalStream + topics(network+"/user/"+user.InternalID+"/#/post"):         {http.StatusUnprocessableEntity, 500000},
		severalStream + topics(communityTopic(other, hidden)+"/#"):                 {http.StatusForbidden, 400300},
		severalStream + topics(network+"/smartfeed/"+other.InternalID+"/channels"): {http.StatusForbidden, 400300},
		severalStream + topics(network+"/marker/user/"+other.InternalID):           {http.StatusForbidden, 400300},
		"/realtime/post.invented":                                                  {http.StatusNotFound, 400400},
		"/realtime/post":                                                           {http.StatusNotFound, 400400},
	} {
		requireRefused(t, user.Do(t, http.MethodGet, path, nil), want.status, want.code)
	}
	for _, path := range []string{severalStream, "/realtime/post.created"} {
		requireRefused(t, user.Network.Anonymous(region.EU).Do(t, http.MethodGet, path, nil), http.StatusUnauthorized, 400100)
		requireRefused(t, admin(t).Do(t, http.MethodGet, path, nil), http.StatusForbidden, 400300)
		requireRefused(t, user.Do(t, http.MethodPost, path, nil), http.StatusMethodNotAllowed, 400000)
		for _, id := range []string{"x", "eu-1.eu-2", "eu-1.", "eu-1.xx-1"} {
			requireRefused(t, user.With("Last-Event-ID", id).Do(t, http.MethodGet, path, nil), http.StatusUnprocessableEntity, 500000)
		}
	}
	var many []string
	for i := range 501 {
		many = append(many, fmt.Sprintf("%s/user/%s/%d", network, user.InternalID, i))
	}
	user.Listen(t, severalStream+topics(many[:500]...), "").Close()
	requireRefused(t, user.Do(t, http.MethodGet, severalStream+topics(many...), nil), http.StatusUnprocessableEntity, 500000)
}

// TestStreamAccessEnds checks that a stream has nothing of a private community after the user was removed from it, and ends with the
// session.
func TestStreamAccessEnds(t *testing.T) {
	t.Parallel()
	owner, removed := newUser(t, region.EU, "owner"), newUser(t, region.EU, "removed")
	community := newCommunity(t, owner, object{"isPublic": false})
	add(t, owner, community, removed)
	path := severalStream + topics(communityTopic(owner, community)+"/post/#", owner.Network.NetworkID+"/user/"+removed.InternalID)
	s := removed.Listen(t, path, "")
	post := newPost(t, owner, community)
	require.Equal(t, post, postOf(t, s.Next(t)))
	owner.Do(t, http.MethodDelete, "/api/v3/communities/"+community+"/users", object{"userIds": userIDs(removed)}).OK(t)
	requireRefused(t, removed.Do(t, http.MethodGet, path, nil), http.StatusForbidden, 400300)
	for arrived := true; arrived; { // access is kept for two seconds
		newPost(t, owner, community)
		removed.Do(t, http.MethodPut, "/api/v3/users", object{"userId": removed.UserID, "displayName": "Again"}).OK(t)
		arrived = false
		for e := s.Next(t); e.Name != "user.updated"; e = s.Next(t) { // from the same log as that of the post
			arrived = arrived || e.Name == "post.created"
		}
	}
	removed.Do(t, http.MethodDelete, "/api/v4/sessions", nil).OK(t)
	rest := s.End(t)
	require.JSONEq(t, `{"reason":"sessionEnded"}`, rest[len(rest)-1].Data)
}

// TestStreamsAreCountedFirst opens as many streams as a user may have: a further one is refused before its topics are looked at, and
// refused ones do not count.
func TestStreamsAreCountedFirst(t *testing.T) {
	t.Parallel()
	user := newUser(t, region.EU, "user")
	wrong := severalStream + topics("elsewhere")
	for range 20 {
		requireFailure(t, invalid("topic: must be a topic of the network"), user.Do(t, http.MethodGet, wrong, nil))
	}
	for range 16 {
		user.Listen(t, severalStream, "")
	}
	require.Equal(t, http.StatusTooManyRequests, user.Do(t, http.MethodGet, wrong, nil).Status)
}
