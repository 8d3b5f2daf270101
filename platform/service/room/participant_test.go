package room

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestParticipantsOfNewRoom(t *testing.T) {
	t.Parallel()
	creator := &store.User{ID: "1", PublicID: "anna"}
	bob, carol := store.User{ID: "2", PublicID: "bob"}, store.User{ID: "3", PublicID: "carol"}
	deleted := store.User{ID: "4", DeletedAt: &servicetest.Noon}
	for name, test := range map[string]struct {
		invited []store.User
		wanted  int
		want    []string
		err     *fail.Error
	}{
		"alone":               {nil, 0, []string{"host 1"}, nil},
		"with co-hosts":       {[]store.User{bob, carol}, 2, []string{"host 1", "coHost 2", "coHost 3"}, nil},
		"a deleted user":      {[]store.User{bob, deleted}, 2, nil, fail.NotFound()},
		"the host":            {[]store.User{*creator}, 1, nil, fail.Validation()},
		"a user was not read": {[]store.User{bob}, 2, nil, fail.NotFound()},
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
	r := &store.Room{CreatorID: "host", Participants: []store.RoomParticipant{{UserID: "host"}, {UserID: "guest"}}}
	_, err := (&Service{}).removeParticipant(t.Context(), r, "host", eventParticipantLeft)
	require.ErrorIs(t, err, errHost)
	require.Nil(t, participant(r, "stranger"))
	require.Equal(t, "guest", participant(r, "guest").UserID)
}

func TestUsersOfRooms(t *testing.T) {
	t.Parallel()
	room := store.Room{CreatorID: "b", Participants: []store.RoomParticipant{{UserID: "b"}, {UserID: "a"}}}
	require.Equal(t, []string{"a", "b", "c"}, userIDs(room, store.Room{CreatorID: "c"}, room))
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
		want       store.RoomList
	}{
		"default":                       {nil, nil, store.RoomList{TargetTypes: both}},
		"everything":                    {[]string{"all"}, nil, store.RoomList{TargetTypes: both}},
		"communities":                   {communities, nil, store.RoomList{TargetTypes: communities}},
		"everything and communities":    {[]string{"community", "all"}, []string{a}, store.RoomList{TargetTypes: both}},
		"one community":                 {communities, []string{a}, store.RoomList{TargetTypes: communities, TargetIDs: []string{a}}},
		"a community twice":             {communities, []string{a, a}, store.RoomList{TargetTypes: communities, TargetIDs: []string{a}}},
		"a malformed id as well":        {communities, []string{"x", b}, store.RoomList{TargetTypes: communities, TargetIDs: []string{b}}},
		"nothing can have these ids":    {communities, []string{"x", "y"}, store.RoomList{TargetIDs: []string{}}},
		"ids only apply to communities": {nil, []string{a}, store.RoomList{TargetTypes: both}},
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
	ban := store.CommunityBan{CommunityID: "c", At: servicetest.Noon}
	posts := []store.Post{
		{ID: "before", TargetType: "community", TargetID: "c", CreatedAt: ban.At.Add(-time.Hour)},
		{ID: "at the same time", TargetType: "community", TargetID: "c", CreatedAt: ban.At},
		{ID: "after being admitted again", TargetType: "community", TargetID: "c", CreatedAt: ban.At.Add(time.Microsecond)},
		{ID: "in another community", TargetType: "community", TargetID: "other", CreatedAt: ban.At.Add(-time.Hour)},
		{ID: "on a wall with the same id", TargetType: "user", TargetID: "c", CreatedAt: ban.At.Add(-time.Hour)},
	}
	require.Equal(t, []string{"before", "at the same time"}, postsBefore(ban, posts))
	require.Empty(t, postsBefore(ban, nil))
}
