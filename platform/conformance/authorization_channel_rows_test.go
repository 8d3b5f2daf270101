package conformance

import (
	"net/http"
	"testing"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// channel creates a channel with a member, a moderator and a banned member.
func (g *fixture) channel(t *testing.T, fields ...object) string {
	t.Helper()
	users := []*apptest.Client{g.author, g.principals[member], g.principals[moderator], g.principals[bannedMember]}
	id := newChannel(t, g.boss, append([]object{named(users...)}, fields...)...)
	g.boss.Do(t, http.MethodPost, channelPath(id)+"/users/roles",
		with(named(g.principals[moderator]), object{"role": "channel-moderator"})).OK(t)
	g.boss.Do(t, http.MethodPut, channelPath(id)+"/users/ban", named(g.principals[bannedMember])).OK(t)
	return id
}

// usersOfChannel builds a request for a new channel that names the author as user.
func usersOfChannel(private bool, more object) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		return with(object{"channelId": g.channel(t, object{"isPublic": !private}), "userIds": []string{g.author.UserID}}, more)
	}
}

// onlyChannel is usersOfChannel for requests without users.
func onlyChannel(private bool, more object) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		return with(object{"channelId": g.channel(t, object{"isPublic": !private})}, more)
	}
}

func channelRows() []row {
	community := func(*testing.T, *fixture) object { return object{"displayName": "c"} }
	broadcast := func(*testing.T, *fixture) object { return object{"type": "broadcast"} }
	conversation := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"userIds": []string{g.n.NewUser(t, region.EU, "user").UserID}}
	}
	joint := func(t *testing.T, g *fixture) object {
		t.Helper()
		r := createConversation(t, g.boss, g.principals[member], g.principals[moderator], g.principals[bannedMember])
		return object{"channelId": requireChannel(t, r)["channelId"]}
	}
	batch := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"channelIds": []string{g.channel(t)}}
	}
	period := object{"mutePeriod": 1000}
	hidden := codesFor(400400, 400300, 0, 400304, 0) // a private channel that only moderators change
	return []row{
		{procedure: "ChannelService/CreateChannel", request: community, want: everyone},
		{procedure: "ChannelService/CreateChannel", name: "broadcast", request: broadcast, want: adminsOnly},
		{procedure: "ChannelService/CreateConversation", request: conversation, want: usersOnly},
		{procedure: "ChannelService/GetChannel", request: onlyChannel(false, nil), want: everyone},
		{procedure: "ChannelService/GetChannel", name: "private", request: onlyChannel(true, nil), want: codesFor(400400, 0, 0, 400304, 0)},
		{procedure: "ChannelService/BatchGetChannels", request: batch, want: everyone},
		{procedure: "ChannelService/ListChannels", request: noFields, want: everyone},
		{procedure: "ChannelService/UpdateChannel", request: onlyChannel(false, object{"displayName": "x"}), want: moderators},
		{procedure: "ChannelService/UpdateChannel", name: "private", request: onlyChannel(true, object{"displayName": "x"}), want: hidden},
		{procedure: "ChannelService/DeleteChannel", request: onlyChannel(false, nil), want: adminsOnly},
		{procedure: "ChannelService/MuteChannel", request: onlyChannel(false, period), want: moderators},
		{procedure: "ChannelService/MuteChannel", name: "private", request: onlyChannel(true, period), want: hidden},
		{procedure: "ChannelService/ListArchivedChannels", request: noFields, want: usersOnly},
		{procedure: "ChannelService/ArchiveChannel", request: joint, want: codesFor(400400, 0, 0, 0, 400300)},
		{
			procedure: "ChannelService/ArchiveChannel", name: "of another type", request: onlyChannel(false, nil),
			want: codesFor(400301, 400300, 400300, 400301, 400300),
		},
		{procedure: "ChannelService/UnarchiveChannel", request: joint, want: usersOnly},
		{procedure: "ChannelService/SeeChannels", request: onlyChannel(false, object{"readToSegment": 1}), want: usersOnly},

		{procedure: "ChannelUserService/JoinChannel", request: onlyChannel(false, nil), want: notBanned},
		{
			procedure: "ChannelUserService/JoinChannel", name: "private", request: onlyChannel(true, nil),
			want: codesFor(400400, 0, 0, 400304, 400300),
		},
		{procedure: "ChannelUserService/LeaveChannel", request: onlyChannel(false, nil), want: usersOnly},
		{procedure: "ChannelUserService/ListChannelUsers", request: onlyChannel(false, nil), want: codesFor(400301, 0, 0, 400304, 0)},
		{
			procedure: "ChannelUserService/ListChannelUsers", name: "private", request: onlyChannel(true, nil),
			want: codesFor(400400, 0, 0, 400304, 0),
		},
		{procedure: "ChannelUserService/AddChannelUsers", request: usersOfChannel(false, nil), want: moderators},
		{procedure: "ChannelUserService/RemoveChannelUsers", request: usersOfChannel(false, nil), want: moderators},
		{procedure: "ChannelUserService/BanChannelUsers", request: usersOfChannel(false, nil), want: moderators},
		{procedure: "ChannelUserService/BanChannelUsers", name: "private", request: usersOfChannel(true, nil), want: hidden},
		{procedure: "ChannelUserService/UnbanChannelUsers", request: usersOfChannel(false, nil), want: moderators},
		{procedure: "ChannelUserService/MuteChannelUsers", request: usersOfChannel(false, period), want: moderators},
		{
			procedure: "ChannelUserService/AddChannelUserRoles", request: usersOfChannel(false, object{"role": "channel-moderator"}),
			want: moderators,
		},
		{
			procedure: "ChannelUserService/RemoveChannelUserRoles", request: usersOfChannel(false, object{"role": "channel-moderator"}),
			want: moderators,
		},
	}
}
