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

func membersPath(communityID string) string { return communitiesPath + "/" + communityID + "/users" }

// club is a community with a moderator, a member, and users without a membership.
type club struct {
	id             string
	boss           *apptest.Client
	member, banned *apptest.Client
	stranger       *apptest.Client
}

func newClub(t *testing.T, fields ...object) club {
	t.Helper()
	c := club{
		boss: newUser(t, region.EU, "boss"), member: newUser(t, region.US, "member"), banned: newUser(t, region.SG, "banned"),
		stranger: newUser(t, region.US, "stranger"),
	}
	c.id = newCommunity(t, c.boss, append([]object{{"userIds": []string{c.member.UserID, c.banned.UserID}}}, fields...)...)
	banMember(t, c.boss, c.id, c.banned)
	return c
}

// membership returns the caller's membership as the community shows it.
func membership(t *testing.T, c *apptest.Client, communityID string) object {
	t.Helper()
	r := c.Do(t, http.MethodGet, communitiesPath+"/"+communityID, nil)
	return requireAggregate(t, r, "", communityAggregate).find("communityUsers", "userId", c.UserID)
}

func count(t *testing.T, c *apptest.Client, communityID, field string) int {
	t.Helper()
	return c.Do(t, http.MethodGet, communitiesPath+"/"+communityID, nil).OK(t).Int(t, "communities.0."+field)
}

func TestJoinAndLeave(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newCommunity(t, boss)
	for i, code := range region.All() {
		c := newUser(t, code, "member")
		require.Equal(t, "none", membership(t, c, id)["communityMembership"])
		for range 2 { // the second time has no effect
			r := c.Do(t, http.MethodPost, communitiesPath+"/"+id+"/join", nil)
			a := requireAggregate(t, r, "", communityAggregate)
			require.Equal(t, true, a.one("communities")["isJoined"])
			require.InDelta(t, 2, a.one("communities")["membersCount"], 0)
			mine := a.find("communityUsers", "userId", c.UserID)
			require.Equal(t, "member", mine["communityMembership"])
			require.Contains(t, mine["roles"], "community-member")
		}
		for range 2 {
			r := c.At(region.All()[(i+1)%3]).Do(t, http.MethodDelete, communitiesPath+"/"+id+"/leave", nil)
			a := requireAggregate(t, r, "", communityAggregate)
			require.Equal(t, false, a.one("communities")["isJoined"])
			require.InDelta(t, 1, a.one("communities")["membersCount"], 0)
			mine := a.find("communityUsers", "userId", c.UserID)
			require.Equal(t, "none", mine["communityMembership"])
			require.Equal(t, "left", mine["notMemberReason"])
			require.Equal(t, []any{}, mine["roles"])
		}
	}
	club := newClub(t)
	requireAttempts(t, []attempt{
		{"banned", club.banned, http.MethodPost, communitiesPath + "/" + club.id + "/join", nil, banned},
		{"admin", admin(t), http.MethodPost, communitiesPath + "/" + club.id + "/join", nil, forbidden},
		{"unknown", boss, http.MethodPost, communitiesPath + "/" + unknownID + "/join", nil, notFound},
		{"leave unknown", boss, http.MethodDelete, communitiesPath + "/" + unknownID + "/leave", nil, notFound},
		{"id of 900", boss, http.MethodPost, communitiesPath + "/" + strings.Repeat("x", 900) + "/join", nil, notFound},
		{"id of 901", boss, http.MethodPost, communitiesPath + "/" + strings.Repeat("x", 901) + "/join", nil, invalid("communityId")},
		{"leave id of 901", boss, http.MethodDelete, communitiesPath + "/" + strings.Repeat("x", 901) + "/leave", nil, invalid("communityId")},
		{"the last moderator leaves", club.boss, http.MethodDelete, communitiesPath + "/" + club.id + "/leave", nil, forbidden},
	})
}

func TestAddAndRemoveMembers(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	a, b := newUser(t, region.EU, "a"), newUser(t, region.SG, "b")
	body := object{"communityId": club.id, "userIds": []string{a.UserID, b.UserID}}
	for range 2 {
		r := club.boss.At(region.US).Do(t, http.MethodPost, membersPath(club.id), body)
		answer := requireAggregate(t, r, "", communityAggregate)
		require.InDelta(t, 4, answer.one("communities")["membersCount"], 0)
		for _, c := range []*apptest.Client{a, b} {
			require.Equal(t, "member", answer.find("communityUsers", "userId", c.UserID)["communityMembership"])
			require.Equal(t, c.InternalID, answer.find("users", "userId", c.UserID)["_id"])
		}
	}
	for range 2 {
		r := club.boss.Do(t, http.MethodDelete, membersPath(club.id), body) // DELETE with a JSON body
		answer := requireAggregate(t, r, "", communityAggregate)
		require.InDelta(t, 2, answer.one("communities")["membersCount"], 0)
		require.Equal(t, "removed", answer.find("communityUsers", "userId", a.UserID)["notMemberReason"])
	}
	club.boss.Do(t, http.MethodPost, membersPath(club.id), body).OK(t)
	club.boss.Do(t, http.MethodDelete, membersPath(club.id)+"?userIds[]="+a.UserID+"&userIds[]="+b.UserID, nil).OK(t)
	require.Equal(t, 2, count(t, club.boss, club.id, "membersCount"), "and one with a query")
	users := func(ids ...string) object { return object{"userIds": ids} }
	var attempts []attempt
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		for name, by := range map[string]*apptest.Client{"member": club.member, "stranger": club.stranger} {
			attempts = append(attempts, attempt{method + " by " + name, by, method, membersPath(club.id), users(a.UserID), notAllowed})
		}
		hundred := slices.Repeat([]string{a.UserID}, 100)
		attempts = append(attempts,
			attempt{method + " by an admin", admin(t), method, membersPath(club.id), users(a.UserID), failure{}},
			attempt{method + " 100 ids", club.boss, method, membersPath(club.id), users(hundred...), failure{}},
			attempt{method + " 101 ids", club.boss, method, membersPath(club.id), users(append(hundred, a.UserID)...), invalid("userIds")},
			attempt{method + " without users", club.boss, method, membersPath(club.id), users(), invalid("userIds")},
			attempt{method + " id of 51", club.boss, method, membersPath(club.id), users(strings.Repeat("x", 51)), invalid("userIds[0]")},
			attempt{method + " unknown user", club.boss, method, membersPath(club.id), users("unknown-user"), notFound},
			attempt{method + " unknown community", club.boss, method, membersPath(unknownID), users(a.UserID), notFound},
			attempt{
				method + " community id of 901", club.boss, method, membersPath(strings.Repeat("x", 901)), users(a.UserID),
				invalid("communityId"),
			})
	}
	requireAttempts(t, append(attempts,
		attempt{"a banned user", club.boss, http.MethodPost, membersPath(club.id), users(club.banned.UserID), banned}))
}

func TestBanMembers(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	put := func(t *testing.T, verb string, ids ...string) *aggregate {
		t.Helper()
		r := club.boss.At(region.SG).Do(t, http.MethodPut, membersPath(club.id)+"/"+verb, object{"userIds": ids})
		return requireAggregate(t, r, "", communityAggregate)
	}
	for range 2 {
		a := put(t, "ban", club.member.UserID, club.stranger.UserID)
		require.InDelta(t, 1, a.one("communities")["membersCount"], 0)
		for _, c := range []*apptest.Client{club.member, club.stranger} {
			m := a.find("communityUsers", "userId", c.UserID)
			require.Equal(t, "banned", m["communityMembership"])
			require.Equal(t, true, m["isBanned"])
			require.Equal(t, []any{}, m["roles"])
		}
	}
	post := newPost(t, club.boss, club.id)
	comment := newComment(t, club.boss, post)
	requireAttempts(t, []attempt{
		{"join", club.member, http.MethodPost, communitiesPath + "/" + club.id + "/join", nil, banned},
		{"request", club.member, http.MethodPost, "/api/v4/communities/" + club.id + "/join", nil, banned},
		{
			"post", club.member, http.MethodPost, "/api/v4/posts",
			object{"targetType": "community", "targetId": club.id, "data": object{"text": "x"}},
			banned,
		},
		{"comment", club.member, http.MethodPost, "/api/v3/comments", object{"referenceId": post, "data": object{"text": "x"}}, banned},
		{"flag post", club.member, http.MethodPost, "/api/v3/posts/" + post + "/flag", nil, banned},
		{"flag comment", club.member, http.MethodPost, "/api/v3/comments/" + comment + "/flag", nil, banned},
	})
	a := put(t, "unban", club.member.UserID, club.stranger.UserID, club.banned.UserID)
	require.Equal(t, "none", a.find("communityUsers", "userId", club.member.UserID)["communityMembership"])
	require.Equal(t, false, a.find("communityUsers", "userId", club.member.UserID)["isBanned"])
	join(t, club.id, club.member, club.banned)
	var attempts []attempt
	for _, verb := range []string{"ban", "unban"} {
		path := membersPath(club.id) + "/" + verb
		users := func(ids ...string) object { return object{"userIds": ids} }
		attempts = append(attempts,
			attempt{verb + " by a member", club.member, http.MethodPut, path, users(club.stranger.UserID), notAllowed},
			attempt{verb + " by a stranger", club.stranger, http.MethodPut, path, users(club.member.UserID), notAllowed},
			attempt{verb + " without users", club.boss, http.MethodPut, path, users(), invalid("userIds")},
			attempt{verb + " 101", club.boss, http.MethodPut, path, users(slices.Repeat([]string{"x"}, 101)...), invalid("userIds")},
			attempt{verb + " id of 901", club.boss, http.MethodPut, path, users(strings.Repeat("x", 901)), invalid("userIds[0]")},
			attempt{verb + " unknown", club.boss, http.MethodPut, path, users("unknown-user"), notFound},
			attempt{verb + " unknown community", club.boss, http.MethodPut, membersPath(unknownID) + "/" + verb, users("x"), notFound})
	}
	requireAttempts(t, append(attempts, attempt{
		"oneself", club.boss, http.MethodPut, membersPath(club.id) + "/ban", object{"userIds": []string{club.boss.UserID}}, forbidden,
	}))
}

func TestMemberRoles(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	body := object{
		"communityId": club.id, "roles": []string{"community-moderator", "channel-moderator"},
		"userIds": []string{club.member.UserID},
	}
	path := "/api/v4/communities/" + club.id + "/users/roles"
	member := func(r *apptest.Response) (m object, moderators int) {
		a := requireAggregate(t, r, "", communityAggregate)
		return a.find("communityUsers", "userId", club.member.UserID), r.Int(t, "communities.0.moderatorMemberCount")
	}
	for range 2 {
		m, moderators := member(club.boss.At(region.US).Do(t, http.MethodPost, path, body))
		require.ElementsMatch(t, []any{"community-member", "channel-member", "community-moderator", "channel-moderator"}, m["roles"])
		require.Contains(t, m["permissions"], "BAN_COMMUNITY_USER")
		require.Equal(t, 2, moderators)
	}
	for range 2 {
		m, moderators := member(club.boss.Do(t, http.MethodDelete, path, body))
		require.ElementsMatch(t, []any{"community-member", "channel-member"}, m["roles"])
		require.Equal(t, 1, moderators)
	}
	older := object{"role": "community-moderator", "userIds": []string{club.member.UserID}}
	club.boss.Do(t, http.MethodPost, membersPath(club.id)+"/roles", older).OK(t)
	require.Equal(t, 2, count(t, club.boss, club.id, "moderatorMemberCount"), "the older spelling")
	club.boss.Do(t, http.MethodDelete, membersPath(club.id)+"/roles", older).OK(t)
	give := func(roles []string, ids ...string) object { return object{"roles": roles, "userIds": ids} }
	mod := []string{"community-moderator"}
	var attempts []attempt
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		attempts = append(attempts,
			attempt{method + " by a member", club.member, method, path, body, notAllowed},
			attempt{method + " by a stranger", club.stranger, method, path, body, notAllowed},
			attempt{method + " no roles", club.boss, method, path, give(nil, club.member.UserID), invalid("roles")},
			attempt{method + " 21 roles", club.boss, method, path, give(slices.Repeat(mod, 21), club.member.UserID), invalid("roles")},
			attempt{
				method + " 20 roles", club.boss, method, path, give(slices.Repeat([]string{"community-member"}, 20), club.boss.UserID),
				failure{},
			},
			attempt{
				method + " role of 101", club.boss, method, path, give([]string{strings.Repeat("x", 101)}, club.member.UserID),
				invalid("roles[0]"),
			},
			attempt{method + " unknown role", club.boss, method, path, give([]string{"king"}, club.member.UserID), invalid("roles")},
			attempt{method + " network role", club.boss, method, path, give([]string{"global-admin"}, club.member.UserID), invalid("roles")},
			attempt{method + " without users", club.boss, method, path, give(mod), invalid("userIds")},
			attempt{method + " 101 users", club.boss, method, path, give(mod, slices.Repeat([]string{"x"}, 101)...), invalid("userIds")},
			attempt{method + " no member", club.boss, method, path, give(mod, club.stranger.UserID), notFound},
			attempt{method + " unknown user", club.boss, method, path, give(mod, "unknown-user"), notFound},
			attempt{method + " unknown community", club.boss, method, "/api/v4/communities/" + unknownID + "/users/roles", body, notFound})
	}
	requireAttempts(t, append(attempts,
		attempt{"the last moderator", club.boss, http.MethodDelete, path, give(mod, club.boss.UserID), forbidden}))
}

func TestListMembers(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "zz-boss")
	id := newCommunity(t, boss)
	byTime := []string{boss.UserID}
	for i, name := range []string{"lm", "lc", "lx", "la", "lk", "lÉ"} {
		c := apptest.Shared(t).NewUser(t, region.All()[i%3], name)
		nextMillisecond()
		join(t, id, c)
		byTime = append(byTime, c.UserID)
	}
	moderator, bannedMember := byTime[2], newUser(t, region.SG, "outcast")
	boss.Do(t, http.MethodPost, membersPath(id)+"/roles", object{"role": "community-moderator", "userIds": []string{moderator}}).OK(t)
	banMember(t, boss, id, bannedMember)
	byName := slices.Clone(byTime)
	slices.SortFunc(byName, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	l := listing{by: boss, path: membersPath(id), list: "communityUsers", id: "userId"}
	for _, code := range region.All() {
		l.by = boss.At(code)
		l.requireOrder(t, reversed(byTime))
	}
	l.with("sortBy", "lastCreated").requirePages(t, 2, reversed(byTime))
	l.with("sortBy", "firstCreated").requirePages(t, 3, byTime)
	l.with("sortBy", "displayName").requireOrder(t, byName)
	l.with("memberships[]", "banned").requireOrder(t, []string{bannedMember.UserID})
	l.with("memberships[]", "member").requireOrder(t, reversed(byTime))
	l.with("memberships[]", "member", "banned").with("sortBy", "firstCreated").requirePages(t, 2,
		append(slices.Clone(byTime), bannedMember.UserID))
	l.with("roles[]", "community-moderator").with("sortBy", "firstCreated").requireOrder(t, []string{boss.UserID, moderator})
	l.with("excludingRoles[]", "community-moderator").with("sortBy", "firstCreated").
		requireOrder(t, append([]string{byTime[1]}, byTime[3:]...))
	l.with("search", "L").with("roles[]", "community-moderator").requireOrder(t, []string{moderator})
	l.with("search", "lé-").requireOrder(t, []string{byTime[6]})
	l.requireLimits(t)
	a := requireAggregate(t, l.page(t, url.Values{"options[limit]": {"100"}}), "", communityAggregate)
	require.Equal(t, id, a.one("communities")["communityId"])
	require.Subset(t, a.values("users", "userId"), byTime, "every member is among the users")
	requireAttempts(t, []attempt{
		{"stranger", bannedMember, http.MethodGet, membersPath(id), nil, failure{}},
		{"other membership", boss, http.MethodGet, membersPath(id) + "?memberships[]=none", nil, invalid("memberships[0]")},
		{
			"3 memberships", boss, http.MethodGet, membersPath(id) + "?memberships[]=member&memberships[]=member&memberships[]=member", nil,
			invalid("memberships"),
		},
		{"21 roles", boss, http.MethodGet, membersPath(id) + "?" + strings.Repeat("roles[]=x&", 21), nil, invalid("roles")},
		{"other sort", boss, http.MethodGet, membersPath(id) + "?sortBy=size", nil, invalid("sortBy")},
		{"unknown", boss, http.MethodGet, membersPath(unknownID), nil, notFound},
		{"id of 901", boss, http.MethodGet, membersPath(strings.Repeat("x", 901)), nil, invalid("communityId")},
	})
}

// TestMembersWithEqualTimes pages through members who joined in the same call.
func TestMembersWithEqualTimes(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	ids := []string{}
	for i := range 9 {
		ids = append(ids, newUser(t, region.All()[i%3], "crowd").UserID)
	}
	id := newCommunity(t, boss)
	boss.Do(t, http.MethodPost, membersPath(id), object{"userIds": ids}).OK(t)
	for _, sortBy := range []string{"firstCreated", "lastCreated"} {
		l := listing{by: boss, path: membersPath(id), list: "communityUsers", id: "userId"}.with("sortBy", sortBy)
		all := l.ids(t, l.page(t, url.Values{"options[limit]": {"100"}}))
		require.ElementsMatch(t, append([]string{boss.UserID}, ids...), all)
		l.requirePages(t, 2, all)
	}
}
