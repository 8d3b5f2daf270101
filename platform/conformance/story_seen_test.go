package conformance

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const activitiesPath = "/api/v1/analytics/activities"

// activity returns a view of a post or story.
func activity(kind, id string, at time.Time) object {
	return object{"contentId": id, "contentType": kind, "activityType": "view", "timestamp": at.UTC().Format("2006-01-02T15:04:05.000Z")}
}

// report reports what a client viewed.
func report(t *testing.T, c *apptest.Client, activities ...object) {
	t.Helper()
	r := c.Do(t, http.MethodPost, activitiesPath, object{"activities": activities})
	require.Equal(t, http.StatusAccepted, r.Status, "%s", r.Short())
}

// storyTarget returns how far a client has seen the stories of a community.
func storyTarget(t *testing.T, c *apptest.Client, communityID string) object {
	t.Helper()
	list := c.Do(t, http.MethodGet, storiesPath+"/seen?"+targetsQuery("community", communityID), nil).OK(t).List(t, "storyTargets")
	require.Len(t, list, 1)
	requireResource(t, "storyTargets", storyTargetFields, list[0])
	return list[0].(object)
}

func TestSeenStories(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	none := storyTarget(t, club.member, club.id)
	require.Subset(t, none, object{
		"targetId": club.id, "targetType": "community", "targetPublicId": club.id, "targetUpdatedAt": nil,
		"lastStoryExpiresAt": nil,
	})
	r := club.stranger.Do(t, http.MethodGet, storiesPath+"/seen?"+targetsQuery("user", club.member.UserID), nil).OK(t)
	require.Subset(t, r.Get(t, "storyTargets.0"), object{
		"targetId": club.member.InternalID, "targetType": "user", "targetPublicId": club.member.UserID, "lastStoryExpiresAt": nil,
	}, "a wall without stories")
	first, second := newStory(t, club.boss, club.id), newStory(t, club.boss, club.id)
	firstEnds, secondEnds := getStory(t, club.boss, first)["expiresAt"], getStory(t, club.boss, second)["expiresAt"]
	before := storyTarget(t, club.member, club.id)
	require.Subset(t, before, object{"lastStoryExpiresAt": secondEnds, "lastStorySeenExpiresAt": nil})
	require.NotNil(t, before["targetUpdatedAt"])
	report(t, club.member.At(region.SG), activity("story", first, time.Now()))
	require.Equal(t, firstEnds, storyTarget(t, club.member, club.id)["lastStorySeenExpiresAt"])
	require.Nil(t, storyTarget(t, club.stranger, club.id)["lastStorySeenExpiresAt"], "of each user by themselves")
	report(t, club.member, activity("story", second, time.Now()))
	report(t, club.member, activity("story", first, time.Now()))
	require.Equal(t, secondEnds, storyTarget(t, club.member, club.id)["lastStorySeenExpiresAt"], "seen stays seen")
	club.boss.Do(t, http.MethodDelete, storiesPath+"/"+second, nil).OK(t)
	require.Equal(t, firstEnds, storyTarget(t, club.member, club.id)["lastStoryExpiresAt"], "of the stories that are left")
	require.Nil(t, storyTarget(t, admin(t), club.id)["lastStorySeenExpiresAt"])
}

func TestViews(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	story, post := newStory(t, club.boss, club.id), newPost(t, club.boss, club.id)
	now := time.Now().Add(-time.Minute)
	batch := []object{
		activity("story", story, now), activity("story", story, now), activity("story", story, now.Add(time.Second)), activity("post", post, now),
		with(activity("story", story, now), object{"activityType": "linkClicked"}), activity("ad", unknownID, now),
		activity("story", unknownID, now),
		activity("post", story, now), activity("product", unknownID, now),
		with(activity("story", story, now), object{"metadata": object{"a": 1}}),
	}
	for range 2 { // the repeated batch does not count
		report(t, club.member.At(region.SG), batch...)
	}
	require.Subset(t, getStory(t, club.boss, story), object{"impression": 2.0, "reach": 1.0})
	report(t, club.stranger, object{"contentId": story, "contentType": "story", "activityType": "view"})
	report(t, club.member, activity("story", story, now.Add(2*time.Second)), activity("post", post, now.Add(time.Hour)))
	require.Subset(t, getStory(t, club.boss, story), object{"impression": 4.0, "reach": 2.0})
	require.Subset(t, flaggable{"posts", post, postAggregate}.get(t, club.boss), object{"impression": 2.0, "reach": 1.0})

	views := "/api/v1/analytics/views/stories/" + story + "/users"
	r := club.boss.Do(t, http.MethodGet, views+"?limit=1", nil).OK(t)
	require.Equal(t, []string{club.member.UserID}, r.Strings(t, "users", "userId"))
	requireResource(t, "users.0", userFields, r.Get(t, "users.0"))
	r = club.boss.Do(t, http.MethodGet, views+"?token="+url.QueryEscape(r.String(t, "paging.next")), nil).OK(t)
	require.Equal(t, []string{club.stranger.UserID}, r.Strings(t, "users", "userId"))
	require.Empty(t, r.String(t, "paging.next"))
	r = club.boss.Do(t, http.MethodGet, views+"?token="+url.QueryEscape(r.String(t, "paging.previous")), nil).OK(t)
	require.Equal(t, []string{club.member.UserID}, r.Strings(t, "users", "userId"))
	requireFailure(t, notAllowed, club.member.Do(t, http.MethodGet, views, nil))
	admin(t).Do(t, http.MethodGet, "/api/v1/analytics/views/posts/"+post+"/users", nil).OK(t)
	requireFailure(t, notFound, club.boss.Do(t, http.MethodGet, "/api/v1/analytics/views/posts/"+story+"/users", nil))
	requireFailure(t, invalid("referenceType"), club.boss.Do(t, http.MethodGet, "/api/v1/analytics/views/ads/"+story+"/users", nil))
}

func TestReportLimits(t *testing.T) {
	t.Parallel()
	club := newClub(t, object{"isPublic": false, "isDiscoverable": false})
	story := newStory(t, club.boss, club.id)
	many := func(n int) object {
		var all []object
		for i := range n {
			all = append(all, activity("story", story, time.Now().Add(-time.Duration(i)*time.Second)))
		}
		return object{"activities": all}
	}
	one := func(field string, value any) object {
		return object{"activities": []object{with(activity("story", story, time.Now()), object{field: value})}}
	}
	post := func(name string, c *apptest.Client, body object, want failure) attempt {
		return attempt{name, c, http.MethodPost, activitiesPath, body, want}
	}
	requireAttempts(t, []attempt{
		post("none", club.member, object{"activities": []object{}}, invalid("activities")),
		post("1001", club.member, many(1001), invalid("activities")),
		post("not an id", club.member, one("contentId", "x"), invalid("activities[0].contentId")),
		post("other content", club.member, one("contentType", "comment"), invalid("activities[0].contentType")),
		post("other activity", club.member, one("activityType", "sniff"), invalid("activities[0].activityType")),
		post("no time", club.member, one("timestamp", "yesterday"), invalid("activities[0].timestamp")),
		post("as an administrator", admin(t), many(1), forbidden),
		post("anonymous", club.member.Network.Anonymous(region.EU), many(1), unauthorized),
	})
	report(t, club.stranger, activity("story", story, time.Now()))
	require.Subset(t, getStory(t, club.boss, story), object{"impression": 0.0, "reach": 0.0}, "who cannot see it did not view it")
	report(t, club.member, many(1000)["activities"].([]object)...)
	require.Subset(t, getStory(t, club.boss, story), object{"impression": 1000.0, "reach": 1.0})
}

func TestMyStoryTargets(t *testing.T) {
	t.Parallel()
	reader := newUser(t, region.US, "reader")
	followed, blocked, unknown := newUser(t, region.SG, "followed"), newUser(t, region.EU, "blocked"), newUser(t, region.EU, "unknown")
	unfollowed := newUser(t, region.SG, "unfollowed")
	club, left := newClub(t), newClub(t)
	join(t, club.id, reader)
	join(t, left.id, reader)
	for _, c := range []*apptest.Client{followed, blocked, unfollowed} {
		reader.Do(t, http.MethodPost, "/api/v4/me/following/"+c.UserID, nil).OK(t)
	}
	reader.Do(t, http.MethodDelete, "/api/v4/me/following/"+unfollowed.UserID, nil).OK(t)
	mine := func(c *apptest.Client, query string) []string {
		t.Helper()
		r := c.Do(t, http.MethodGet, "/api/v5/me/global-story-targets"+query, nil)
		requireAggregate(t, r, "", []string{"files", "users", "communities", "communityUsers", "categories"})
		for i, target := range r.List(t, "storyTargets") {
			requireResource(t, "storyTargets."+strconv.Itoa(i), storyTargetFields, target)
		}
		return r.Strings(t, "storyTargets", "targetPublicId")
	}
	require.Empty(t, mine(reader, ""))
	newStory(t, left.boss, left.id)
	byFollowed := newWallStory(t, followed)
	byClub := newStory(t, club.boss, club.id)
	newWallStory(t, blocked)
	newWallStory(t, unknown)
	newWallStory(t, unfollowed)
	newWallStory(t, reader)
	blocked.Do(t, http.MethodPost, "/api/v4/me/user-blocks/"+reader.UserID, nil).OK(t)
	reader.Do(t, http.MethodDelete, communitiesPath+"/"+left.id+"/leave", nil).OK(t)
	want := []string{reader.UserID, club.id, followed.UserID}
	require.Equal(t, want, mine(reader, ""))
	require.Equal(t, want, mine(reader.At(region.EU), "?seenState=all"))
	require.Empty(t, mine(reader, "?seenState=seen"))
	report(t, reader, activity("story", byClub, time.Now()))
	require.Equal(t, []string{club.id}, mine(reader, "?seenState=seen"))
	require.Equal(t, []string{reader.UserID, followed.UserID}, mine(reader, "?seenState=unseen"))
	require.Equal(t, []string{reader.UserID, followed.UserID}, mine(reader, ""), "those that were not seen by default")
	newStory(t, club.boss, club.id)
	require.Empty(t, mine(reader, "?seenState=seen"), "there is a new one")
	requireTargetPages(t, reader, []string{club.id, reader.UserID, followed.UserID})
	followed.Do(t, http.MethodDelete, storiesPath+"/"+byFollowed, nil).OK(t)
	require.Equal(t, []string{club.id, reader.UserID}, mine(reader, "?seenState=all"))
	get := func(name, query string, by *apptest.Client, want failure) attempt {
		return attempt{name, by, http.MethodGet, "/api/v5/me/global-story-targets" + query, nil, want}
	}
	requireAttempts(t, []attempt{
		get("other state", "?seenState=smart", reader, invalid("seenState")),
		get("limit of 0", "?limit=0", reader, invalid("limit")),
		get("limit of 101", "?limit=101", reader, invalid("limit")),
		get("wrong token", "?token=x", reader, invalid("options.token")),
		get("as an administrator", "", admin(t), forbidden),
	})
}

// requireTargetPages reads the targets one by one, forwards and backwards.
func requireTargetPages(t *testing.T, c *apptest.Client, want []string) {
	t.Helper()
	const path = "/api/v5/me/global-story-targets?seenState=all&"
	r := c.Do(t, http.MethodGet, path+"limit=1", nil).OK(t)
	all := r.Strings(t, "storyTargets", "targetPublicId")
	for r.String(t, "paging.next") != "" {
		r = c.Do(t, http.MethodGet, path+"token="+url.QueryEscape(r.String(t, "paging.next")), nil).OK(t)
		all = append(all, r.Strings(t, "storyTargets", "targetPublicId")...)
	}
	require.Equal(t, want, all)
	back := []string{want[len(want)-1]}
	for r.String(t, "paging.previous") != "" {
		r = c.Do(t, http.MethodGet, path+"token="+url.QueryEscape(r.String(t, "paging.previous")), nil).OK(t)
		back = append(back, r.Strings(t, "storyTargets", "targetPublicId")...)
	}
	slices.Reverse(back)
	require.Equal(t, want, back)
}
