package realtime

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/subscription"
)

func TestParseFilter(t *testing.T) {
	t.Parallel()
	a, b := region.NewID(region.EU), region.NewID(region.US)
	everyone := filterRule{place: events.Place{Kind: events.PlaceContent}}
	at := func(kind, id string) filterRule { return filterRule{place: events.Place{Kind: kind, ID: id}} }
	for filter, want := range map[string]filterRule{
		"n":                                       everyone,
		"n/videostreaming":                        everyone,
		"n/user/" + a:                             at(events.PlaceProfile, a),
		"n/user/" + a + "/#":                      at(events.PlaceProfile, a),
		"n/smartfeed/" + a + "/channels":          {own: []string{a}},
		"n/smartfeed/" + a + "/messagefeeds":      {own: []string{a}},
		"n/smartfeed/" + a + "/messages":          {own: []string{a}},
		"n/marker/user/" + a:                      {own: []string{a}},
		"n/marker/channel/" + a + "/message/" + b: at(events.PlaceChannel, a),
		"n/social/community/" + a:                 at(events.PlaceCommunity, a),
		"n/social/community/" + a + "/post/+":     at(events.PlaceCommunity, a),
		"n/social/user/" + a + "/post/#":          at(events.PlaceWall, a),
		"n/social/content/" + a + "/post/" + b:    at(events.PlaceContent, a),
		"n/membership/" + a + "/+/+":              {own: []string{a}},
		"n/membership/+/" + a + "/+":              {own: []string{a}},
		"n/membership/" + a + "/" + b + "/+":      {own: []string{a, b}},
		"n/chat/" + a + "/#":                      at(events.PlaceChannel, a),
		"n/chat/" + a + "/" + b + "/+":            at(events.PlaceChannel, a),
		"n/room/" + a:                             at(events.PlaceRoom, a),
		"n/room/" + a + "/streamer":               at(events.PlaceStage, a),
		"n/user/" + a + "/" + strings.Repeat("x", maxFilter-len("n/user/"+a+"/")): at(events.PlaceProfile, a),
	} {
		got, ok := parseFilter("n", filter)
		require.True(t, ok, filter)
		require.Equal(t, want, got, filter)
	}
	for _, filter := range []string{
		"", "#", "+", "m", "m/user/" + a, "n/", "n/#", "n/+", "n/other", "n/user", "n/user/+", "n/user/#", "n/user/x", "n/videostreaming/#",
		"n/smartfeed/" + a, "n/smartfeed/" + a + "/#", "n/smartfeed/" + a + "/other", "n/smartfeed/+/messages", "n/marker", "n/marker/user/+",
		"n/marker/channel/+/message/+", "n/social", "n/social/#", "n/social/community", "n/social/community/+", "n/social/+/" + a,
		"n/social/other/" + a, "n/membership", "n/membership/+/+/+", "n/membership/" + a + "/+", "n/membership/" + a + "/#", "n/chat",
		"n/chat/+/#",
		"n/room", "n/room/+", "n/room/x", "n/room/" + a + "/#", "n/room/" + a + "/other", "n/room/" + a + "/streamer/x", "$share/g/n", "$SYS/#",
		"n/user/" + a + "/" + strings.Repeat("x", maxFilter-len("n/user/"+a+"/")+1),
	} {
		_, ok := parseFilter("n", filter)
		require.False(t, ok, filter)
	}
}

// TestConcerned checks whose access may have changed with an event.
func TestConcerned(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change events.Change
		want   []string
	}{
		"a post": {events.Change{Kind: events.KindPost, ID: "a"}, nil},
		"a follow": {
			events.Change{Kind: events.KindFollow, ID: "follower", OtherID: "followee"},
			[]string{"follower", "followee"},
		},
		"members of a channel":    {events.Change{Kind: events.KindChannel, ID: "a", UserIDs: []string{"b", "c"}}, []string{"b", "c"}},
		"a participant of a room": {events.Change{Kind: events.KindRoom, ID: "a", ParticipantID: "b"}, []string{"b"}},
		"an answer to an event":   {events.Change{Kind: events.KindEventRsvp, ID: "a", OtherID: "b"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ElementsMatch(t, tc.want, concerned(tc.change))
		})
	}
}

// TestOwnMatters checks that users receive the events about their own profile, and those that concern them, such as bans, regardless of
// what they may read, and no others.
func TestOwnMatters(t *testing.T) {
	t.Parallel()
	a, b := region.NewID(region.EU), region.NewID(region.US)
	clients := []*subscriber{
		{Reader: subscription.NewReader(auth.Claims{UserID: a})},
		{Reader: subscription.NewReader(auth.Claims{UserID: b})},
	}
	stream := events.Place{Kind: events.PlaceStream, ID: b}
	for _, c := range []events.Change{
		{Place: events.Place{Kind: events.PlaceProfile, ID: a}},
		{Kind: events.KindStreamBan, Place: stream, UserIDs: []string{a}},
		{Kind: events.KindCommunity, Place: events.Place{Kind: events.PlaceCommunity, ID: b}, UserIDs: []string{a}},
	} {
		own, others := ownMatters(c, clients)
		require.Equal(t, clients[:1], own)
		require.Equal(t, clients[1:], others)
	}
	own, others := ownMatters(events.Change{Kind: events.KindStream, Place: stream}, clients)
	require.Empty(t, own)
	require.Equal(t, clients, others)
}

// FuzzParseFilter checks that an accepted filter is one of the network, and that what names its place has no wildcards.
func FuzzParseFilter(f *testing.F) {
	const network, id = "000000000000000000000000", "01aabbccddeeff0011223344"
	for _, filter := range []string{
		"", network, network + "/user/" + id + "/#", network + "/social/community/" + id + "/post/+",
		network + "/+/#", "#", network + "/chat//",
	} {
		f.Add(filter)
	}
	f.Fuzz(func(t *testing.T, filter string) {
		rule, ok := parseFilter(network, filter)
		if !ok {
			return
		}
		require.True(t, strings.HasPrefix(filter, network), filter)
		require.LessOrEqual(t, len(filter), maxFilter)
		require.NotContains(t, rule.place.ID, "+")
		require.NotContains(t, rule.place.ID, "#")
		for _, own := range rule.own {
			require.NotContains(t, own, "+")
			require.NotContains(t, own, "#")
		}
	})
}

// FuzzParseLineID checks that an accepted Last-Event-ID is a position that streams send.
func FuzzParseLineID(f *testing.F) {
	for _, id := range []string{"", "eu-7", "eu--7", "eu-+7", "xx-1", "eu-9223372036854775808"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		at, err := parseLineID(id)
		if err != nil || at == nil {
			require.True(t, err != nil || id == "")
			return
		}
		require.GreaterOrEqual(t, at.seq, int64(0))
	})
}
