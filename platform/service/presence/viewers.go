package presence

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// viewers returns those of users who are present.
func viewers(present []people.Presence, users []people.User) []*plazav1.RoomViewer {
	var list []*plazav1.RoomViewer
	for _, p := range present {
		if u := service.UserByID(users, p.UserID); u != nil {
			list = append(list, &plazav1.RoomViewer{UserId: u.PublicID, JoinedAt: timestamppb.New(p.JoinedAt)})
		}
	}
	return list
}

// shown reads the users whose presence is shown to the caller: they are not deleted, do not hide it, and are not hidden from the
// caller.
func (s *Service) shown(ctx context.Context, present []people.Presence, hidden *contact.Hidden) ([]people.User, error) {
	users, err := s.ReadUsers(ctx, service.Map(present, func(p people.Presence) string { return p.UserID }))
	if err != nil {
		return nil, err
	}
	users = slices.DeleteFunc(users, func(u people.User) bool { return u.DeletedAt != nil || u.IsPresenceHidden })
	return contact.Without(ctx, hidden, users, func(u people.User) string { return u.ID })
}
