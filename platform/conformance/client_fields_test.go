package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// This file checks fields that public clients send or need and that no other test covers.

// TestClipAndAudioPosts attaches files of the newer types.
func TestClipAndAudioPosts(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newCommunity(t, boss)
	for _, kind := range []string{"clip", "audio"} {
		file := boss.Network.File(t, kind, 0)
		attachments := []object{{"type": kind, "fileId": file}}
		r := boss.Do(t, http.MethodPost, "/api/v4/posts", object{
			"targetType": "community", "targetId": id, "dataType": kind, "data": object{"text": "look"}, "attachments": attachments,
		})
		a := requireAggregate(t, r, "", postAggregate)
		require.Equal(t, kind, a.one("posts")["structureType"])
		child := a.one("postChildren")
		require.Equal(t, kind, child["dataType"])
		require.Equal(t, file, child["data"].(object)["fileId"])
		require.Equal(t, a.one("posts")["postId"], child["parentId"])
		picture := []object{{"type": kind, "fileId": boss.Network.File(t, "image", 0)}}
		requireFailure(t, invalid("attachments[0].fileId"), boss.Do(t, http.MethodPost, "/api/v4/posts", object{
			"targetType": "community", "targetId": id, "attachments": picture,
		}))
		comment := object{"referenceType": "post", "referenceId": text(a.one("posts"), "postId"), "attachments": attachments}
		requireFailure(t, invalid("attachments[0].type"), boss.Do(t, http.MethodPost, "/api/v3/comments", comment))
	}
}

// TestLinks stores, replaces, keeps and removes the links of posts and comments.
func TestLinks(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.SG, "boss")
	post := newPost(t, boss, newCommunity(t, boss))
	comment := newComment(t, boss, post)
	link := object{"index": 0, "length": 19, "url": "https://example.com", "renderPreview": true}
	full := with(link, object{"domain": "example.com", "title": "Example", "imageUrl": "https://example.com/a.png"})
	for path, list := range map[string]string{"/api/v4/posts/" + post: "posts", "/api/v3/comments/" + comment: "comments"} {
		links := func(body object) []any {
			return boss.At(region.US).Do(t, http.MethodPut, path, body).OK(t).List(t, list+".0.links")
		}
		require.Empty(t, links(object{"data": object{"text": "see https://example.com"}}))
		require.Len(t, links(object{"links": []object{link, full}}), 2)
		kept := links(object{"metadata": object{"a": "b"}})
		require.Len(t, kept, 2)
		require.Subset(t, kept[0], with(link, object{"index": 0.0, "length": 19.0}))
		require.Subset(t, kept[1], with(full, object{"index": 0.0, "length": 19.0}))
		require.Empty(t, links(object{"links": []object{}}))
		for count, refused := range map[int]bool{50: false, 51: true} {
			many := make([]object, count)
			for i := range many {
				many[i] = link
			}
			r := boss.Do(t, http.MethodPut, path, object{"links": many})
			if refused {
				requireFailure(t, invalid("links"), r)
				continue
			}
			require.Len(t, r.OK(t).List(t, list+".0.links"), count)
		}
		requireFailure(t, invalid("links[0].url"), boss.Do(t, http.MethodPut, path, object{"links": []object{{"url": "javascript:alert(1)"}}}))
	}
	r := boss.Do(t, http.MethodPost, "/api/v3/comments", object{
		"referenceType": "post", "referenceId": post, "data": object{"text": "x"}, "links": []object{link},
	})
	require.Len(t, r.OK(t).List(t, "comments.0.links"), 1)
}

// TestProductTags tags products in a post and pins one.
func TestProductTags(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	tags := []object{{"productId": "p1", "text": "shoe", "index": 3, "length": 4}, {"productId": "p2"}}
	post := newPost(t, boss, newCommunity(t, boss), object{"productTags": tags})
	put := func(body object) *apptest.Response { return boss.Do(t, http.MethodPut, "/api/v4/posts/"+post, body) }
	r := boss.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t)
	require.Len(t, r.List(t, "posts.0.productTags"), 2)
	require.Subset(t, r.Get(t, "posts.0.productTags.0"), object{"productId": "p1", "text": "shoe", "index": 3.0, "length": 4.0})
	require.Empty(t, r.String(t, "posts.0.pinnedProductId"))
	require.Equal(t, "p2", put(object{"pinnedProductId": "p2"}).OK(t).String(t, "posts.0.pinnedProductId"))
	r = put(object{"productTags": []object{{"productId": "p3"}}}).OK(t)
	require.Equal(t, "p3", r.String(t, "posts.0.productTags.0.productId"))
	require.Equal(t, "p2", r.String(t, "posts.0.pinnedProductId"))
	require.Empty(t, put(object{"pinnedProductId": ""}).OK(t).String(t, "posts.0.pinnedProductId"))
	many := make([]object, 21)
	for i := range many {
		many[i] = object{"productId": "p"}
	}
	put(object{"productTags": many[:20]}).OK(t)
	requireFailure(t, invalid("productTags"), put(object{"productTags": many}))
	require.Empty(t, put(object{"productTags": []object{}}).OK(t).List(t, "posts.0.productTags"))
}

// TestStreamReference checks that a stream says which post and which target it belongs to.
func TestStreamReference(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newCommunity(t, boss)
	stream := text(newStream(t, boss), "streamId")
	get := func() *apptest.Response {
		return boss.Do(t, http.MethodGet, "/api/v3/video-streaming/"+stream, nil).OK(t)
	}
	require.Empty(t, get().String(t, "videoStreamings.0.referenceType"))
	post := newPost(t, boss, id, object{"dataType": "liveStream", "data": object{"streamId": stream}})
	for field, want := range map[string]string{
		"referenceType": "post", "referenceId": post, "targetType": "community", "targetId": id,
		"postId": post,
	} {
		require.Equal(t, want, get().String(t, "videoStreamings.0."+field), field)
	}
}

// TestCommunitiesWithoutMembership checks that lists of communities have no membership of users who do not belong to them.
func TestCommunitiesWithoutMembership(t *testing.T) {
	t.Parallel()
	name := apptest.UserID("club")
	c := newClub(t, object{"displayName": name})
	left := newUser(t, region.US, "left")
	left.Do(t, http.MethodPost, communitiesPath+"/"+c.id+"/join", nil).OK(t)
	left.Do(t, http.MethodDelete, communitiesPath+"/"+c.id+"/leave", nil).OK(t)
	for by, want := range map[*apptest.Client][]string{c.stranger: {}, left: {}, c.member: {"member"}} {
		r := by.Do(t, http.MethodGet, communitiesPath+"?keyword="+name, nil).OK(t)
		require.Equal(t, []string{c.id}, r.Strings(t, "communities", "communityId"))
		require.Equal(t, want, r.Strings(t, "communityUsers", "communityMembership"))
	}
	r := c.member.Do(t, http.MethodGet, communitiesPath+"/"+c.id, nil).OK(t)
	require.False(t, r.Bool(t, "communityUsers.0.isMuted"))
}
