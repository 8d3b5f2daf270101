package view

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// What a client reads of a membership.
const (
	membershipNone   = "none"
	membershipMember = "member"
	membershipBanned = "banned"
	neverJoined      = "neverJoined"
)

// CommunityUser makes the message of a membership. One without a state is that of somebody who never joined; it has no
// times.
func (b *Builder) CommunityUser(m store.Member) *plazav1.CommunityUser {
	membership, reason := membershipOf(m.State)
	return &plazav1.CommunityUser{
		UserId:              m.UserPublicID,
		UserPublicId:        m.UserPublicID,
		UserInternalId:      m.UserID,
		ChannelId:           m.CommunityID,
		CommunityId:         m.CommunityID,
		CommunityMembership: membership,
		NotMemberReason:     reason,
		IsBanned:            m.State == store.StateBanned,
		LastActivity:        tsUnlessZero(m.UpdatedAt),
		Roles:               m.Roles,
		Permissions:         auth.PermissionsOf(m.Roles),
		LastJoin:            tsUnlessZero(m.JoinedAt),
		CreatedAt:           tsUnlessZero(m.CreatedAt),
		UpdatedAt:           tsUnlessZero(m.UpdatedAt),
	}
}

func membershipOf(state string) (membership, reason string) {
	switch state {
	case store.StateMember:
		return membershipMember, ""
	case store.StateBanned:
		return membershipBanned, store.StateBanned
	case "":
		return membershipNone, neverJoined
	}
	return membershipNone, state
}

func tsUnlessZero(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return ts(t)
}
