package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// edit updates a post and returns the answer.
func edit(t *testing.T, by *apptest.Client, postID string, body object) *aggregate {
	t.Helper()
	nextMillisecond()
	return requireAggregate(t, by.Do(t, http.MethodPut, postsPath+"/"+postID, body), "", postAggregate)
}

func getPost(t *testing.T, by *apptest.Client, id string) object {
	t.Helper()
	return requireAggregate(t, by.Do(t, http.MethodGet, "/api/v3/posts/"+id, nil), "", postAggregate).one("posts")
}

// TestEditPost checks that given fields change, absent fields stay, and every region shows the same.
func TestEditPost(t *testing.T) {
	t.Parallel()
	mentioned := newUser(t, region.SG, "mentioned")
	for i, home := range region.All() {
		t.Run(home.String(), func(t *testing.T) {
			author := newUser(t, region.EU, "author")
			id := newCommunity(t, author.At(home))
			post := newPost(t, author, id, object{
				"data": object{"title": "Title", "text": "old"}, "tags": []string{"one"}, "hashtags": []string{"spring"}, "metadata": object{"a": 1.0},
				"mentionees": []object{{"userIds": []string{mentioned.UserID}}},
			})
			before := getPost(t, author, post)
			far := author.At(region.All()[(i+1)%3])
			p := edit(t, far, post, object{"data": object{"text": "new", "title": "Other"}}).one("posts")
			require.Equal(t, object{"text": "new", "title": "Other"}, p["data"])
			for _, field := range []string{"tags", "hashtags", "metadata", "mentionees", "createdAt", "feedId", "postedUserId", "children"} {
				require.Equal(t, before[field], p[field], "%s stays", field)
			}
			require.Greater(t, p["editedAt"], before["editedAt"])
			require.Greater(t, p["updatedAt"], before["updatedAt"])
			for _, code := range region.All() {
				require.Equal(t, p, getPost(t, author.At(code), post))
			}
			quiet := edit(t, far, post, object{"tags": []string{"two"}, "hashtags": []string{"été"}, "metadata": object{"b": true}}).one("posts")
			require.Equal(t, []any{"two"}, quiet["tags"])
			require.Equal(t, []any{"été"}, quiet["hashtags"])
			require.Equal(t, object{"b": true}, quiet["metadata"])
			require.Equal(t, p["editedAt"], quiet["editedAt"], "the content is as it was")
			require.Greater(t, quiet["updatedAt"], p["updatedAt"])
			same := edit(t, far, post, object{"data": object{"text": "new", "title": "Other"}}).one("posts")
			require.Equal(t, p["editedAt"], same["editedAt"], "the same content is no edit")
			empty := edit(t, far, post, object{"tags": []string{}, "hashtags": []string{}, "mentionees": []object{}}).one("posts")
			for _, field := range []string{"tags", "hashtags", "mentionees"} {
				require.Equal(t, []any{}, empty[field], "an empty list says so")
			}
			older := author.Do(t, http.MethodPut, "/api/v3/posts/"+post, object{"text": "as older clients"}).OK(t)
			require.Equal(t, "as older clients", older.String(t, "posts.0.data.text"))
			require.Equal(t, "Other", older.String(t, "posts.0.data.title"))
			again := edit(t, author, post, object{"data": object{"text": "@x"}, "mentionees": []object{{"userIds": []string{author.UserID}}}})
			require.Contains(t, again.values("users", "userId"), author.UserID)
			require.Len(t, again.one("posts")["mentionees"], 1)
			require.NotContains(t, again.one("posts")["data"], "title", "the whole body is another")
		})
	}
}

func TestPreserveEditedAt(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	post := newWallPost(t, author)
	comment := newComment(t, author, post)
	keep := []string{"preserve-edited-at", "true"}
	made := getPost(t, author, post)["editedAt"]
	require.Equal(t, made, edit(t, admin(t).With(keep...), post, object{"data": object{"text": "x"}}).one("posts")["editedAt"])
	require.Greater(t, edit(t, author.With(keep...), post, object{"data": object{"text": "y"}}).one("posts")["editedAt"], made,
		"administrators alone")
	made = getComment(t, author, comment).one("comments")["editedAt"]
	require.Equal(t, made, editComment(t, admin(t).With(keep...), comment, object{"data": object{"text": "x"}}).one("comments")["editedAt"])
	require.Greater(t, editComment(t, author.With(keep...), comment, object{"data": object{"text": "y"}}).one("comments")["editedAt"], made)
}

// TestEditAttachments checks that child posts match the attachments and that retained children keep their ids.
func TestEditAttachments(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.US, "author")
	id := newCommunity(t, author)
	pictures := photos(t, 3)
	post := newPost(t, author, id, object{"attachments": pictures})
	first := getPost(t, author, post)
	children := func(p object) []string { return stringsOf(p["children"]) }
	old := children(first)
	require.Len(t, old, 3)
	require.Equal(t, first["children"], edit(t, author, post, object{"data": object{"text": "other"}}).one("posts")["children"])
	a := edit(t, author.At(region.SG), post,
		object{"attachments": []object{pictures[2], attached(t, apptest.Shared(t), "image", "video")[1], pictures[0]}})
	p := a.one("posts")
	now := children(p)
	require.Len(t, now, 3)
	require.Equal(t, old[2], now[0])
	require.Equal(t, old[0], now[2])
	require.NotContains(t, old, now[1])
	require.Equal(t, "mixed", p["structureType"])
	require.ElementsMatch(t, now, a.values("postChildren", "postId"))
	require.Greater(t, p["editedAt"], first["editedAt"])
	requireFailure(t, notFound, author.Do(t, http.MethodGet, "/api/v3/posts/"+old[1], nil))
	child := getPost(t, author, now[1])
	require.Equal(t, "video", child["dataType"])
	require.Equal(t, post, child["parentPostId"])
	require.Equal(t, author.UserID, child["postedUserId"])
	bare := edit(t, author, post, object{"attachments": []object{}}).one("posts")
	require.Equal(t, []any{}, bare["children"])
	require.Equal(t, "text", bare["structureType"])
	requireFailure(t, notFound, author.Do(t, http.MethodGet, "/api/v3/posts/"+now[1], nil))
	same := photos(t, 1)[0]
	twice := children(edit(t, author, post, object{"attachments": []object{same, same}}).one("posts"))
	require.Len(t, twice, 2, "one file twice is two elements")
	require.Equal(t, twice[:1], children(edit(t, author, post, object{"attachments": []object{same}}).one("posts")))
	require.Equal(t, 1, count(t, author, id, "postsCount"), "children are not counted")
}

func stringsOf(list any) []string {
	var all []string
	for _, v := range list.([]any) {
		all = append(all, v.(string))
	}
	return all
}

// TestEditPostWithPoll checks that an edit does not detach the poll of a post.
func TestEditPostWithPoll(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	poll := author.Do(t, http.MethodPost, "/api/v3/polls",
		object{"question": "Which?", "answers": []object{{"data": "this"}, {"data": "that"}}}).OK(t).String(t, "polls.0.pollId")
	post := newWallPost(t, author, object{"dataType": "poll", "data": object{"text": "vote", "pollId": poll}})
	before := getPost(t, author, post)
	a := edit(t, author, post, object{"data": object{"text": "please vote", "pollId": unknownID}})
	require.Equal(t, object{"text": "please vote", "pollId": poll}, a.one("posts")["data"])
	require.Equal(t, before["children"], a.one("posts")["children"])
	require.Equal(t, "poll", a.one("posts")["structureType"])
	require.Equal(t, []string{poll}, a.values("polls", "pollId"))
	requireFailure(t, invalid("attachments"), author.Do(t, http.MethodPut, postsPath+"/"+post, object{"attachments": photos(t, 1)}))
	custom := newWallPost(t, author, object{"dataType": "my.kind", "data": object{"n": 1.0}})
	require.Equal(t, object{"n": 2.0}, edit(t, author, custom, object{"data": object{"n": 2.0}}).one("posts")["data"])
	big := object{"data": object{"s": strings.Repeat("x", 100*1024)}}
	requireFailure(t, invalid("data"), author.Do(t, http.MethodPut, postsPath+"/"+custom, big))
}

func TestEditPostLimits(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	post := newWallPost(t, author, object{"attachments": photos(t, 2)})
	plain := newWallPost(t, author)
	gone := newWallPost(t, author)
	author.Do(t, http.MethodDelete, postsPath+"/"+gone, nil).OK(t)
	long := func(length int) string { return strings.Repeat("é", length) }
	words := func(count, length int) []string { return slices.Repeat([]string{long(length)}, count) }
	var attempts []attempt
	say := func(name string, fields object, want failure) {
		attempts = append(attempts, attempt{name, author, http.MethodPut, postsPath + "/" + post, fields, want})
	}
	say("text of 50000", object{"data": object{"text": long(50000)}}, failure{})
	say("text of 50001", object{"data": object{"text": long(50001)}}, invalid("data.text"))
	say("older text of 50001", object{"text": long(50001)}, invalid("text"))
	say("text that is a number", object{"data": object{"text": 7}}, invalid("data.text"))
	say("title of 150", object{"data": object{"title": long(150)}}, failure{})
	say("title of 151", object{"data": object{"title": long(151)}}, invalid("data.title"))
	say("5 tags of 24", object{"tags": words(5, 24)}, failure{})
	say("6 tags", object{"tags": words(6, 1)}, invalid("tags"))
	say("tag of 25", object{"tags": words(1, 25)}, invalid("tags[0]"))
	say("30 hashtags of 100", object{"hashtags": words(30, 100)}, failure{})
	say("31 hashtags", object{"hashtags": words(31, 1)}, invalid("hashtags"))
	say("hashtag of 101", object{"hashtags": words(1, 101)}, invalid("hashtags[0]"))
	say("hashtag with a space", object{"hashtags": []string{"a b"}}, invalid("hashtags[0]"))
	say("30 mentions", object{"mentionees": []object{{"userIds": words(30, 50)}}}, failure{})
	say("31 mentions", object{"mentionees": []object{{"userIds": words(31, 1)}}}, invalid("mentionees[0].userIds"))
	say("10 attachments", object{"attachments": photos(t, 10)}, failure{})
	say("11 attachments", object{"attachments": photos(t, 11)}, invalid("attachments"))
	say("unknown file", object{"attachments": []object{{"type": "image", "fileId": unknownID}}}, notFound)
	say("file of another type", object{"attachments": []object{{"type": "video", "fileId": fileOf(t, "image")}}},
		invalid("attachments[0].fileId"))
	say("nothing to clear", object{"clear": []string{"data"}}, invalid("clear[0]"))
	say("NUL", object{"data": object{"text": "a\x00b"}}, invalid("data"))
	say("nothing", object{}, failure{})
	say("pictures without text", object{"data": object{}}, failure{})
	say("neither text nor pictures", object{"data": object{}, "attachments": []object{}}, invalid("data.text"))
	requireAttempts(t, append(attempts,
		attempt{"no text", author, http.MethodPut, postsPath + "/" + plain, object{"data": object{"text": ""}}, invalid("data.text")},
		attempt{
			"child", author, http.MethodPut, postsPath + "/" + newChild(t, author),
			object{"data": object{"text": "x"}},
			failure{status: 400, code: 400000},
		},
		attempt{"deleted", author, http.MethodPut, postsPath + "/" + gone, object{"data": object{"text": "x"}}, notFound},
		attempt{"unknown", author, http.MethodPut, postsPath + "/" + unknownID, object{"data": object{"text": "x"}}, notFound},
		attempt{"of 900", author, http.MethodPut, postsPath + "/" + strings.Repeat("x", 900), object{}, notFound},
		attempt{"of 901", author, http.MethodPut, postsPath + "/" + strings.Repeat("x", 901), object{}, invalid("postId")}))
}

// newChild returns the id of the child of a new post with a picture.
func newChild(t *testing.T, by *apptest.Client) string {
	t.Helper()
	return stringsOf(getPost(t, by, newWallPost(t, by, object{"attachments": photos(t, 1)}))["children"])[0]
}

// TestWhoMayEditPosts checks that authors and moderators may edit. The owner of a wall may delete posts of others on
// it but not edit them.
func TestWhoMayEditPosts(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	owner, visitor := newUser(t, region.EU, "owner"), newUser(t, region.SG, "visitor")
	onWall := newPost(t, visitor, owner.UserID, object{"targetType": "user"})
	put := func(name string, by *apptest.Client, id string, want failure) attempt {
		return attempt{name, by, http.MethodPut, postsPath + "/" + id, object{"data": object{"text": name}}, want}
	}
	mine := newPost(t, club.member, club.id)
	requireAttempts(t, []attempt{
		put("stranger", club.stranger, mine, notAllowed),
		put("other member", newMember(t, club.id), mine, notAllowed),
		put("author", club.member, mine, failure{}),
		put("moderator", club.boss, mine, failure{}),
		put("admin", admin(t), mine, failure{}),
		put("owner of the wall", owner, onWall, notAllowed),
		put("author on a wall", visitor, onWall, failure{}),
	})
	require.Equal(t, club.member.UserID, getPost(t, club.boss, mine)["postedUserId"], "it is still the author's")
	banMember(t, club.boss, club.id, club.member)
	requireAttempts(t, []attempt{put("banned author", club.member, mine, banned)})
}

// TestEditPostUnderReview checks that an edit leaves a post in its feed. A post under review may be edited by
// moderators, and by its author if the setting allows it.
func TestEditPostUnderReview(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	boss, author := n.NewUser(t, region.EU, "boss"), n.NewUser(t, region.US, "author")
	id := newCommunity(t, boss, object{"userIds": []string{author.UserID}})
	published := newPost(t, author, id)
	boss.Do(t, http.MethodPut, communitiesPath+"/"+id, object{"needApprovalOnPostCreation": true}).OK(t)
	post := newPost(t, author, id)
	feed := getPost(t, boss, post)["feedId"]
	change := object{"data": object{"text": "other"}, "attachments": attached(t, n, "image")}
	requireFailure(t, notAllowed, author.Do(t, http.MethodPut, postsPath+"/"+post, change))
	require.Equal(t, feed, edit(t, boss, post, change).one("posts")["feedId"], "moderators may")
	before := getPost(t, author, published)["feedId"]
	require.Equal(t, before, edit(t, author, published, change).one("posts")["feedId"], "what is published stays published")
	r := n.Admin(region.EU).Do(t, http.MethodPut, settingsPath+"/social", object{"isAllowEditPostWhenReviewingEnabled": true}).OK(t)
	require.True(t, r.Bool(t, "isAllowEditPostWhenReviewingEnabled"))
	require.True(t, author.At(region.EU).Do(t, http.MethodGet, settingsPath+"/social", nil).OK(t).Bool(t,
		"socialNetworkSetting.isAllowEditPostWhenReviewingEnabled"))
	p := edit(t, author.At(region.EU), post, object{"data": object{"text": "mine"}}).one("posts")
	require.Equal(t, feed, p["feedId"], "it goes on waiting")
	boss.Do(t, http.MethodPost, "/api/v3/posts/"+post+"/approve", nil).OK(t)
	require.Equal(t, object{"text": "mine"}, getPost(t, boss, post)["data"])
}

// TestConcurrentEdits checks that each of several concurrent edits is stored as a whole and one of them is the last.
func TestConcurrentEdits(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	author := newUser(t, region.EU, "author")
	post := newWallPost(t, author)
	comment := newComment(t, author, post)
	var requests []*http.Request
	const many = 12
	for i := range many {
		body := object{"data": object{"text": strconv.Itoa(i)}, "tags": []string{strconv.Itoa(i)}, "metadata": object{"n": strconv.Itoa(i)}}
		body["attachments"] = photos(t, 1+i%3)
		requests = append(requests, author.At(region.All()[i%3]).Request(t, http.MethodPut, postsPath+"/"+post, body))
		delete(body, "tags")
		requests = append(requests, author.At(region.All()[i%3]).Request(t, http.MethodPut, commentsPath+"/"+comment, body))
	}
	require.Equal(t, slices.Repeat([]int{http.StatusOK}, 2*many), sendConcurrently(n, requests))
	a := requireAggregate(t, author.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil), "", postAggregate)
	p, c := a.one("posts"), getComment(t, author, comment).one("comments")
	last := text(p["data"].(object), "text")
	require.Equal(t, []any{last}, p["tags"])
	require.Equal(t, object{"n": last}, p["metadata"])
	i, err := strconv.Atoi(last)
	require.NoError(t, err)
	require.Len(t, p["children"], 1+i%3)
	require.Len(t, a.values("postChildren", "postId"), 1+i%3)
	require.Equal(t, object{"n": text(c["data"].(object), "text")}, c["metadata"], fmt.Sprint(c))
}
