package room

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// errHost refuses the removal of the host.
var errHost = fail.New(fail.CodeBadRequest, "The host cannot leave: stop the room instead")

// LeaveRoom removes the caller from the co-hosts of a room.
func (s *Service) LeaveRoom(ctx context.Context, req *plazav1.LeaveRoomRequest) (*plazav1.RoomResponse, error) {
	r, room, err := s.rooms.Load(ctx, req.GetRoomId())
	if err != nil {
		return nil, err
	}
	if err := r.RequireUser(); err != nil {
		return nil, err
	}
	if participant(room, r.Caller.UserID) == nil {
		return s.respond(ctx, *room)
	}
	return s.removeParticipant(ctx, room, r.Caller.UserID, eventParticipantLeft)
}

// RemoveRoomParticipant removes a co-host from a room.
func (s *Service) RemoveRoomParticipant(ctx context.Context, req *plazav1.RemoveRoomParticipantRequest) (*plazav1.RoomResponse, error) {
	room, userID, err := s.loadParticipant(ctx, req.GetRoomId(), req.GetUserId())
	if err != nil {
		return nil, err
	}
	return s.removeParticipant(ctx, room, userID, eventParticipantRemoved)
}

// removeParticipant removes a co-host, with the realtime event called event.
func (s *Service) removeParticipant(ctx context.Context, room *media.Room, userID, event string) (*plazav1.RoomResponse, error) {
	if userID == room.CreatorID {
		return nil, errHost
	}
	left := slices.DeleteFunc(slices.Clone(room.Participants), func(p media.RoomParticipant) bool { return p.UserID == userID })
	return s.changeParticipants(ctx, room, left, userID, event)
}

// changeParticipants changes the participants of a room because of one of them, with the realtime event called event.
func (s *Service) changeParticipants(ctx context.Context, room *media.Room, changed []media.RoomParticipant, userID,
	event string,
) (*plazav1.RoomResponse, error) {
	return s.rooms.Change(ctx, event, s.ParticipantChange(room.ID, userID), func(tx *store.Tx) []core.OutboxRow {
		tx.UpdateParticipants(room.ID, room.Participants, changed, s.Now(), fail.Conflict())
		return s.setStage(ctx, tx, room, stageOf(room, changed))
	})
}

// UpdateRoomParticipant changes what a co-host may do.
func (s *Service) UpdateRoomParticipant(ctx context.Context, req *plazav1.UpdateRoomParticipantRequest) (*plazav1.RoomResponse, error) {
	room, userID, err := s.loadParticipant(ctx, req.GetRoomId(), req.GetUserId())
	if err != nil {
		return nil, err
	}
	changed := slices.Clone(room.Participants)
	for i := range changed {
		if changed[i].UserID == userID {
			changed[i].CanManageProductTags = req.GetCanManageProductTags()
		}
	}
	return s.changeParticipants(ctx, room, changed, userID, eventUpdated)
}

// loadParticipant reads a room that the caller may change and returns the internal id of one of its participants.
func (s *Service) loadParticipant(ctx context.Context, roomID, publicID string) (*media.Room, string, error) {
	userID, err := s.Directory.ResolveOne(ctx, publicID)
	if err != nil {
		return nil, "", err
	}
	_, room, err := s.rooms.LoadOwn(ctx, roomID)
	if err != nil {
		return nil, "", err
	}
	if participant(room, userID) == nil {
		return nil, "", fail.NotFound()
	}
	return room, userID, nil
}

// GetRoomToken returns what the caller needs to send to a room.
func (s *Service) GetRoomToken(ctx context.Context, req *plazav1.GetRoomTokenRequest) (*plazav1.GetRoomTokenResponse, error) {
	r, room, err := s.rooms.Load(ctx, req.GetRoomId())
	if err != nil {
		return nil, err
	}
	p := participant(room, r.Caller.UserID)
	switch {
	case p == nil:
		return nil, fail.NotAllowed()
	case !slices.Contains(openStates, room.Status):
		return nil, live.BadTransition("sending", room.Status)
	}
	if err := live.RequireTakePart(ctx, s.Deps, r.Caller, live.OfRoom(room)); err != nil {
		return nil, err
	}
	return s.View.RoomToken(*room, *p), nil
}

// GetRoomRecordings returns the addresses of the recordings of a room.
func (s *Service) GetRoomRecordings(
	ctx context.Context, req *plazav1.GetRoomRecordingsRequest,
) (*plazav1.GetRoomRecordingsResponse, error) {
	_, room, err := s.rooms.Load(ctx, req.GetRoomId())
	if err != nil {
		return nil, err
	}
	m := &plazav1.GetRoomRecordingsResponse{}
	for _, r := range room.Recordings {
		m.RecordedUrls = append(m.RecordedUrls, r.URL)
	}
	if len(m.GetRecordedUrls()) > 0 {
		m.Url = m.GetRecordedUrls()[0]
	}
	return m, nil
}
