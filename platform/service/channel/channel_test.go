package channel

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/messaging"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var now = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// TestChangeOf checks that fields which a request does not set do not change, and who has changed the others.
func TestChangeOf(t *testing.T) {
	name, avatar, mode, limit, no := "", "f", "silent", int32(5), false
	require.Equal(t, messaging.ChannelChange{EditorID: "editor"}, changeOf(&plazav1.UpdateChannelRequest{ChannelId: "c"}, "editor"))
	c := changeOf(&plazav1.UpdateChannelRequest{
		DisplayName: &name, AvatarFileId: &avatar, NotificationMode: &mode, MessageAutoDeleteEnabled: &no, AutoDeleteMessageByFlagLimit: &limit,
		Tags: []string{"a", "b", "a"}, Metadata: &structpb.Struct{},
	}, "editor")
	flags := int64(5)
	require.Equal(t, messaging.ChannelChange{
		EditorID: "editor", DisplayName: &name, AvatarFileID: &avatar, NotificationMode: &mode, AutoDeleteEnabled: &no, AutoDeleteFlags: &flags,
		Tags: []string{"a", "b"}, Metadata: []byte(`{}`),
	}, c)
}

func TestValidate(t *testing.T) {
	id, other := region.NewID(region.EU), region.NewID(region.US)
	yes := true
	for _, c := range []struct {
		name string
		req  *plazav1.CreateChannelRequest
		want error
	}{
		{"community", &plazav1.CreateChannelRequest{Type: "community"}, nil},
		{"default type", &plazav1.CreateChannelRequest{IsPublic: &yes}, nil},
		{"public community", &plazav1.CreateChannelRequest{Type: "community", IsPublic: &yes}, nil},
		{"public broadcast", &plazav1.CreateChannelRequest{Type: "broadcast", IsPublic: &yes}, errIsPublic},
		{"public live", &plazav1.CreateChannelRequest{Type: "live", IsPublic: &yes}, errIsPublic},
		{"chosen id", &plazav1.CreateChannelRequest{Type: "community", ChannelId: "general"}, nil},
		{"reserved id", &plazav1.CreateChannelRequest{Type: "community", ChannelId: id}, errReservedID},
		{"live", &plazav1.CreateChannelRequest{Type: "live"}, nil},
		{"live with a post", &plazav1.CreateChannelRequest{Type: "live", PostId: id}, nil},
		{"live with a room", &plazav1.CreateChannelRequest{Type: "live", RoomId: id}, nil},
		{"live with a stream and its id", &plazav1.CreateChannelRequest{Type: "live", VideoStreamId: id, ChannelId: id}, nil},
		{"room and post", &plazav1.CreateChannelRequest{Type: "live", RoomId: id, PostId: other}, nil},
		{"room and another generated id", &plazav1.CreateChannelRequest{Type: "live", RoomId: id, ChannelId: other}, errReservedID},
		{"room and a chosen id", &plazav1.CreateChannelRequest{Type: "live", RoomId: id, ChannelId: "general"}, errLiveID},
		{"room and stream", &plazav1.CreateChannelRequest{Type: "live", RoomId: id, VideoStreamId: other}, errTwoLive},
		{"room of a community channel", &plazav1.CreateChannelRequest{Type: "community", RoomId: id}, errNotLive},
		{"post of a broadcast channel", &plazav1.CreateChannelRequest{Type: "broadcast", PostId: id}, errNotLive},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want == nil {
				require.NoError(t, validate(c.req))
				return
			}
			require.Equal(t, c.want, validate(c.req))
		})
	}
}

func TestMutedUntil(t *testing.T) {
	in := func(d time.Duration) *time.Time { until := now.Add(d); return &until }
	for period, want := range map[float64]*time.Time{
		-1: &endOfTime, -0.5: &endOfTime, 0: nil, 0.9: nil, 1: in(time.Millisecond), 1.9: in(time.Millisecond), 60_000: in(time.Minute),
	} {
		require.Equal(t, want, mutedUntil(period, now), "%v", period)
	}
}

func TestMembershipsOf(t *testing.T) {
	for _, c := range []struct {
		memberships []string
		filter      string
		want        []string
	}{
		{nil, "", []string{"member"}},
		{nil, "all", []string{"member"}},
		{nil, "banned", []string{"banned"}},
		{nil, "muted", []string{"muted"}},
		{nil, "member&banned", []string{"banned", "member"}},
		{nil, "muted&member", []string{"member"}},
		{[]string{"banned", "muted", "banned"}, "", []string{"banned", "muted"}},
		{[]string{"muted", "member"}, "banned", []string{"member"}},
	} {
		require.Equal(t, c.want, membershipsOf(&plazav1.ListChannelUsersRequest{Memberships: c.memberships, Filter: c.filter}))
	}
}

func TestMemberDelta(t *testing.T) {
	entry := func(membership string) *messaging.ChannelUser { return &messaging.ChannelUser{Membership: membership} }
	change := func(from, to string) messaging.ChannelUserChange {
		c := messaging.ChannelUserChange{New: *entry(to)}
		if from != "" {
			c.Old = entry(from)
		}
		return c
	}
	for _, c := range []struct {
		changes []messaging.ChannelUserChange
		want    int
	}{
		{nil, 0},
		{[]messaging.ChannelUserChange{change("", messaging.ChannelMember), change(messaging.ChannelNone, messaging.ChannelMember)}, 2},
		{[]messaging.ChannelUserChange{
			change(messaging.ChannelMember, messaging.ChannelNone),
			change(messaging.ChannelMember, messaging.ChannelBanned),
		}, -2},
		{[]messaging.ChannelUserChange{change(messaging.ChannelMember, messaging.ChannelMember), change("", messaging.ChannelBanned)}, 0},
		{[]messaging.ChannelUserChange{change("", messaging.ChannelMember), change(messaging.ChannelMember, messaging.ChannelNone)}, 0},
	} {
		require.Equal(t, c.want, memberDelta(c.changes))
	}
}

// TestUserEvents checks the event about each change of a user of a channel, of which there is none if nothing changes.
func TestUserEvents(t *testing.T) {
	later := now.Add(time.Hour)
	for _, c := range []struct {
		old      string // "" is a user who was never in the channel
		new      string
		mute     bool
		own, set string // the events of the user's own change and of one by another user
	}{
		{"", messaging.ChannelMember, false, "channel.joined", "channel.membersAdded"},
		{messaging.ChannelNone, messaging.ChannelMember, false, "channel.joined", "channel.membersAdded"},
		{messaging.ChannelBanned, messaging.ChannelMember, false, "channel.joined", "channel.membersAdded"},
		{messaging.ChannelMember, messaging.ChannelNone, false, "channel.left", "channel.membersRemoved"},
		{"", messaging.ChannelBanned, false, "channel.banned", "channel.banned"},
		{messaging.ChannelNone, messaging.ChannelBanned, false, "channel.banned", "channel.banned"},
		{messaging.ChannelMember, messaging.ChannelBanned, false, "channel.banned", "channel.banned"},
		{messaging.ChannelBanned, messaging.ChannelNone, false, "channel.unbanned", "channel.unbanned"},
		{messaging.ChannelBanned, messaging.ChannelBanned, false, "", ""},
		{messaging.ChannelMember, messaging.ChannelMember, false, "", ""},
		{messaging.ChannelNone, messaging.ChannelNone, false, "", ""},
		{messaging.ChannelMember, messaging.ChannelMember, true, "channel.setMutedUsers", "channel.setMutedUsers"},
	} {
		change := messaging.ChannelUserChange{New: messaging.ChannelUser{UserID: "user", Membership: c.new}}
		if c.old != "" {
			change.Old = &messaging.ChannelUser{UserID: "user", Membership: c.old}
		}
		if c.mute {
			change.New.MutedUntil = &later
		}
		require.Equal(t, c.own, userEvent("user", change), "own change from %q to %q", c.old, c.new)
		require.Equal(t, c.set, userEvent("other", change), "change by another user from %q to %q", c.old, c.new)
	}
	member := func(id string) messaging.ChannelUserChange {
		return messaging.ChannelUserChange{New: messaging.ChannelUser{UserID: id, Membership: messaging.ChannelMember}}
	}
	unchanged := messaging.ChannelUserChange{Old: &messaging.ChannelUser{UserID: "d"}, New: messaging.ChannelUser{UserID: "d"}}
	require.Equal(t, map[string][]string{"channel.joined": {"a"}, "channel.membersAdded": {"b", "c"}},
		userEvents("a", []messaging.ChannelUserChange{member("b"), member("a"), unchanged, member("c")}))
}

func TestListOf(t *testing.T) {
	for _, c := range []struct {
		name  string
		req   *plazav1.ListChannelsRequest
		back  bool
		order messaging.ChannelOrder
		desc  bool
	}{
		{"default", &plazav1.ListChannelsRequest{}, false, messaging.ChannelsByActivity, true},
		{"backward", &plazav1.ListChannelsRequest{}, true, messaging.ChannelsByActivity, false},
		{"newest first", &plazav1.ListChannelsRequest{SortBy: "lastCreated"}, false, messaging.ChannelsByCreation, true},
		{"oldest first", &plazav1.ListChannelsRequest{SortBy: "firstCreated"}, false, messaging.ChannelsByCreation, false},
		{"by name", &plazav1.ListChannelsRequest{SortBy: "displayName"}, false, messaging.ChannelsByName, false},
		{"a search is by name", &plazav1.ListChannelsRequest{SortBy: "lastCreated", Keyword: "a"}, false, messaging.ChannelsByName, false},
		{"a search backward", &plazav1.ListChannelsRequest{Keyword: "a"}, true, messaging.ChannelsByName, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := listOf(c.req, page.Cursor{Limit: 5, Back: c.back})
			require.Equal(t, c.order, list.Order)
			require.Equal(t, c.desc, list.Desc)
			require.Equal(t, 6, list.Limit)
		})
	}
	require.Equal(t, []string{"community", "live", "community"}, typesOf([]string{"standard", "live", "private"}))
}

func TestFirstOf(t *testing.T) {
	keys := []messaging.ChannelKey{
		{ID: "c", NameKey: "x", Time: now.Add(1)},
		{ID: "b", NameKey: "y", Time: now},
		{ID: "a", NameKey: "x", Time: now},
	}
	for _, c := range []struct {
		name   string
		list   messaging.ChannelList
		listed []messaging.ChannelKey
		want   []string
	}{
		{"by time", messaging.ChannelList{AfterTime: now, AfterID: "a", Limit: 3}, nil, []string{"b", "c"}},
		{"by time, descending", messaging.ChannelList{AfterTime: now, AfterID: "b", Desc: true, Limit: 3}, nil, []string{"a"}},
		{"by name", messaging.ChannelList{Order: messaging.ChannelsByName, AfterKey: "x", AfterID: "a", Limit: 3}, nil, []string{"c", "b"}},
		{
			"by name, descending",
			messaging.ChannelList{Order: messaging.ChannelsByName, AfterKey: "x", AfterID: "c", Desc: true, Limit: 3},
			nil,
			[]string{"a"},
		},
		{"as many as the limit", messaging.ChannelList{Limit: 3}, nil, []string{"a", "b", "c"}},
		{"more than the limit", messaging.ChannelList{Limit: 2}, nil, []string{"a", "b"}},
		{"without listed ones, which do not count", messaging.ChannelList{Limit: 2}, keys[2:], []string{"b", "c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := firstOf(c.list, slices.Clone(keys), c.listed)
			require.Equal(t, c.want, service.Map(got, func(k messaging.ChannelKey) string { return k.ID }))
		})
	}
}
