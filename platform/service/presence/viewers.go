package presence

import (
	"slices"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// viewers returns those who are present, without users who are deleted or hidden from the caller.
func viewers(present []store.Presence, users []store.User, hidden []string) []*plazav1.RoomViewer {
	var list []*plazav1.RoomViewer
	for _, p := range present {
		u := service.Find(users, func(u store.User) bool { return u.ID == p.UserID })
		if u != nil && u.DeletedAt == nil && !slices.Contains(hidden, p.UserID) {
			list = append(list, &plazav1.RoomViewer{UserId: u.PublicID, JoinedAt: timestamppb.New(p.JoinedAt)})
		}
	}
	return list
}
