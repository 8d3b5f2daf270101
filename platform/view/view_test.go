package view_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
)

var (
	now       = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	mediaURLs = view.Media{IngestURL: "rtmp://ingest.example.com/live", PlaybackURL: "https://play.example.com/live"}
)

func newBuilder() *view.Builder {
	return &view.Builder{NetworkID: "n", Media: mediaURLs, Now: func() time.Time { return now }}
}

func TestFeedID(t *testing.T) {
	id := region.NewID(region.EU)
	require.True(t, region.ValidID(view.FeedID(id, "published")))
	require.Equal(t, id[:2], view.FeedID(id, "published")[:2], "the target's home")
	require.NotEqual(t, view.FeedID(id, "published"), view.FeedID(id, "reviewing"))
	require.Empty(t, view.FeedID("anna", "published"), "a public id")
}

func TestIngest(t *testing.T) {
	for name, test := range map[string]struct {
		media  view.Media
		secure bool
		url    string
	}{
		"no server":      {view.Media{}, false, ""},
		"plain":          {mediaURLs, false, "rtmp://ingest.example.com/live/play?key=a%26b"},
		"secure":         {mediaURLs, true, "rtmps://ingest.example.com/live/play?key=a%26b"},
		"already secure": {view.Media{IngestURL: "srt://ingest.example.com"}, true, "srt://ingest.example.com/play?key=a%26b"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.url, test.media.Ingest("play", "a&b", test.secure).GetUrl()) })
	}
	parts := mediaURLs.Ingest("play", "k", false).GetComponents()
	require.Equal(t, []string{"rtmp://ingest.example.com", "live", "play", "key=k"},
		[]string{parts.GetOrigin(), parts.GetAppName(), parts.GetStreamName(), parts.GetQuery()})
}

func TestWatch(t *testing.T) {
	require.Nil(t, view.Media{}.Watch("play"))
	w := mediaURLs.Watch("play")
	require.Equal(t, "https://play.example.com/live/play.m3u8", w.GetHls().GetUrl())
	require.Equal(t, "https://play.example.com/live/play.flv", w.GetFlv().GetUrl())
	require.Equal(t, "rtmp://ingest.example.com/live/play", w.GetRtmp().GetUrl())
}

func TestCommunityUser(t *testing.T) {
	for state, want := range map[string][3]any{
		"":                      {"none", "neverJoined", false},
		communities.StateMember: {"member", "", false},
		communities.StateBanned: {"banned", communities.StateBanned, true},
		"left":                  {"none", "left", false},
	} {
		m := newBuilder().CommunityUser(communities.Member{State: state})
		require.Equal(t, want, [3]any{m.GetCommunityMembership(), m.GetNotMemberReason(), m.GetIsBanned()}, state)
		require.Nil(t, m.GetCreatedAt(), "a zero time is unset")
	}
	twice := newBuilder().CommunityUsers([]communities.Member{
		{CommunityID: "c", UserID: "u"},
		{CommunityID: "c", UserID: "v"},
		{CommunityID: "c", UserID: "u"},
	})
	require.Len(t, twice, 2)
}

func TestPoll(t *testing.T) {
	open := content.Poll{
		ID: "p", CreatedAt: now.Add(-time.Minute), ClosedIn: time.Hour.Milliseconds(),
		Answers: []content.PollAnswer{{ID: "a"}, {ID: "b"}},
	}
	counts := core.Counts{"p": {content.CountVotes("b"): 3}}
	m := newBuilder().Poll(open, counts, []content.PollVote{{PollID: "p", AnswerID: "b"}, {PollID: "other", AnswerID: "a"}})
	require.Equal(t, "open", m.GetStatus())
	require.True(t, m.GetIsVoted())
	require.False(t, m.GetAnswers()[0].GetIsVotedByUser(), "a vote in another poll")
	require.Equal(t, int32(3), m.GetAnswers()[1].GetVoteCount())

	closed := open
	end := now.Add(-time.Hour)
	closed.ClosesAt = &end
	m = newBuilder().Poll(closed, counts, nil)
	require.Equal(t, "closed", m.GetStatus())
	require.Equal(t, "2026-11-20T11:00:00.000Z", m.GetClosedAt())
	require.False(t, m.GetIsVoted())
}

func TestUser(t *testing.T) {
	u := people.User{ID: "internal", PublicID: "anna", DisplayName: "Anna", Metadata: []byte(`{"a": 1}`)}
	require.Equal(t, "Anna", newBuilder().User(t.Context(), u).GetDisplayName())
	require.Equal(t, "n/user/internal", newBuilder().User(t.Context(), u).GetPath())
	u.DeletedAt = &now
	deleted := newBuilder().User(t.Context(), u)
	require.Equal(t, "Deleted user", deleted.GetDisplayName())
	require.Empty(t, freeform.Of(deleted.GetMetadata()))
	require.Len(t, newBuilder().Users(t.Context(), []people.User{u, u}), 1)
}

func TestRole(t *testing.T) {
	custom := network.Role{ID: "usher", Permissions: []string{"EDIT_USER", "NOT_KNOWN_HERE"}, CreatedAt: now, UpdatedAt: now, DeletedAt: &now}
	m := newBuilder().CustomRole(custom)
	require.Equal(t, []string{"EDIT_USER"}, m.GetPermissions(), "unknown permissions are left out")
	require.Equal(t, now, m.GetCreatedAt().AsTime())
	require.True(t, m.GetIsDeleted())
}

func TestRoomAddresses(t *testing.T) {
	for status, live := range map[string]bool{"idle": true, "live": true, "waitingReconnect": true, "ended": false, "recorded": false} {
		m := newBuilder().Room(media.Room{ID: "r", Status: status, PlaybackKey: "play"})
		require.Equal(t, live, m.GetLivePlaybackUrl() != "", status)
	}
	deleted := newBuilder().Room(media.Room{Status: "live", PlaybackKey: "play", DeletedAt: &now})
	require.Empty(t, deleted.GetLivePlaybackUrl())
	require.Empty(t, deleted.GetReferenceType())
	start, end := now.Add(-90*time.Second), now
	attached := newBuilder().Room(media.Room{ID: "r", PostID: "p", HasChannel: true, LiveAt: &start, EndedAt: &end})
	require.Equal(t, "post", attached.GetReferenceType())
	require.Equal(t, "r", attached.GetLiveChannelId())
	require.InDelta(t, 90, attached.GetDurationSeconds(), 0)
}

func TestStreamAddresses(t *testing.T) {
	s := media.VideoStream{ID: "s", CreatorID: "anna", Status: "live", PlaybackKey: "play", IngestKey: "secret"}
	require.NotNil(t, newBuilder().VideoStreaming(s, "anna").GetStreamerUrl())
	require.Nil(t, newBuilder().VideoStreaming(s, "bob").GetStreamerUrl(), "only the creator may send")
	s.Status = "ended"
	require.Nil(t, newBuilder().VideoStreaming(s, "anna").GetStreamerUrl())
	s.DeletedAt = &now
	require.Nil(t, newBuilder().VideoStreaming(s, "anna").GetWatcherUrl())
}

func TestWithFileID(t *testing.T) {
	require.Nil(t, view.WithFileID(nil, ""))
	require.Equal(t, "f", view.WithFileID(nil, "f").Text("fileId"))
}

func TestStoryTargetTimes(t *testing.T) {
	m := newBuilder().StoryTarget(content.StoryTarget{TargetID: "c", LastExpiresAt: time.Time{}})
	require.Nil(t, m.GetLastStoryExpiresAt(), "never")
	require.Nil(t, m.GetTargetUpdatedAt())
	m = newBuilder().StoryTarget(content.StoryTarget{LastExpiresAt: now, UpdatedAt: now})
	require.Equal(t, now, m.GetLastStoryExpiresAt().AsTime())
}

func TestPinTargets(t *testing.T) {
	targets := newBuilder().PinTargets([]content.PinTarget{{TargetID: "n"}, {TargetID: "c"}})
	require.Equal(t, []string{"network", "community"}, []string{targets[0].GetTargetType(), targets[1].GetTargetType()})
}

func TestPaths(t *testing.T) {
	require.Equal(t, "n/social/community/c", newBuilder().CommunityPath("c"))
	require.Equal(t, "n/chat/c/f", newBuilder().MessageFeedPath("c", "f"))
	require.Equal(t, "n/room/r", newBuilder().RoomPath("r"))
}
