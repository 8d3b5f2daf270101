package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	followingPath = "/api/v4/me/following"
	followersPath = "/api/v4/me/followers"
	blocksPath    = "/api/v4/me/user-blocks"
	socialPath    = "/api/v3/network-settings/social"
)

var followFields = resource{
	"from": "s", "fromUserPublicId": "s", "fromUserInternalId": "id", "to": "s", "toUserPublicId": "s", "toUserInternalId": "id",
	"status": "s", "createdAt": "ts", "updatedAt": "ts",
}

var followCountFields = resource{"userId": "s", "followerCount": "i", "followingCount": "i", "pendingCount": "i"}

// follow makes the client follow others and returns the status of the last follow.
func follow(t *testing.T, c *apptest.Client, others ...*apptest.Client) string {
	t.Helper()
	var status string
	for _, other := range others {
		status = c.Do(t, http.MethodPost, followingPath+"/"+other.UserID, nil).OK(t).String(t, "follows.0.status")
	}
	return status
}

func block(t *testing.T, c, other *apptest.Client) *apptest.Response {
	t.Helper()
	return c.Do(t, http.MethodPost, blocksPath+"/"+other.UserID, nil).OK(t)
}

// requireCounts checks the counts of a user's own followInfo.
func requireCounts(t *testing.T, c *apptest.Client, followers, following, pending int) {
	t.Helper()
	r := c.Do(t, http.MethodGet, "/api/v4/me/followInfo", nil).OK(t)
	requireResource(t, "followCounts.0", followCountFields, r.List(t, "followCounts")[0])
	require.Equal(t, object{
		"userId": c.UserID, "followerCount": float64(followers), "followingCount": float64(following),
		"pendingCount": float64(pending),
	},
		r.List(t, "followCounts")[0])
}

// newUserPerRegion returns a new user of each region.
func newUserPerRegion(t *testing.T, n *apptest.Network) (us, eu, sg *apptest.Client) {
	t.Helper()
	return n.NewUser(t, region.US, "follow-us"), n.NewUser(t, region.EU, "follow-eu"), n.NewUser(t, region.SG, "follow-sg")
}

func TestFollow(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	r := us.Do(t, http.MethodPost, followingPath+"/"+eu.UserID, apptest.Form("")).OK(t)
	requireResource(t, "follows.0", followFields, r.List(t, "follows")[0])
	for field, want := range map[string]string{
		"from": us.UserID, "fromUserPublicId": us.UserID, "fromUserInternalId": us.InternalID,
		"to": eu.UserID, "toUserPublicId": eu.UserID, "toUserInternalId": eu.InternalID, "status": "accepted",
	} {
		require.Equal(t, want, r.String(t, "follows.0."+field), field)
	}
	require.Equal(t, "accepted", follow(t, us, eu, sg, eu), "again changes nothing")
	follow(t, sg, eu)
	requireCounts(t, us, 0, 2, 0)
	requireCounts(t, eu, 2, 0, 0)
	requireCounts(t, sg, 1, 1, 0)
	requireCounts(t, eu.At(region.SG), 2, 0, 0)

	for _, version := range []string{"v4", "v5"} {
		info := us.Do(t, http.MethodGet, "/api/"+version+"/users/"+eu.UserID+"/followInfo", nil).OK(t)
		require.Equal(t, 2, info.Int(t, "followCounts.0.followerCount"))
		require.Equal(t, "accepted", info.String(t, "follows.0.status"))
		require.Empty(t, eu.Do(t, http.MethodGet, "/api/"+version+"/users/"+us.UserID+"/followInfo", nil).OK(t).List(t, "follows"),
			"one-directional")
	}

	require.Equal(t, "none", us.Do(t, http.MethodDelete, followingPath+"/"+eu.UserID, nil).OK(t).String(t, "follows.0.status"))
	requireCounts(t, us, 0, 1, 0)
	requireCounts(t, eu, 1, 0, 0)
	require.Equal(t, "none", eu.Do(t, http.MethodDelete, followersPath+"/"+sg.UserID, nil).OK(t).String(t, "follows.0.status"),
		"remove a follower")
	requireCounts(t, eu, 0, 0, 0)
	requireCounts(t, sg, 1, 0, 0)
	follow(t, us, eu)
	requireCounts(t, eu, 1, 0, 0)

	requireAttempts(t, []attempt{
		{"oneself", us, http.MethodPost, followingPath + "/" + us.UserID, nil, failure{status: 400, code: 400000}},
		{"unknown user", us, http.MethodPost, followingPath + "/unknown-user", nil, notFound},
		{"unknown id", us, http.MethodPost, followingPath + "/" + unknownID, nil, notFound},
		{"not followed", us, http.MethodDelete, followingPath + "/" + us.UserID, nil, notFound},
		{"unfollow a stranger", eu, http.MethodDelete, followingPath + "/" + sg.UserID, nil, notFound},
		{"accept a stranger", eu, http.MethodPost, followersPath + "/" + sg.UserID, nil, notFound},
		{"remove a stranger", eu, http.MethodDelete, followersPath + "/" + sg.UserID, nil, notFound},
		{"as an admin", admin(t), http.MethodPost, followingPath + "/" + us.UserID, nil, forbidden},
		{"anonymous", apptest.Shared(t).Anonymous(region.EU), http.MethodPost, followingPath + "/" + us.UserID, nil, unauthorized},
		{"counts of an unknown user", us, http.MethodGet, "/api/v5/users/unknown-user/followInfo", nil, notFound},
		{"followers of an unknown user", us, http.MethodGet, "/api/v4/users/unknown-user/followers", nil, notFound},
		{"a wrong status", us, http.MethodGet, followersPath + "?status=blocked", nil, invalid("status")},
	})
}

func TestFollowLists(t *testing.T) {
	t.Parallel()
	star := newUser(t, region.EU, "star")
	fan := newUser(t, region.SG, "fan")
	var fans, stars []string
	for i := range 7 {
		c := newUser(t, region.All()[i%3], "fan")
		follow(t, c, star)
		follow(t, fan, c)
		fans, stars = append(fans, c.UserID), append(stars, c.UserID)
	}
	slices.Reverse(fans)
	slices.Reverse(stars)
	for _, path := range []string{followersPath, "/api/v4/users/" + star.UserID + "/followers"} {
		l := listing{by: star, path: path, list: "follows", id: "from"}
		l.requirePages(t, 3, fans)
		l.requireLimits(t)
		l.with("status", "accepted").with("isDeleted", "false").requireOrder(t, fans)
		l.with("status", "pending").requireOrder(t, []string{})
	}
	for _, path := range []string{followingPath, "/api/v4/users/" + fan.UserID + "/following"} {
		listing{by: fan, path: path, list: "follows", id: "to"}.requirePages(t, 3, stars)
	}
	other := newUser(t, region.US, "other")
	listing{by: other, path: "/api/v4/users/" + star.UserID + "/followers", list: "follows", id: "from"}.requirePages(t, 2, fans)
	requireFailure(t, notAllowed, other.Do(t, http.MethodGet, "/api/v4/users/"+star.UserID+"/followers?status=pending", nil))

	page := star.Do(t, http.MethodGet, followersPath+"?limit=2", nil).OK(t)
	requireAggregate(t, page, "", []string{"users", "files"})
	require.ElementsMatch(t, []string{star.UserID, fans[0], fans[1]}, page.Strings(t, "users", "userId"))
	next := star.Do(t, http.MethodGet, followersPath+"?token="+url.QueryEscape(page.String(t, "paging.next")), nil).OK(t)
	require.Equal(t, fans[2:4], next.Strings(t, "follows", "from"), "the flat token")
	for _, wrong := range []string{"limit=0", "limit=101"} {
		requireFailure(t, invalid("limit"), star.Do(t, http.MethodGet, followersPath+"?"+wrong, nil))
	}
}

// TestFollowsByStatus lists follows and requests to follow: both by default for their owner and administrators, and only follows
// for others.
func TestFollowsByStatus(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	owner, follower, idol, stranger := n.NewUser(t, region.US, "owner"), n.NewUser(t, region.US, "follower"),
		n.NewUser(t, region.US, "idol"), n.NewUser(t, region.US, "x")
	require.Equal(t, "accepted", follow(t, follower, owner))
	require.Equal(t, "accepted", follow(t, owner, idol))
	n.Admin(region.US).Do(t, http.MethodPut, socialPath, object{"isFollowWithRequestEnabled": true}).OK(t)
	nextMillisecond()
	asker, asked := n.NewUser(t, region.US, "asker"), n.NewUser(t, region.US, "asked")
	require.Equal(t, "pending", follow(t, asker, owner))
	require.Equal(t, "pending", follow(t, owner, asked))
	for _, list := range []struct{ own, of, id, accepted, pending string }{
		{followersPath, "/api/v4/users/" + owner.UserID + "/followers", "from", follower.UserID, asker.UserID},
		{followingPath, "/api/v4/users/" + owner.UserID + "/following", "to", idol.UserID, asked.UserID},
	} {
		for _, l := range []listing{{by: owner, path: list.own}, {by: owner, path: list.of}, {by: n.Admin(region.US), path: list.of}} {
			l.list, l.id = "follows", list.id
			l.requireOrder(t, []string{list.pending, list.accepted})
			l.with("status", "all").requireOrder(t, []string{list.pending, list.accepted})
			l.with("status", "accepted").requireOrder(t, []string{list.accepted})
			l.with("status", "pending").requireOrder(t, []string{list.pending})
		}
		others := listing{by: stranger, path: list.of, list: "follows", id: list.id}
		others.requireOrder(t, []string{list.accepted})
		others.with("status", "all").requireOrder(t, []string{list.accepted})
		others.with("status", "accepted").requireOrder(t, []string{list.accepted})
		requireFailure(t, notAllowed, stranger.Do(t, http.MethodGet, list.of+"?status=pending", nil))
	}
}

func TestPrivateProfiles(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	us, eu, sg := newUserPerRegion(t, n)
	require.Equal(t, "public", us.Do(t, http.MethodGet, socialPath, nil).OK(t).String(t, "userPrivacySetting"))
	follow(t, sg, eu)
	tag := newWord(t)
	post := newWallPost(t, eu, textOf(tag, tag))
	searched := []string{searchPath + "?hashtags=" + tag, searchPath + "?query=" + tag, rankPostsPath + "?query=" + tag}
	for _, path := range searched {
		require.Equal(t, []string{post}, us.Do(t, http.MethodGet, path, nil).OK(t).Strings(t, "posts", "postId"), path)
	}
	r := n.Admin(region.US).Do(t, http.MethodPut, socialPath, object{"userPrivacySetting": "private"}).OK(t)
	require.Equal(t, "private", r.String(t, "socialNetworkSetting.userPrivacySetting"))
	require.True(t, r.Bool(t, "socialNetworkSetting.globalFeed.showMyPost"))
	require.False(t, r.Bool(t, "isFollowWithRequestEnabled"))
	require.Eventually(t, func() bool {
		return eu.Do(t, http.MethodGet, socialPath, nil).OK(t).String(t, "userPrivacySetting") == "private"
	}, apptest.Patience, 10*time.Millisecond)

	wall := "/api/v3/user-feeds/" + eu.UserID
	blocked := func(t *testing.T, c *apptest.Client, want failure) {
		t.Helper()
		requireAttempts(t, []attempt{
			{"read the wall", c, http.MethodGet, wall, nil, want},
			{"read a post", c, http.MethodGet, "/api/v3/posts/" + post, nil, want},
			{
				"comment", c, http.MethodPost, "/api/v3/comments",
				object{"referenceType": "post", "referenceId": post, "data": object{"text": "hi"}},
				want,
			},
			{"list comments", c, http.MethodGet, "/api/v3/comments?referenceId=" + post + "&referenceType=post", nil, want},
			{"react", c, http.MethodPost, "/api/v2/reactions", object{"referenceType": "post", "referenceId": post, "reactionName": "like"}, want},
			{"flag", c, http.MethodPost, "/api/v3/posts/" + post + "/flag", nil, want},
			{"post", c, http.MethodPost, "/api/v4/posts", object{"targetType": "user", "targetId": eu.UserID, "data": object{"text": "hi"}}, want},
			{"followers", c, http.MethodGet, "/api/v4/users/" + eu.UserID + "/followers", nil, want},
		})
		for _, path := range append(searched, "/api/v3/posts/list?postIds[]="+post) {
			require.Empty(t, c.Do(t, http.MethodGet, path, nil).OK(t).List(t, "posts"), path)
		}
	}
	blocked(t, us, notMember)
	require.Equal(t, "pending", follow(t, us, eu))
	require.Equal(t, "pending", follow(t, us, eu))
	requireCounts(t, us, 0, 0, 0)
	requireCounts(t, eu, 1, 0, 1)
	blocked(t, us, notMember)
	require.Equal(t, 0, us.Do(t, http.MethodGet, "/api/v5/users/"+eu.UserID+"/followInfo", nil).OK(t).Int(t, "followCounts.0.pendingCount"),
		"requests are the owner's alone to see")
	shown := block(t, n.NewUser(t, region.US, "blocker"), eu)
	at := slices.Index(shown.Strings(t, "followCounts", "userId"), eu.UserID)
	require.Equal(t, 0, shown.Int(t, fmt.Sprint("followCounts.", at, ".pendingCount")), "also for a user who blocks the owner")
	listing{by: eu, path: followersPath, list: "follows", id: "from"}.with("status", "pending").requireOrder(t, []string{us.UserID})
	listing{by: us, path: followingPath, list: "follows", id: "to"}.with("status", "pending").requireOrder(t, []string{eu.UserID})
	listing{by: n.Admin(region.SG), path: "/api/v4/users/" + eu.UserID + "/followers", list: "follows", id: "from"}.with("status",
		"pending").requireOrder(t, []string{us.UserID})
	listing{by: eu, path: followersPath, list: "follows", id: "from"}.requireOrder(t, []string{us.UserID, sg.UserID})

	require.Equal(t, "accepted", eu.Do(t, http.MethodPost, followersPath+"/"+us.UserID, apptest.Form("")).OK(t).String(t, "follows.0.status"))
	require.Equal(t, "accepted", eu.Do(t, http.MethodPost, followersPath+"/"+us.UserID, nil).OK(t).String(t, "follows.0.status"),
		"again changes nothing")
	require.Equal(t, "accepted", follow(t, us, eu), "who follows already needs no other request")
	requireCounts(t, us, 0, 1, 0)
	requireCounts(t, eu, 2, 0, 0)
	us.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t)
	require.Equal(t, []string{post}, us.Do(t, http.MethodGet, wall, nil).OK(t).Strings(t, "data.posts", "postId"))
	for _, c := range []*apptest.Client{us, sg, eu, n.Admin(region.US)} {
		for _, path := range searched {
			require.Equal(t, []string{post}, c.Do(t, http.MethodGet, path, nil).OK(t).Strings(t, "posts", "postId"), path)
		}
	}

	require.Equal(t, "pending", follow(t, us, sg))
	us.Do(t, http.MethodDelete, followingPath+"/"+sg.UserID, nil).OK(t) // cancel
	requireCounts(t, sg, 0, 1, 0)
	require.Equal(t, "pending", follow(t, us, sg))
	sg.Do(t, http.MethodDelete, followersPath+"/"+us.UserID, nil).OK(t) // decline
	requireCounts(t, sg, 0, 1, 0)
	requireCounts(t, us, 0, 1, 0)

	n.Admin(region.US).Do(t, http.MethodPut, socialPath, object{"userPrivacySetting": "public"}).OK(t)
	require.Equal(t, "accepted", follow(t, us, sg))
	n.Admin(region.US).Do(t, http.MethodPut, socialPath, object{"isFollowWithRequestEnabled": true}).OK(t)
	require.Equal(t, "pending", follow(t, us, n.NewUser(t, region.US, "late")))
	requireAttempts(t, []attempt{
		{"as a user", us, http.MethodPut, socialPath, object{"userPrivacySetting": "public"}, notAllowed},
		{"a wrong value", n.Admin(region.US), http.MethodPut, socialPath, object{"userPrivacySetting": "secret"}, invalid("userPrivacySetting")},
	})
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	follow(t, us, eu)
	follow(t, eu, us, sg)
	post := newWallPost(t, eu)
	comment := newComment(t, us, post)

	r := block(t, eu, us)
	requireResource(t, "follows.0", followFields, r.List(t, "follows")[0])
	require.Equal(t, "blocked", r.String(t, "follows.0.status"))
	require.Equal(t, us.UserID, r.String(t, "follows.0.to"))
	require.ElementsMatch(t, []string{eu.UserID, us.UserID}, r.Strings(t, "followCounts", "userId"))
	block(t, eu, us) // the second time has no effect
	requireCounts(t, eu, 0, 1, 0)
	requireCounts(t, us, 0, 0, 0)
	require.Equal(t, "blocked", eu.Do(t, http.MethodGet, "/api/v5/users/"+us.UserID+"/followInfo", nil).OK(t).String(t, "follows.0.status"))
	require.Empty(t, us.Do(t, http.MethodGet, "/api/v5/users/"+eu.UserID+"/followInfo", nil).OK(t).List(t, "follows"),
		"the blocked are not told")

	requireAttempts(t, []attempt{
		{"follow the blocker", us, http.MethodPost, followingPath + "/" + eu.UserID, nil, forbidden},
		{"follow the blocked", eu, http.MethodPost, followingPath + "/" + us.UserID, nil, forbidden},
		{"read the wall", us, http.MethodGet, "/api/v3/user-feeds/" + eu.UserID, nil, notFound},
		{"read a post", us, http.MethodGet, "/api/v3/posts/" + post, nil, notFound},
		{"read a comment", us, http.MethodGet, "/api/v3/comments/" + comment, nil, notFound},
		{
			"comment", us, http.MethodPost, "/api/v3/comments",
			object{"referenceType": "post", "referenceId": post, "data": object{"text": "hi"}},
			notFound,
		},
		{
			"react", us, http.MethodPost, "/api/v2/reactions",
			object{"referenceType": "post", "referenceId": post, "reactionName": "like"},
			notFound,
		},
		{"flag", us, http.MethodPost, "/api/v3/posts/" + post + "/flag", nil, notFound},
		{
			"post", us, http.MethodPost, "/api/v4/posts",
			object{"targetType": "user", "targetId": eu.UserID, "data": object{"text": "hi"}},
			notFound,
		},
		{
			"others comment", sg, http.MethodPost, "/api/v3/comments",
			object{"referenceType": "post", "referenceId": post, "data": object{"text": "hi"}},
			failure{},
		},
		{"the blocker reads", eu, http.MethodGet, "/api/v3/posts/" + post, nil, failure{}},
		{"block oneself", us, http.MethodPost, blocksPath + "/" + us.UserID, nil, failure{status: 400, code: 400000}},
		{"block an unknown user", us, http.MethodPost, blocksPath + "/unknown-user", nil, notFound},
		{"unblock a stranger", us, http.MethodDelete, blocksPath + "/" + sg.UserID, nil, notFound},
	})
	nextMillisecond()
	ended := eu.Do(t, http.MethodDelete, blocksPath+"/"+us.UserID, nil).OK(t)
	require.Equal(t, "none", ended.String(t, "follows.0.status"))
	require.Equal(t, r.String(t, "follows.0.createdAt"), ended.String(t, "follows.0.createdAt"))
	us.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t)
	require.Equal(t, "accepted", follow(t, us, eu))
	requireCounts(t, eu, 1, 1, 0)

	var blocked []string
	for i := range 7 {
		c := newUser(t, region.All()[i%3], "blocked")
		block(t, eu, c)
		blocked = append(blocked, c.UserID)
	}
	l := listing{by: eu, path: blocksPath, list: "follows", id: "to"}
	l.requirePages(t, 3, reversed(blocked))
	l.requireLimits(t)
	page := eu.Do(t, http.MethodGet, blocksPath+"?limit=2&isDeleted=false", nil).OK(t)
	require.Equal(t, 7, page.Int(t, "paging.total"))
	require.Equal(t, "blocked", page.String(t, "follows.0.status"))
	requireAggregate(t, page, "", []string{"users", "files"})
	require.ElementsMatch(t, blocked[5:], page.Strings(t, "users", "userId"), "clients take all of these for blocked")
}

// TestModeratorsSeeWhoBlocksThem checks that a block does not hide a profile from moderators of users.
func TestModeratorsSeeWhoBlocksThem(t *testing.T) {
	t.Parallel()
	alice, reader, moderator := newUser(t, region.EU, "alice"), newUser(t, region.US, "reader"), newStaff(t, region.US, "moderator")
	path := "/api/v3/users/" + alice.UserID
	block(t, alice, reader)
	requireFailure(t, notFound, reader.Do(t, http.MethodGet, path, nil))
	block(t, alice, moderator)
	require.Equal(t, alice.UserID, moderator.Do(t, http.MethodGet, path, nil).OK(t).String(t, "users.0.userId"))
}

// TestFollowCountsDoNotDrift has users of all regions follow, unfollow, accept, remove, block and unblock one
// another concurrently while one transaction in five fails with 40001. Afterwards the counts match the rows.
func TestFollowCountsDoNotDrift(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	n := apptest.Start(t, apptest.WithStoreFault(func() error {
		if calls.Add(1)%5 == 0 {
			return &pgconn.PgError{Code: "40001"}
		}
		return nil
	}))
	var clients []*apptest.Client
	for i := range 6 {
		clients = append(clients, n.NewUser(t, region.All()[i%3], "drift"))
	}
	n.Admin(region.EU).Do(t, http.MethodPut, socialPath, object{"isFollowWithRequestEnabled": true}).OK(t)
	var g sync.WaitGroup
	for i, c := range clients {
		for worker := range 2 {
			g.Go(func() {
				for step := range 40 {
					other := clients[(i+1+(step+worker)%(len(clients)-1))%len(clients)]
					method, path := http.MethodPost, followingPath
					switch (step*7 + worker*3 + i) % 10 {
					case 3, 4, 5:
						path = followersPath
					case 6:
						method = http.MethodDelete
					case 7:
						method, path = http.MethodDelete, followersPath
					case 8:
						path = blocksPath
					case 9:
						method, path = http.MethodDelete, blocksPath
					}
					answer := c.Do(t, method, path+"/"+other.UserID, nil)
					if answer.Status >= 500 {
						t.Errorf("%s %s: %s", method, path, answer.Short())
					}
				}
			})
		}
	}
	g.Wait()

	conn := connectTo(t, n)
	zero := func(why, sql string) {
		t.Helper()
		require.Eventually(t, func() bool {
			var wrong int
			require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&wrong))
			return wrong == 0
		}, apptest.Patience, 100*time.Millisecond, why)
	}
	zero("the outbox runs empty", `SELECT count(*) FROM outbox`)
	zero("every follow has its mirror, and the mirror says the same", `SELECT count(*) FROM follows AS f FULL JOIN followers AS m
		ON m.followee_id = f.followee_id AND m.follower_id = f.follower_id
		WHERE f.status IS DISTINCT FROM m.status OR f.version IS DISTINCT FROM m.version`)
	zero("no follow exists together with a block", `SELECT count(*) FROM follows AS f JOIN blocks AS b ON b.status = 'blocked'
		AND ((b.blocker_id = f.follower_id AND b.blocked_id = f.followee_id) OR (b.blocked_id = f.follower_id AND b.blocker_id = f.followee_id))
		WHERE f.status <> 'none'`)
	zero("every block has its mirror", `SELECT count(*) FROM blocks AS b LEFT JOIN blocked_by AS m
		ON m.blocker_id = b.blocker_id AND m.blocked_id = b.blocked_id WHERE m.version IS DISTINCT FROM b.version OR m.status IS DISTINCT FROM b.status`)
	for kind, facts := range map[string]string{
		"following":      `SELECT follower_id AS ref, count(*) AS n FROM follows WHERE status = 'accepted' GROUP BY 1`,
		"followers":      `SELECT followee_id AS ref, count(*) AS n FROM followers WHERE status = 'accepted' GROUP BY 1`,
		"followRequests": `SELECT followee_id AS ref, count(*) AS n FROM followers WHERE status = 'pending' GROUP BY 1`,
		"blocks":         `SELECT blocker_id AS ref, count(*) AS n FROM blocks WHERE status = 'blocked' GROUP BY 1`,
	} {
		zero("the count of "+kind+" is that of the rows", `SELECT count(*) FROM (`+facts+`) AS facts FULL JOIN
			(SELECT ref, sum(n) AS n FROM counters WHERE split_part(kind, ':', 1) = '`+kind+`' GROUP BY ref) AS counted ON counted.ref = facts.ref
			WHERE COALESCE(facts.n, 0) <> COALESCE(counted.n, 0)`)
	}
}
