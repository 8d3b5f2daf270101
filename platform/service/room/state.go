package room

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Events in addition to those of package live.
const (
	interrupted = "interrupted" // reported by the media server
	stopping    = "stopping"    // StopRoom
)

var openStates = live.OpenRoomStates()

// Names of realtime events.
const (
	eventUpdated            = "room.didUpdate"
	eventEnded              = "room.endBroadcasting"
	eventParticipantLeft    = "room.participantLeft"
	eventParticipantRemoved = "room.participantRemoved"
	eventStageJoined        = "room.participantStageJoined"
	eventStageLeft          = "room.participantStageLeft"
)

// transitions implements the table in the package documentation.
var transitions = map[string]live.Transition{
	live.Started:    {From: []string{"idle", "waitingReconnect"}, To: "live", Name: "room.startBroadcasting"},
	interrupted:     {From: []string{"live"}, To: "waitingReconnect", Name: "room.waitingReconnect"},
	live.Stopped:    {From: []string{"live", "waitingReconnect"}, To: "ended", Repeated: []string{"recorded"}, Name: eventEnded},
	live.Recorded:   {From: []string{"ended"}, To: "recorded", Name: "room.recordedAvailable"},
	live.Failed:     {From: openStates, To: "error", Name: eventEnded},
	live.Terminated: {From: openStates, To: "terminated", Name: "room.terminated"},
	stopping:        {From: openStates, To: "ended", Repeated: []string{"recorded"}, Name: eventEnded},
}

// StopRoom ends a room.
func (s *Service) StopRoom(ctx context.Context, req *plazav1.StopRoomRequest) (*plazav1.RoomResponse, error) {
	_, room, err := s.rooms.LoadOwn(ctx, req.GetRoomId())
	if err != nil {
		return nil, err
	}
	return s.rooms.Apply(ctx, room, stopping, s.moveRoom(ctx, room, nil, ""))
}

// moveRoom returns the change of state of a room, with the recordings that go with it. A room that becomes live has the sender,
// by internal id, on its stage; in other states no one is there.
func (s *Service) moveRoom(ctx context.Context, room *media.Room, recordings []media.RoomRecording, sender string) live.Move {
	return func(tx *store.Tx, t live.Transition, now time.Time) []core.OutboxRow {
		m := media.RoomTransition{ID: room.ID, From: t.From, To: t.To, Recordings: recordings}
		var stage []string
		switch t.To {
		case "live":
			m.LiveAt, stage = &now, []string{sender}
		case "ended", "terminated", "error":
			m.EndedAt = &now
		case "recorded":
			m.RecordedAt = &now
		}
		tx.TransitionRoom(m, now, fail.Conflict())
		return s.setStage(ctx, tx, room, stage)
	}
}

// Refusals of reports.
var (
	errKey        = fail.New(fail.CodeForbidden, "The stream key does not belong to a participant of this room")
	errRecordings = fail.Validation("recordings: must be 1 to 20, each with an address")
)

// ReportRoom handles a report of the media server.
func (s *Service) ReportRoom(ctx context.Context, m *plazav1.ReportRoomRequest) (*plazav1.RoomResponse, error) {
	room, err := s.rooms.LoadReported(ctx, m.GetRoomId())
	if err != nil {
		return nil, err
	}
	var recordings []media.RoomRecording
	sender := ""
	switch m.GetEvent() {
	case live.Started:
		if sender, err = s.senderOf(ctx, room, m.GetStreamKey()); err != nil {
			return nil, err
		}
		if room.Status == "live" && !slices.Contains(room.OnStageIDs, sender) {
			return s.joinStage(ctx, room, sender)
		}
	case live.Recorded:
		if recordings, err = recordingsOf(m.GetRecordings()); err != nil {
			return nil, err
		}
	}
	return s.rooms.Report(ctx, room, m.GetEvent(), m.GetLabels(), s.moveRoom(ctx, room, recordings, sender))
}

// senderOf returns the internal id of the participant with a stream key, who may send now.
func (s *Service) senderOf(ctx context.Context, room *media.Room, key string) (string, error) {
	sender := service.Find(room.Participants, func(p media.RoomParticipant) bool { return live.SameKey(p.Key, key) })
	if sender == nil {
		return "", errKey
	}
	return sender.UserID, live.RequireSender(ctx, s.Deps, sender.UserID, live.OfRoom(room))
}

func recordingsOf(list []*plazav1.RoomPlayback) ([]media.RoomRecording, error) {
	var recordings []media.RoomRecording
	for _, r := range list {
		if r.GetUrl() == "" {
			return nil, errRecordings
		}
		recordings = append(recordings, media.RoomRecording{URL: r.GetUrl(), ThumbnailURL: r.GetThumbnailUrl()})
	}
	if len(recordings) == 0 {
		return nil, errRecordings
	}
	return recordings, nil
}
