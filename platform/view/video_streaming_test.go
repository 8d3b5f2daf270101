package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestWhoGetsTheIngestAddress(t *testing.T) {
	t.Parallel()
	b := &Builder{Media: Media{IngestURL: "rtmp://ingest.example.com/live"}}
	for _, test := range []struct {
		viewer, status string
		deleted        bool
		want           bool
	}{
		{"creator", "idle", false, true},
		{"creator", "live", false, true},
		{"creator", "ended", false, false},
		{"creator", "recorded", false, false},
		{"creator", "error", false, false},
		{"creator", "live", true, false},
		{"other", "live", false, false},
		{"", "live", false, false},
	} {
		s := media.VideoStream{CreatorID: "creator", Status: test.status, IngestKey: "secret"}
		if test.deleted {
			s.DeletedAt = &deletedAt
		}
		m := b.VideoStreaming(s, test.viewer)
		require.Equal(t, test.want, m.GetStreamerUrl() != nil, "%+v", test)
		if !test.want {
			require.NotContains(t, m.String(), "secret")
		}
		require.Equal(t, test.status == "live", m.GetIsLive())
	}
}

func TestVideoStreamings(t *testing.T) {
	t.Parallel()
	rows := []media.VideoStream{
		{ID: "plain", HasChannel: true},
		{
			ID: "found", ChildIDs: []string{"child"},
			Moderation: media.Moderation{ID: "m", TerminateLabels: []media.ModerationLabel{{Category: "nudity"}}},
			Recordings: []media.StreamRecording{{MP4: &media.RecordingFile{URL: "https://play.example.com/1.mp4", Duration: 5}}},
		},
	}
	m := (&Builder{}).VideoStreamings(t.Context(), rows, []people.User{{ID: "u"}, {ID: "u"}}, "")
	require.Len(t, m.GetUsers(), 1)
	require.Equal(t, []string{"plain", "found"}, mapList(m.GetVideoStreamings(), (*plazav1.VideoStreaming).GetStreamId))
	require.Equal(t, []string{"plain", ""}, mapList(m.GetVideoStreamings(), (*plazav1.VideoStreaming).GetChannelId))
	require.Equal(t, []bool{false, true}, mapList(m.GetVideoStreamings(), (*plazav1.VideoStreaming).GetIsParent))
	require.Len(t, m.GetVideoStreamModerations(), 1, "only of streams with findings")
	require.Equal(t, "nudity", m.GetVideoStreamModerations()[0].GetTerminateLabels()[0].GetCategory())
	recording := m.GetVideoStreamings()[1].GetRecordings()[0]
	require.InDelta(t, 5, recording.GetMp4().GetDuration(), 0)
	require.Nil(t, recording.GetFlv(), "a missing format")
}
