package conformance

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// sizesOf returns a video as data names it. No other sizes are produced, so each is the original.
func sizesOf(fileID string) object {
	return object{"original": fileID, "low": fileID, "medium": fileID, "high": fileID}
}

// requireFilled checks that each of the collections of an answer has an element.
func requireFilled(t *testing.T, r *apptest.Response, names ...string) {
	t.Helper()
	r.OK(t)
	for _, name := range names {
		require.NotEmpty(t, r.List(t, name), name)
	}
}

// fullCommunity is a community with everything that an answer can include: an avatar, a category, and members with
// avatars.
type fullCommunity struct {
	n            *apptest.Network
	boss, member *apptest.Client
	id           string
	word         string // in its description and its posts
}

func newFullCommunity(t *testing.T) fullCommunity {
	t.Helper()
	n := mediaNetwork(t)
	c := fullCommunity{n: n, boss: n.NewUser(t, region.EU, "boss"), member: n.NewUser(t, region.US, "member"), word: newWord(t)}
	face := object{"avatarFileId": n.File(t, "image", 0)}
	for _, u := range []*apptest.Client{c.boss, c.member} {
		u.Do(t, http.MethodPut, "/api/v3/users", face).OK(t)
	}
	category := newCategory(t, n.Admin(region.EU), "category", face)
	c.id = newCommunity(t, c.boss, face, object{
		"description": c.word, "categoryIds": []string{category}, "userIds": []string{c.member.UserID},
	})
	return c
}

// posts creates one post of each kind that includes related resources, by kind, with a comment that has a picture
// and a reply.
func (c fullCommunity) posts(t *testing.T) (posts map[string]string, comment string) {
	t.Helper()
	stream, room := text(newStream(t, c.boss), "streamId"), text(newRoom(t, c.boss), "roomId")
	newStream(t, c.boss, object{"parentStreamId": stream})
	newRoom(t, c.boss, object{"parentRoomId": room})
	poll := c.boss.Do(t, http.MethodPost, pollsPath, object{
		"question": "Which?", "answers": []object{{"dataType": "text", "data": "this"}, {"dataType": "text", "data": "that"}},
	}).OK(t).String(t, "polls.0.pollId")
	posts = map[string]string{"pictures": newPost(t, c.boss, c.id, textOf(c.word), object{"attachments": attached(t, c.n, "image", "video")})}
	for kind, data := range map[string]object{"poll": {"pollId": poll}, "liveStream": {"streamId": stream}, "room": {"roomId": room}} {
		posts[kind] = newPost(t, c.boss, c.id, object{"dataType": kind, "data": with(data, object{"text": c.word})})
	}
	comment = newComment(t, c.member, posts["pictures"], object{"attachments": attached(t, c.n, "image")})
	newComment(t, c.boss, posts["pictures"], object{"parentId": comment})
	return posts, comment
}

// TestCollectionsAreFilled calls every operation of the contract that answers with an aggregate, on content that
// refers to every kind of resource: no related collection stays empty.
func TestCollectionsAreFilled(t *testing.T) {
	t.Parallel()
	c := newFullCommunity(t)
	posts, comment := c.posts(t)
	common := []string{"posts", "postChildren", "users", "files", "communities", "communityUsers", "categories", "feeds"}
	carried := map[string][]string{
		"pictures": {"comments"}, "poll": {"polls"}, "liveStream": {"videoStreamings", "videoStreamingChildren"},
		"room": {"rooms", "roomChildrens"},
	}
	setMaxGlobalPins(t, c.n, 4)
	for kind, id := range posts {
		r := c.member.Do(t, http.MethodPost, "/api/v3/posts/"+id+"/flag", object{"reason": "Others"})
		requireFilled(t, r, append(carried[kind], common...)...)
		requireAggregate(t, r, "", postAggregate)
		r = c.n.Admin(region.SG).Do(t, http.MethodPost, globalPins+"/"+id, nil)
		pinned := map[string][]string{"pictures": {"comments"}, "poll": {"polls"}, "liveStream": {"videoStreamings"}}[kind]
		requireFilled(t, r, append(pinned, common...)...)
	}
	everything := slices.Concat(common, slices.Concat(slices.Collect(maps.Values(carried))...))
	ranked := c.member.Do(t, http.MethodGet, rankPostsPath+"?query="+c.word, nil)
	requireFilled(t, ranked, append(everything, "searchResult", "searchResults")...)
	requireAggregate(t, ranked, "", postAggregate)
	ranked = c.member.Do(t, http.MethodGet, rankCommunitiesPath+"?query="+c.word, nil)
	requireFilled(t, ranked, "searchResult", "searchResults", "communities", "communityUsers", "files", "users", "categories", "feeds")
	requireAggregate(t, ranked, "", communityAggregate)
	related := []string{"comments", "commentChildren", "communityUsers", "users", "roles", "files"}
	requireFilled(t, c.boss.Do(t, http.MethodPost, "/api/v3/comments/"+comment+"/flag", object{"commentId": comment}), related...)
	requireFilled(t, c.boss.Do(t, http.MethodDelete, "/api/v3/comments/"+comment+"/flags", nil), related...)
	feed := []string{"posts", "postChildren", "comments", "users", "files", "communities", "communityUsers", "categories"}
	for _, order := range []string{"lastCreated", "customRanking"} {
		requireFilled(t, c.member.Do(t, http.MethodGet, followingFeedPath+"?limit=100&sortBy="+order, nil), feed...)
	}
	story := newStory(t, c.boss, c.id, object{
		"dataType": "image",
		"data":     object{"fileId": c.n.File(t, "image", 0), "imageDisplayMode": "fit"},
	})
	newStoryComment(t, c.member, story)
	c.member.Do(t, http.MethodPost, storiesPath+"/"+story+"/flags", nil).OK(t)
	requireFilled(t, c.member.Do(t, http.MethodDelete, storiesPath+"/"+story+"/flags", nil),
		"stories", "comments", "files", "users", "communities", "communityUsers", "categories")
	heard := c.boss.Listen(t, addedStream, "")
	add(t, c.boss, c.id, c.n.NewUser(t, region.SG, "newcomer"))
	requireFilled(t, heard.Next(t).Response(), "data.communities", "data.communityUsers", "data.files", "data.users", "data.categories",
		"data.feeds")
}

// TestEverythingRecorded has the media server report recordings in all formats.
func TestEverythingRecorded(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	owner, media := n.NewUser(t, region.EU, "owner"), mediaServer(n)
	s := newStream(t, owner)
	id, key := text(s, "streamId"), streamKey(t, s)
	require.Equal(t, id, s["channelId"])
	recording := object{}
	for _, format := range []string{"flv", "mp4", "m3u8"} {
		recording[format] = object{"url": "https://r.test/1." + format, "duration": 2.5, "startTime": 10.0, "stopTime": 12.5}
	}
	for _, event := range []string{"started", "stopped", "recorded"} {
		s = requireStream(t, media.Do(t, http.MethodPost, mediaStreamsPath+id+"/events",
			object{"event": event, "streamKey": key, "recordings": []object{recording}}))
	}
	require.Equal(t, []any{recording}, s["recordings"])
}

// TestBrand marks a user as a brand, which requires the permission to assign roles.
func TestBrand(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.SG, "alice")
	requireFailure(t, notAllowed, alice.Do(t, http.MethodPut, "/api/v3/users", object{"isBrand": true}))
	change := func(fields object) bool {
		t.Helper()
		r := admin(t).Do(t, http.MethodPut, "/api/v3/users", with(object{"userId": alice.UserID}, fields))
		return requireAggregate(t, r, "", userAggregate).one("users")["isBrand"].(bool)
	}
	require.True(t, change(object{"isBrand": true}))
	require.True(t, change(object{"displayName": "Alice's"}), "what is absent stays")
	for _, fields := range []object{{"isBrand": false}, {"isBrand": true}, {"clear": []string{"roles"}}} {
		requireFailure(t, notAllowed, alice.Do(t, http.MethodPut, "/api/v3/users", fields))
	}
	require.False(t, change(object{"isBrand": false}))
}

// TestThumbnailOfPost sets a picture for a video in the data of a post.
func TestThumbnailOfPost(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	id := newWallPost(t, alice, object{
		"data":        object{"text": "see", "thumbnailFileId": fileOf(t, "image")},
		"attachments": attached(t, alice.Network, "video"),
	})
	a := requireAggregate(t, alice.Do(t, http.MethodGet, "/api/v3/posts/"+id, nil), "", postAggregate)
	require.Equal(t, fileOf(t, "image"), a.one("posts")["data"].(object)["thumbnailFileId"])
}

// TestCommentOnContent comments on content and reacts to it: only posts on content can be references of that type.
func TestCommentOnContent(t *testing.T) {
	t.Parallel()
	alice, bob := newUser(t, region.EU, "alice"), newUser(t, region.US, "bob")
	post := newContentPost(t, alice)
	id := newComment(t, bob, post, object{"referenceType": "content"})
	bob.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceType": "comment", "referenceId": id, "reactionName": "like"}).OK(t)
	c := getComment(t, bob, id).one("comments")
	require.Subset(t, c, object{"referenceType": "content", "referenceId": post, "targetType": "content", "myReactions": []any{"like"}})
	list := "/api/v3/comments?" + url.Values{"referenceType": {"content"}, "referenceId": {post}}.Encode()
	require.Equal(t, []string{id}, alice.Do(t, http.MethodGet, list, nil).OK(t).Strings(t, "comments", "commentId"))
	body := object{"referenceType": "content", "referenceId": newWallPost(t, alice), "data": object{"text": "x"}}
	requireFailure(t, notFound, bob.Do(t, http.MethodPost, "/api/v3/comments", body))
}

// TestUnexpectedErrors makes the database fail where the contract specifies an unexpected error.
func TestUnexpectedErrors(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	n := apptest.Start(t, apptest.WithStoreFault(func() error {
		if broken.Load() {
			return errors.New("a fault of the test")
		}
		return nil
	}))
	admin, alice := n.Admin(region.EU), n.NewUser(t, region.EU, "alice")
	unexpected := failure{status: http.StatusInternalServerError, code: 500000, message: "Unexpected error"}
	broken.Store(true)
	requireFailure(t, unexpected, admin.Do(t, http.MethodPut, moderationPath, object{"isReportEnabled": true}))
	broken.Store(false)
	admin.Do(t, http.MethodPut, moderationPath, object{"isReportEnabled": true}).OK(t)
	execute(t, n, `ALTER TABLE user_communities RENAME TO mislaid`)
	requireFailure(t, unexpected, alice.Do(t, http.MethodGet, followingFeedPath, nil))
	execute(t, n, `ALTER TABLE mislaid RENAME TO user_communities`)
	alice.Do(t, http.MethodGet, followingFeedPath, nil).OK(t)
}
