package room

import (
	"cmp"
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements RoomService.
type Service struct {
	*service.Deps
	rooms live.Service[media.Room, plazav1.RoomResponse]
}

// New returns the service of rooms.
func New(d *service.Deps) *Service {
	s := &Service{Deps: d}
	s.rooms = live.Service[media.Room, plazav1.RoomResponse]{
		Deps: d, Of: live.OfRoom, At: position, Read: (*store.ReadBatch).Room, Select: (*store.Tx).SelectRoom,
		KeepModeration: (*store.Tx).ModerateRoom, Transitions: transitions, Respond: s.respond, ChangeOf: d.RoomChange,
		FlaggedName: eventUpdated,
	}
	return s
}

// Types of rooms and of participants.
const (
	direct  = "directStreaming"
	coHosts = "coHosts"
	host    = "host"
)

var errParent = fail.New(fail.CodeBadRequest,
	"The parent must be one of your rooms, must not have a parent itself, and must have fewer than 20 children")

// CreateRoom creates a room with the caller as its host.
func (s *Service) CreateRoom(ctx context.Context, m *plazav1.CreateRoomRequest) (*plazav1.RoomResponse, error) {
	if len(m.GetParticipants()) > 0 && m.GetType() != coHosts {
		return nil, fail.Validation("participants: only a room of type coHosts has any")
	}
	guests, all, err := s.ResolveUsers(ctx, m.GetParticipants())
	if err != nil {
		return nil, err
	}
	if !all {
		return nil, fail.NotFound()
	}
	var invited []people.User
	r := live.NewRequestToCreate(ctx, s.Deps, &m.ThumbnailFileId, &m.Title, &m.Description)
	r.Users(guests, &invited)
	blocks := contact.Read(r, guests)
	r.Check(blocks.RequireFound)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if parent := m.GetParentRoomId(); parent != "" && !region.ValidID(parent) {
		return nil, errParent
	}
	participants, err := participantsOf(r.User(), invited, len(guests))
	if err != nil {
		return nil, err
	}
	now := s.Now()
	row := media.Room{
		ID: s.NewID(s.HomeOf(r.User().ID)), CreatorID: r.User().ID, CreatorPublicID: r.User().PublicID, Type: cmp.Or(m.GetType(), direct),
		Title: m.GetTitle(), Description: m.GetDescription(), ThumbnailFileID: m.GetThumbnailFileId(), Status: "idle",
		LiveChatEnabled: chatWanted(m), Metadata: view.ObjectJSON(m.GetMetadata()), Participants: participants, PlaybackKey: live.NewKey(),
		ParentID: m.GetParentRoomId(), CreatedAt: now, UpdatedAt: now,
	}
	row.HasChannel = row.LiveChatEnabled
	auth.Created(ctx, "room", row.ID)
	tx := s.Store.NewTx(s.HomeOf(row.ID))
	tx.InsertRoom(row, errParent)
	if row.HasChannel {
		chat.InsertRoomChannel(tx, row, nil, now)
	}
	return &plazav1.RoomResponse{
		Rooms: s.View.Rooms([]media.Room{row}), Users: s.View.Users(ctx, append(r.UserRows(), invited...)),
	}, tx.Commit(ctx)
}

// participantsOf returns the host and the invited users, each with a key. wanted is how many invited users the request
// names.
func participantsOf(creator *people.User, invited []people.User, wanted int) ([]media.RoomParticipant, error) {
	participants := []media.RoomParticipant{{Type: host, UserID: creator.ID, PublicID: creator.PublicID, Key: live.NewKey()}}
	for _, u := range invited {
		switch {
		case u.DeletedAt != nil:
			return nil, fail.NotFound()
		case u.ID == creator.ID:
			return nil, fail.Validation("participants: must not contain the host")
		}
		participants = append(participants, live.NewCoHost(u))
	}
	if len(participants) != wanted+1 {
		return nil, fail.NotFound()
	}
	return participants, nil
}

func chatWanted(m *plazav1.CreateRoomRequest) bool {
	if m.LiveChatEnabled != nil {
		return m.GetLiveChatEnabled()
	}
	return m.ChannelEnabled == nil || m.GetChannelEnabled()
}

// participant returns the participant with an internal id, or nil.
func participant(r *media.Room, userID string) *media.RoomParticipant {
	return service.Find(r.Participants, func(p media.RoomParticipant) bool { return p.UserID == userID })
}

// userIDs returns the hosts and co-hosts of rooms without duplicates.
func userIDs(rows ...media.Room) []string {
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.CreatorID)
		for _, p := range r.Participants {
			ids = append(ids, p.UserID)
		}
	}
	return service.SortedSet(ids)
}

func (s *Service) respond(ctx context.Context, row media.Room) (*plazav1.RoomResponse, error) {
	users, err := s.ReadUsers(ctx, userIDs(row))
	return &plazav1.RoomResponse{Rooms: s.View.Rooms([]media.Room{row}), Users: s.View.Users(ctx, users)}, err
}

// GetRoom returns one room.
func (s *Service) GetRoom(ctx context.Context, req *plazav1.GetRoomRequest) (*plazav1.RoomResponse, error) {
	return s.rooms.Get(ctx, req.GetRoomId())
}

// UpdateRoom changes the description of a room.
func (s *Service) UpdateRoom(ctx context.Context, m *plazav1.UpdateRoomRequest) (*plazav1.RoomResponse, error) {
	r, room, err := s.rooms.LoadToUpdate(ctx, m.GetRoomId(), m.ThumbnailFileId, m.Title, m.Description)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	change := media.RoomChange{
		EditorID: r.Caller.UserID,
		Title:    m.Title, Description: m.Description, ThumbnailFileID: m.ThumbnailFileId, LiveChatEnabled: m.LiveChatEnabled,
		Metadata: view.ChangedJSON(m.GetMetadata()),
	}
	return s.rooms.Change(ctx, eventUpdated, s.RoomChange(room.ID), func(tx *store.Tx) []core.OutboxRow {
		tx.UpdateRoom(room.ID, change, now, fail.NotFound())
		if m.GetLiveChatEnabled() && !room.HasChannel {
			tx.UpdateRoomHasChannel(room.ID, now, fail.NotFound())
			chat.InsertRoomChannel(tx, *room, fail.Conflict(), now)
		}
		return nil
	})
}

// DeleteRoom deletes a room. The post that shows it stays.
func (s *Service) DeleteRoom(ctx context.Context, req *plazav1.DeleteRoomRequest) (*plazav1.StatusSuccessResponse, error) {
	return s.rooms.Delete(ctx, req.GetRoomId(), func(tx *store.Tx, room media.Room, by *auth.Caller) {
		tx.DeleteRoom(room, by.PublicID, s.Now(), fail.NotFound())
	})
}
