package videostreaming

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/live/livetest"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestTransitions tests each event in each state against the table in the package documentation.
func TestTransitions(t *testing.T) {
	t.Parallel()
	const same, refused = livetest.Same, livetest.Refused
	livetest.RequireTransitions(t, transitions, []string{"idle", "live", "ended", "recorded", "error"}, map[string][]string{
		live.Started:    {"live", same, refused, refused, refused},
		live.Stopped:    {refused, "ended", same, same, refused},
		live.Recorded:   {refused, refused, "recorded", same, refused},
		live.Failed:     {"error", "error", refused, refused, same},
		live.Terminated: {"ended", "ended", same, same, refused},
		ending:          {"ended", "ended", same, same, refused},
	}, []string{"idle", "live"}, []string{ending, live.Failed, live.Terminated})
}

func TestRecordingsOfStream(t *testing.T) {
	t.Parallel()
	file := &plazav1.StreamRecordingFile{Url: "a", Duration: 1, StartTime: 2, StopTime: 3}
	row := &media.RecordingFile{URL: "a", Duration: 1, StartTime: 2, StopTime: 3}
	for name, test := range map[string]struct {
		list []*plazav1.StreamRecording
		want []media.StreamRecording
	}{
		"none":       {nil, nil},
		"one format": {[]*plazav1.StreamRecording{{Mp4: file}}, []media.StreamRecording{{MP4: row}}},
		"each format in its place": {
			[]*plazav1.StreamRecording{{Flv: file}, {M3U8: file}},
			[]media.StreamRecording{{FLV: row}, {M3U8: row}},
		},
		"no format":                     {[]*plazav1.StreamRecording{{}}, nil},
		"a format without an address":   {[]*plazav1.StreamRecording{{Mp4: &plazav1.StreamRecordingFile{Duration: 1}}}, nil},
		"the second without an address": {[]*plazav1.StreamRecording{{Mp4: file}, {Flv: &plazav1.StreamRecordingFile{}}}, nil},
		"one of two formats without an address": {
			[]*plazav1.StreamRecording{{Mp4: file, Flv: &plazav1.StreamRecordingFile{}}}, []media.StreamRecording{{MP4: row}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, recordingsOf(test.list))
		})
	}
}
