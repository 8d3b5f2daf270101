package room

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestParticipantsOfNewRoom(t *testing.T) {
	t.Parallel()
	creator := &people.User{ID: "1", PublicID: "anna"}
	bob, carol := people.User{ID: "2", PublicID: "bob"}, people.User{ID: "3", PublicID: "carol"}
	deleted := people.User{ID: "4", DeletedAt: &servicetest.Noon}
	for name, test := range map[string]struct {
		invited []people.User
		wanted  int
		want    []string
		err     *fail.Error
	}{
		"alone":               {nil, 0, []string{"host 1"}, nil},
		"with co-hosts":       {[]people.User{bob, carol}, 2, []string{"host 1", "coHost 2", "coHost 3"}, nil},
		"a deleted user":      {[]people.User{bob, deleted}, 2, nil, fail.NotFound()},
		"the host":            {[]people.User{*creator}, 1, nil, fail.Validation()},
		"a user was not read": {[]people.User{bob}, 2, nil, fail.NotFound()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := participantsOf(creator, test.invited, test.wanted)
			if test.err != nil {
				require.Equal(t, test.err.Code, fail.From(err).Code)
				require.Equal(t, test.err.Kind, fail.From(err).Kind)
				return
			}
			require.NoError(t, err)
			var names []string
			keys := map[string]bool{}
			for _, p := range got {
				names = append(names, p.Type+" "+p.UserID)
				keys[p.Key] = true
			}
			require.Equal(t, test.want, names)
			require.Len(t, keys, len(got), "each has a key of their own")
		})
	}
}

func TestHostStays(t *testing.T) {
	t.Parallel()
	r := &media.Room{CreatorID: "host", Participants: []media.RoomParticipant{{UserID: "host"}, {UserID: "guest"}}}
	_, err := (&Service{}).removeParticipant(t.Context(), r, "host", eventParticipantLeft)
	require.ErrorIs(t, err, errHost)
	require.Nil(t, participant(r, "stranger"))
	require.Equal(t, "guest", participant(r, "guest").UserID)
}

func TestUsersOfRooms(t *testing.T) {
	t.Parallel()
	room := media.Room{CreatorID: "b", Participants: []media.RoomParticipant{{UserID: "b"}, {UserID: "a"}}}
	require.Equal(t, []string{"a", "b", "c"}, userIDs(room, media.Room{CreatorID: "c"}, room))
	require.Empty(t, userIDs())
}

func TestChatWanted(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for name, test := range map[string]struct {
		liveChat, channel *bool
		want              bool
	}{
		"default":                          {nil, nil, true},
		"older field":                      {nil, &no, false},
		"older field, set":                 {nil, &yes, true},
		"the newer field takes precedence": {&yes, &no, true},
		"and when it is false":             {&no, &yes, false},
	} {
		require.Equal(t, test.want, chatWanted(&plazav1.CreateRoomRequest{LiveChatEnabled: test.liveChat, ChannelEnabled: test.channel}), name)
	}
}

func TestLiveList(t *testing.T) {
	t.Parallel()
	a, b := region.NewID(region.EU), region.NewID(region.US)
	both, communities := []string{"community", "user"}, []string{"community"}
	for name, test := range map[string]struct {
		types, ids []string
		want       media.RoomList
	}{
		"default":                       {nil, nil, media.RoomList{TargetTypes: both}},
		"everything":                    {[]string{"all"}, nil, media.RoomList{TargetTypes: both}},
		"communities":                   {communities, nil, media.RoomList{TargetTypes: communities}},
		"everything and communities":    {[]string{"community", "all"}, []string{a}, media.RoomList{TargetTypes: both}},
		"one community":                 {communities, []string{a}, media.RoomList{TargetTypes: communities, TargetIDs: []string{a}}},
		"a community twice":             {communities, []string{a, a}, media.RoomList{TargetTypes: communities, TargetIDs: []string{a}}},
		"a malformed id as well":        {communities, []string{"x", b}, media.RoomList{TargetTypes: communities, TargetIDs: []string{b}}},
		"nothing can have these ids":    {communities, []string{"x", "y"}, media.RoomList{TargetIDs: []string{}}},
		"ids only apply to communities": {nil, []string{a}, media.RoomList{TargetTypes: both}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.want.Live, test.want.Desc = true, true
			require.Equal(t, test.want, liveList(&plazav1.ListLiveRoomsRequest{TargetTypes: test.types, TargetIds: test.ids}))
		})
	}
}

func TestBanEndsBroadcastsOfEarlierPosts(t *testing.T) {
	t.Parallel()
	ban := communities.CommunityBan{CommunityID: "c", At: servicetest.Noon}
	posts := []content.Post{
		{ID: "before", TargetType: "community", TargetID: "c", CreatedAt: ban.At.Add(-time.Hour)},
		{ID: "at the same time", TargetType: "community", TargetID: "c", CreatedAt: ban.At},
		{ID: "after being admitted again", TargetType: "community", TargetID: "c", CreatedAt: ban.At.Add(time.Microsecond)},
		{ID: "in another community", TargetType: "community", TargetID: "other", CreatedAt: ban.At.Add(-time.Hour)},
		{ID: "on a wall with the same id", TargetType: "user", TargetID: "c", CreatedAt: ban.At.Add(-time.Hour)},
	}
	require.Equal(t, []string{"before", "at the same time"}, postsBefore(ban, posts))
	require.Empty(t, postsBefore(ban, nil))
}
