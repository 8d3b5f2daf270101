package live

import (
	"slices"

	"github.com/plaza-social/plaza/platform/store"
)

// OpenRoomStates are the states of a room in which somebody can send to it.
func OpenRoomStates() []string { return []string{"idle", "live", "waitingReconnect"} }

// IsParticipant tells whether a user, by internal id, is the host or a co-host of a room.
func IsParticipant(r *store.Room, userID string) bool {
	return slices.ContainsFunc(r.Participants, func(p store.RoomParticipant) bool { return p.UserID == userID })
}

// NewCoHost is a user as a co-host of a room, with a key to send to it.
func NewCoHost(u store.User) store.RoomParticipant {
	return store.RoomParticipant{Type: "coHost", UserID: u.ID, PublicID: u.PublicID, Key: NewKey()}
}
