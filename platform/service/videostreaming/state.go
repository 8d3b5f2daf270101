package videostreaming

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ending is the event of DeleteStreamingUrl; the others are those of package live.
const ending = "ending"

// eventEnded is the name of the realtime event that reports the end of a stream.
const eventEnded = "video-streaming.didStop"

// transitions implements the table in the package documentation.
var transitions = map[string]live.Transition{
	live.Started:    {From: []string{"idle"}, To: "live", Name: "video-streaming.didStart"},
	live.Stopped:    {From: []string{"live"}, To: "ended", Repeated: []string{"recorded"}, Name: eventEnded},
	live.Recorded:   {From: []string{"ended"}, To: "recorded", Name: "video-streaming.didRecord"},
	live.Failed:     {From: []string{"idle", "live"}, To: "error", Name: eventEnded},
	live.Terminated: {From: []string{"idle", "live"}, To: "ended", Repeated: []string{"recorded"}, Name: "video-streaming.didTerminate"},
	ending:          {From: []string{"idle", "live"}, To: "ended", Repeated: []string{"recorded"}, Name: eventEnded},
}

// DeleteStreamingUrl ends a stream.
func (s *Service) DeleteStreamingUrl( //nolint:revive,staticcheck // the name of the interface
	ctx context.Context, req *plazav1.DeleteStreamingUrlRequest,
) (*plazav1.VideoStreamingResponse, error) {
	_, stream, err := s.streams.LoadOwn(ctx, req.GetStreamId())
	if err != nil {
		return nil, err
	}
	return s.streams.Apply(ctx, stream, ending, moveStream(media.StreamTransition{ID: stream.ID}))
}

// moveStream returns the change of state of a stream, with the other fields of m.
func moveStream(m media.StreamTransition) live.Move {
	return func(tx *store.Tx, t live.Transition, now time.Time) []core.OutboxRow {
		m.From, m.To = t.From, t.To
		switch t.To {
		case "live":
			m.StartedAt = &now
		case "ended", "error":
			m.EndedAt = &now
		}
		tx.TransitionVideoStream(m, now, fail.Conflict())
		return nil
	}
}

// Refusals of reports.
var (
	errKey        = fail.New(fail.CodeForbidden, "The stream key does not belong to this stream")
	errRecordings = fail.Validation("recordings: must be 1 to 20, each with an address")
)

// ReportVideoStreaming handles a report of the media server.
func (s *Service) ReportVideoStreaming(
	ctx context.Context, m *plazav1.ReportVideoStreamingRequest,
) (*plazav1.VideoStreamingResponse, error) {
	stream, err := s.streams.LoadReported(ctx, m.GetStreamId())
	if err != nil {
		return nil, err
	}
	move := media.StreamTransition{ID: stream.ID}
	switch m.GetEvent() {
	case live.Started:
		if !live.SameKey(stream.IngestKey, m.GetStreamKey()) {
			return nil, errKey
		}
		if err := live.RequireSender(ctx, s.Deps, stream.CreatorID, live.OfStream(stream)); err != nil {
			return nil, err
		}
		if p := m.GetPlatform(); p != nil {
			move.PlatformName, move.PlatformVersion = &p.Name, &p.Version
		}
	case live.Recorded:
		if move.Recordings = recordingsOf(m.GetRecordings()); move.Recordings == nil {
			return nil, errRecordings
		}
	}
	return s.streams.Report(ctx, stream, m.GetEvent(), m.GetLabels(), moveStream(move))
}

// recordingsOf returns the recordings of a report, or nil if there are none or one has no address.
func recordingsOf(list []*plazav1.StreamRecording) []media.StreamRecording {
	var out []media.StreamRecording
	for _, r := range list {
		row := media.StreamRecording{FLV: fileOf(r.GetFlv()), MP4: fileOf(r.GetMp4()), M3U8: fileOf(r.GetM3U8())}
		if row == (media.StreamRecording{}) {
			return nil
		}
		out = append(out, row)
	}
	return out
}

func fileOf(f *plazav1.StreamRecordingFile) *media.RecordingFile {
	if f.GetUrl() == "" {
		return nil
	}
	return &media.RecordingFile{URL: f.GetUrl(), Duration: f.GetDuration(), StartTime: f.GetStartTime(), StopTime: f.GetStopTime()}
}
