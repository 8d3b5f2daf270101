package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestWhoReadsThePreviewOfAChannel(t *testing.T) {
	t.Parallel()
	me := &people.User{ID: "me"}
	for name, test := range map[string]struct {
		viewer     *people.User
		reads      bool
		membership string
		deleted    bool
		want       bool
	}{
		"member":                      {me, false, messaging.ChannelMember, false, true},
		"member of a deleted channel": {me, false, messaging.ChannelMember, true, false},
		"banned":                      {me, false, messaging.ChannelBanned, false, false},
		"former member":               {me, false, messaging.ChannelNone, false, false},
		"stranger":                    {me, false, "", false, false},
		"network moderator":           {me, true, "", false, true},
		"network moderator, deleted":  {me, true, "", true, false},
		"administrator":               {nil, true, "", false, true},
		"administrator, deleted":      {nil, true, "", true, false},
		"no user and no such right":   {nil, false, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := messaging.Channel{ID: "c"}
			if test.deleted {
				c.DeletedAt = &deletedAt
			}
			l := &channelLoader{ChannelRows: ChannelRows{Channels: []messaging.Channel{c}, Viewer: test.viewer, ViewerReads: test.reads}}
			if test.membership != "" {
				l.mine = []messaging.ChannelUser{
					{ChannelID: "other", UserID: "me", Membership: messaging.ChannelMember},
					{ChannelID: "c", UserID: "me", Membership: test.membership},
				}
			}
			require.Equal(t, test.want, l.canRead("c"))
			require.False(t, l.canRead("unknown"))
		})
	}
}

func TestMembershipOfViewerInChannel(t *testing.T) {
	t.Parallel()
	l := &channelLoader{ChannelRows: ChannelRows{
		Viewer: &people.User{ID: "me", PublicID: "my-id"},
		ChannelUsers: []messaging.ChannelUser{
			{ChannelID: "c", UserID: "other", Membership: messaging.ChannelBanned}, {
				ChannelID: "c", UserID: "me",
				Membership: messaging.ChannelMember,
			},
		},
	}}
	l.mine = []messaging.ChannelUser{
		{ChannelID: "c", UserID: "me", Membership: messaging.ChannelNone},
		{ChannelID: "d", UserID: "me", Membership: messaging.ChannelMember},
	}
	require.True(t, l.membership("c").IsMember(), "what the operation knows is newer than what was read")
	require.True(t, l.membership("d").IsMember())
	require.Equal(t, &messaging.ChannelUser{ChannelID: "e", UserID: "me", UserPublicID: "my-id"}, l.membership("e"))
	l.Viewer = nil
	require.Nil(t, l.membership("c"))
}

func TestReadStateWithoutMarker(t *testing.T) {
	t.Parallel()
	l := &channelLoader{feeds: []messaging.MessageFeed{{ID: "other", LastSegment: 9}, {ID: "c", LastSegment: 7}}}
	for name, test := range map[string]struct {
		row  messaging.ChannelUser
		want int64
	}{
		"member":                 {messaging.ChannelUser{ChannelID: "c", Membership: messaging.ChannelMember}, 7},
		"banned":                 {messaging.ChannelUser{ChannelID: "c", Membership: messaging.ChannelBanned}, 0},
		"never joined":           {messaging.ChannelUser{ChannelID: "c"}, 0},
		"channel without a feed": {messaging.ChannelUser{ChannelID: "d", Membership: messaging.ChannelMember}, 0},
	} {
		require.Equal(t, test.want, l.defaultReadTo(test.row), name)
	}
}

func TestUsersOfChannelResponse(t *testing.T) {
	t.Parallel()
	rows := ChannelRows{
		Channels: []messaging.Channel{{ID: "c", CreatorID: "creator"}, {ID: "d"}}, Viewer: &people.User{ID: "me"},
		ChannelUsers: []messaging.ChannelUser{{ChannelID: "c", UserID: "member"}},
	}
	l := &channelLoader{ChannelRows: rows, previews: []messaging.Message{{CreatorID: "author"}}}
	require.Equal(t, []string{"member", "creator", "author", "me"}, l.wantedUsers().list())
	l.OnlyUsers = true
	require.Equal(t, []string{"member", "creator", "author"}, l.wantedUsers().list(), "a list of members contains the viewer only as a member")
	l.OnlyUsers, l.Viewer = false, nil
	require.Equal(t, []string{"member", "creator", "author"}, l.wantedUsers().list())
}

func TestBuildChannels(t *testing.T) {
	t.Parallel()
	rows := ChannelRows{
		Channels: []messaging.Channel{{ID: "c", PublicID: "public-c"}, {ID: "d"}},
		Viewer:   &people.User{ID: "me", PublicID: "my-id"},
		Users:    []people.User{{ID: "unrelated"}, {ID: "member"}, {ID: "me"}},
		ChannelUsers: []messaging.ChannelUser{
			{ChannelID: "c", UserID: "member", Membership: messaging.ChannelMember},
			{ChannelID: "c", UserID: "me", Membership: messaging.ChannelMember},
			{ChannelID: "gone", UserID: "member", Membership: messaging.ChannelMember},
		},
	}
	l := &channelLoader{ChannelRows: rows, builder: &Builder{}, feeds: []messaging.MessageFeed{{ID: "c", LastSegment: 7, Name: "general"}}}
	l.previews = []messaging.Message{{ID: "last", ChannelID: "c", Segment: 7}}
	l.marks = []messaging.FeedMarker{
		{FeedID: "d", UserID: "me", ReadTo: 1},
		{FeedID: "c", UserID: "other", ReadTo: 2},
		{FeedID: "c", UserID: "me", ReadTo: 3},
	}
	a := l.build(t.Context())
	require.Equal(t, []string{"member", "me"}, mapList(a.GetUsers(), (*plazav1.User).GetPrivateId), "in order, without others")
	require.Equal(t, []int32{7, 0}, mapList(a.GetChannels(), (*plazav1.Channel).GetMessageCount))
	require.Len(t, a.GetMessageFeedsInfo(), 1)
	require.Equal(t, "general", a.GetMessageFeedsInfo()[0].GetName())
	require.Equal(t, "public-c", a.GetMessagePreviews()[0].GetChannelPublicId())
	type membership struct {
		channel, user, membership string
		readTo                    int32
	}
	memberships := func(a *plazav1.ChannelResponse) []membership {
		return mapList(a.GetChannelUsers(), func(u *plazav1.ChannelUser) membership {
			return membership{u.GetChannelInternalId(), u.GetUserInternalId(), u.GetMembership(), u.GetReadToSegment()}
		})
	}
	require.Equal(t, []membership{
		{"c", "me", "member", 3}, {"d", "me", "none", 1}, {"c", "member", "member", 7},
	}, memberships(a), "the viewer's first, each once, only of these channels")

	l.OnlyUsers = true
	a = l.build(t.Context())
	require.Equal(t, []membership{{"c", "member", "member", 7}, {"c", "me", "member", 3}}, memberships(a), "in the order of the list")
	require.Empty(t, a.GetMessageFeedsInfo())
}

func TestChannelPages(t *testing.T) {
	t.Parallel()
	a := &plazav1.ChannelResponse{}
	fillLists(t, a.ProtoReflect())
	paging := &plazav1.Paging{Next: "next"}
	channels, users := Fill(a, &plazav1.ListChannelsResponse{Paging: paging}), Fill(a, &plazav1.ListChannelUsersResponse{Paging: paging})
	requireFilled(t, channels.ProtoReflect())
	requireFilled(t, users.ProtoReflect())
	require.Equal(t, [2]string{"next", "next"}, [2]string{channels.GetPaging().GetNext(), users.GetPaging().GetNext()})
}
