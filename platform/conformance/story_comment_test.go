package conformance

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// newStoryComment creates a comment on a story and returns its id.
func newStoryComment(t *testing.T, c *apptest.Client, storyID string, fields ...object) string {
	t.Helper()
	return newComment(t, c, storyID, append([]object{{"referenceType": "story"}}, fields...)...)
}

func TestStoryComments(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	id := newStory(t, club.boss, club.id)
	first := newStoryComment(t, club.member.At(region.SG), id)
	reply := newStoryComment(t, club.stranger, id, object{"parentId": first})
	second := newStoryComment(t, club.boss, id)
	a := requireAggregate(t, club.member.Do(t, http.MethodGet, storiesPath+"/"+id, nil), "", storyAggregate)
	require.InDelta(t, 3, a.one("stories")["commentsCount"], 0)
	require.Equal(t, []any{second, first}, a.one("stories")["comments"], "the latest of the first level")
	require.ElementsMatch(t, []string{second, first}, a.values("comments", "commentId"))
	c := a.find("comments", "commentId", first)
	require.Subset(t, c, object{
		"referenceId": id, "referenceType": "story", "targetId": club.id, "targetType": "community",
		"childrenNumber": 1.0,
	})
	require.True(t, strings.HasSuffix(text(c, "path"), "/story/"+id+"/comment/"+first))

	list := func(query string) []string {
		r := club.stranger.Do(t, http.MethodGet, "/api/v3/comments?referenceType=story&referenceId="+id+query, nil)
		return requireAggregate(t, r, "", commentAggregate).values("comments", "commentId")
	}
	require.Equal(t, []string{second, first}, list(""))
	require.Equal(t, []string{first, reply, second}, list("&filterByParentId=false&sortBy=firstCreated"))
	require.Equal(t, []string{reply}, list("&parentId="+first))
	requireFailure(t, notFound, club.boss.Do(t, http.MethodGet, "/api/v3/comments?referenceId="+id, nil))
	requireFailure(t, notFound, club.boss.Do(t, http.MethodGet, "/api/v3/comments?referenceType=content&referenceId="+id, nil))
	requireFailure(t, notFound, club.boss.Do(t, http.MethodPost, "/api/v3/comments", object{"referenceId": id, "data": object{"text": "x"}}))
	requireFailure(t, banned, club.banned.Do(t, http.MethodPost, "/api/v3/comments",
		object{"referenceType": "story", "referenceId": id, "data": object{"text": "x"}}))

	f := flaggable{"comments", reply, commentAggregate}
	requireFlags(t, f.do(t, club.boss, http.MethodPost, "/flag", nil), 1)
	require.Equal(t, true, getStory(t, club.boss, id)["hasFlaggedComment"])
	require.False(t, club.boss.Do(t, http.MethodGet, communitiesPath+"/"+club.id, nil).OK(t).Bool(t, "communities.0.hasFlaggedComment"),
		"the marks of a community are those of its posts: a story ends by the clock")
	requireFlags(t, f.do(t, club.boss, http.MethodDelete, "/flags", nil), 0)
	require.Equal(t, false, getStory(t, club.boss, id)["hasFlaggedComment"])

	requireFailure(t, notAllowed, club.member.Do(t, http.MethodDelete, "/api/v4/comments/"+second, nil))
	club.member.Do(t, http.MethodDelete, "/api/v4/comments/"+first, nil).OK(t)
	require.InDelta(t, 2, getStory(t, club.boss, id)["commentsCount"], 0)
}

// TestNoCommentsInStory checks that a community can forbid comments on its stories.
func TestNoCommentsInStory(t *testing.T) {
	t.Parallel()
	club := newClub(t, object{"allowCommentInStory": false})
	id := newStory(t, club.boss, club.id)
	for _, c := range []*apptest.Client{club.boss, club.member, club.stranger} {
		requireFailure(t, notAllowed, c.Do(t, http.MethodPost, "/api/v3/comments",
			object{"referenceType": "story", "referenceId": id, "data": object{"text": "x"}}))
	}
	newComment(t, club.member, newPost(t, club.member, club.id))
	club.boss.Do(t, http.MethodPut, communitiesPath+"/"+club.id, object{"allowCommentInStory": true}).OK(t)
	newStoryComment(t, club.member, id)
	newStoryComment(t, club.member, newWallStory(t, club.boss))
}

func TestStoryReactions(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	id := newStory(t, club.boss, club.id)
	comment := newStoryComment(t, club.member, id)
	like := func(kind, ref, name string) object {
		return object{"referenceType": kind, "referenceId": ref, "reactionName": name}
	}
	react := func(c *apptest.Client, o object) string {
		return c.Do(t, http.MethodPost, "/api/v2/reactions", o).OK(t).String(t, "addedId")
	}
	added := react(club.member.At(region.SG), like("story", id, "like"))
	require.Equal(t, added, react(club.member, like("story", id, "like")), "again changes nothing")
	react(club.stranger, like("story", id, "like"))
	react(club.boss, like("story", id, "love"))
	react(club.boss, like("comment", comment, "like"))
	s := getStory(t, club.member, id)
	require.Equal(t, map[string]any{"like": 2.0, "love": 1.0}, s["reactions"])
	require.InDelta(t, 3, s["reactionsCount"], 0)
	require.Equal(t, []any{"like"}, s["myReactions"])
	r := club.boss.Do(t, http.MethodGet, "/api/v3/reactions?referenceType=story&referenceId="+id, nil).OK(t)
	require.Equal(t, []string{club.boss.UserID, club.stranger.UserID, club.member.UserID}, r.Strings(t, "reactions.0.reactors", "userId"))
	require.Equal(t, "story", r.String(t, "reactions.0.referenceType"))
	club.member.Do(t, http.MethodDelete, "/api/v2/reactions", like("story", id, "like")).OK(t)
	requireFailure(t, notFound, club.member.Do(t, http.MethodDelete, "/api/v2/reactions", like("story", id, "like")))
	require.Equal(t, map[string]any{"like": 1.0, "love": 1.0}, getStory(t, club.member, id)["reactions"])
	requireFailure(t, banned, club.banned.Do(t, http.MethodPost, "/api/v2/reactions", like("story", id, "like")))
	requireFailure(t, notFound, club.boss.Do(t, http.MethodPost, "/api/v2/reactions", like("post", id, "like")))
	requireFailure(t, notFound, club.boss.Do(t, http.MethodPost, "/api/v2/reactions", like("story", comment, "like")))
}

func TestStoryFlags(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	id := newStory(t, club.boss, club.id)
	path := storiesPath + "/" + id + "/flags"
	do := func(c *apptest.Client, method, suffix string, body any) object {
		return requireAggregate(t, c.Do(t, method, path+suffix, body), "", storyAggregate).one("stories")
	}
	for range 2 { // the second time has no effect
		requireFlags(t, do(club.member.At(region.SG), http.MethodPost, "", object{"reason": "Spam or scams", "detail": "x"}), 1)
	}
	requireFlags(t, do(club.stranger, http.MethodPost, "", nil), 1)
	requireFlags(t, getStory(t, club.boss, id), 2)
	requireFailure(t, notAllowed, club.boss.Do(t, http.MethodPost, path, nil))
	requireFailure(t, forbidden, club.boss.Do(t, http.MethodDelete, path, nil))
	requireFailure(t, forbidden, newUser(t, region.EU, "other").Do(t, http.MethodDelete, path, nil))
	requireFailure(t, forbidden, admin(t).Do(t, http.MethodPost, path, nil))
	requireFailure(t, banned, club.banned.Do(t, http.MethodPost, path, nil))
	requireFailure(t, invalid("reason"), club.member.Do(t, http.MethodPost, path, object{"reason": strings.Repeat("r", 301)}))
	requireFailure(t, invalid("detail"), club.member.Do(t, http.MethodPost, path, object{"detail": strings.Repeat("r", 301)}))
	requireFlags(t, do(club.member.At(region.US), http.MethodDelete, "", nil), 0)
	requireFailure(t, forbidden, club.member.Do(t, http.MethodDelete, path, nil))
	requireFlags(t, getStory(t, club.boss, id), 1)
	requireFailure(t, notAllowed, club.stranger.Do(t, http.MethodDelete, path+"/all", nil))
	requireFlags(t, do(club.boss, http.MethodDelete, "/all", nil), 0)
	requireFlags(t, do(club.member, http.MethodPost, "", object{"reason": strings.Repeat("é", 300), "detail": strings.Repeat("é", 300)}), 1)
	requireFlags(t, do(admin(t), http.MethodDelete, "/all", nil), 0)
	requireFlags(t, do(admin(t), http.MethodDelete, "/all", nil), 0)
}

// TestStoryFlagLimit checks the network's limit, and the setting that disables flags.
func TestStoryFlagLimit(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	boss, second, third := n.NewUser(t, region.EU, "boss"), n.NewUser(t, region.US, "second"), n.NewUser(t, region.EU, "third")
	path := storiesPath + "/" + newStory(t, boss, newCommunity(t, boss)) + "/flags"
	n.Admin(region.EU).Do(t, http.MethodPut, settingsPath, object{"flagLimit": 1}).OK(t)
	second.At(region.EU).Do(t, http.MethodPost, path, nil).OK(t)
	requireFailure(t, flagLimit, third.Do(t, http.MethodPost, path, nil))
	second.At(region.EU).Do(t, http.MethodPost, path, nil).OK(t)
	n.Admin(region.EU).Do(t, http.MethodPut, settingsPath, object{"flagLimit": 2, "isReportEnabled": false}).OK(t)
	requireFailure(t, notAllowed, third.Do(t, http.MethodPost, path, nil))
	n.Admin(region.EU).Do(t, http.MethodPut, settingsPath, object{"isReportEnabled": true}).OK(t)
	third.Do(t, http.MethodPost, path, nil).OK(t)
}
