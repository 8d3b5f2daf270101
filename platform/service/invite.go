package service

import (
	"slices"

	"github.com/plaza-social/plaza/platform/store"
)

// Invite completes an invitation of a user by the caller; an administrator has no account to name.
func Invite(f *First, i store.Invitation, u store.User) store.Invitation {
	i.InvitedID, i.InvitedPublicID, i.Status = u.ID, u.PublicID, store.JoinPending
	if by := f.User(); by != nil {
		i.InviterID, i.InviterPublicID = by.ID, by.PublicID
	}
	return i
}

// OpenRoomStates are the states of a room in which somebody can send to it.
func OpenRoomStates() []string { return []string{"idle", "live", "waitingReconnect"} }

// TakesPart tells whether a user, by internal id, is the host or a co-host of a room.
func TakesPart(r *store.Room, userID string) bool {
	return slices.ContainsFunc(r.Participants, func(p store.RoomParticipant) bool { return p.UserID == userID })
}

// CoHost is a user as a co-host of a room, with a key to send to it.
func CoHost(u store.User) store.RoomParticipant {
	return store.RoomParticipant{Type: "coHost", UserID: u.ID, PublicID: u.PublicID, Key: NewKey()}
}
