package conformance

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// sizedObjects are one object of each kind with free-form fields.
type sizedObjects struct {
	owner, moderator                                                   *apptest.Client
	category, community, channel, post, comment, message, room, stream string
}

func newSizedObjects(t *testing.T) sizedObjects {
	t.Helper()
	s := sizedObjects{owner: newUser(t, region.EU, "owner"), moderator: admin(t)}
	s.category = newCategory(t, s.moderator, apptest.UserID("sized"))
	s.community = newCommunity(t, s.owner)
	chat := newChat(t, s.owner)
	s.channel, s.message = chat.id, chat.newMessage(t, s.owner, "x")
	s.post = newPost(t, s.owner, s.community)
	s.comment = newComment(t, s.owner, s.post)
	s.room, s.stream = text(newRoom(t, s.owner), "roomId"), text(newStream(t, s.owner), "streamId")
	return s
}

// jsonIn returns an object whose JSON has n bytes, in the field of a request that may hold more.
func jsonIn(field string, more ...object) func(t *testing.T, n int) object {
	return func(t *testing.T, n int) object {
		t.Helper()
		return object{field: with(jsonOf(t, n), more...)}
	}
}

// TestFreeFormObjects sends free-form objects at their limit and one byte past it.
func TestFreeFormObjects(t *testing.T) {
	t.Parallel()
	s := newSizedObjects(t)
	const usual, many = 10 << 10, 100 << 10
	metadata, data := jsonIn("metadata"), jsonIn("data", object{"text": strings.Repeat("t", 20_000)}) // the text does not count
	text := object{"data": object{"text": "x"}}
	post := with(text, object{"targetType": "community", "targetId": s.community})
	customPost := with(post, object{"dataType": "my.type"})
	comment := with(text, object{"referenceId": s.post, "referenceType": "post"})
	message := with(text, object{"messageFeedId": s.channel, "dataType": "text"})
	for name, tc := range map[string]struct {
		by           *apptest.Client
		method, path string
		body         object
		sized        func(t *testing.T, n int) object
		limit        int
	}{
		"user":          {s.owner, http.MethodPut, "/api/v3/users", nil, metadata, usual},
		"new category":  {s.moderator, http.MethodPost, categoriesPath, object{"name": "sized"}, metadata, usual},
		"category":      {s.moderator, http.MethodPut, categoriesPath + "/" + s.category, nil, metadata, usual},
		"new community": {s.owner, http.MethodPost, "/api/v3/communities", object{"displayName": "sized"}, metadata, usual},
		"community":     {s.owner, http.MethodPut, "/api/v3/communities/" + s.community, nil, metadata, usual},
		"new channel": {
			s.owner, http.MethodPost, channelsPath,
			object{"type": "community", "displayName": "sized"},
			metadata,
			usual,
		},
		"channel": {s.owner, http.MethodPut, channelPath(s.channel), nil, metadata, usual},
		"new conversation": {
			s.owner, http.MethodPost, channelsPath + "/conversation",
			object{"userIds": []string{newUser(t, region.US, "other").UserID}},
			metadata, usual,
		},
		"new post":                     {s.owner, http.MethodPost, "/api/v4/posts", post, metadata, usual},
		"post":                         {s.owner, http.MethodPut, "/api/v4/posts/" + s.post, nil, metadata, usual},
		"fields of a new post":         {s.owner, http.MethodPost, "/api/v4/posts", post, data, usual},
		"fields of a post":             {s.owner, http.MethodPut, "/api/v4/posts/" + s.post, nil, data, usual},
		"fields of a custom post":      {s.owner, http.MethodPost, "/api/v4/posts", customPost, jsonIn("data"), many},
		"new comment":                  {s.owner, http.MethodPost, "/api/v3/comments", comment, metadata, usual},
		"comment":                      {s.owner, http.MethodPut, "/api/v3/comments/" + s.comment, text, metadata, usual},
		"fields of a new comment":      {s.owner, http.MethodPost, "/api/v3/comments", comment, data, usual},
		"fields of a comment":          {s.owner, http.MethodPut, "/api/v3/comments/" + s.comment, nil, data, usual},
		"new message":                  {s.owner, http.MethodPost, messagesPath, message, metadata, many},
		"message":                      {s.owner, http.MethodPut, messagesPath + "/" + s.message, nil, metadata, many},
		"fields of a message":          {s.owner, http.MethodPut, messagesPath + "/" + s.message, nil, data, many},
		"new room":                     {s.owner, http.MethodPost, roomsPath, object{"title": "sized"}, metadata, usual},
		"room":                         {s.owner, http.MethodPut, roomsPath + "/" + s.room, nil, metadata, usual},
		"new stream":                   {s.owner, http.MethodPost, streamsPath, object{"title": "sized"}, metadata, usual},
		"stream":                       {s.owner, http.MethodPut, streamsPath + "/" + s.stream, nil, metadata, usual},
		"new story":                    {s.owner, http.MethodPost, storiesPath, textStory(s.community), metadata, 5 << 10},
		"metadata of a network's user": {s.moderator, http.MethodPut, "/api/v3/users", object{"userId": s.owner.UserID}, metadata, usual},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			field := "metadata"
			if tc.sized(t, tc.limit)["metadata"] == nil {
				field = "data"
			}
			tc.by.Do(t, tc.method, tc.path, with(with(object{}, tc.body), tc.sized(t, tc.limit))).OK(t)
			r := tc.by.Do(t, tc.method, tc.path, with(with(object{}, tc.body), tc.sized(t, tc.limit+1)))
			requireRefused(t, r, http.StatusUnprocessableEntity, 500000)
			require.Equal(t, fmt.Sprintf("%s: must be at most %d bytes of JSON", field, tc.limit), r.String(t, "data.detail.0"))
		})
	}
}

// TestLargerObjectsOfEarlierVersions reads and edits objects that were stored before free-form objects had a limit.
func TestLargerObjectsOfEarlierVersions(t *testing.T) {
	t.Parallel()
	s := newSizedObjects(t)
	large, post := object{"k": strings.Repeat("x", 200_000)}, newPost(t, s.owner, s.community)
	for name, tc := range map[string]struct {
		by                 *apptest.Client
		table, column      string
		id                 string // internal
		read, edit, answer string
		change             object
	}{
		"user": {
			s.owner, "users", "metadata", s.owner.InternalID, "/api/v3/users/" + s.owner.UserID, "/api/v3/users", "users.0",
			object{"displayName": "new"},
		},
		"category": {
			s.moderator, "categories", "metadata", s.category, categoriesPath + "/" + s.category, "", "categories.0",
			object{"name": "new"},
		},
		"community": {
			s.owner, "communities", "metadata", s.community, "/api/v3/communities/" + s.community, "", "communities.0",
			object{"displayName": "new"},
		},
		"channel": {s.owner, "channels", "metadata", s.channel, channelPath(s.channel), "", "channels.0", object{"displayName": "new"}},
		"post": {
			s.owner, "posts", "metadata", s.post, "/api/v3/posts/" + s.post, "/api/v4/posts/" + s.post, "posts.0",
			object{"tags": []string{"new"}},
		},
		"comment": {
			s.owner, "comments", "metadata", s.comment, "/api/v3/comments/" + s.comment, "", "comments.0",
			object{"data": object{"text": "new"}},
		},
		"message": {
			s.owner, "messages", "metadata", s.message, messagesPath + "/" + s.message, "", "messages.0",
			object{"data": object{"text": "new"}},
		},
		"room": {s.owner, "rooms", "metadata", s.room, roomsPath + "/" + s.room, "", "rooms.0", object{"title": "new"}},
		"stream": {
			s.owner, "video_streams", "metadata", s.stream, streamsPath + "/" + s.stream, "", "videoStreamings.0",
			object{"title": "new"},
		},
		"fields of a post": {
			s.owner, "posts", "data", post, "/api/v3/posts/" + post, "/api/v4/posts/" + post, "posts.0",
			object{"tags": []string{"new"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.edit = cmp.Or(tc.edit, tc.read)
			stored := large
			if tc.column == "data" {
				stored = with(stored, object{"text": "x"})
			}
			execute(t, apptest.Shared(t), "UPDATE "+tc.table+" SET "+tc.column+" = $2 WHERE id = $1", tc.id, stored)
			for _, r := range []*apptest.Response{
				tc.by.Do(t, http.MethodGet, tc.read, nil),
				tc.by.Do(t, http.MethodPut, tc.edit, tc.change),
			} {
				require.Equal(t, large["k"], r.OK(t).Get(t, tc.answer+"."+tc.column+".k"))
			}
		})
	}
}

// TestManyErrors sends requests with as many errors as are listed, one more and hundreds.
func TestManyErrors(t *testing.T) {
	t.Parallel()
	c := newUser(t, region.EU, "wrong")
	many := func(n int) object {
		list := make([]object, n)
		for i := range list {
			list[i] = object{"contentId": unknownID, "contentType": "post", "activityType": "x", "timestamp": "2026-01-01T00:00:00.000Z"}
		}
		return object{"activities": list}
	}
	for _, tc := range []struct {
		given, listed int
		last          string
	}{
		{20, 20, "activities[19].activityType: must be in list [view, linkClicked]"},
		{21, 20, "2 more errors are not listed"},
		{100, 20, "81 more errors are not listed"},
	} {
		r := c.Do(t, http.MethodPost, "/api/v1/analytics/activities", many(tc.given))
		requireRefused(t, r, http.StatusUnprocessableEntity, 500000)
		details := r.List(t, "data.detail")
		require.Len(t, details, tc.listed)
		require.Equal(t, tc.last, details[tc.listed-1])
	}
	for _, path := range []string{"/api/v3/users", "/api/v4/posts/" + unknownID, "/api/v3/comments/" + unknownID} {
		r := c.Do(t, http.MethodPut, path, object{"clear": strings.Split(strings.Repeat("x", 2000), "")})
		requireRefused(t, r, http.StatusUnprocessableEntity, 500000)
	}
}
