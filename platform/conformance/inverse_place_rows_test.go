package conformance

import (
	"net/http"
	"testing"
	"time"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// memberInverses change who belongs to a community, and how. Two users are concerned, who have been members before.
func memberInverses() []inverse {
	former := func(t *testing.T, g *fixture) (id string, request object, reads []reading) {
		t.Helper()
		id = g.community(t)
		first, second, request := g.two(t, object{"communityId": id})
		for _, c := range []*apptest.Client{first, second} {
			join(t, id, c)
			leave(t, id, c)
		}
		community := object{"communityId": id}
		for _, c := range []*apptest.Client{first, second} {
			reads = append(reads, reading{c, "CommunityService/GetCommunity", community}, reading{c, "CommunityService/GetMyPermissions", community})
		}
		return id, request, append(reads,
			reading{g.boss, "MemberService/ListMembers", community}, reading{g.boss, "CommunityService/GetCommunity", community},
			reading{g.boss, "MemberService/ListMembers", object{"communityId": id, "memberships": []string{"banned"}}})
	}
	joined := []string{"lastJoin", "lastActivity", "notMemberReason"}
	byModerator := func(do, undo string, more object, member bool) inverse {
		return inverse{do: "MemberService/" + do, undo: "MemberService/" + undo, prepare: func(t *testing.T, g *fixture) undoing {
			t.Helper()
			id, request, reads := former(t, g)
			if member {
				g.boss.Do(t, http.MethodPost, membersPath(id), request).OK(t)
			}
			by := g.principals[moderator]
			if member {
				by = g.boss // moderators do not demote each other
			}
			return undoing{request: with(request, more), by: by, lower: g.principals[stranger], reads: reads, shown: []int{0, 2}, ignored: joined}
		}}
	}
	return []inverse{
		byModerator("AddMembers", "RemoveMembers", nil, false),
		byModerator("BanMembers", "UnbanMembers", nil, false),
		byModerator("AddMemberRoles", "RemoveMemberRoles", object{"roles": []string{"channel-moderator", "community-moderator"}}, true),
		{do: "MemberService/JoinCommunity", undo: "MemberService/LeaveCommunity", prepare: func(t *testing.T, g *fixture) undoing {
			t.Helper()
			id, _, reads := former(t, g)
			return undoing{request: object{"communityId": id}, by: reads[0].by, other: reads[2].by, reads: reads, ignored: joined}
		}},
		{do: "JoinRequestService/RequestJoin", undo: "JoinRequestService/CancelJoin", prepare: func(t *testing.T, g *fixture) undoing {
			t.Helper()
			request := object{"communityId": g.community(t, object{"requiresJoinApproval": true})}
			by, first := g.user(t), g.user(t)
			for _, c := range []*apptest.Client{by, first} {
				c.Do(t, http.MethodPost, "/plaza.v1.JoinRequestService/RequestJoin", request).OK(t)
			}
			by.Do(t, http.MethodPost, "/plaza.v1.JoinRequestService/CancelJoin", request).OK(t)
			return undoing{request: request, by: by, other: g.principals[stranger], reads: []reading{
				{by, "JoinRequestService/GetMyJoinRequest", request},
				{g.boss, "JoinRequestService/ListJoinRequests", with(request, object{"status": "pending"})},
				{g.boss, "JoinRequestService/CountJoinRequests", request},
				{first, "JoinRequestService/GetMyJoinRequest", request},
			}, ignored: []string{"_id", "joinRequestId", "createdAt", "respondedAt"}}
		}},
	}
}

// channelInverses change who belongs to a channel, and who may write in it.
func channelInverses() []inverse {
	prepare := func(member bool, more object) func(*testing.T, *fixture) undoing {
		return func(t *testing.T, g *fixture) undoing {
			t.Helper()
			id := g.channel(t)
			first, second, request := g.two(t, object{"channelId": id})
			enter := func(method, suffix string, clients ...*apptest.Client) {
				for _, c := range clients {
					c.Do(t, method, "/api/v3/channels/"+id+suffix, nil).OK(t)
				}
			}
			enter(http.MethodPost, "/join", first, second)
			if !member {
				enter(http.MethodDelete, "/leave", first, second)
			}
			channel := object{"channelId": id}
			reads := []reading{
				{first, "ChannelService/GetChannel", channel},
				{second, "ChannelService/GetChannel", channel},
				{g.boss, "ChannelService/GetChannel", channel},
				{g.boss, "ChannelUserService/ListChannelUsers", channel},
				{g.boss, "ChannelUserService/ListChannelUsers", with(channel, object{"memberships": []string{"banned"}})},
			}
			return undoing{
				request: with(request, more), by: g.principals[moderator], lower: g.author, reads: reads, shown: []int{0, 1},
				ignored: []string{"lastJoin", "lastActivity", "notMemberReason"},
			}
		}
	}
	pair := func(do, undo string, prepare func(*testing.T, *fixture) undoing) inverse {
		return inverse{do: "ChannelUserService/" + do, undo: "ChannelUserService/" + undo, prepare: prepare}
	}
	unmuting := func(prepare func(*testing.T, *fixture) undoing) func(*testing.T, *fixture) undoing {
		return func(t *testing.T, g *fixture) undoing {
			t.Helper()
			u := prepare(t, g)
			u.inverse = func(object) object { return with(u.request, object{"mutePeriod": 0}) }
			return u
		}
	}
	muted := object{"mutePeriod": time.Hour.Milliseconds()}
	return []inverse{
		pair("AddChannelUsers", "RemoveChannelUsers", prepare(false, nil)),
		pair("BanChannelUsers", "UnbanChannelUsers", func(t *testing.T, g *fixture) undoing {
			t.Helper()
			u := prepare(true, nil)(t, g)
			u.again = func() { // a ban ends the membership
				for _, r := range u.reads[:2] {
					r.by.Do(t, http.MethodPost, "/plaza.v1.ChannelUserService/JoinChannel", r.request).OK(t)
				}
			}
			return u
		}),
		pair("AddChannelUserRoles", "RemoveChannelUserRoles", func(t *testing.T, g *fixture) undoing {
			t.Helper()
			u := prepare(true, object{"role": "channel-moderator"})(t, g)
			u.by = g.boss // moderators do not demote each other
			return u
		}),
		pair("MuteChannelUsers", "MuteChannelUsers", unmuting(prepare(true, muted))),
		pair("JoinChannel", "LeaveChannel", func(t *testing.T, g *fixture) undoing {
			t.Helper()
			u := prepare(false, nil)(t, g)
			u.by, u.lower, u.other, u.shown = u.reads[0].by, nil, u.reads[1].by, []int{0}
			return u
		}),
		{do: "ChannelService/MuteChannel", undo: "ChannelService/MuteChannel", prepare: unmuting(prepare(true, muted))},
		{do: "ChannelService/ArchiveChannel", undo: "ChannelService/UnarchiveChannel", prepare: func(t *testing.T, g *fixture) undoing {
			t.Helper()
			by, other := g.user(t), g.user(t)
			conversation := func() object {
				return object{"channelId": requireChannel(t, createConversation(t, by, other, g.user(t)))["channelId"]}
			}
			first, request := conversation(), conversation()
			by.Do(t, http.MethodPost, "/plaza.v1.ChannelService/ArchiveChannel", first).OK(t)
			return undoing{request: request, by: by, other: other, reads: []reading{
				{by, "ChannelService/ListArchivedChannels", object{}},
				{by, "ChannelService/ListChannels", object{}},
				{other, "ChannelService/ListArchivedChannels", object{}},
			}, ignored: []string{"archivedAt"}}
		}},
	}
}

// moderationInverses need the authority of a moderator, the author of a stream or an administrator.
func moderationInverses() []inverse {
	all := []inverse{
		{do: "UserService/BanUser", undo: "UserService/UnbanUser", prepare: func(t *testing.T, g *fixture) undoing {
			t.Helper()
			request := object{"userId": g.user(t).UserID}
			return undoing{request: request, by: g.principals[adminToken], lower: g.principals[moderator], reads: []reading{
				{g.boss, "UserService/GetUser", request}, {g.principals[adminToken], "UserService/GetUser", request},
			}}
		}},
		{
			do: "VideoStreamingService/BanStreamViewers", undo: "VideoStreamingService/UnbanStreamViewers",
			prepare: func(t *testing.T, g *fixture) undoing {
				t.Helper()
				stream := carriedBy(streamsPath, "videoStreamings", "streamId", "liveStream", false, nil)(t, g)
				first, second, request := g.two(t, stream)
				return undoing{request: request, by: g.author, lower: g.principals[moderator], shown: []int{0, 1}, reads: []reading{
					{first, "VideoStreamingService/GetVideoStreaming", stream},
					{second, "VideoStreamingService/GetVideoStreaming", stream},
					{g.author, "VideoStreamingService/GetVideoStreaming", stream},
				}}
			},
		},
		{do: "FlagService/ClaimFlagItem", undo: "FlagService/ReleaseFlagItem", prepare: func(t *testing.T, g *fixture) undoing {
			t.Helper()
			post := g.post(t, g.open)
			flag(t, g.principals[member], "posts", post)
			request := object{"targetId": post}
			return undoing{request: request, by: g.principals[moderator], lower: g.principals[member], reads: []reading{
				{g.boss, "FlagService/GetFlagItem", request}, {g.boss, "FlagService/CountFlagItems", object{"communityId": g.open}},
			}}
		}},
	}
	for _, list := range []string{"Allow", "Block"} {
		service := "ModerationListService/"
		do, undo := service+"Add"+list+"Rules", service+"Delete"+list+"Rules"
		all = append(all, inverse{do: do, undo: undo, prepare: func(_ *testing.T, g *fixture) undoing {
			return undoing{
				request: object{"regexs": []string{"first.example", "second.example"}}, by: g.principals[adminToken], lower: g.principals[moderator],
				inverse: func(answer object) object { return object{"ruleIds": valuesOf(answer, "ruleId")} },
				reads:   []reading{{g.principals[adminToken], service + "List" + list + "Rules", object{}}},
			}
		}})
	}
	return all
}

// valuesOf returns the texts of all fields of a name in a decoded value.
func valuesOf(value any, name string) []string {
	var found []string
	switch v := value.(type) {
	case object:
		if s := text(v, name); s != "" {
			found = append(found, s)
		}
		for _, inner := range v {
			found = append(found, valuesOf(inner, name)...)
		}
	case []any:
		for _, inner := range v {
			found = append(found, valuesOf(inner, name)...)
		}
	}
	return found
}

// contentInverses change what is shown with a post, and what will be.
func contentInverses() []inverse {
	return []inverse{
		{do: "ReactionService/AddReaction", undo: "ReactionService/RemoveReaction", prepare: func(t *testing.T, g *fixture) undoing {
			t.Helper()
			post := g.post(t, g.open)
			request := object{"referenceId": post, "referenceType": "post", "reactionName": "like"}
			g.author.Do(t, http.MethodPost, "/plaza.v1.ReactionService/AddReaction", request).OK(t)
			by := g.principals[member]
			return undoing{request: request, by: by, other: g.principals[moderator], reads: []reading{
				{by, "PostService/GetPost", object{"postId": post}},
				{g.author, "PostService/GetPost", object{"postId": post}},
				{by, "ReactionService/ListReactions", object{"referenceId": post, "referenceType": "post"}},
			}}
		}},
		{do: "PinService/PinCommunityPost", undo: "PinService/UnpinCommunityPost", prepare: func(t *testing.T, g *fixture) undoing {
			t.Helper()
			id := g.community(t)
			pin := func() object { return object{"communityId": id, "placement": "default", "postId": g.post(t, id)} }
			g.boss.Do(t, http.MethodPost, "/plaza.v1.PinService/PinCommunityPost", pin()).OK(t)
			request := pin()
			return undoing{request: request, by: g.principals[moderator], lower: g.principals[member], reads: []reading{
				{g.principals[stranger], "PinService/ListCommunityPins", object{"communityId": id}},
				{g.author, "PostService/GetPost", object{"postId": request["postId"]}},
			}, ignored: []string{"lastPinsUpdatedAt"}}
		}},
		{do: "PinService/PinGlobalPost", undo: "PinService/UnpinGlobalPost", prepare: func(t *testing.T, g *fixture) undoing {
			t.Helper()
			setMaxGlobalPins(t, g.n, 2)
			first, request := object{"postId": g.post(t, g.open)}, object{"postId": g.post(t, g.open)}
			g.principals[adminToken].Do(t, http.MethodPost, "/plaza.v1.PinService/PinGlobalPost", first).OK(t)
			return undoing{request: request, by: g.principals[adminToken], lower: g.principals[moderator], reads: []reading{
				{g.principals[stranger], "PinService/ListGlobalPins", object{}}, {g.author, "PostService/GetPost", request},
			}, ignored: []string{"lastPinsUpdatedAt"}}
		}},
		{
			do: "ScheduledPostService/SchedulePost", undo: "ScheduledPostService/CancelScheduledPost",
			prepare: func(t *testing.T, g *fixture) undoing {
				t.Helper()
				by := g.n.SignIn(t, region.EU, apptest.UserID("scheduling"))
				join(t, g.open, by)
				request := scheduling(timeIn(time.Hour), g.open, "later")
				newScheduled(t, by, request)
				return undoing{request: request, by: by, other: g.principals[member], reads: []reading{
					{by, "ScheduledPostService/ListScheduledPosts", object{}},
				}, inverse: func(answer object) object { return object{"id": valuesOf(answer, "id")[0]} }}
			},
		},
	}
}
