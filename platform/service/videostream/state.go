package videostream

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// The events that change a state: those that the media server reports, and the end that a person decides on.
const (
	started    = "started"
	stopped    = "stopped"
	recorded   = "recorded"
	failed     = "failed"
	terminated = "terminated"
	flagged    = "flagged" // changes no state
	ending     = "ending"
)

// transitions are those of the package's documentation.
var transitions = map[string]live.Transition{
	started:    {From: []string{"idle"}, To: "live"},
	stopped:    {From: []string{"live"}, To: "ended", Again: []string{"recorded"}},
	recorded:   {From: []string{"ended"}, To: "recorded"},
	failed:     {From: []string{"idle", "live"}, To: "error"},
	terminated: {From: []string{"idle", "live"}, To: "ended", Again: []string{"recorded"}},
	ending:     {From: []string{"idle", "live"}, To: "ended", Again: []string{"recorded"}},
}

// DeleteStreamingUrl ends a stream.
func (s *Service) DeleteStreamingUrl(ctx context.Context, req *plazav1.DeleteStreamingUrlRequest) (*answer, error) { //nolint:revive,staticcheck // the name of the interface
	l, err := s.loadOwn(ctx, req.GetStreamId())
	if err != nil {
		return nil, err
	}
	return s.move(ctx, l.Caller.UserID, l.stream, ending, store.StreamMove{}, nil)
}

// move takes a stream through the transition of an event. m says what changes beside the state, and also what is written beside it.
func (s *Service) move(ctx context.Context, callerID string, row *store.VideoStream, event string, m store.StreamMove, also func(*store.Tx)) (*answer, error) {
	t := transitions[event]
	moves, err := t.Next(event, row.Status)
	if err != nil {
		return nil, err
	}
	if !moves {
		return s.answer(ctx, callerID, *row)
	}
	now := s.Now()
	m.ID, m.From, m.To = row.ID, t.From, t.To
	switch t.To {
	case "live":
		m.StartedAt = &now
	case "ended", "error":
		m.EndedAt = &now
	}
	return s.write(ctx, callerID, row, func(w *store.Tx) {
		w.MoveVideoStream(m, now, fail.Conflict())
		if also != nil {
			also(w)
		}
	})
}

// Refusals of reports that are not complete.
var (
	errKey        = fail.New(fail.CodeForbidden, "The key is not this stream's")
	errRecordings = fail.Validation("recordings: must be 1 to 20, each with an address")
	errLabels     = fail.Validation("labels: must be 1 to 20")
)

// ReportVideoStreaming takes in what the media server says.
func (s *Service) ReportVideoStreaming(ctx context.Context, m *plazav1.ReportVideoStreamingRequest) (*answer, error) {
	var row *store.VideoStream
	reads := s.Store.NewReadBatch()
	reads.VideoStream(m.GetStreamId(), &row)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	if row == nil || row.DeletedAt != nil {
		return nil, fail.NotFound()
	}
	return s.take(ctx, row, m)
}

func (s *Service) take(ctx context.Context, row *store.VideoStream, m *plazav1.ReportVideoStreamingRequest) (*answer, error) {
	move := store.StreamMove{}
	switch m.GetEvent() {
	case started:
		if !live.SameKey(row.IngestKey, m.GetStreamKey()) {
			return nil, errKey
		}
		if p := m.GetPlatform(); p != nil {
			move.PlatformName, move.PlatformVersion = &p.Name, &p.Version
		}
	case recorded:
		if move.Recordings = recordingsOf(m.GetRecordings()); move.Recordings == nil {
			return nil, errRecordings
		}
	case flagged, terminated:
		return s.moderate(ctx, row, m)
	}
	return s.move(ctx, "", row, m.GetEvent(), move, nil)
}

// moderate keeps what moderation saw, and ends the stream where it says so.
func (s *Service) moderate(ctx context.Context, row *store.VideoStream, m *plazav1.ReportVideoStreamingRequest) (*answer, error) {
	if len(m.GetLabels()) == 0 {
		return nil, errLabels
	}
	seen := live.AddModerationLabels(s.Deps, row.Moderation, m.GetLabels(), m.GetEvent() == terminated, row.ID)
	keep := func(w *store.Tx) { w.ModerateVideoStream(row.ID, row.Moderation, seen, s.Now(), fail.Conflict()) }
	if m.GetEvent() == terminated {
		return s.move(ctx, "", row, terminated, store.StreamMove{}, keep)
	}
	return s.write(ctx, "", row, keep)
}

// recordingsOf are the recordings of a report; nil where there is none, or one without an address.
func recordingsOf(list []*plazav1.StreamRecording) []store.StreamRecording {
	var out []store.StreamRecording
	for _, r := range list {
		row := store.StreamRecording{FLV: fileOf(r.GetFlv()), MP4: fileOf(r.GetMp4()), M3U8: fileOf(r.GetM3U8())}
		if row == (store.StreamRecording{}) {
			return nil
		}
		out = append(out, row)
	}
	return out
}

func fileOf(f *plazav1.StreamRecordingFile) *store.RecordingFile {
	if f.GetUrl() == "" {
		return nil
	}
	return &store.RecordingFile{URL: f.GetUrl(), Duration: f.GetDuration(), StartTime: f.GetStartTime(), StopTime: f.GetStopTime()}
}
