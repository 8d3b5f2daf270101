package live

import (
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/people"
)

// OpenRoomStates returns the states of a room in which its participants can send.
func OpenRoomStates() []string { return []string{"idle", "live", "waitingReconnect"} }

// NewCoHost returns a user as a co-host of a room, with a key of their own.
func NewCoHost(u people.User) media.RoomParticipant {
	return media.RoomParticipant{Type: "coHost", UserID: u.ID, PublicID: u.PublicID, Key: NewKey()}
}

// IsParticipant reports whether a user, by internal id, is the host or a co-host of a room.
func IsParticipant(r *media.Room, userID string) bool { return OfRoom(r).HasParticipant(userID) }
