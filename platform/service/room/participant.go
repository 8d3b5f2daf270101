package room

import (
	"context"
	"slices"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// errHost keeps the host in the room.
var errHost = fail.New(fail.CodeBadRequest, "The host cannot leave: stop the room instead")

// LeaveRoom takes the caller out of a room's co-hosts.
func (s *Service) LeaveRoom(ctx context.Context, req *connect.Request[plazav1.LeaveRoomRequest]) (*answer, error) {
	l, err := s.load(ctx, req.Msg.GetRoomId())
	if err != nil {
		return nil, err
	}
	if err := l.RequireUser(); err != nil {
		return nil, err
	}
	if participant(l.room, l.Caller.UserID) == nil {
		return s.answer(ctx, *l.room)
	}
	return s.remove(ctx, l.room, l.Caller.UserID)
}

// RemoveRoomParticipant takes a co-host out of a room.
func (s *Service) RemoveRoomParticipant(ctx context.Context, req *connect.Request[plazav1.RemoveRoomParticipantRequest]) (*answer, error) {
	l, userID, err := s.loadParticipant(ctx, req.Msg.GetRoomId(), req.Msg.GetUserId())
	if err != nil {
		return nil, err
	}
	return s.remove(ctx, l.room, userID)
}

func (s *Service) remove(ctx context.Context, row *store.Room, userID string) (*answer, error) {
	if userID == row.CreatorID {
		return nil, errHost
	}
	left := slices.DeleteFunc(slices.Clone(row.Participants), func(p store.RoomParticipant) bool { return p.UserID == userID })
	return s.write(ctx, row, func(w *store.Write) { w.ChangeParticipants(row.ID, row.Participants, left, s.Now(), fail.Conflict()) })
}

// UpdateRoomParticipant changes what a co-host may do.
func (s *Service) UpdateRoomParticipant(ctx context.Context, req *connect.Request[plazav1.UpdateRoomParticipantRequest]) (*answer, error) {
	l, userID, err := s.loadParticipant(ctx, req.Msg.GetRoomId(), req.Msg.GetUserId())
	if err != nil {
		return nil, err
	}
	changed := slices.Clone(l.room.Participants)
	for i := range changed {
		if changed[i].UserID == userID {
			changed[i].CanManageProductTags = req.Msg.GetCanManageProductTags()
		}
	}
	return s.write(ctx, l.room, func(w *store.Write) {
		w.ChangeParticipants(l.room.ID, l.room.Participants, changed, s.Now(), fail.Conflict())
	})
}

// loadParticipant reads a room that the caller may change, and finds one who takes part in it.
func (s *Service) loadParticipant(ctx context.Context, roomID, publicID string) (*loaded, string, error) {
	userID, err := s.Directory.ResolveOne(ctx, publicID)
	if err != nil {
		return nil, "", err
	}
	l, err := s.loadOwn(ctx, roomID)
	if err != nil {
		return nil, "", err
	}
	if participant(l.room, userID) == nil {
		return nil, "", fail.NotFound()
	}
	return l, userID, nil
}

// GetRoomToken gets what the caller needs to send to a room.
func (s *Service) GetRoomToken(ctx context.Context, req *connect.Request[plazav1.GetRoomTokenRequest]) (*connect.Response[plazav1.GetRoomTokenResponse], error) {
	l, err := s.load(ctx, req.Msg.GetRoomId())
	if err != nil {
		return nil, err
	}
	p := participant(l.room, l.Caller.UserID)
	switch {
	case p == nil:
		return nil, fail.NotAllowed()
	case !slices.Contains(open, l.room.Status):
		return nil, service.BadTransition("sending", l.room.Status)
	}
	return connect.NewResponse(s.View.RoomToken(*l.room, *p)), nil
}

// GetRoomRecordings gets the addresses of a room's recordings.
func (s *Service) GetRoomRecordings(ctx context.Context, req *connect.Request[plazav1.GetRoomRecordingsRequest]) (*connect.Response[plazav1.GetRoomRecordingsResponse], error) {
	l, err := s.load(ctx, req.Msg.GetRoomId())
	if err != nil {
		return nil, err
	}
	m := &plazav1.GetRoomRecordingsResponse{}
	for _, r := range l.room.Recordings {
		m.RecordedUrls = append(m.RecordedUrls, r.URL)
	}
	return connect.NewResponse(m), nil
}
