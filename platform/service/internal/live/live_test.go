package live

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestTransition(t *testing.T) {
	t.Parallel()
	stop := Transition{From: []string{"live", "waiting"}, To: "ended", Repeated: []string{"recorded"}}
	for state, want := range map[string]struct{ changes, refused bool }{
		"live":     {changes: true},
		"waiting":  {changes: true},
		"ended":    {},
		"recorded": {},
		"idle":     {refused: true},
		"error":    {refused: true},
	} {
		changes, err := stop.Next(Stopped, state)
		require.Equal(t, want.changes, changes, state)
		require.Equal(t, want.refused, err != nil, state)
		if err != nil {
			require.Equal(t, fail.CodeBadRequest, fail.From(err).Code)
			require.ErrorContains(t, err, "stopped is not possible in the state "+state)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	key := NewKey()
	require.Len(t, key, 26)
	require.NotEqual(t, key, NewKey())
	require.True(t, SameKey(key, key))
	require.False(t, SameKey(key, key[:25]))
	require.False(t, SameKey("", ""), "an empty key never matches")
}

func label(category string, at *time.Time) *plazav1.ModerationLabel {
	l := &plazav1.ModerationLabel{Category: category}
	if at != nil {
		l.DetectedAt = timestamppb.New(*at)
	}
	return l
}

func TestAddLabels(t *testing.T) {
	t.Parallel()
	newID := func() string { return "m" }
	first := addLabels(media.Moderation{}, []*plazav1.ModerationLabel{label("violence", &noon)}, false, noon, newID)
	require.Equal(t, "m", first.ID)
	require.Len(t, first.FlagLabels, 1)
	require.Empty(t, first.TerminateLabels)

	later := noon.Add(time.Minute)
	again := addLabels(first, []*plazav1.ModerationLabel{label("violence", &noon)}, false, later, func() string { panic("the id is kept") })
	require.Equal(t, first.FlagLabels, again.FlagLabels, "a repeated report adds nothing")
	require.Equal(t, later, again.UpdatedAt)
	require.Equal(t, noon, again.CreatedAt)

	unnamed := addLabels(again, []*plazav1.ModerationLabel{label("violence", nil)}, false, later, newID)
	require.Len(t, unnamed.FlagLabels, 2, "a label without a time is always new")
	require.Equal(t, later, unnamed.FlagLabels[1].DetectedAt)

	ended := addLabels(unnamed, []*plazav1.ModerationLabel{label("violence", &noon)}, true, later, newID)
	require.Len(t, ended.TerminateLabels, 1)
	require.Len(t, ended.FlagLabels, 2)
	require.Len(t, first.FlagLabels, 1, "what was read is not changed")
}

func TestAddLabelsKeepsTheNewest(t *testing.T) {
	t.Parallel()
	var labels []*plazav1.ModerationLabel
	for i := range maxLabels + 1 {
		at := noon.Add(time.Duration(i) * time.Second)
		labels = append(labels, label("c", &at))
	}
	m := addLabels(media.Moderation{}, labels[:maxLabels], false, noon, func() string { return "m" })
	require.Len(t, m.FlagLabels, maxLabels, "at the limit")
	m = addLabels(m, labels[maxLabels:], false, noon, nil)
	require.Len(t, m.FlagLabels, maxLabels, "one past the limit")
	require.Equal(t, noon.Add(time.Second), m.FlagLabels[0].DetectedAt)
	require.Equal(t, noon.Add(maxLabels*time.Second), m.FlagLabels[maxLabels-1].DetectedAt)
}

func TestBroadcast(t *testing.T) {
	t.Parallel()
	room := OfRoom(&media.Room{
		ID: "r", CreatorID: "host", Participants: []media.RoomParticipant{{UserID: "host"}, {UserID: "guest"}},
		DeletedAt: &noon,
	})
	require.True(t, room.HasParticipant("guest"))
	require.False(t, room.HasParticipant("stranger"))
	require.True(t, room.Deleted)
	stream := OfStream(&media.VideoStream{ID: "s", CreatorID: "host"})
	require.True(t, stream.HasParticipant("host"))
	require.False(t, stream.HasParticipant("guest"))
}

func TestRequireSee(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		broadcast Broadcast
		caller    *auth.Caller
		want      bool
	}{
		"without a post, stranger": {Broadcast{CreatorID: "host"}, servicetest.User(t, "me"), true},
		"deleted, creator": {
			Broadcast{CreatorID: "me", Participants: []string{"me"}, Deleted: true},
			servicetest.User(t, "me"),
			false,
		},
		"deleted, administrator":           {Broadcast{Deleted: true}, servicetest.Admin(), false},
		"in a post, administrator":         {Broadcast{PostID: "p"}, servicetest.Admin(), true},
		"in a post, VIEW_LIVE_STREAMING":   {Broadcast{PostID: "p"}, servicetest.User(t, "me", auth.RoleGlobalAdmin), true},
		"without a post, deleted, visitor": {Broadcast{Deleted: true}, servicetest.User(t, "me"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := RequireSee(t.Context(), nil, test.caller, test.broadcast)
			require.Equal(t, test.want, err == nil, "%v", err)
		})
	}
}

func TestRequireChange(t *testing.T) {
	t.Parallel()
	require.NoError(t, RequireChange(servicetest.User(t, "me"), "me"))
	require.NoError(t, RequireChange(servicetest.Admin(), "host"))
	require.NoError(t, RequireChange(servicetest.User(t, "me", auth.RoleGlobalAdmin), "host"))
	require.Error(t, RequireChange(servicetest.User(t, "me"), "host"))
}

// TestRequireSeeIn checks who sees a room in a post of a community, with the rows that decide about it, and who takes part in it.
func TestRequireSeeIn(t *testing.T) {
	t.Parallel()
	public := visibility.Target{Community: &communities.Community{IsPublic: true}}
	private := visibility.Target{Community: &communities.Community{}}
	joined, banned := private, public
	joined.Member = &communities.Member{State: communities.StateMember}
	banned.Member = &communities.Member{State: communities.StateBanned}
	post := &content.Post{TargetType: "community", FeedType: "published"}
	gone := &content.Post{TargetType: "community", FeedType: "published", DeletedAt: &noon}
	room, own := Broadcast{PostID: "p"}, Broadcast{PostID: "p", Participants: []string{"me"}}
	me, admin := servicetest.User(t, "me"), servicetest.Admin()
	for name, test := range map[string]struct {
		broadcast Broadcast
		target    visibility.Target
		post      *content.Post
		caller    *auth.Caller
		see, send bool
	}{
		"without a post":                   {Broadcast{}, visibility.Target{}, nil, me, true, false},
		"without a post, as a participant": {Broadcast{Participants: []string{"me"}}, visibility.Target{}, nil, me, true, true},
		"deleted": {
			Broadcast{Deleted: true, Participants: []string{"me"}},
			visibility.Target{},
			nil, me, false,
			false,
		},
		"deleted, as an administrator":        {Broadcast{Deleted: true}, visibility.Target{}, nil, admin, false, false},
		"banned":                              {Broadcast{Banned: []string{"me"}}, visibility.Target{}, nil, me, false, false},
		"in a public community":               {room, public, post, me, true, false},
		"in a private community":              {room, private, post, me, false, false},
		"in a private community, as a member": {room, joined, post, me, true, false},
		"as a participant":                    {own, joined, post, me, true, true},
		"as a guest":                          {own, private, post, me, true, true},
		"as a participant who is banned":      {own, banned, post, me, true, true},
		"as an administrator":                 {room, private, post, admin, true, true},
		"the post is deleted":                 {room, public, gone, me, false, false},
		"as a participant, it is deleted":     {own, public, gone, me, true, true},
		"as a participant, it is purged":      {own, visibility.Target{}, nil, me, true, true},
	} {
		err := test.broadcast.RequireSeeIn(test.target, test.post, test.caller)
		require.Equal(t, test.see, err == nil, "%s: %v", name, err)
		err = test.broadcast.RequireStageIn(test.target, test.post, test.caller)
		require.Equal(t, test.send, err == nil, "%s: %v", name, err)
	}
}

// TestEmitEnds checks that the end of at most 100 broadcasts is announced, and not that of those which have not started.
func TestEmitEnds(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	w.Deps.View = &view.Builder{}
	announced := func(open ...communities.OpenBroadcast) []string {
		t.Helper()
		ctx := auth.WithCaller(t.Context(), servicetest.Admin())
		var names []string
		for _, row := range EmitEnds(ctx, w.Deps, w.Store.NewTx(region.EU), open) {
			var all []eventlog.Event
			require.NoError(t, json.Unmarshal(row.Payload, &all))
			for _, e := range all {
				names = append(names, e.Name+" "+e.Topic)
			}
		}
		return names
	}
	room, stream := region.NewID(region.EU), region.NewID(region.EU)
	require.Equal(t, []string{"room.terminated " + room, "video-streaming.didTerminate " + stream}, announced(
		communities.OpenBroadcast{ID: stream, Started: true}, communities.OpenBroadcast{ID: room, IsRoom: true, Started: true},
		communities.OpenBroadcast{ID: region.NewID(region.EU)}, communities.OpenBroadcast{ID: region.NewID(region.EU), IsRoom: true},
	))
	many := make([]communities.OpenBroadcast, maxEnds+1)
	for i := range many {
		many[i] = communities.OpenBroadcast{ID: region.NewID(region.EU), IsRoom: i%2 == 0, Started: true}
	}
	require.Len(t, announced(many[1:]...), maxEnds)
	require.Len(t, announced(many...), maxEnds)
}
