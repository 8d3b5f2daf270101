package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const commentsPath = "/api/v3/comments"

func getComment(t *testing.T, by *apptest.Client, id string) *aggregate {
	t.Helper()
	return requireAggregate(t, by.Do(t, http.MethodGet, commentsPath+"/"+id, nil), "", commentAggregate)
}

func TestCreateComment(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	alice, mentioned := newUser(t, region.US, "alice"), newUser(t, region.SG, "mentioned")
	for i, home := range region.All() {
		id := newCommunity(t, newUser(t, region.EU, "boss").At(home))
		post := newPost(t, newMember(t, id), id)
		body := object{
			"referenceType": "post", "referenceId": post, "data": object{"text": "hello", "more": 1.0},
			"metadata": object{"deep": []any{nil, true}}, "mentionees": []object{{"type": "user", "userIds": []string{mentioned.UserID}}},
			"attachments": attached(t, n, "image", "video"),
		}
		a := requireAggregate(t, alice.At(region.All()[(i+1)%3]).Do(t, http.MethodPost, commentsPath, body), "", commentAggregate)
		c := a.one("comments")
		for field, want := range (object{
			"_id": c["commentId"], "userId": alice.UserID, "userPublicId": alice.UserID, "userInternalId": alice.InternalID,
			"parentId": "", "rootId": c["commentId"], "referenceId": post, "referenceType": "post", "dataType": "text",
			"dataTypes": []any{"text", "image", "video"}, "data": body["data"], "metadata": body["metadata"], "childrenNumber": 0.0,
			"flagCount": 0.0, "hashFlag": nil, "reactions": object{}, "reactionsCount": 0.0, "myReactions": []any{},
			"isDeleted": false, "approvalStatus": "approved", "children": []any{}, "targetId": id, "targetType": "community",
			"attachments": []any{object{"type": "image", "fileId": n.File(t, "image", 0)}, object{"type": "video", "fileId": n.File(t, "video", 1)}},
			"mentionees": []any{object{
				"type": "user", "userIds": []any{mentioned.UserID}, "userPublicIds": []any{mentioned.UserID},
				"userInternalIds": []any{mentioned.InternalID},
			}},
			"path":      fmt.Sprint(n.NetworkID, "/social/community/", id, "/post/", post, "/comment/", c["commentId"]),
			"updatedAt": c["createdAt"], "editedAt": c["createdAt"], "segmentNumber": 1.0,
		}) {
			require.Equal(t, want, c[field], field)
		}
		at, err := region.HomeOf(text(c, "commentId"))
		require.NoError(t, err)
		require.Equal(t, home, at, "a comment lives with its post")
		for _, code := range region.All() {
			require.Equal(t, c, getComment(t, alice.At(code), text(c, "commentId")).one("comments"), "the same at every region")
		}
	}
}

// newMember returns a new user who has joined a community.
func newMember(t *testing.T, communityID string) *apptest.Client {
	t.Helper()
	c := newUser(t, region.EU, "member")
	join(t, communityID, c)
	return c
}

func TestCommentOnWall(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	owner, visitor := newUser(t, region.SG, "owner"), newUser(t, region.US, "visitor")
	post := newWallPost(t, owner)
	c := getComment(t, visitor, newComment(t, visitor, post)).one("comments")
	require.Equal(t, "user", c["targetType"])
	require.Equal(t, owner.UserID, c["targetId"])
	require.Equal(t, fmt.Sprint(n.NetworkID, "/social/user/", owner.InternalID, "/post/", post, "/comment/", c["commentId"]), c["path"])
}

// TestReplies checks that a reply names its parent and its root, and that the parent includes its latest replies.
func TestReplies(t *testing.T) {
	t.Parallel()
	boss, other := newUser(t, region.EU, "boss"), newUser(t, region.US, "other")
	post := newPost(t, boss, newCommunity(t, boss))
	root := newComment(t, boss, post)
	var replies []string
	for range 3 {
		replies = append(replies, newComment(t, other, post, object{"parentId": root}))
	}
	deep := newComment(t, boss, post, object{"parentId": replies[0]})
	a := getComment(t, boss.At(region.SG), root)
	require.InDelta(t, 3, a.one("comments")["childrenNumber"], 0)
	require.ElementsMatch(t, toAny(replies), a.one("comments")["children"])
	require.ElementsMatch(t, replies, a.values("commentChildren", "commentId"))
	require.ElementsMatch(t, []string{boss.UserID, other.UserID}, a.values("users", "userId"))
	for _, id := range replies {
		c := getComment(t, boss, id).one("comments")
		require.Equal(t, root, c["parentId"])
		require.Equal(t, root, c["rootId"])
	}
	c := getComment(t, boss, deep).one("comments")
	require.Equal(t, replies[0], c["parentId"])
	require.Equal(t, root, c["rootId"])
	p := requireAggregate(t, boss.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil), "", postAggregate)
	require.InDelta(t, 5, p.one("posts")["commentsCount"], 0, "comments of all levels")
	elsewhere := newPost(t, boss, newCommunity(t, boss))
	say := func(fields object) object {
		return with(object{"referenceId": post, "data": object{"text": "x"}}, fields)
	}
	requireAttempts(t, []attempt{
		{"unknown parent", boss, http.MethodPost, commentsPath, say(object{"parentId": unknownID}), notFound},
		{"parent elsewhere", boss, http.MethodPost, commentsPath, say(object{"referenceId": elsewhere, "parentId": root}), notFound},
		{"parent of 900", boss, http.MethodPost, commentsPath, say(object{"parentId": strings.Repeat("x", 900)}), notFound},
		{"parent of 901", boss, http.MethodPost, commentsPath, say(object{"parentId": strings.Repeat("x", 901)}), invalid("parentId")},
	})
}

func TestCommentLimits(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	post := newWallPost(t, boss)
	long := func(length int) string { return strings.Repeat("é", length) }
	words := func(count, length int) []string { return slices.Repeat([]string{long(length)}, count) }
	pictures := func(count int) []object { return photos(t, count) }
	var attempts []attempt
	say := func(name string, fields object, want failure) {
		body := with(object{"referenceId": post, "data": object{"text": "x"}}, fields)
		attempts = append(attempts, attempt{name, boss, http.MethodPost, commentsPath, body, want})
	}
	say("text of 50000", object{"data": object{"text": long(50000)}}, failure{})
	say("text of 50001", object{"data": object{"text": long(50001)}}, invalid("data.text"))
	say("empty text", object{"data": object{"text": ""}}, invalid("data.text"))
	say("text that is a number", object{"data": object{"text": 7}}, invalid("data.text"))
	say("no data", object{"data": nil}, invalid("data"))
	say("image without text", object{"data": nil, "attachments": pictures(1)}, failure{})
	say("10 attachments", object{"attachments": pictures(10)}, failure{})
	say("11 attachments", object{"attachments": pictures(11)}, invalid("attachments"))
	say("file", object{"attachments": []object{{"type": "file", "fileId": "f"}}}, invalid("attachments[0].type"))
	say("file id of 100", object{"attachments": []object{{"type": "image", "fileId": long(100)}}}, notFound)
	say("file id of 101", object{"attachments": []object{{"type": "image", "fileId": long(101)}}}, invalid("attachments[0].fileId"))
	say("30 mentions", object{"mentionees": []object{{"userIds": words(30, 50)}}}, failure{})
	say("31 mentions", object{"mentionees": []object{{"userIds": words(31, 1)}}}, invalid("mentionees[0].userIds"))
	say("unknown post", object{"referenceId": unknownID}, notFound)
	say("no post", object{"referenceId": ""}, invalid("referenceId"))
	say("reference of 900", object{"referenceId": strings.Repeat("x", 900)}, notFound)
	say("reference of 901", object{"referenceId": strings.Repeat("x", 901)}, invalid("referenceId"))
	say("other reference", object{"referenceType": "message"}, invalid("referenceType"))
	say("story that does not exist", object{"referenceType": "story"}, notFound)
	say("content that does not exist", object{"referenceType": "content"}, notFound)
	say("NUL", object{"data": object{"text": "a\x00b"}}, invalid("data"))
	for _, length := range []int{1, 900} {
		attempts = append(attempts, attempt{
			fmt.Sprint("get of ", length), boss, http.MethodGet,
			commentsPath + "/" + strings.Repeat("x", length), nil, notFound,
		})
	}
	list := func(count, length int) string {
		return commentsPath + "/list?" + url.Values{"commentIds[]": slices.Repeat([]string{strings.Repeat("x", length)}, count)}.Encode()
	}
	requireAttempts(t, append(attempts,
		attempt{"get of 901", boss, http.MethodGet, commentsPath + "/" + strings.Repeat("x", 901), nil, invalid("commentId")},
		attempt{"get unknown", boss, http.MethodGet, commentsPath + "/" + unknownID, nil, notFound},
		attempt{"delete of 901", boss, http.MethodDelete, "/api/v4/comments/" + strings.Repeat("x", 901), nil, invalid("commentId")},
		attempt{"delete unknown", boss, http.MethodDelete, "/api/v4/comments/" + unknownID, nil, notFound},
		attempt{"as an admin", admin(t), http.MethodPost, commentsPath, object{"referenceId": post, "data": object{"text": "x"}}, forbidden},
		attempt{"10 ids", boss, http.MethodGet, list(10, 50), nil, failure{}},
		attempt{"11 ids", boss, http.MethodGet, list(11, 1), nil, invalid("commentIds")},
		attempt{"id of 51", boss, http.MethodGet, list(1, 51), nil, invalid("commentIds[0]")},
		attempt{"no ids", boss, http.MethodGet, commentsPath + "/list", nil, invalid("commentIds")}))
}

func TestBatchGetComments(t *testing.T) {
	t.Parallel()
	boss, reader := newUser(t, region.EU, "boss"), newUser(t, region.US, "reader")
	var ids []string
	for _, home := range region.All() {
		ids = append(ids, newComment(t, boss, newPost(t, boss, newCommunity(t, boss.At(home)))))
	}
	secret := newComment(t, boss, newPost(t, boss, newCommunity(t, boss, object{"isPublic": false})))
	get := func(ids ...string) []string {
		path := commentsPath + "/list?" + url.Values{"commentIds[]": ids}.Encode()
		return requireAggregate(t, reader.Do(t, http.MethodGet, path, nil), "", commentAggregate).values("comments", "commentId")
	}
	require.Equal(t, reversed(ids), get(reversed(ids)...), "the order of the request")
	require.Equal(t, []string{ids[1]}, get(unknownID, ids[1], ids[1], secret, "no id of ours"))
	requireFailure(t, notFound, reader.Do(t, http.MethodGet, commentsPath+"/"+secret, nil))
}

// TestListComments lists comments in the four orders, page by page, by level, by flag, and by data type.
func TestListComments(t *testing.T) {
	t.Parallel()
	boss, other := newUser(t, region.EU, "boss"), newUser(t, region.US, "other")
	for _, home := range region.All() {
		t.Run(home.String(), func(t *testing.T) {
			post := newPost(t, boss, newCommunity(t, boss.At(home)))
			var top, replies []string
			for range 7 {
				top = append(top, newComment(t, other, post))
			}
			for i := range 5 {
				replies = append(replies, newComment(t, boss, post, object{"parentId": top[0], "attachments": photos(t, i%2)}))
			}
			l := listing{by: other, path: commentsPath, list: "comments", id: "commentId"}
			l = l.with("referenceId", post).with("referenceType", "post")
			l.requireOrder(t, reversed(top))
			l.with("sortBy", "lastCreated").requirePages(t, 2, reversed(top))
			l.with("sortBy", "firstCreated").requirePages(t, 3, top)
			l.with("sortBy", "lastUpdated").requirePages(t, 3, reversed(top))
			l.with("sortBy", "firstUpdated").requirePages(t, 2, top)
			l.with("parentId", top[0]).with("sortBy", "firstCreated").requirePages(t, 2, replies)
			l.with("parentId", top[1]).requireOrder(t, []string{})
			every := l.with("filterByParentId", "false").with("sortBy", "firstCreated")
			every.requirePages(t, 4, append(slices.Clone(top), replies...))
			l.with("filterByParentId", "true").requireOrder(t, reversed(top))
			every.with("dataTypes[values][0]", "image").with("dataTypes[matchType]", "any").requireOrder(t, []string{replies[1], replies[3]})
			every.with("dataTypes[values][]", "image", "text").with("dataTypes[matchType]", "exact").requireOrder(t,
				[]string{replies[1], replies[3]})
			every.with("dataTypes[values][]", "image").with("dataTypes[matchType]", "exact").requireOrder(t, []string{})
			every.with("dataTypes[values][]", "image").requireOrder(t, []string{replies[1], replies[3]})
			flag(t, other, "comments", top[2])
			flag(t, other, "comments", replies[3])
			every.as(boss).with("hasFlag", "true").requireOrder(t, []string{top[2], replies[3]})
			l.as(boss).with("hasFlag", "false").with("sortBy", "firstUpdated").requirePages(t, 2, append(slices.Clone(top[:2]), top[3:]...))
			l.with("hasFlag", "null").requireOrder(t, reversed(top))
			l.requireLimits(t)
			requireAggregate(t, l.page(t, nil), "", commentAggregate)
			requireCommentsByDeletion(t, l, top)
		})
	}
	requireAttempts(t, []attempt{
		{"no reference", boss, http.MethodGet, commentsPath, nil, invalid("referenceId")},
		{"unknown", boss, http.MethodGet, commentsPath + "?referenceId=" + unknownID, nil, notFound},
		{"of 900", boss, http.MethodGet, commentsPath + "?referenceId=" + strings.Repeat("x", 900), nil, notFound},
		{"of 901", boss, http.MethodGet, commentsPath + "?referenceId=" + strings.Repeat("x", 901), nil, invalid("referenceId")},
		{"other sort", boss, http.MethodGet, commentsPath + "?referenceId=x&sortBy=size", nil, invalid("sortBy")},
		{"other match", boss, http.MethodGet, commentsPath + "?referenceId=x&dataTypes[matchType]=some", nil, invalid("dataTypes.matchType")},
		{"other type", boss, http.MethodGet, commentsPath + "?referenceId=x&dataTypes[values][]=smell", nil, invalid("dataTypes.values[0]")},
	})
}

// requireCommentsByDeletion deletes comments in a different order and lists them by isDeleted and by the time of the
// change.
func requireCommentsByDeletion(t *testing.T, l listing, top []string) {
	t.Helper()
	gone := []string{top[5], top[3], top[6]}
	for _, id := range gone {
		nextMillisecond()
		l.by.Do(t, http.MethodDelete, "/api/v4/comments/"+id, nil).OK(t)
	}
	kept := []string{top[0], top[1], top[2], top[4]}
	l = l.with("sortBy", "firstUpdated")
	l.with("isDeleted", "false").requirePages(t, 1, kept)
	l.with("isDeleted", "true").requirePages(t, 1, gone)
	l.requirePages(t, 2, append(slices.Clone(kept), gone...))
	l.with("sortBy", "lastUpdated").requirePages(t, 3, append(reversed(gone), reversed(kept)...))
	l.with("sortBy", "firstCreated").requireOrder(t, top)
	for _, c := range requireAggregate(t, l.with("isDeleted", "true").page(t, nil), "", commentAggregate).lists["comments"] {
		require.Equal(t, true, c["isDeleted"])
		require.Equal(t, object{}, c["data"], "a deleted comment has no content")
	}
}

// TestCommentsWithEqualTimes creates comments concurrently and pages through them, including those with equal times.
func TestCommentsWithEqualTimes(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	boss := newUser(t, region.EU, "boss")
	post := newPost(t, boss, newCommunity(t, boss))
	const many = 40
	var requests []*http.Request
	for i := range many {
		body := object{"referenceId": post, "data": object{"text": strconv.Itoa(i)}}
		requests = append(requests, boss.At(region.All()[i%3]).Request(t, http.MethodPost, commentsPath, body))
	}
	require.Equal(t, slices.Repeat([]int{http.StatusOK}, many), sendConcurrently(n, requests))
	for _, sortBy := range []string{"lastCreated", "firstCreated", "lastUpdated", "firstUpdated"} {
		l := listing{by: boss, path: commentsPath, list: "comments", id: "commentId"}.with("referenceId", post).with("sortBy", sortBy)
		all := l.ids(t, l.page(t, url.Values{"options[limit]": {"100"}}))
		require.Len(t, all, many)
		l.requirePages(t, 3, all)
	}
	r := boss.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil)
	require.InDelta(t, many, requireAggregate(t, r, "", postAggregate).one("posts")["commentsCount"], 0)
}

func TestDeleteComment(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/api/v3/comments/%s", "/api/v4/comments/%s", "/api/v4/comments/%s?permanent=true"} {
		t.Run(path, func(t *testing.T) {
			club := newClub(t)
			post := newPost(t, club.boss, club.id)
			root := newComment(t, club.member, post)
			reply := newComment(t, club.boss, post, object{"parentId": root})
			answer := func() *apptest.Response {
				return club.boss.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t)
			}
			require.Equal(t, 2, answer().Int(t, "posts.0.commentsCount"))
			r := club.member.At(region.SG).Do(t, http.MethodDelete, fmt.Sprintf(path, root), nil).OK(t)
			require.Equal(t, "success", r.String(t, "status"))
			require.True(t, r.Bool(t, "data.success"))
			require.Equal(t, 1, answer().Int(t, "posts.0.commentsCount"))
			requireAttempts(t, []attempt{
				{"get", club.member, http.MethodGet, commentsPath + "/" + root, nil, notFound},
				{"again", club.member, http.MethodDelete, "/api/v4/comments/" + root, nil, notFound},
				{"flag", club.member, http.MethodPost, commentsPath + "/" + root + "/flag", nil, notFound},
				{
					"answer", club.member, http.MethodPost, commentsPath,
					object{"referenceId": post, "parentId": root, "data": object{"text": "x"}},
					notFound,
				},
				{"its reply stays", club.member, http.MethodGet, commentsPath + "/" + reply, nil, failure{}},
			})
			club.member.Do(t, http.MethodDelete, fmt.Sprintf(path, newComment(t, club.member, post)), nil).OK(t)
			club.boss.Do(t, http.MethodDelete, fmt.Sprintf(path, reply), nil).OK(t)
			require.Equal(t, 0, answer().Int(t, "posts.0.commentsCount"))
			requireAggregate(t, answer(), "", postAggregate)
		})
	}
}

func TestWhoMayDeleteComments(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	post := newPost(t, club.boss, club.id)
	owner := newUser(t, region.EU, "owner")
	visit := newWallPost(t, owner)
	del := func(name string, by *apptest.Client, id string, want failure) attempt {
		return attempt{name, by, http.MethodDelete, "/api/v4/comments/" + id, nil, want}
	}
	requireAttempts(t, []attempt{
		del("stranger", club.stranger, newComment(t, club.member, post), notAllowed),
		del("member", newMember(t, club.id), newComment(t, club.member, post), notAllowed),
		del("banned", club.banned, newComment(t, club.member, post), notAllowed),
		del("author", club.member, newComment(t, club.member, post), failure{}),
		del("stranger who wrote it", club.stranger, newComment(t, club.stranger, post), failure{}),
		del("moderator", club.boss, newComment(t, club.member, post), failure{}),
		del("admin", admin(t), newComment(t, club.member, post), failure{}),
		del("owner of the wall", owner, newComment(t, club.member, visit), failure{}),
		del("stranger on a wall", club.stranger, newComment(t, club.member, visit), notAllowed),
	})
}

// TestEmbeddedComments checks that a post includes its latest comments, up to a page, and counts all of them.
func TestEmbeddedComments(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	post := newPost(t, boss, newCommunity(t, boss))
	var ids []string
	for range 7 {
		ids = append(ids, newComment(t, boss, post))
	}
	a := requireAggregate(t, boss.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil), "", postAggregate)
	p := a.one("posts")
	require.InDelta(t, 7, p["commentsCount"], 0)
	embedded, ok := p["comments"].([]any)
	require.True(t, ok)
	require.NotEmpty(t, embedded)
	require.Subset(t, toAny(ids), embedded)
	require.Contains(t, embedded, ids[6], "the latest is among them")
	require.ElementsMatch(t, embedded, toAny(a.values("comments", "commentId")))
}

// TestCommentApproval checks that a comment in a community with review waits for a moderator, unless a moderator
// wrote it.
func TestCommentApproval(t *testing.T) {
	t.Parallel()
	club := newClub(t, object{"needApprovalOnCommentCreation": true})
	post := newPost(t, club.boss, club.id)
	require.Equal(t, "pending", getComment(t, club.member, newComment(t, club.member, post)).one("comments")["approvalStatus"])
	require.Equal(t, "approved", getComment(t, club.boss, newComment(t, club.boss, post)).one("comments")["approvalStatus"])
}
