package conformance

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// filterOf returns the hashFlag of an object; nil without one.
func filterOf(o object) *plazav1.HashFlag {
	found, ok := o["hashFlag"].(object)
	if !ok {
		return nil
	}
	filter := &plazav1.HashFlag{}
	for _, word := range found["hash"].([]any) {
		filter.Hash = append(filter.Hash, word.(string))
	}
	return filter
}

// requireReporters checks whom hashFlag of an object contains among all, and that flagCount agrees.
func requireReporters(t *testing.T, o object, all []*apptest.Client, want ...*apptest.Client) {
	t.Helper()
	var got []string
	for _, c := range all {
		if view.MayContain(filterOf(o), c.InternalID) {
			got = append(got, c.UserID)
		}
	}
	var ids []string
	for _, c := range want {
		ids = append(ids, c.UserID)
	}
	require.ElementsMatch(t, ids, got)
	require.InDelta(t, len(want), o["flagCount"], 0)
}

// TestReportersAreAnonymous flags objects of every kind and looks for the reporters in what each caller gets.
func TestReportersAreAnonymous(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	author, first, second := club.member, newUser(t, region.SG, "first"), newMember(t, club.id)
	all := []*apptest.Client{author, first, second, club.boss, club.stranger}
	post := newPost(t, author, club.id)
	comment := newComment(t, author, post)
	chat := newChat(t, club.boss, author, first, second)
	for name, test := range map[string]struct {
		flag, read, list string
		moderator        *apptest.Client
	}{
		"posts":    {"/api/v3/posts/" + post + "/flag", "/api/v3/posts/" + post, "posts", club.boss},
		"comments": {"/api/v3/comments/" + comment + "/flag", "/api/v3/comments/" + comment, "comments", club.boss},
		"users":    {myFlagsPath + author.UserID, "/api/v3/users/" + author.UserID, "users", admin(t)},
		"messages": {"", "", "messages", club.boss},
		"stories":  {"", "", "stories", club.boss},
	} {
		t.Run(name, func(t *testing.T) {
			switch name {
			case "messages":
				test.read = messagesPath + "/" + chat.newMessage(t, author, "hello")
				test.flag = test.read + "/flags"
			case "stories":
				test.read = storiesPath + "/" + newStory(t, club.boss, club.id)
				test.flag = test.read + "/flags"
			}
			first.Do(t, http.MethodPost, test.flag, object{"reason": "Others"}).OK(t)
			second.Do(t, http.MethodPost, test.flag, nil).OK(t)
			for _, at := range region.All() {
				read := func(c *apptest.Client) object {
					return c.At(at).Do(t, http.MethodGet, test.read, nil).OK(t).Get(t, test.list+".0").(object)
				}
				requireReporters(t, read(author), all)
				requireReporters(t, read(first), all, first)
				requireReporters(t, read(second), all, second)
				requireReporters(t, read(test.moderator), all, first, second)
				requireReporters(t, read(admin(t)), all, first, second)
			}
		})
	}
}

// TestFlagMarksAreForModerators checks that only moderators see that something in a post or a community was flagged,
// and how many posts wait or were declined.
func TestFlagMarksAreForModerators(t *testing.T) {
	t.Parallel()
	club := newClub(t, object{"needApprovalOnPostCreation": true})
	post := newPost(t, club.boss, club.id, object{"attachments": photos(t, 1)})
	newPost(t, club.member, club.id)
	child := club.boss.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t).String(t, "posts.0.children.0")
	flag(t, club.stranger, "comments", newComment(t, club.member, post))
	flag(t, club.stranger, "posts", child)
	for _, c := range []struct {
		by   *apptest.Client
		sees bool
	}{{club.boss, true}, {admin(t), true}, {club.member, false}, {club.stranger, false}} {
		read := func(path, at string) object {
			return c.by.Do(t, http.MethodGet, path, nil).OK(t).Get(t, at).(object)
		}
		p := read("/api/v3/posts/"+post, "posts.0")
		require.Equal(t, c.sees, p["hasFlaggedComment"])
		require.Equal(t, c.sees, p["hasFlaggedChildren"])
		for _, path := range []string{
			"/api/v3/posts/" + post, communitiesPath + "/" + club.id,
			communitiesPath + "?displayName=" + url.QueryEscape(text(read(communitiesPath+"/"+club.id, "communities.0"), "displayName")),
		} {
			community := read(path, "communities.0")
			require.Equal(t, c.sees, community["hasFlaggedPost"], path)
			require.Equal(t, c.sees, community["hasFlaggedComment"], path)
		}
		counts := map[string]float64{}
		for _, f := range c.by.Do(t, http.MethodGet, communitiesPath+"/"+club.id, nil).OK(t).List(t, "feeds") {
			counts[text(f.(object), "feedType")] = f.(object)["postCount"].(float64)
		}
		want := map[string]float64{"published": 1, "reviewing": 0, "declined": 0}
		if c.sees {
			want["reviewing"] = 1
		}
		require.Equal(t, want, counts)
	}
}

// TestFlagFiltersAreForModerators checks that the filters by flags tell other callers nothing.
func TestFlagFiltersAreForModerators(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	post := newPost(t, club.member, club.id)
	comment := newComment(t, club.member, post)
	wallPost := newWallPost(t, club.member)
	chat := newChat(t, club.boss, club.member)
	message := chat.newMessage(t, club.member, "hello")
	flag(t, club.stranger, "posts", post)
	flag(t, club.stranger, "comments", comment)
	flag(t, club.stranger, "posts", wallPost)
	club.boss.Do(t, http.MethodPost, messagesPath+"/"+message+"/flags", nil).OK(t)
	name := club.boss.Do(t, http.MethodGet, communitiesPath+"/"+club.id, nil).OK(t).String(t, "communities.0.displayName")
	for path, test := range map[string]struct {
		list, id, want string
		moderator      *apptest.Client
	}{
		"/api/v4/posts?targetType=community&targetId=" + club.id:           {"posts", "postId", post, club.boss},
		"/api/v5/posts?targetType=user&targetId=" + club.member.UserID:     {"posts", "postId", wallPost, admin(t)},
		"/api/v3/community-feeds/" + club.id + "?a=b":                      {"data.posts", "postId", post, club.boss},
		"/api/v3/user-feeds/" + club.member.UserID + "?a=b":                {"data.posts", "postId", wallPost, admin(t)},
		"/api/v3/comments?referenceId=" + post:                             {"comments", "commentId", comment, club.boss},
		communitiesPath + "?displayName=" + url.QueryEscape(name):          {"communities", "communityId", club.id, admin(t)},
		messagesPath + "?hasFlags={hasFlag}&messageFeedId=" + chat.id + "": {"messages", "messageId", message, club.boss},
	} {
		t.Run(path, func(t *testing.T) {
			with := func(value string) string {
				if test.list == "messages" {
					return messagesPath + "?hasFlags=" + value + "&messageFeedId=" + chat.id
				}
				return path + "&hasFlag=" + value
			}
			requireFailure(t, notAllowed, club.member.Do(t, http.MethodGet, with("true"), nil))
			for _, value := range []string{"false", "null"} {
				listed := club.member.Do(t, http.MethodGet, with(value), nil).OK(t)
				require.Contains(t, listed.Strings(t, test.list, test.id), test.want, value)
			}
			require.Equal(t, []string{test.want}, test.moderator.Do(t, http.MethodGet, with("true"), nil).OK(t).Strings(t, test.list, test.id))
			require.NotContains(t, test.moderator.Do(t, http.MethodGet, with("false"), nil).OK(t).Strings(t, test.list, test.id), test.want)
		})
	}
	requireFailure(t, notAllowed, club.boss.Do(t, http.MethodGet, "/api/v3/users?filter=flagged", nil))
}
