package room

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// The events that change a state: those that the media server reports, and the end that a person decides on.
const (
	started     = "started"
	interrupted = "interrupted"
	stopped     = "stopped"
	recorded    = "recorded"
	failed      = "failed"
	terminated  = "terminated"
	flagged     = "flagged" // changes no state
	stopping    = "stopping"
)

// open are the states in which somebody can send.
var open = live.OpenRoomStates()

// transitions are those of the package's documentation.
var transitions = map[string]live.Transition{
	started:     {From: []string{"idle", "waitingReconnect"}, To: "live"},
	interrupted: {From: []string{"live"}, To: "waitingReconnect"},
	stopped:     {From: []string{"live", "waitingReconnect"}, To: "ended", Again: []string{"recorded"}},
	recorded:    {From: []string{"ended"}, To: "recorded"},
	failed:      {From: open, To: "error"},
	terminated:  {From: open, To: "terminated"},
	stopping:    {From: open, To: "ended", Again: []string{"recorded"}},
}

// StopRoom ends a room.
func (s *Service) StopRoom(ctx context.Context, req *plazav1.StopRoomRequest) (*answer, error) {
	l, err := s.loadOwn(ctx, req.GetRoomId())
	if err != nil {
		return nil, err
	}
	return s.move(ctx, l.room, stopping, store.RoomMove{}, nil)
}

// move takes a room through the transition of an event. m says what changes beside the state, and also what is written beside it.
func (s *Service) move(ctx context.Context, row *store.Room, event string, m store.RoomMove, also func(*store.Tx)) (*answer, error) {
	t := transitions[event]
	moves, err := t.Next(event, row.Status)
	if err != nil {
		return nil, err
	}
	if !moves {
		return s.answer(ctx, *row)
	}
	now := s.Now()
	m.ID, m.From, m.To = row.ID, t.From, t.To
	switch t.To {
	case "live":
		m.LiveAt = &now
	case "ended", "terminated", "error":
		m.EndedAt = &now
	case "recorded":
		m.RecordedAt = &now
	}
	return s.write(ctx, row, func(w *store.Tx) {
		w.MoveRoom(m, now, fail.Conflict())
		if also != nil {
			also(w)
		}
	})
}

// Refusals of reports that are not complete.
var (
	errKey        = fail.New(fail.CodeForbidden, "The key is nobody's in this room")
	errRecordings = fail.Validation("recordings: must be 1 to 20, each with an address")
	errLabels     = fail.Validation("labels: must be 1 to 20")
)

// ReportRoom takes in what the media server says.
func (s *Service) ReportRoom(ctx context.Context, m *plazav1.ReportRoomRequest) (*answer, error) {
	var row *store.Room
	reads := s.Store.NewReadBatch()
	reads.Room(m.GetRoomId(), &row)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	if row == nil || row.DeletedAt != nil {
		return nil, fail.NotFound()
	}
	return s.take(ctx, row, m)
}

func (s *Service) take(ctx context.Context, row *store.Room, m *plazav1.ReportRoomRequest) (*answer, error) {
	move := store.RoomMove{}
	switch m.GetEvent() {
	case started:
		sender := func(p store.RoomParticipant) bool { return live.SameKey(p.Key, m.GetStreamKey()) }
		if !slices.ContainsFunc(row.Participants, sender) {
			return nil, errKey
		}
	case recorded:
		for _, r := range m.GetRecordings() {
			move.Recordings = append(move.Recordings, store.RoomRecording{URL: r.GetUrl(), ThumbnailURL: r.GetThumbnailUrl()})
		}
		if len(move.Recordings) == 0 || slices.ContainsFunc(move.Recordings, func(r store.RoomRecording) bool { return r.URL == "" }) {
			return nil, errRecordings
		}
	case flagged, terminated:
		return s.moderate(ctx, row, m)
	}
	return s.move(ctx, row, m.GetEvent(), move, nil)
}

// moderate keeps what moderation saw, and ends the room where it says so.
func (s *Service) moderate(ctx context.Context, row *store.Room, m *plazav1.ReportRoomRequest) (*answer, error) {
	if len(m.GetLabels()) == 0 {
		return nil, errLabels
	}
	seen := live.AddModerationLabels(s.Deps, row.Moderation, m.GetLabels(), m.GetEvent() == terminated, row.ID)
	keep := func(w *store.Tx) { w.ModerateRoom(row.ID, row.Moderation, seen, s.Now(), fail.Conflict()) }
	if m.GetEvent() == terminated {
		return s.move(ctx, row, terminated, store.RoomMove{}, keep)
	}
	return s.write(ctx, row, keep)
}
