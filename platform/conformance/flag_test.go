package conformance

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// flaggable is a post or a comment that can be flagged.
type flaggable struct {
	noun       string // posts or comments, as paths and answers have it
	id         string
	collection []string
}

func (f flaggable) path(suffix string) string { return "/api/v3/" + f.noun + "/" + f.id + suffix }

// do sends a request for the flags of the post or comment and returns it as the answer shows it.
func (f flaggable) do(t *testing.T, by *apptest.Client, method, suffix string, body any) object {
	t.Helper()
	return requireAggregate(t, by.Do(t, method, f.path(suffix), body), "", f.collection).one(f.noun)
}

func (f flaggable) get(t *testing.T, by *apptest.Client) object {
	t.Helper()
	return f.do(t, by, http.MethodGet, "", nil)
}

// byMe reports whether the caller flags the post or comment, according to both spellings of the operation.
func (f flaggable) byMe(t *testing.T, by *apptest.Client) bool {
	t.Helper()
	r := by.Do(t, http.MethodGet, f.path("/isflagbyme"), nil).OK(t)
	other := by.Do(t, http.MethodGet, f.path("/isFlagByMe"), nil).OK(t)
	require.Equal(t, r.JSON(t), other.JSON(t))
	require.Equal(t, r.Bool(t, "result"), r.Bool(t, "isFlagByMe"))
	return r.Bool(t, "result")
}

func flag(t *testing.T, by *apptest.Client, noun, id string) {
	t.Helper()
	by.Do(t, http.MethodPost, "/api/v3/"+noun+"/"+id+"/flag", object{"reason": "Spam or scams"}).OK(t)
}

// flaggables creates a post in a community and a comment on another post.
func flaggables(t *testing.T, author *apptest.Client, communityID string) []flaggable {
	t.Helper()
	return []flaggable{
		{"posts", newPost(t, author, communityID), postAggregate},
		{"comments", newComment(t, author, newPost(t, author, communityID)), commentAggregate},
	}
}

func requireFlags(t *testing.T, o object, want int) {
	t.Helper()
	require.InDelta(t, want, o["flagCount"], 0)
	if want == 0 {
		require.Nil(t, o["hashFlag"], "no user flags it")
		return
	}
	filter, ok := o["hashFlag"].(map[string]any)
	require.True(t, ok)
	require.Positive(t, filter["bits"])
	require.Positive(t, filter["hashes"])
	require.NotEmpty(t, filter["hash"])
}

func TestFlag(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	for _, f := range flaggables(t, club.member, club.id) {
		t.Run(f.noun, func(t *testing.T) {
			requireFlags(t, f.get(t, club.boss), 0)
			for i, c := range []*apptest.Client{club.boss, club.stranger, club.member, newUser(t, region.SG, "c")} {
				require.False(t, f.byMe(t, c))
				var first object
				for range 2 { // the second time has no effect
					body := object{"commentId": f.id, "reason": "Others", "detail": "because"}
					requireFlags(t, f.do(t, c.At(region.All()[i%3]), http.MethodPost, "/flag", body), 1)
					now := f.get(t, club.boss)
					requireFlags(t, now, i+1)
					if first != nil {
						require.Equal(t, first["hashFlag"], now["hashFlag"])
					}
					first = now
				}
				require.True(t, f.byMe(t, c.At(region.All()[(i+1)%3])))
			}
			for range 2 { // the second time has no effect
				requireFlags(t, f.do(t, club.stranger.At(region.SG), http.MethodDelete, "/unflag", nil), 0)
				requireFlags(t, f.get(t, club.boss), 3)
				require.False(t, f.byMe(t, club.stranger))
				require.True(t, f.byMe(t, club.boss))
			}
			requireFlags(t, f.do(t, club.boss.At(region.US), http.MethodDelete, "/flags", nil), 0)
			require.False(t, f.byMe(t, club.boss))
			requireFlags(t, f.do(t, club.boss, http.MethodDelete, "/flags", nil), 0)
			flag(t, club.boss, f.noun, f.id)
			requireFlags(t, f.get(t, club.boss), 1)
			requireFlags(t, f.do(t, club.boss, http.MethodDelete, "/unflag", nil), 0)
		})
	}
}

// TestFlagBodies checks that every field of the body is optional.
func TestFlagBodies(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	long := func(length int) string { return strings.Repeat("é", length) }
	reasons := []string{
		"Against community guidelines", "Harassment or bullying", "Self-harm or suicide", "Violence or threatening content",
		"Selling and promoting restricted items", "Sexual content or nudity", "Spam or scams",
		"False information or misinformation", "Others",
	}
	for _, f := range flaggables(t, club.member, club.id) {
		var attempts []attempt
		post := func(name string, body any, want failure) {
			attempts = append(attempts, attempt{f.noun + " " + name, club.stranger, http.MethodPost, f.path("/flag"), body, want})
		}
		for _, reason := range reasons {
			post(reason, object{"reason": reason}, failure{})
		}
		post("no body", nil, failure{})
		post("empty form", apptest.Form(""), failure{})
		post("empty object", object{}, failure{})
		post("both", object{"reason": "Others", "detail": "x"}, failure{})
		post("reason of 300", object{"reason": long(300)}, failure{})
		post("reason of 301", object{"reason": long(301)}, invalid("reason"))
		post("detail of 300", object{"detail": long(300)}, failure{})
		post("detail of 301", object{"detail": long(301)}, invalid("detail"))
		post("reason with NUL", object{"reason": "a\x00"}, invalid("reason"))
		post("reason that is a number", object{"reason": 7}, invalid("reason"))
		post("another id in the body", object{"commentId": unknownID, "postId": unknownID}, failure{})
		requireAttempts(t, attempts)
	}
}

func TestFlagIsRefused(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	club := newClub(t)
	var attempts []attempt
	for _, f := range flaggables(t, club.member, club.id) {
		add := func(name string, by *apptest.Client, method, path string, want failure) {
			attempts = append(attempts, attempt{f.noun + " " + name, by, method, path, nil, want})
		}
		field := strings.TrimSuffix(f.noun, "s") + "Id"
		for suffix, method := range map[string]string{
			"/flag": http.MethodPost, "/unflag": http.MethodDelete, "/flags": http.MethodDelete, "/isflagbyme": http.MethodGet,
		} {
			at := func(id string) string { return "/api/v3/" + f.noun + "/" + id + suffix }
			add(suffix+" anonymous", n.Anonymous(region.EU), method, f.path(suffix), unauthorized)
			add(suffix+" unknown", club.boss, method, at(unknownID), notFound)
			add(suffix+" of 900", club.boss, method, at(strings.Repeat("x", 900)), notFound)
			add(suffix+" of 901", club.boss, method, at(strings.Repeat("x", 901)), invalid(field))
		}
		add("banned", club.banned, http.MethodPost, f.path("/flag"), banned)
		add("admin", admin(t), http.MethodPost, f.path("/flag"), forbidden)
		add("clear by a member", club.member, http.MethodDelete, f.path("/flags"), notAllowed)
		add("clear by a stranger", club.stranger, http.MethodDelete, f.path("/flags"), notAllowed)
		add("clear by an admin", admin(t), http.MethodDelete, f.path("/flags"), failure{})
	}
	requireAttempts(t, attempts)
}

// TestFlagLimit sets the limit to two: the third user is refused, users who have flagged already are not.
func TestFlagLimit(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	n.Admin(region.EU).Do(t, http.MethodPut, settingsPath, object{"flagLimit": 2}).OK(t)
	boss := n.SignIn(t, region.EU, "boss")
	id := newCommunity(t, boss)
	flaggers := []*apptest.Client{n.SignIn(t, region.EU, "a"), n.SignIn(t, region.EU, "b"), n.SignIn(t, region.EU, "c")}
	for _, f := range flaggables(t, boss, id) {
		for i, c := range flaggers[:2] {
			requireFlags(t, f.do(t, c, http.MethodPost, "/flag", nil), 1)
			requireFlags(t, f.get(t, boss), i+1)
		}
		for range 2 {
			requireFailure(t, flagLimit, flaggers[2].Do(t, http.MethodPost, f.path("/flag"), nil))
		}
		f.do(t, flaggers[1], http.MethodPost, "/flag", nil)
		requireFlags(t, f.get(t, boss), 2)
		require.False(t, f.byMe(t, flaggers[2]))
		f.do(t, flaggers[0], http.MethodDelete, "/unflag", nil)
		f.do(t, flaggers[2], http.MethodPost, "/flag", nil)
		requireFlags(t, f.get(t, boss), 2)
		n.Admin(region.EU).Do(t, http.MethodPut, settingsPath, object{"flagLimit": 1}).OK(t)
		requireFlags(t, f.get(t, boss), 2)
		requireFailure(t, flagLimit, flaggers[0].Do(t, http.MethodPost, f.path("/flag"), nil))
		n.Admin(region.EU).Do(t, http.MethodPut, settingsPath, object{"flagLimit": 2}).OK(t)
	}
}

// TestFlaggingDisabled checks that flags are refused while users may not flag, and that existing flags stay and can
// be cleared.
func TestFlaggingDisabled(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	boss := n.SignIn(t, region.EU, "boss")
	for _, f := range flaggables(t, boss, newCommunity(t, boss)) {
		f.do(t, boss, http.MethodPost, "/flag", nil)
		n.Admin(region.EU).Do(t, http.MethodPut, moderationPath, object{"isReportEnabled": false}).OK(t)
		requireFailure(t, notAllowed, n.SignIn(t, region.EU, "alice").Do(t, http.MethodPost, f.path("/flag"), nil))
		requireFailure(t, notAllowed, boss.Do(t, http.MethodPost, f.path("/flag"), nil))
		requireFlags(t, f.get(t, boss), 1)
		for _, code := range region.All() { // the other regions apply it within a second
			require.Eventually(t, func() bool {
				var settings struct{ IsReportEnabled bool }
				body := boss.At(code).Do(t, http.MethodGet, moderationPath, nil).OK(t).Body
				return json.Unmarshal(body, &settings) == nil && !settings.IsReportEnabled
			}, apptest.Patience, 5*time.Millisecond)
			requireFailure(t, notAllowed, boss.At(code).Do(t, http.MethodPost, f.path("/flag"), nil))
		}
		requireFlags(t, f.do(t, boss, http.MethodDelete, "/flags", nil), 0)
		n.Admin(region.EU).Do(t, http.MethodPut, moderationPath, object{"isReportEnabled": true}).OK(t)
		requireFlags(t, f.do(t, boss, http.MethodPost, "/flag", nil), 1)
	}
}

// bubbles are the marks that a flag sets on the parents of the flagged content.
type bubbles struct{ comment, children, communityPost, communityComment bool }

func requireBubbles(t *testing.T, by *apptest.Client, communityID, postID string, want bubbles) {
	t.Helper()
	for _, code := range []region.Code{region.EU, region.SG} {
		a := requireAggregate(t, by.At(code).Do(t, http.MethodGet, "/api/v3/posts/"+postID, nil), "", postAggregate)
		got := bubbles{
			comment: a.one("posts")["hasFlaggedComment"] == true, children: a.one("posts")["hasFlaggedChildren"] == true,
			communityPost: a.one("communities")["hasFlaggedPost"] == true, communityComment: a.one("communities")["hasFlaggedComment"] == true,
		}
		require.Equal(t, want, got)
		c := by.At(code).Do(t, http.MethodGet, communitiesPath+"/"+communityID, nil).OK(t)
		require.Equal(t, want.communityPost, c.Bool(t, "communities.0.hasFlaggedPost"))
		require.Equal(t, want.communityComment, c.Bool(t, "communities.0.hasFlaggedComment"))
	}
}

// TestFlagsPropagate flags content at each level and removes the flags again, in every possible way.
func TestFlagsPropagate(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"unflag", "flags", "delete", "permanent"} {
		t.Run(way, func(t *testing.T) {
			club := newClub(t)
			post := newPost(t, club.member, club.id, object{"attachments": photos(t, 2)})
			child := club.boss.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t).String(t, "posts.0.children.1")
			comment := newComment(t, club.member, post)
			reply := newComment(t, club.member, post, object{"parentId": comment})
			away := func(noun, id string) {
				path := map[string]string{
					"unflag": "/api/v3/" + noun + "/" + id + "/unflag", "flags": "/api/v3/" + noun + "/" + id + "/flags",
					"delete": "/api/v4/" + noun + "/" + id, "permanent": "/api/v4/" + noun + "/" + id + "?permanent=true",
				}[way]
				club.boss.Do(t, http.MethodDelete, path, nil).OK(t)
			}
			requireBubbles(t, club.boss, club.id, post, bubbles{})
			flag(t, club.boss, "comments", reply)
			requireBubbles(t, club.boss, club.id, post, bubbles{comment: true, communityComment: true})
			flag(t, club.boss, "comments", comment)
			away("comments", reply)
			requireBubbles(t, club.boss, club.id, post, bubbles{comment: true, communityComment: true})
			flag(t, club.boss, "posts", child)
			requireBubbles(t, club.boss, club.id, post, bubbles{comment: true, communityComment: true, children: true, communityPost: true})
			away("comments", comment)
			requireBubbles(t, club.boss, club.id, post, bubbles{children: true, communityPost: true})
			away("posts", child)
			requireBubbles(t, club.boss, club.id, post, bubbles{})
			flag(t, club.boss, "posts", post)
			requireBubbles(t, club.boss, club.id, post, bubbles{communityPost: true})
			other := newPost(t, club.member, club.id)
			flag(t, club.boss, "posts", other)
			away("posts", post)
			requireBubbles(t, club.boss, club.id, other, bubbles{communityPost: true})
			away("posts", other)
			c := club.boss.Do(t, http.MethodGet, communitiesPath+"/"+club.id, nil).OK(t)
			require.False(t, c.Bool(t, "communities.0.hasFlaggedPost"))
		})
	}
}

// TestFlagOnWall flags content on a wall. The owner of the wall may not clear the flags, an administrator may.
func TestFlagOnWall(t *testing.T) {
	t.Parallel()
	owner, visitor := newUser(t, region.EU, "owner"), newUser(t, region.US, "visitor")
	post := newWallPost(t, visitor, object{"targetId": owner.UserID})
	f := flaggable{"posts", post, postAggregate}
	requireFlags(t, f.do(t, owner, http.MethodPost, "/flag", nil), 1)
	requireFailure(t, notAllowed, owner.Do(t, http.MethodDelete, f.path("/flags"), nil))
	requireFlags(t, f.do(t, admin(t), http.MethodDelete, "/flags", nil), 0)
}

// TestConcurrentFlags has many users flag the same post concurrently, each twice.
func TestConcurrentFlags(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	club := newClub(t)
	for _, f := range flaggables(t, club.member, club.id) {
		const many = 12
		var requests []*http.Request
		for i := range many {
			c := newUser(t, region.All()[i%3], "flagger")
			for _, at := range []region.Code{region.EU, region.SG} {
				requests = append(requests, c.At(at).Request(t, http.MethodPost, f.path("/flag"), nil))
			}
		}
		require.Equal(t, slices.Repeat([]int{http.StatusOK}, 2*many), sendConcurrently(n, requests))
		requireFlags(t, f.get(t, club.boss), many)
	}
}

// sendConcurrently sends requests concurrently and returns their statuses; 0 means that there was no answer.
func sendConcurrently(n *apptest.Network, requests []*http.Request) []int {
	statuses := make([]int, len(requests))
	var g sync.WaitGroup
	for i, request := range requests {
		g.Go(func() {
			answer, err := n.HTTP().Do(request)
			if err == nil {
				statuses[i] = answer.StatusCode
				_ = answer.Body.Close()
			}
		})
	}
	g.Wait()
	return statuses
}
