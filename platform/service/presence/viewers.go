package presence

import (
	"slices"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// viewers returns those who are present, without users who are hidden from the caller.
func viewers(present []store.Presence, users []store.User, hidden []string) []*plazav1.RoomViewer {
	var list []*plazav1.RoomViewer
	for _, p := range present {
		u := service.Find(users, func(u store.User) bool { return u.ID == p.UserID })
		if u != nil && isShown(*u, hidden) {
			list = append(list, &plazav1.RoomViewer{UserId: u.PublicID, JoinedAt: timestamppb.New(p.JoinedAt)})
		}
	}
	return list
}

// isShown reports whether the presence of a user is shown: the user is not deleted, does not hide it, and is not among the users
// who are hidden from the caller.
func isShown(u store.User, hidden []string) bool {
	return u.DeletedAt == nil && !u.IsPresenceHidden && !slices.Contains(hidden, u.ID)
}
