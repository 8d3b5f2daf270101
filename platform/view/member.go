package view

import (
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Values of communityMembership and notMemberReason.
const (
	membershipNone   = "none"
	membershipMember = "member"
	membershipBanned = "banned"
	neverJoined      = "neverJoined"
)

// CommunityUser converts a membership. A membership without a state is that of a user who never joined; its times are
// unset.
func (b *Builder) CommunityUser(m communities.Member) *plazav1.CommunityUser {
	membership, reason := membershipOf(m.State)
	return &plazav1.CommunityUser{
		UserId:              m.UserPublicID,
		UserPublicId:        m.UserPublicID,
		UserInternalId:      m.UserID,
		ChannelId:           m.CommunityID,
		CommunityId:         m.CommunityID,
		CommunityMembership: membership,
		NotMemberReason:     reason,
		IsBanned:            m.State == communities.StateBanned,
		LastActivity:        tsUnlessZero(m.UpdatedAt),
		Roles:               m.Roles,
		Permissions:         auth.PermissionsOf(m.Roles),
		LastJoin:            tsUnlessZero(m.JoinedAt),
		CreatedAt:           tsUnlessZero(m.CreatedAt),
		UpdatedAt:           tsUnlessZero(m.UpdatedAt),
	}
}

// CommunityUsers converts memberships, each once.
func (b *Builder) CommunityUsers(rows []communities.Member) []*plazav1.CommunityUser {
	return mapList(unique(rows, func(m communities.Member) string { return m.CommunityID + m.UserID }), b.CommunityUser)
}

func membershipOf(state string) (membership, reason string) {
	switch state {
	case communities.StateMember:
		return membershipMember, ""
	case communities.StateBanned:
		return membershipBanned, communities.StateBanned
	case "":
		return membershipNone, neverJoined
	}
	return membershipNone, state
}
