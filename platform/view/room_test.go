package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/media"
)

func TestRoomToken(t *testing.T) {
	t.Parallel()
	b := &Builder{Media: Media{IngestURL: "rtmp://ingest.example.com/live"}}
	p := media.RoomParticipant{Key: "secret"}
	direct := b.RoomToken(media.Room{Type: "directStreaming", PlaybackKey: "play"}, p)
	require.Equal(t, "rtmp://ingest.example.com/live/play?key=secret", direct.GetDirectStreamUrl())
	require.Empty(t, direct.GetCoHostToken())
	shared := b.RoomToken(media.Room{Type: "coHosts", PlaybackKey: "play"}, p)
	require.Equal(t, "secret", shared.GetCoHostToken())
	require.Equal(t, "rtmp://ingest.example.com/live/play", shared.GetCoHostUrl(), "the key is not part of the shared address")
	require.Empty(t, shared.GetDirectStreamUrl())
	require.Empty(t, (&Builder{}).RoomToken(media.Room{Type: "directStreaming"}, p).GetDirectStreamUrl(), "without a media server")
}

func TestRoomContainsNoKeys(t *testing.T) {
	t.Parallel()
	r := media.Room{
		Participants: []media.RoomParticipant{{Type: "host", PublicID: "anna", UserID: "internal", Key: "secret"}}, LiveAt: &deletedAt,
		Recordings: []media.RoomRecording{{URL: "https://play.example.com/1.mp4"}}, Status: "live", PlaybackKey: "play",
	}
	b := &Builder{Media: Media{IngestURL: "rtmp://ingest.example.com", PlaybackURL: "https://play.example.com"}}
	m := b.Room(r)
	require.NotContains(t, m.String(), "secret")
	require.Equal(t, "anna", m.GetParticipants()[0].GetUserId())
	require.Zero(t, m.GetDurationSeconds(), "a room that is still live")
	require.Nil(t, m.GetModeration().GetUpdatedAt(), "no findings")
	require.Len(t, m.GetRecordedPlaybackInfos(), 1)
	r.DeletedAt = &deletedAt
	require.Empty(t, b.Room(r).GetRecordedPlaybackInfos(), "recordings of deleted rooms have no address")
	r.Moderation = media.Moderation{ID: "m", UpdatedAt: deletedAt, FlagLabels: []media.ModerationLabel{{Category: "violence", Threshold: 0.5}}}
	m = b.Room(r)
	require.Equal(t, deletedAt, m.GetModeration().GetUpdatedAt().AsTime())
	require.Equal(t, "violence", m.GetModeration().GetFlagLabels()[0].GetCategory())
}
