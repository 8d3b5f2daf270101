package conformance

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

func channelUsersPath(id string) string {
	return "/api/v4/channels/" + url.PathEscape(id) + "/users"
}

// named returns the body of an operation on users of a channel.
func named(clients ...*apptest.Client) object { return object{"userIds": userIDs(clients...)} }

func TestJoinAndLeaveChannel(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newChannel(t, boss)
	for i, code := range region.All() {
		c := newUser(t, code, "member")
		require.Equal(t, "none", channelUser(t, c, id)["membership"])
		for range 2 { // the second time has no effect
			r := c.Do(t, http.MethodPost, channelPath(id)+"/join", nil)
			require.InDelta(t, 2, requireChannel(t, r)["memberCount"], 0)
			require.Subset(t, channelUser(t, c, id),
				object{"membership": "member", "roles": []any{"channel-member"}, "isBanned": false, "isMuted": false})
		}
		for range 2 {
			r := c.At(region.All()[(i+1)%3]).Do(t, http.MethodDelete, channelPath(id)+"/leave", nil)
			require.InDelta(t, 1, requireChannel(t, r)["memberCount"], 0)
			require.Subset(t, channelUser(t, c, id), object{"membership": "none", "roles": []any{}})
		}
	}
	requireAttempts(t, []attempt{
		{"admin", admin(t), http.MethodPost, channelPath(id) + "/join", nil, forbidden},
		{"admin leaves", admin(t), http.MethodDelete, channelPath(id) + "/leave", nil, forbidden},
		{"unknown", boss, http.MethodPost, channelPath(unknownID) + "/join", nil, notFound},
		{"leave unknown", boss, http.MethodDelete, channelPath(unknownID) + "/leave", nil, notFound},
	})
}

func TestAddAndRemoveChannelUsers(t *testing.T) {
	t.Parallel()
	boss, first, second := newUser(t, region.EU, "boss"), newUser(t, region.US, "first"), newUser(t, region.SG, "second")
	id := newChannel(t, boss)
	for range 2 {
		r := boss.At(region.SG).Do(t, http.MethodPost, channelPath(id)+"/users", with(named(first, second, first), object{"channelId": id}))
		require.Subset(t, requireChannel(t, r), object{"memberCount": 3.0, "moderatorMemberCount": 1.0})
		require.Equal(t, "member", requireAggregate(t, r, "", channelAggregate).find("channelUsers", "userId", second.UserID)["membership"])
	}
	requireAttempts(t, []attempt{
		{"by a member", first, http.MethodPost, channelPath(id) + "/users", named(second), notAllowed},
		{"removed by a member", first, http.MethodDelete, channelPath(id) + "/users", named(second), notAllowed},
		{"unknown", boss, http.MethodPost, channelPath(id) + "/users", object{"userIds": []string{"unknown user"}}, notFound},
		{"none", boss, http.MethodPost, channelPath(id) + "/users", object{"userIds": []string{}}, invalid("userIds")},
		{
			"101", boss, http.MethodPost, channelPath(id) + "/users",
			object{"userIds": strings.Split(strings.Repeat("x ", 100)+"x", " ")},
			invalid("userIds"),
		},
		{
			"51 characters", boss, http.MethodPost, channelPath(id) + "/users",
			object{"userIds": []string{strings.Repeat("x", 51)}},
			invalid("userIds[0]"),
		},
		{"NUL", boss, http.MethodPost, channelPath(id) + "/users", object{"userIds": []string{"a\x00"}}, invalid("userIds[0]")},
	})
	for range 2 {
		r := boss.Do(t, http.MethodDelete, channelPath(id)+"/users", with(named(first), object{"channelId": id}))
		require.InDelta(t, 2, requireChannel(t, r)["memberCount"], 0)
	}
	r := boss.Do(t, http.MethodDelete, channelPath(id)+"/users?"+url.Values{"userIds[]": {second.UserID}}.Encode(), nil)
	require.InDelta(t, 1, requireChannel(t, r)["memberCount"], 0)
	require.Equal(t, "none", channelUser(t, second, id)["membership"])
}

func TestBanChannelUsers(t *testing.T) {
	t.Parallel()
	boss, member, stranger := newUser(t, region.EU, "boss"), newUser(t, region.US, "member"), newUser(t, region.SG, "stranger")
	chat := newChat(t, boss, member)
	boss.Do(t, http.MethodPost, chat.path("/users/roles"), with(named(member), object{"role": "channel-moderator"})).OK(t)
	for range 2 {
		r := boss.Do(t, http.MethodPut, chat.path("/users/ban"), named(member, stranger))
		require.Subset(t, requireChannel(t, r), object{"memberCount": 1.0, "moderatorMemberCount": 1.0})
		for _, u := range []*apptest.Client{member, stranger} {
			mine := requireAggregate(t, r, "", channelAggregate).find("channelUsers", "userId", u.UserID)
			require.Subset(t, mine, object{"membership": "banned", "isBanned": true, "roles": []any{}})
		}
	}
	requireAttempts(t, []attempt{
		{"join", member, http.MethodPost, chat.path("/join"), nil, banned},
		{"join of one who never belonged", stranger, http.MethodPost, chat.path("/join"), nil, banned},
		{"added", boss, http.MethodPost, chat.path("/users"), named(member), banned},
		{"subchannels", member, http.MethodGet, subchannelsPath + "/channel/" + chat.id, nil, banned},
		{"moderating", member, http.MethodPut, chat.path("/users/ban"), named(stranger), notAllowed},
		{"oneself", boss, http.MethodPut, chat.path("/users/ban"), named(boss), forbidden},
		{"by a member", newUser(t, region.EU, "other"), http.MethodPut, chat.path("/users/ban"), named(boss), notAllowed},
		{"unknown", boss, http.MethodPut, chat.path("/users/ban"), object{"userIds": []string{unknownID}}, notFound},
	})
	requireFailure(t, banned, chat.sendMessage(t, member, "hello"))
	for range 2 {
		r := boss.Do(t, http.MethodPut, chat.path("/users/unban"), named(member, stranger))
		require.InDelta(t, 1, requireChannel(t, r)["memberCount"], 0)
		require.Equal(t, "none", channelUser(t, member, chat.id)["membership"], "no member, but may join again")
	}
	requireFailure(t, notMember, chat.sendMessage(t, member, "hello"))
	member.Do(t, http.MethodPost, chat.path("/join"), nil).OK(t)
	require.Equal(t, []any{"channel-member"}, channelUser(t, member, chat.id)["roles"])
	chat.newMessage(t, member, "hello")
}

// TestMutes checks that mutes of a channel and of a user apply to all subchannels, end in time, and do not apply to
// moderators.
func TestMutes(t *testing.T) {
	t.Parallel()
	var (
		boss, member = newUser(t, region.EU, "boss"), newUser(t, region.US, "member")
		chat         = newChat(t, boss, member)
		second       = boss.Do(t, http.MethodPost, subchannelsPath, object{"channelId": chat.id, "name": "second"}).OK(t).String(t,
			"messageFeeds.0.messageFeedId")
		userMuted    = failure{status: 403, code: 400302}
		channelMuted = failure{status: 403, code: 400303}
		mute         = func(path string, body object) {
			t.Helper()
			require.True(t, boss.Do(t, http.MethodPut, "/api/v2/channel/"+chat.id+path, body).OK(t).Bool(t, "success"))
		}
		requireSilent = func(want failure) {
			t.Helper()
			for _, feed := range []string{chat.id, second} {
				requireFailure(t, want, chat.sendMessage(t, member, "psst", object{"messageFeedId": feed}))
				chat.newMessage(t, boss, "hush", object{"messageFeedId": feed})
			}
		}
		requireLoud = func() {
			t.Helper()
			for _, feed := range []string{chat.id, second} {
				chat.newMessage(t, member, "hello", object{"messageFeedId": feed})
			}
		}
	)
	mute("/mute", object{"mutePeriod": -1})
	requireSilent(channelMuted)
	require.Subset(t, getChannel(t, member, chat.id), object{"isMuted": true, "muteTimeout": "9999-12-31T23:59:59.999Z"})
	mute("/mute", object{"mutePeriod": 0})
	requireLoud()
	require.Subset(t, getChannel(t, member, chat.id), object{"isMuted": false, "muteTimeout": nil})
	mute("/mute", object{"mutePeriod": 1})
	require.Eventually(t, func() bool { return chat.sendMessage(t, member, "hello").Status == http.StatusOK }, apptest.Patience,
		time.Millisecond, "a mute ends by itself")

	mute("/users/mute", with(named(member), object{"mutePeriod": 3_600_000}))
	requireSilent(userMuted)
	require.Equal(t, true, channelUser(t, member, chat.id)["isMuted"])
	require.NotNil(t, channelUser(t, member, chat.id)["muteTimeout"])
	member.Do(t, http.MethodDelete, chat.path("/leave"), nil).OK(t)
	member.Do(t, http.MethodPost, chat.path("/join"), nil).OK(t)
	requireSilent(userMuted)
	l := listing{by: boss, path: channelUsersPath(chat.id), list: "channelUsers", id: "userId"}
	l.with("memberships[]", "muted").requireOrder(t, []string{member.UserID})
	l.with("filter", "muted").requireOrder(t, []string{member.UserID})
	mute("/users/mute", with(named(member), object{"mutePeriod": 0}))
	requireLoud()
	l.with("memberships[]", "muted").requireOrder(t, []string{})
	quiet := newChatOf(t, boss, object{"isMuted": true}, member)
	require.Equal(t, true, getChannel(t, member, quiet.id)["isMuted"])
	requireFailure(t, channelMuted, quiet.sendMessage(t, member, "from the beginning"))
	mute("/users/mute", with(named(boss), object{"mutePeriod": -1}))
	chat.newMessage(t, boss, "moderators write all the same")
	path := "/api/v2/channel/" + chat.id
	requireAttempts(t, []attempt{
		{"by a member", member, http.MethodPut, path + "/mute", object{"mutePeriod": -1}, notAllowed},
		{"user by a member", member, http.MethodPut, path + "/users/mute", with(named(boss), object{"mutePeriod": -1}), notAllowed},
		{"no member", boss, http.MethodPut, path + "/users/mute", with(named(newUser(t, region.SG, "x")), object{"mutePeriod": -1}), notFound},
		{"-2", boss, http.MethodPut, path + "/mute", object{"mutePeriod": -2}, invalid("mutePeriod")},
		{"no number", boss, http.MethodPut, path + "/mute", object{"mutePeriod": "NaN"}, invalid("mutePeriod")},
		{"too long", boss, http.MethodPut, path + "/users/mute", with(named(member), object{"mutePeriod": 1e30}), invalid("mutePeriod")},
		{"admin", admin(t), http.MethodPut, path + "/mute", object{"mutePeriod": -1}, failure{}},
		{"unknown", boss, http.MethodPut, "/api/v2/channel/" + unknownID + "/mute", object{"mutePeriod": -1}, notFound},
	})
}

func TestChannelUserRoles(t *testing.T) {
	t.Parallel()
	boss, member := newUser(t, region.EU, "boss"), newUser(t, region.US, "member")
	id := newChannel(t, boss, named(member))
	path := channelPath(id) + "/users/roles"
	moderator := with(named(member), object{"role": "channel-moderator", "channelId": id})
	for range 2 {
		r := boss.Do(t, http.MethodPost, path, moderator)
		require.InDelta(t, 2, requireChannel(t, r)["moderatorMemberCount"], 0)
		require.Equal(t, []any{"channel-member", "channel-moderator"}, channelUser(t, member, id)["roles"])
	}
	requireChannel(t, member.Do(t, http.MethodPut, channelPath(id), object{"displayName": "mine"}))
	for range 2 {
		r := member.Do(t, http.MethodDelete, path, moderator)
		if r.Status != http.StatusOK {
			requireFailure(t, notAllowed, r)
			continue
		}
		require.InDelta(t, 1, requireChannel(t, r)["moderatorMemberCount"], 0)
	}
	requireAttempts(t, []attempt{
		{"of the network", boss, http.MethodPost, path, with(moderator, object{"role": "global-admin"}), invalid("role")},
		{"unknown role", boss, http.MethodPost, path, with(moderator, object{"role": "boss"}), invalid("role")},
		{"no role", boss, http.MethodPost, path, named(member), invalid("role")},
		{"no member", boss, http.MethodPost, path, with(moderator, named(newUser(t, region.SG, "x"))), notFound},
		{"by a member", member, http.MethodPost, path, moderator, notAllowed},
	})
}

func TestListChannelUsers(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "zz-boss")
	id := newChannel(t, boss)
	byTime := []string{boss.UserID}
	for i, name := range []string{"lm", "lc", "lx", "la", "lk", "lÉ"} {
		c := apptest.Shared(t).NewUser(t, region.All()[i%3], name)
		nextMillisecond()
		c.Do(t, http.MethodPost, channelPath(id)+"/join", nil).OK(t)
		byTime = append(byTime, c.UserID)
	}
	moderator, bannedMember := byTime[2], newUser(t, region.SG, "outcast")
	boss.Do(t, http.MethodPost, channelPath(id)+"/users/roles", object{"role": "channel-moderator", "userIds": []string{moderator}}).OK(t)
	boss.Do(t, http.MethodPut, channelPath(id)+"/users/ban", named(bannedMember)).OK(t)
	byName := slices.Clone(byTime)
	slices.SortFunc(byName, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	l := listing{by: boss, path: channelUsersPath(id), list: "channelUsers", id: "userId"}
	for _, code := range region.All() {
		l.by = boss.At(code)
		l.requireOrder(t, reversed(byTime))
	}
	l.with("sortBy", "lastCreated").requirePages(t, 2, reversed(byTime))
	l.with("sortBy", "firstCreated").requirePages(t, 3, byTime)
	l.with("sortBy", "displayName").requirePages(t, 2, byName)
	l.with("memberships[]", "banned").requireOrder(t, []string{bannedMember.UserID})
	l.with("filter", "banned").requireOrder(t, []string{bannedMember.UserID})
	l.with("filter", "all").requireOrder(t, reversed(byTime))
	l.with("memberships[]", "member", "banned", "muted").with("sortBy", "firstCreated").requirePages(t, 2,
		append(slices.Clone(byTime), bannedMember.UserID))
	l.with("filter", "member&banned").with("sortBy", "firstCreated").requireOrder(t, append(slices.Clone(byTime), bannedMember.UserID))
	l.with("roles[]", "channel-moderator").with("sortBy", "firstCreated").requireOrder(t, []string{boss.UserID, moderator})
	l.with("role[]", "channel-moderator").with("sortBy", "firstCreated").requireOrder(t, []string{boss.UserID, moderator})
	l.with("search", "L").with("roles[]", "channel-moderator").requireOrder(t, []string{moderator})
	l.with("search", "lé-").requireOrder(t, []string{byTime[6]})
	l.requireLimits(t)
	old := l
	old.path = channelPath(id) + "/users"
	old.requireOrder(t, reversed(byTime))
	requireAttempts(t, []attempt{
		{"outcast", bannedMember, http.MethodGet, channelUsersPath(id), nil, banned},
		{"stranger", newUser(t, region.EU, "x"), http.MethodGet, channelUsersPath(id), nil, notMember},
		{"admin", admin(t), http.MethodGet, channelUsersPath(id), nil, failure{}},
		{"other membership", boss, http.MethodGet, channelUsersPath(id) + "?memberships[]=none", nil, invalid("memberships[0]")},
		{"21 roles", boss, http.MethodGet, channelUsersPath(id) + "?" + strings.Repeat("roles[]=x&", 21), nil, invalid("roles")},
		{"other sort", boss, http.MethodGet, channelUsersPath(id) + "?sortBy=size", nil, invalid("sortBy")},
		{"unknown", boss, http.MethodGet, channelUsersPath(unknownID), nil, notFound},
	})
}

// TestFullChannel fills a channel: no further user joins it or is added to it, until a member leaves.
func TestFullChannel(t *testing.T) {
	t.Parallel()
	boss, last, late := newUser(t, region.EU, "boss"), newUser(t, region.US, "last"), newUser(t, region.SG, "late")
	chat := newChat(t, boss)
	full := failure{status: 403, code: 400305}
	execute(t, boss.Network, "UPDATE counters SET n = n + 9998 WHERE kind = 'members' AND ref = $1", chat.id)
	requireFailure(t, full, boss.Do(t, http.MethodPost, chat.path("/users"), named(last, late)))
	last.Do(t, http.MethodPost, chat.path("/join"), nil).OK(t)
	require.InDelta(t, 10_000, getChannel(t, boss, chat.id)["memberCount"], 0)
	requireFailure(t, full, late.Do(t, http.MethodPost, chat.path("/join"), nil))
	requireFailure(t, full, boss.Do(t, http.MethodPost, chat.path("/users"), named(late)))
	boss.Do(t, http.MethodPut, chat.path("/users/ban"), named(late)).OK(t)
	last.Do(t, http.MethodDelete, chat.path("/leave"), nil).OK(t)
	boss.Do(t, http.MethodPut, chat.path("/users/unban"), named(late)).OK(t)
	late.Do(t, http.MethodPost, chat.path("/join"), nil).OK(t)
}

// TestChannelCountsFollow joins, leaves, bans and promotes users concurrently; afterwards the counts match the rows.
func TestChannelCountsFollow(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newChannel(t, boss)
	crowd := make([]*apptest.Client, 6)
	for i := range crowd {
		crowd[i] = newUser(t, region.All()[i%3], "crowd")
	}
	var all sync.WaitGroup
	for i, c := range crowd {
		all.Go(func() {
			for range 3 {
				c.Do(t, http.MethodPost, channelPath(id)+"/join", nil)
				boss.Do(t, http.MethodPost, channelPath(id)+"/users/roles", with(named(c), object{"role": "channel-moderator"}))
				boss.Do(t, http.MethodPut, channelPath(id)+"/users/ban", named(crowd[(i+1)%len(crowd)]))
				boss.Do(t, http.MethodPut, channelPath(id)+"/users/unban", named(crowd[(i+1)%len(crowd)]))
				c.Do(t, http.MethodDelete, channelPath(id)+"/leave", nil)
				boss.Do(t, http.MethodPost, channelPath(id)+"/users", named(crowd...))
			}
		})
	}
	all.Wait()
	l := listing{by: boss, path: channelUsersPath(id), list: "channelUsers", id: "userId"}
	members := l.ids(t, l.page(t, url.Values{"options[limit]": {"100"}}))
	moderators := l.with("roles[]", "channel-moderator")
	c := getChannel(t, boss, id)
	require.InDelta(t, len(members), c["memberCount"], 0)
	require.InDelta(t, len(moderators.ids(t, moderators.page(t, url.Values{"options[limit]": {"100"}}))), c["moderatorMemberCount"], 0)
}
