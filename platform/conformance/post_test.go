package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const postsPath = "/api/v4/posts"

// photos returns attachments of count images of the shared network.
func photos(t *testing.T, count int) []object {
	t.Helper()
	return attached(t, apptest.Shared(t), slices.Repeat([]string{"image"}, count)...)
}

// attached returns attachments of existing files of the given types.
func attached(t *testing.T, n *apptest.Network, types ...string) []object {
	t.Helper()
	var attachments []object
	for i, kind := range types {
		attachments = append(attachments, object{"type": kind, "fileId": n.File(t, kind, i)})
	}
	return attachments
}

// fileOf returns the id of a file of the shared network.
func fileOf(t *testing.T, kind string) string {
	t.Helper()
	return apptest.Shared(t).File(t, kind, 0)
}

func TestCreatePostInCommunity(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	boss, mentioned := newUser(t, region.EU, "boss"), newUser(t, region.SG, "mentioned")
	category := newCategory(t, admin(t), "category")
	for _, version := range []string{"v3", "v4"} {
		for i, home := range region.All() {
			t.Run(version+" "+home.String(), func(t *testing.T) {
				id := newCommunity(t, boss.At(home), object{"categoryIds": []string{category}})
				body := object{
					"targetType": "community", "targetId": id, "data": object{"text": "hello *World*", "title": "Title"},
					"tags": []string{"one", "two"}, "hashtags": []string{"spring", "été_1"},
					"metadata":   object{"deep": object{"n": 1.5, "list": []any{nil, true}}},
					"mentionees": []object{{"type": "user", "userIds": []string{mentioned.UserID}}},
				}
				a := requireAggregate(t, boss.At(region.All()[(i+1)%3]).Do(t, http.MethodPost, "/api/"+version+"/posts", body), "", postAggregate)
				p := a.one("posts")
				require.Equal(t, object{"text": "hello *World*", "title": "Title"}, p["data"])
				for _, field := range []string{"tags", "hashtags"} {
					require.Equal(t, toAny(body[field].([]string)), p[field])
				}
				require.Equal(t, body["metadata"], p["metadata"])
				require.Equal(t, []any{object{
					"type": "user", "userIds": []any{mentioned.UserID}, "userPublicIds": []any{mentioned.UserID},
					"userInternalIds": []any{mentioned.InternalID},
				}}, p["mentionees"])
				requireNewPost(t, p, boss)
				require.Equal(t, id, p["targetId"])
				require.Equal(t, id, p["targetPublicId"])
				require.Equal(t, id, p["targetInternalId"])
				require.Equal(t, "community", p["targetType"])
				require.Equal(t, n.NetworkID+"/social/community/"+id+"/post/"+text(p, "postId"), p["path"])
				at, err := region.HomeOf(text(p, "postId"))
				require.NoError(t, err)
				require.Equal(t, home, at, "a post lives with its community")
				require.InDelta(t, 1, a.one("communities")["postsCount"], 0)
				feed := a.find("feeds", "feedId", text(p, "feedId"))
				require.Equal(t, "published", feed["feedType"])
				require.Equal(t, id, feed["targetId"])
				require.InDelta(t, 1, feed["postCount"], 0)
				for _, code := range region.All() {
					got := requireAggregate(t, boss.At(code).Do(t, http.MethodGet, "/api/v3/posts/"+text(p, "postId"), nil), "", postAggregate)
					require.Equal(t, p, got.one("posts"), "the same at every region")
				}
			})
		}
	}
}

// requireNewPost checks the fields that are the same for every new text post.
func requireNewPost(t *testing.T, p object, author *apptest.Client) {
	t.Helper()
	for field, want := range (object{
		"postedUserId": author.UserID, "postedUserPublicId": author.UserID, "postedUserInternalId": author.InternalID,
		"_id": p["postId"], "parentPostId": "", "dataType": "text", "structureType": "text", "flagCount": 0.0, "hashFlag": nil,
		"reactions": object{}, "reactionsCount": 0.0, "myReactions": []any{}, "commentsCount": 0.0, "comments": []any{},
		"children": []any{}, "childrenNumber": 0.0, "isDeleted": false, "hasFlaggedComment": false, "hasFlaggedChildren": false,
		"sharedCount": 0.0, "impression": 0.0, "reach": 0.0, "updatedAt": p["createdAt"], "editedAt": p["createdAt"],
	}) {
		require.Equal(t, want, p[field], field)
	}
}

func TestCreatePostOnWall(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	alice, bob := newUser(t, region.SG, "alice"), newUser(t, region.US, "bob")
	for name, body := range map[string]object{
		"named":    {"targetType": "user", "targetId": alice.UserID, "data": object{"text": "x"}},
		"own":      {"targetType": "user", "data": object{"text": "x"}},
		"nothing":  {"data": object{"text": "x"}},
		"old text": {"text": "x"},
	} {
		t.Run(name, func(t *testing.T) {
			a := requireAggregate(t, alice.At(region.EU).Do(t, http.MethodPost, postsPath, body), "", postAggregate)
			p := a.one("posts")
			requireNewPost(t, p, alice)
			require.Equal(t, "x", p["data"].(object)["text"])
			require.Equal(t, "user", p["targetType"])
			require.Equal(t, alice.UserID, p["targetId"])
			require.Equal(t, alice.UserID, p["targetPublicId"])
			require.Equal(t, alice.InternalID, p["targetInternalId"])
			require.Equal(t, n.NetworkID+"/social/user/"+alice.InternalID+"/post/"+text(p, "postId"), p["path"])
			at, err := region.HomeOf(text(p, "postId"))
			require.NoError(t, err)
			require.Equal(t, region.SG, at, "a post lives with the owner of the wall")
		})
	}
	body := object{"targetType": "user", "targetId": alice.UserID, "data": object{"text": "a visit"}}
	a := requireAggregate(t, bob.Do(t, http.MethodPost, postsPath, body), "", postAggregate)
	requireNewPost(t, a.one("posts"), bob)
	require.ElementsMatch(t, []string{alice.UserID, bob.UserID}, a.values("users", "userId"))
}

// TestParentAndChildren checks that the parent holds the text and each media element is a child post.
func TestParentAndChildren(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newCommunity(t, boss)
	for name, c := range map[string]struct {
		attachments []object
		types       []string
		structure   string
	}{
		"images": {photos(t, 3), []string{"image", "image", "image"}, "image"},
		"video":  {attached(t, boss.Network, "video"), []string{"video"}, "video"},
		"file":   {attached(t, boss.Network, "file"), []string{"file"}, "file"},
		"mixed":  {attached(t, boss.Network, "file", "image"), []string{"file", "image"}, "mixed"},
		"ten":    {photos(t, 10), slices.Repeat([]string{"image"}, 10), "image"},
	} {
		t.Run(name, func(t *testing.T) {
			parent := newPost(t, boss, id, object{"attachments": c.attachments})
			a := requireAggregate(t, boss.At(region.US).Do(t, http.MethodGet, "/api/v3/posts/"+parent, nil), "", postAggregate)
			p := a.one("posts")
			require.Equal(t, "text", p["dataType"])
			require.Equal(t, c.structure, p["structureType"])
			require.InDelta(t, len(c.attachments), p["childrenNumber"], 0)
			require.ElementsMatch(t, toAny(a.values("postChildren", "postId")), p["children"])
			require.ElementsMatch(t, c.types, a.values("postChildren", "dataType"))
			for _, child := range a.lists["postChildren"] {
				require.Equal(t, parent, child["parentPostId"])
				require.Equal(t, child["dataType"], child["structureType"])
				require.Equal(t, p["targetId"], child["targetId"])
				require.Equal(t, p["feedId"], child["feedId"])
				if child["dataType"] == "video" {
					require.Equal(t, object{"videoFileId": sizesOf(fileOf(t, "video")), "thumbnailFileId": ""}, child["data"])
				} else {
					require.NotEmpty(t, child["data"].(object)["fileId"])
				}
				r := boss.Do(t, http.MethodGet, "/api/v3/posts/"+text(child, "postId"), nil)
				require.Equal(t, child, requireAggregate(t, r, "", postAggregate).one("posts"), "a child can be got by itself")
			}
		})
	}
	require.Equal(t, 5, count(t, boss, id, "postsCount"), "children do not count")
}

// TestChildrenKeepTheirOrder checks that an album shows its pictures in the order of the attachments, also after one
// of them is deleted.
func TestChildrenKeepTheirOrder(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	var want []string
	for _, photo := range photos(t, 10) {
		want = append(want, text(photo, "fileId"))
	}
	files := func(r *apptest.Response) []string {
		a := requireAggregate(t, r, "", postAggregate)
		var files []string
		for _, child := range a.one("posts")["children"].([]any) {
			files = append(files, text(a.find("postChildren", "postId", child.(string))["data"].(object), "fileId"))
		}
		return files
	}
	created := boss.Do(t, http.MethodPost, postsPath, object{"data": object{"text": "x"}, "attachments": photos(t, 10)})
	require.Equal(t, want, files(created))
	got := func() *apptest.Response {
		return boss.Do(t, http.MethodGet, "/api/v3/posts/"+created.String(t, "posts.0.postId"), nil)
	}
	require.Equal(t, want, files(got()))
	require.Equal(t, want, files(boss.Do(t, http.MethodGet, "/api/v5/posts?targetType=user&targetId="+boss.UserID, nil)))
	boss.Do(t, http.MethodDelete, "/api/v4/posts/"+created.String(t, "posts.0.children.3"), nil).OK(t)
	require.Equal(t, slices.Delete(want, 3, 4), files(got()))
	require.Equal(t, 9, got().Int(t, "posts.0.childrenNumber"))
}

// TestCustomPost checks that a dotted data type holds arbitrary data up to 100 KB.
func TestCustomPost(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newCommunity(t, boss)
	data := object{"anything": []any{1.0, nil, object{"text": "x"}}, "n": 1e100}
	a := requireAggregate(t, boss.Do(t, http.MethodPost, postsPath, object{
		"targetType": "community", "targetId": id, "dataType": "shop.offer-1", "data": data, "attachments": photos(t, 1),
	}), "", postAggregate)
	require.Equal(t, "shop.offer-1", a.one("posts")["dataType"])
	require.Equal(t, data, a.one("posts")["data"])
	require.Empty(t, a.lists["postChildren"], "a custom post has no attachments")
	blob := func(size int) object {
		return object{
			"targetType": "community", "targetId": id, "dataType": "a.b",
			"data": object{"x": strings.Repeat("y", size-len(`{"x":""}`))},
		}
	}
	requireAttempts(t, []attempt{
		{"100 KB", boss, http.MethodPost, postsPath, blob(100 * 1024), failure{}},
		{"one byte more", boss, http.MethodPost, postsPath, blob(100*1024 + 1), invalid("data")},
		{"undotted", boss, http.MethodPost, postsPath, object{"dataType": "offer", "data": object{"text": "x"}}, invalid("dataType")},
	})
}

func TestPostLimits(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	long := func(length int) string { return strings.Repeat("é", length) }
	words := func(count, length int) []string { return slices.Repeat([]string{long(length)}, count) }
	var attempts []attempt
	post := func(name string, fields object, want failure) {
		attempts = append(attempts, attempt{name, boss, http.MethodPost, postsPath, with(object{"data": object{"text": "x"}}, fields), want})
	}
	post("text of 50000", object{"data": object{"text": long(50000)}}, failure{})
	post("text of 50001", object{"data": object{"text": long(50001)}}, invalid("data.text"))
	post("old text of 50000", object{"data": nil, "text": long(50000)}, failure{})
	post("old text of 50001", object{"data": nil, "text": long(50001)}, invalid("text"))
	post("title of 150", object{"data": object{"text": "x", "title": long(150)}}, failure{})
	post("title of 151", object{"data": object{"text": "x", "title": long(151)}}, invalid("data.title"))
	post("no text", object{"data": object{}}, invalid("data.text"))
	post("empty text", object{"data": object{"text": ""}}, invalid("data.text"))
	post("text that is a number", object{"data": object{"text": 7}}, invalid("data.text"))
	post("data that is a text", object{"data": "x"}, invalid("data"))
	post("no data", object{"data": nil}, invalid("data"))
	post("image without text", object{"data": object{}, "attachments": photos(t, 1)}, failure{})
	post("5 tags of 24", object{"tags": words(5, 24)}, failure{})
	post("6 tags", object{"tags": words(6, 24)}, invalid("tags"))
	post("tag of 25", object{"tags": words(5, 25)}, invalid("tags[0]"))
	post("empty tag", object{"tags": []string{""}}, invalid("tags[0]"))
	post("30 hashtags of 100", object{"hashtags": words(30, 100)}, failure{})
	post("31 hashtags", object{"hashtags": words(31, 1)}, invalid("hashtags"))
	post("hashtag of 101", object{"hashtags": words(1, 101)}, invalid("hashtags[0]"))
	post("hashtag with a space", object{"hashtags": []string{"a b"}}, invalid("hashtags[0]"))
	post("10 attachments", object{"attachments": photos(t, 10)}, failure{})
	post("11 attachments", object{"attachments": photos(t, 11)}, invalid("attachments"))
	post("11 old images", object{"data": object{"text": "x", "images": toAny(words(11, 1))}}, invalid("attachments"))
	post("file id of 100", object{"attachments": []object{{"type": "image", "fileId": long(100)}}}, notFound)
	post("file id of 101", object{"attachments": []object{{"type": "image", "fileId": long(101)}}}, invalid("attachments[0].fileId"))
	post("old image id of 101", object{"data": object{"text": "x", "images": []any{long(101)}}}, invalid("data.images"))
	post("no file id", object{"attachments": []object{{"type": "image"}}}, invalid("attachments[0].fileId"))
	post("other attachment", object{"attachments": []object{{"type": "smell", "fileId": "x"}}}, invalid("attachments[0].type"))
	post("30 mentions", object{"mentionees": []object{{"type": "user", "userIds": words(30, 50)}}}, failure{})
	post("31 mentions", object{"mentionees": []object{{"type": "user", "userIds": words(31, 1)}}}, invalid("mentionees[0].userIds"))
	post("mention of 51", object{"mentionees": []object{{"type": "user", "userIds": words(1, 51)}}}, invalid("mentionees[0].userIds[0]"))
	post("mention of a channel", object{"mentionees": []object{{"type": "channel"}}}, invalid("mentionees[0].type"))
	post("other target", object{"targetType": "planet"}, invalid("targetType"))
	post("unknown user", object{"targetType": "user", "targetId": "unknown-user"}, notFound)
	post("unknown community", object{"targetType": "community", "targetId": unknownID}, notFound)
	post("community of 900", object{"targetType": "community", "targetId": strings.Repeat("x", 900)}, notFound)
	post("community of 901", object{"targetType": "community", "targetId": strings.Repeat("x", 901)}, invalid("targetId"))
	post("dataType of 101", object{"dataType": "a." + strings.Repeat("x", 99)}, invalid("dataType"))
	post("NUL", object{"data": object{"text": "a\x00b"}}, invalid("data"))
	requireAttempts(t, attempts)
}

func TestWhoMayPost(t *testing.T) {
	t.Parallel()
	open, quiet := newClub(t), newClub(t, object{"onlyAdminCanPost": true})
	in := func(c club) object {
		return object{"targetType": "community", "targetId": c.id, "data": object{"text": "x"}}
	}
	requireAttempts(t, []attempt{
		{"moderator", open.boss, http.MethodPost, postsPath, in(open), failure{}},
		{"member", open.member, http.MethodPost, postsPath, in(open), failure{}},
		{"stranger", open.stranger, http.MethodPost, postsPath, in(open), notMember},
		{"banned", open.banned, http.MethodPost, postsPath, in(open), banned},
		{"admin", admin(t), http.MethodPost, postsPath, in(open), forbidden},
		{"quiet, moderator", quiet.boss, http.MethodPost, postsPath, in(quiet), failure{}},
		{"quiet, member", quiet.member, http.MethodPost, postsPath, in(quiet), notAllowed},
		{"quiet, stranger", quiet.stranger, http.MethodPost, postsPath, in(quiet), notMember},
	})
}

func TestGetPosts(t *testing.T) {
	t.Parallel()
	boss, reader := newUser(t, region.EU, "boss"), newUser(t, region.US, "reader")
	var ids []string
	for _, home := range region.All() {
		ids = append(ids, newPost(t, boss, newCommunity(t, boss.At(home)), object{"attachments": photos(t, 1)}))
	}
	ids = append(ids, newWallPost(t, reader))
	list := func(ids ...string) string { return "/api/v3/posts/list?" + url.Values{"postIds[]": ids}.Encode() }
	get := func(ids ...string) []string {
		return requireAggregate(t, reader.Do(t, http.MethodGet, list(ids...), nil), "", postAggregate).values("posts", "postId")
	}
	require.Equal(t, ids, get(ids...))
	require.Equal(t, reversed(ids), get(reversed(ids)...), "the order of the request")
	require.Equal(t, []string{ids[1]}, get(unknownID, ids[1], ids[1], "no id of ours"))
	hundred := slices.Repeat([]string{ids[0]}, 100)
	var attempts []attempt
	for _, c := range []struct{ method, suffix string }{
		{http.MethodGet, ""}, {http.MethodGet, "/isflagbyme"}, {http.MethodPost, "/flag"}, {http.MethodDelete, "/unflag"},
	} {
		for _, length := range []int{1, 900} {
			attempts = append(attempts, attempt{
				fmt.Sprintf("%s%s of %d", c.method, c.suffix, length), reader, c.method,
				"/api/v3/posts/" + strings.Repeat("x", length) + c.suffix, nil, notFound,
			})
		}
		attempts = append(attempts,
			attempt{
				c.method + c.suffix + " of 901", reader, c.method, "/api/v3/posts/" + strings.Repeat("x", 901) + c.suffix, nil,
				invalid("postId"),
			},
			attempt{c.method + c.suffix + " unknown", reader, c.method, "/api/v3/posts/" + unknownID + c.suffix, nil, notFound})
	}
	requireAttempts(t, append(attempts,
		attempt{"100 ids", reader, http.MethodGet, list(hundred...), nil, failure{}},
		attempt{"101 ids", reader, http.MethodGet, list(append(hundred, "x")...), nil, invalid("postIds")},
		attempt{"no ids", reader, http.MethodGet, "/api/v3/posts/list", nil, invalid("postIds")},
		attempt{"id of 51", reader, http.MethodGet, list(strings.Repeat("x", 51)), nil, invalid("postIds[0]")},
	))
}

func TestDeletePost(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v3", "v4"} {
		for _, permanent := range []bool{false, true} {
			t.Run(fmt.Sprint(version, " permanent ", permanent), func(t *testing.T) {
				club := newClub(t)
				id := newPost(t, club.member, club.id, object{"attachments": photos(t, 2)})
				kept := newPost(t, club.member, club.id)
				comment := newComment(t, club.boss, id)
				club.boss.Do(t, http.MethodPost, "/api/v3/posts/"+id+"/flag", nil).OK(t)
				requireFailure(t, notAllowed, club.stranger.Do(t, http.MethodDelete, "/api/"+version+"/posts/"+id, nil))
				r := club.member.At(region.SG).Do(t, http.MethodDelete, fmt.Sprint("/api/", version, "/posts/", id, "?permanent=", permanent),
					nil).OK(t)
				require.Equal(t, "success", r.String(t, "status"))
				require.True(t, r.Bool(t, "data.success"))
				require.True(t, r.Bool(t, "success"))
				requireAttempts(t, []attempt{
					{"get", club.member, http.MethodGet, "/api/v3/posts/" + id, nil, notFound},
					{"again", club.member, http.MethodDelete, "/api/v4/posts/" + id, nil, notFound},
					{"flag", club.member, http.MethodPost, "/api/v3/posts/" + id + "/flag", nil, notFound},
					{"comment", club.member, http.MethodPost, "/api/v3/comments", object{"referenceId": id, "data": object{"text": "x"}}, notFound},
					{"its comment", club.member, http.MethodGet, "/api/v3/comments/" + comment, nil, notFound},
					{"its comments", club.member, http.MethodGet, "/api/v3/comments?referenceId=" + id, nil, notFound},
				})
				require.Equal(t, 1, count(t, club.boss, club.id, "postsCount"))
				l := listing{by: club.boss, path: "/api/v5/posts", query: url.Values{"targetId": {club.id}}, list: "posts", id: "postId"}
				l.with("isDeleted", "false").requireOrder(t, []string{kept})
				gone := []string{id}
				if permanent {
					gone = []string{}
				}
				l.with("isDeleted", "true").requireOrder(t, gone)
				l.requireOrder(t, append([]string{kept}, gone...))
				l.with("includeDeleted", "false").requireOrder(t, append([]string{kept}, gone...))
				requireDeletedPosts(t, l.with("isDeleted", "true").page(t, nil))
				community := club.boss.Do(t, http.MethodGet, communitiesPath+"/"+club.id, nil).OK(t)
				require.False(t, community.Bool(t, "communities.0.hasFlaggedPost"), "nothing that is there is flagged")
			})
		}
	}
}

// requireDeletedPosts checks that deleted posts keep their position and lose their content.
func requireDeletedPosts(t *testing.T, r *apptest.Response) {
	t.Helper()
	for _, p := range requireAggregate(t, r, "", postAggregate).lists["posts"] {
		require.Equal(t, true, p["isDeleted"])
		require.Equal(t, object{}, p["data"])
	}
}

func TestWhoMayDeletePosts(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	del := func(name string, by *apptest.Client, id string, want failure) attempt {
		return attempt{name, by, http.MethodDelete, "/api/v4/posts/" + id, nil, want}
	}
	other := newUser(t, region.EU, "other")
	join(t, club.id, other)
	leaver := newUser(t, region.EU, "leaver")
	join(t, club.id, leaver)
	left := newPost(t, leaver, club.id)
	leaver.Do(t, http.MethodDelete, communitiesPath+"/"+club.id+"/leave", nil).OK(t)
	culprit := newUser(t, region.EU, "culprit")
	join(t, club.id, culprit)
	theirs := newPost(t, culprit, club.id)
	banMember(t, club.boss, club.id, culprit)
	visit := newWallPost(t, club.member, object{"targetId": other.UserID})
	requireAttempts(t, []attempt{
		del("another member", other, newPost(t, club.member, club.id), notAllowed),
		del("stranger", club.stranger, newPost(t, club.member, club.id), notAllowed),
		del("banned", club.banned, newPost(t, club.member, club.id), notAllowed),
		del("author", club.member, newPost(t, club.member, club.id), failure{}),
		del("author who left", leaver, left, failure{}),
		del("author who is banned", culprit, theirs, banned),
		del("moderator", club.boss, newPost(t, club.member, club.id), failure{}),
		del("admin", admin(t), newPost(t, club.member, club.id), failure{}),
		del("stranger on a wall", club.stranger, visit, notAllowed),
		del("owner of the wall", other, visit, failure{}),
		del("author on a wall", club.member, newWallPost(t, club.member, object{"targetId": other.UserID}), failure{}),
		del("unknown", club.boss, unknownID, notFound),
		del("id of 900", club.boss, strings.Repeat("x", 900), notFound),
		del("id of 901", club.boss, strings.Repeat("x", 901), invalid("postId")),
	})
}

// TestAdministratorsCannotPost checks that an administrator is refused with a reason, with or without a target.
func TestAdministratorsCannotPost(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	words := object{"data": object{"text": "x"}}
	for name, target := range map[string]object{
		"no target": {}, "a wall": {"targetType": "user", "targetId": author.UserID},
		"a community": {"targetType": "community", "targetId": newCommunity(t, author)},
		"content":     {"targetType": "content", "targetId": "article"}, "unknown": {"targetType": "community", "targetId": unknownID},
	} {
		t.Run(name, func(t *testing.T) {
			r := admin(t).Do(t, http.MethodPost, "/api/v4/posts", with(words, target))
			requireFailure(t, forbidden, r)
			require.Contains(t, r.Short(), "requires a user account")
		})
	}
}
