package room

import (
	"cmp"
	"context"
	"slices"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements RoomService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

type answer = connect.Response[plazav1.RoomResponse]

// Types of rooms and of participants.
const (
	direct  = "directStreaming"
	coHosts = "coHosts"
	host    = "host"
)

// errParent refuses a parent that cannot be one.
var errParent = fail.New(fail.CodeBadRequest, "The parent has to be a room of one's own, no child itself, with less than 20 children")

// CreateRoom makes a room with the caller as its host.
func (s *Service) CreateRoom(ctx context.Context, req *connect.Request[plazav1.CreateRoomRequest]) (*answer, error) {
	m := req.Msg
	metadata, err := service.LiveMetadata(m.GetMetadata())
	if err != nil {
		return nil, err
	}
	if len(m.GetParticipants()) > 0 && m.GetType() != coHosts {
		return nil, fail.Validation("participants: go with type coHosts")
	}
	guests, err := s.resolve(ctx, m.GetParticipants())
	if err != nil {
		return nil, err
	}
	var invited []store.User
	f := s.Begin(ctx)
	f.Users(guests, &invited)
	thumbnail := service.ReadFiles(f.Reads, service.Thumbnail(&m.ThumbnailFileId))
	rules := s.ReadTextRules(f.Reads, service.HomeOf(f.Caller.UserID))
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	if err := f.RequireUser(); err != nil {
		return nil, err
	}
	if err := thumbnail.Err(); err != nil {
		return nil, err
	}
	if err := rules.Require(ctx, f.Caller, service.WrittenAs(&m.Title, &m.Description)); err != nil {
		return nil, err
	}
	if parent := m.GetParentRoomId(); parent != "" && !region.ValidID(parent) {
		return nil, errParent
	}
	participants, err := participantsOf(f.User(), invited, len(guests))
	if err != nil {
		return nil, err
	}
	now := s.Now()
	row := store.Room{
		ID: s.NewID(service.HomeOf(f.User().ID)), CreatorID: f.User().ID, CreatorPublicID: f.User().PublicID, Type: cmp.Or(m.GetType(), direct),
		Title: m.GetTitle(), Description: m.GetDescription(), ThumbnailFileID: m.GetThumbnailFileId(), Status: "idle",
		LiveChatEnabled: chatWanted(m), Metadata: metadata, Participants: participants, PlaybackKey: service.NewKey(),
		ParentID: m.GetParentRoomId(), CreatedAt: now, UpdatedAt: now,
	}
	row.HasChannel = row.LiveChatEnabled
	w := s.Store.Write(service.HomeOf(row.ID))
	w.NewRoom(row, errParent)
	if row.HasChannel {
		service.RoomChannel(w, row, nil, now)
	}
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return connect.NewResponse(&plazav1.RoomResponse{
		Rooms: s.View.Rooms([]store.Room{row}), Users: s.View.Users(append(f.UserRows(), invited...)),
	}), nil
}

// resolve finds the internal ids of public ones; somebody unknown is 400400.
func (s *Service) resolve(ctx context.Context, publicIDs []string) ([]string, error) {
	if len(publicIDs) == 0 {
		return nil, nil
	}
	found, err := s.Directory.Resolve(ctx, publicIDs...)
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(publicIDs))
	for _, id := range publicIDs {
		if found[id] == "" {
			return nil, fail.NotFound()
		}
		ids = append(ids, found[id])
	}
	return ids, nil
}

// participantsOf are the host and the invited, each with a key. wanted is how many should have been found.
func participantsOf(creator *store.User, invited []store.User, wanted int) ([]store.RoomParticipant, error) {
	participants := []store.RoomParticipant{{Type: host, UserID: creator.ID, PublicID: creator.PublicID, Key: service.NewKey()}}
	for _, u := range invited {
		switch {
		case u.DeletedAt != nil:
			return nil, fail.NotFound()
		case u.ID == creator.ID:
			return nil, fail.Validation("participants: the host is none of the co-hosts")
		}
		participants = append(participants, service.CoHost(u))
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

// loaded is a room as a request finds it.
type loaded struct {
	*service.First
	room *store.Room
}

// load reads a room. One that is deleted, or that the caller may not see, does not exist.
func (s *Service) load(ctx context.Context, id string) (*loaded, error) {
	l := &loaded{First: s.Begin(ctx)}
	l.Room(id, &l.room)
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	return l, s.SeeRoom(ctx, l.Caller, l.room)
}

// loadOwn reads a room that the caller may change.
func (s *Service) loadOwn(ctx context.Context, id string) (*loaded, error) {
	l, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	return l, service.RequireChangeLive(l.Caller, l.room.CreatorID)
}

// participant is the one who has an internal id; nil where nobody has.
func participant(r *store.Room, userID string) *store.RoomParticipant {
	i := slices.IndexFunc(r.Participants, func(p store.RoomParticipant) bool { return p.UserID == userID })
	if i < 0 {
		return nil
	}
	return &r.Participants[i]
}

// users reads the participants of rooms.
func (s *Service) users(ctx context.Context, rows []store.Room) ([]store.User, error) {
	ids := userIDs(rows)
	var users []store.User
	reads := s.Store.Related()
	reads.Users(ids, &users)
	err := reads.Run(ctx)
	return users, err
}

// userIDs are the hosts and co-hosts of rooms, each once.
func userIDs(rows []store.Room) []string {
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.CreatorID)
		for _, p := range r.Participants {
			ids = append(ids, p.UserID)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}

func (s *Service) answer(ctx context.Context, row store.Room) (*answer, error) {
	users, err := s.users(ctx, []store.Room{row})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&plazav1.RoomResponse{Rooms: s.View.Rooms([]store.Room{row}), Users: s.View.Users(users)}), nil
}

// write runs a change of a room, and answers with the room as it stands then.
func (s *Service) write(ctx context.Context, row *store.Room, change func(*store.Write)) (*answer, error) {
	var after *store.Room
	w := s.Store.Write(service.HomeOf(row.ID))
	change(w)
	w.RoomAfter(row.ID, &after)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, *after)
}

// GetRoom gets one room.
func (s *Service) GetRoom(ctx context.Context, req *connect.Request[plazav1.GetRoomRequest]) (*answer, error) {
	l, err := s.load(ctx, req.Msg.GetRoomId())
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, *l.room)
}

// UpdateRoom changes what a room says of itself.
func (s *Service) UpdateRoom(ctx context.Context, req *connect.Request[plazav1.UpdateRoomRequest]) (*answer, error) {
	m := req.Msg
	change := store.RoomChange{Title: m.Title, Description: m.Description, ThumbnailFileID: m.ThumbnailFileId, LiveChatEnabled: m.LiveChatEnabled}
	if m.GetMetadata() != nil {
		var err error
		if change.Metadata, err = service.LiveMetadata(m.GetMetadata()); err != nil {
			return nil, err
		}
	}
	l, err := s.loadOwn(ctx, m.GetRoomId())
	if err != nil {
		return nil, err
	}
	if err := s.CheckFiles(ctx, service.Thumbnail(m.ThumbnailFileId)); err != nil {
		return nil, err
	}
	if err := s.CheckTexts(ctx, l.Caller, service.HomeOf(l.room.ID), service.WrittenAs(m.Title, m.Description)); err != nil {
		return nil, err
	}
	now := s.Now()
	return s.write(ctx, l.room, func(w *store.Write) {
		w.UpdateRoom(l.room.ID, change, now, fail.NotFound())
		if m.GetLiveChatEnabled() && !l.room.HasChannel {
			w.RoomHasChannel(l.room.ID, now, fail.NotFound())
			service.RoomChannel(w, *l.room, fail.Conflict(), now)
		}
	})
}

// DeleteRoom deletes a room. The post that carries it stays.
func (s *Service) DeleteRoom(ctx context.Context, req *connect.Request[plazav1.DeleteRoomRequest]) (*connect.Response[plazav1.StatusSuccessResponse], error) {
	l, err := s.loadOwn(ctx, req.Msg.GetRoomId())
	if err != nil {
		return nil, err
	}
	w := s.Store.Write(service.HomeOf(l.room.ID))
	w.DeleteRoom(*l.room, l.Caller.PublicID, s.Now(), fail.NotFound())
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return connect.NewResponse(&plazav1.StatusSuccessResponse{
		Status: "success", Data: &plazav1.SuccessResponse{Success: true}, Success: true,
	}), nil
}
