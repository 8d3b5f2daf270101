package view

import (
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Invitation converts an invitation.
func (b *Builder) Invitation(i communities.Invitation) *plazav1.Invitation {
	m := &plazav1.Invitation{
		PrivateId:             i.ID,
		InvitationId:          i.ID,
		NetworkId:             b.NetworkID,
		Type:                  i.Type,
		TargetId:              i.TargetID,
		TargetType:            i.TargetType,
		Status:                i.Status,
		InvitedUserId:         i.InvitedPublicID,
		InvitedUserInternalId: i.InvitedID,
		InvitedUserPublicId:   i.InvitedPublicID,
		InviterUserId:         i.InviterPublicID,
		InviterUserInternalId: i.InviterID,
		InviterUserPublicId:   i.InviterPublicID,
		CreatedBy:             i.InviterPublicID,
		UserId:                i.InvitedPublicID,
		RespondedAt:           tsOrNil(i.RespondedAt),
		CreatedAt:             ts(i.CreatedAt),
		UpdatedAt:             ts(i.UpdatedAt),
	}
	if i.TargetType == communities.InviteToCommunity {
		m.CommunityId = i.TargetID
	}
	return m
}
