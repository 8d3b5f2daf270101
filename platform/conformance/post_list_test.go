package conformance

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// postLists returns the operations that list the posts of a community or a wall. boss owns both and may moderate
// them.
func postLists(t *testing.T, boss *apptest.Client) map[string]func() (listing, func(...object) string) {
	t.Helper()
	lists := map[string]func() (listing, func(...object) string){
		"user-feeds": func() (listing, func(...object) string) {
			owner := newUser(t, region.SG, "owner")
			return listing{by: boss, path: "/api/v3/user-feeds/" + owner.UserID, list: "data.posts", id: "postId"},
				func(fields ...object) string { return newWallPost(t, owner, fields...) }
		},
		"wall": func() (listing, func(...object) string) {
			owner := newUser(t, region.US, "owner")
			query := url.Values{"targetType": {"user"}, "targetId": {owner.UserID}}
			return listing{by: boss, path: "/api/v5/posts", query: query, list: "posts", id: "postId"},
				func(fields ...object) string { return newWallPost(t, owner, fields...) }
		},
		"community-feeds": func() (listing, func(...object) string) {
			id := newCommunity(t, boss)
			return listing{by: boss, path: "/api/v3/community-feeds/" + id, list: "data.posts", id: "postId"},
				func(fields ...object) string { return newPost(t, boss, id, fields...) }
		},
	}
	lists["posts"] = func() (listing, func(...object) string) {
		id := newCommunity(t, boss)
		query := url.Values{"targetType": {"community"}, "targetId": {id}}
		return listing{by: boss, path: "/api/v5/posts", query: query, list: "posts", id: "postId"},
			func(fields ...object) string { return newPost(t, boss, id, fields...) }
	}
	return lists
}

func eachPostList(t *testing.T, test func(t *testing.T, boss *apptest.Client, l listing, post func(...object) string)) {
	t.Helper()
	boss := newUser(t, region.EU, "boss")
	for name, list := range postLists(t, boss) {
		t.Run(name, func(t *testing.T) {
			l, post := list()
			test(t, boss, l, post)
		})
	}
}

// TestPostOrders lists posts in the four orders, page by page. Deleting posts in a different order changes the order
// by update.
func TestPostOrders(t *testing.T) {
	t.Parallel()
	eachPostList(t, func(t *testing.T, _ *apptest.Client, l listing, post func(...object) string) {
		t.Helper()
		var created []string
		for range 7 {
			created = append(created, post())
		}
		for _, code := range region.All() {
			l.by = l.by.At(code)
			l.requireOrder(t, reversed(created))
			l.requirePages(t, 3, reversed(created))
		}
		l.with("sortBy", "lastCreated").requirePages(t, 2, reversed(created))
		l.with("sortBy", "firstCreated").requirePages(t, 3, created)
		l.with("sortBy", "lastUpdated").requirePages(t, 3, reversed(created))
		l.with("sortBy", "firstUpdated").requirePages(t, 2, created)
		l.with("options[type]", "pagination").requirePages(t, 3, reversed(created))
		l.with("hasFlag", "null").requirePages(t, 3, reversed(created))
		updated := []string{created[0], created[2], created[4], created[6], created[5], created[1], created[3]}
		for _, id := range updated[4:] {
			nextMillisecond()
			admin(t).Do(t, http.MethodDelete, "/api/v4/posts/"+id, nil).OK(t)
		}
		l.with("isDeleted", "false").with("sortBy", "lastUpdated").requireOrder(t, reversed(updated[:4]))
		deleted := l.with("isDeleted", "true")
		deleted.with("sortBy", "lastUpdated").requirePages(t, 1, reversed(updated[4:]))
		deleted.with("sortBy", "firstUpdated").requirePages(t, 1, updated[4:])
		deleted.with("sortBy", "firstCreated").requireOrder(t, []string{created[1], created[3], created[5]})
		deleted.with("sortBy", "lastCreated").requireOrder(t, []string{created[5], created[3], created[1]})
		for _, p := range deleted.page(t, nil).List(t, l.list) {
			require.Equal(t, object{}, p.(object)["data"], "a deleted post has no content")
		}
	})
}

// TestPostsWithEqualTimes pages through posts that differ only in their ids: children have the times of their
// parent.
func TestPostsWithEqualTimes(t *testing.T) {
	t.Parallel()
	eachPostList(t, func(t *testing.T, _ *apptest.Client, l listing, post func(...object) string) {
		t.Helper()
		for range 2 {
			post(object{"attachments": photos(t, 5)})
		}
		for _, sortBy := range []string{"lastCreated", "firstCreated", "lastUpdated", "firstUpdated"} {
			l := l.with("dataTypes[]", "image").with("sortBy", sortBy)
			all := l.ids(t, l.page(t, url.Values{"options[limit]": {"100"}}))
			require.Len(t, all, 10)
			l.requirePages(t, 3, all)
		}
	})
}

// TestPostDataTypes lists posts by data type.
func TestPostDataTypes(t *testing.T) {
	t.Parallel()
	eachPostList(t, func(t *testing.T, _ *apptest.Client, l listing, post func(...object) string) {
		t.Helper()
		post()
		post(object{"attachments": attached(t, apptest.Shared(t), "image", "file")})
		nextMillisecond()
		post(object{"attachments": attached(t, apptest.Shared(t), "video")})
		types := func(values ...string) []string {
			r := l.with("dataTypes[]", values...).with("sortBy", "firstCreated").page(t, nil)
			found := r.Strings(t, l.list, "dataType")
			slices.Sort(found)
			return found
		}
		require.Equal(t, []string{"image"}, types("image"))
		require.Equal(t, []string{"file", "image"}, types("file", "image"))
		require.Equal(t, []string{"file", "image", "video"}, types("video", "image", "file", "liveStream"))
		require.Empty(t, types("liveStream"))
		if !strings.Contains(l.path, "feeds") {
			one := l.with("dataType", "image").with("sortBy", "firstCreated")
			require.Equal(t, []string{"image"}, one.page(t, nil).Strings(t, l.list, "dataType"))
			two := one.with("dataTypes[]", "video", "image").page(t, nil)
			require.ElementsMatch(t, []string{"image", "video"}, two.Strings(t, l.list, "dataType"))
			l.with("dataTypes[]", "image").with("matchingOnlyParentPost", "true").requireOrder(t, []string{})
			require.Len(t, l.ids(t, l.with("matchingOnlyParentPost", "false").page(t, nil)), 6, "parents and children")
			require.Equal(t, []string{"text", "text", "text"}, l.with("matchingOnlyParentPost", "true").page(t, nil).Strings(t, l.list, "dataType"))
		}
	})
}

// TestPostsByFlag lists posts by hasFlag: flagged itself, through a comment, through a child, or not at all.
func TestPostsByFlag(t *testing.T) {
	t.Parallel()
	eachPostList(t, func(t *testing.T, boss *apptest.Client, l listing, post func(...object) string) {
		t.Helper()
		var posts []string
		for range 8 {
			posts = append(posts, post(object{"attachments": photos(t, 1)}))
		}
		flag(t, boss, "posts", posts[1])
		flag(t, boss, "comments", newComment(t, boss, posts[3]))
		child := boss.Do(t, http.MethodGet, "/api/v3/posts/"+posts[5], nil).OK(t).String(t, "posts.0.children.0")
		flag(t, boss, "posts", child)
		l.by = admin(t)
		flagged, clean := []string{posts[1], posts[3], posts[5]}, []string{posts[0], posts[2], posts[4], posts[6], posts[7]}
		for _, sortBy := range []string{"firstCreated", "firstUpdated"} {
			l := l.with("sortBy", sortBy)
			l.by = l.by.At(region.SG)
			l.with("hasFlag", "true").requirePages(t, 1, flagged)
			l.with("hasFlag", "false").requirePages(t, 2, clean)
			l.with("hasFlag", "null").requireOrder(t, posts)
			l.requireOrder(t, posts)
		}
		l.with("hasFlag", "true").with("sortBy", "lastCreated").requirePages(t, 1, reversed(flagged))
		l.with("hasFlag", "false").with("sortBy", "lastUpdated").requirePages(t, 2, reversed(clean))
		l.with("hasFlag", "true").with("dataTypes[]", "image").requireOrder(t, []string{child})
		requireFailure(t, invalid("hasFlag"), boss.Do(t, http.MethodGet, l.path+"?"+l.with("hasFlag", "perhaps").query.Encode(), nil))
	})
}

// TestPostListVersions checks that the older paths return the same lists.
func TestPostListVersions(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newCommunity(t, boss)
	for range 3 {
		newPost(t, boss, id)
	}
	query := "?targetType=community&sortBy=firstCreated&options[limit]=2&targetId=" + id
	want := boss.Do(t, http.MethodGet, "/api/v5/posts"+query, nil).OK(t)
	require.Len(t, want.List(t, "posts"), 2)
	for _, version := range []string{"v3", "v4"} {
		require.JSONEq(t, string(want.Body), string(boss.Do(t, http.MethodGet, "/api/"+version+"/posts"+query, nil).OK(t).Body))
	}
}

// TestPostsByTag lists posts that have any of the tags.
func TestPostsByTag(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newCommunity(t, boss)
	red := newPost(t, boss, id, object{"tags": []string{"red", "round"}})
	blue := newPost(t, boss, id, object{"tags": []string{"blue"}})
	newPost(t, boss, id)
	l := listing{by: boss, path: "/api/v5/posts", query: url.Values{"targetId": {id}}, list: "posts", id: "postId"}
	l.with("tags[]", "red").requireOrder(t, []string{red})
	l.with("tags[]", "round", "blue").requireOrder(t, []string{blue, red})
	l.with("tags[]", "green").requireOrder(t, []string{})
	six := url.Values{"targetId": {id}, "tags[]": slices.Repeat([]string{"x"}, 6)}
	requireAttempts(t, []attempt{
		{"5 tags", boss, http.MethodGet, "/api/v5/posts?" + strings.Replace(six.Encode(), "tags%5B%5D=x&", "", 1), nil, failure{}},
		{"6 tags", boss, http.MethodGet, "/api/v5/posts?" + six.Encode(), nil, invalid("tags")},
		{"tag of 25", boss, http.MethodGet, "/api/v5/posts?targetId=" + id + "&tags[]=" + strings.Repeat("x", 25), nil, invalid("tags[0]")},
		{"no target", boss, http.MethodGet, "/api/v5/posts", nil, invalid("targetId")},
		{"other target", boss, http.MethodGet, "/api/v5/posts?targetId=x&targetType=planet", nil, invalid("targetType")},
		{"target of 900", boss, http.MethodGet, "/api/v5/posts?targetId=" + strings.Repeat("x", 900), nil, notFound},
		{"target of 901", boss, http.MethodGet, "/api/v5/posts?targetId=" + strings.Repeat("x", 901), nil, invalid("targetId")},
	})
}

// TestPostReview creates posts under review and has moderators decide; the order of decisions is the order of
// updates.
func TestPostReview(t *testing.T) {
	t.Parallel()
	club := newClub(t, object{"needApprovalOnPostCreation": true})
	own := newPost(t, club.boss, club.id)
	var waiting []string
	for range 4 {
		waiting = append(waiting, newPost(t, club.member, club.id))
	}
	require.Equal(t, 1, count(t, club.boss, club.id, "postsCount"), "what waits is not published")
	l := listing{by: club.boss, path: "/api/v3/community-feeds/" + club.id, list: "data.posts", id: "postId"}
	reviewing, declined := l.with("feedType", "reviewing"), l.with("feedType", "declined")
	reviewing.requirePages(t, 1, reversed(waiting))
	l.requireOrder(t, []string{own})
	requireAttempts(t, []attempt{
		{"stranger sees it", club.stranger, http.MethodGet, "/api/v3/posts/" + waiting[0], nil, notFound},
		{"author sees it", club.member, http.MethodGet, "/api/v3/posts/" + waiting[0], nil, failure{}},
		{"member reviews", club.member, http.MethodGet, l.path + "?feedType=reviewing", nil, notAllowed},
		{"author approves", club.member, http.MethodPost, "/api/v3/posts/" + waiting[0] + "/approve", nil, notAllowed},
		{"stranger approves", club.stranger, http.MethodPost, "/api/v3/posts/" + waiting[0] + "/approve", nil, notFound},
		{"published is approved", club.boss, http.MethodPost, "/api/v3/posts/" + own + "/approve", nil, failure{status: 400, code: 400000}},
		{"unknown", club.boss, http.MethodPost, "/api/v3/posts/" + unknownID + "/decline", nil, notFound},
		{"id of 901", club.boss, http.MethodPost, "/api/v3/posts/" + strings.Repeat("x", 901) + "/decline", nil, invalid("postId")},
	})
	for _, id := range []string{waiting[2], waiting[0]} {
		nextMillisecond()
		r := club.boss.At(region.US).Do(t, http.MethodPost, "/api/v3/posts/"+id+"/approve", nil)
		a := requireAggregate(t, r, "", postAggregate)
		require.Equal(t, "published", a.find("feeds", "feedId", text(a.one("posts"), "feedId"))["feedType"])
	}
	r := club.boss.Do(t, http.MethodPost, "/api/v3/posts/"+waiting[1]+"/decline", nil)
	a := requireAggregate(t, r, "", postAggregate)
	require.Equal(t, "declined", a.find("feeds", "feedId", text(a.one("posts"), "feedId"))["feedType"])
	require.Equal(t, 3, count(t, club.boss, club.id, "postsCount"))
	l.requireOrder(t, []string{waiting[2], waiting[0], own})
	l.with("sortBy", "firstUpdated").requirePages(t, 1, []string{own, waiting[2], waiting[0]})
	l.with("sortBy", "lastUpdated").requirePages(t, 1, []string{waiting[0], waiting[2], own})
	reviewing.requireOrder(t, []string{waiting[3]})
	declined.requireOrder(t, []string{waiting[1]})
	club.member.Do(t, http.MethodGet, "/api/v3/posts/"+waiting[1], nil).OK(t)
}

// TestReviewIsFinal checks that a second decision on a post is refused, with a reason for callers who see the post.
func TestReviewIsFinal(t *testing.T) {
	t.Parallel()
	club := newClub(t, object{"needApprovalOnPostCreation": true})
	approved, declined := newPost(t, club.member, club.id), newPost(t, club.member, club.id)
	review := func(by *apptest.Client, id, verb string) *apptest.Response {
		return by.Do(t, http.MethodPost, "/api/v3/posts/"+id+"/"+verb, nil)
	}
	review(club.boss, approved, "approve").OK(t)
	review(club.boss, declined, "decline").OK(t)
	over := failure{status: 400, code: 400000}
	for _, id := range []string{approved, declined} {
		for _, verb := range []string{"approve", "decline"} {
			requireFailure(t, over, review(club.boss, id, verb))
			requireFailure(t, notAllowed, review(club.member, id, verb))
		}
	}
	child := club.member.Do(t, http.MethodPost, postsPath,
		with(object{"targetType": "community", "targetId": club.id}, pictured(fileOf(t, "image")))).OK(t).Strings(t, "postChildren", "postId")[0]
	for _, verb := range []string{"approve", "decline"} { // a child is reviewed with its parent
		requireFailure(t, over, review(club.boss, child, verb))
	}
	requireFailure(t, notFound, review(club.stranger, declined, "approve"))
}

// TestReactionsUnderReview checks that users who see a post under review and may comment on it may also react to it.
func TestReactionsUnderReview(t *testing.T) {
	t.Parallel()
	club := newClub(t, object{"needApprovalOnPostCreation": true})
	id := newPost(t, club.member, club.id)
	body := object{"referenceType": "post", "referenceId": id, "reactionName": "like"}
	for _, by := range []*apptest.Client{club.member, club.boss} {
		newComment(t, by, id)
		by.Do(t, http.MethodPost, "/api/v2/reactions", body).OK(t)
		by.Do(t, http.MethodGet, "/api/v3/reactions?referenceType=post&referenceId="+id, nil).OK(t)
		by.Do(t, http.MethodDelete, "/api/v2/reactions", body).OK(t)
	}
	other := newUser(t, region.US, "other")
	join(t, club.id, other)
	requireAttempts(t, []attempt{
		{"a member who does not see it", other, http.MethodPost, "/api/v2/reactions", body, notFound},
		{"a stranger", club.stranger, http.MethodPost, "/api/v2/reactions", body, notFound},
	})
}
