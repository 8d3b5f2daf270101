package view

import (
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// JoinRequest converts a request to join a community.
func (b *Builder) JoinRequest(j communities.JoinRequest) *plazav1.JoinRequest {
	return &plazav1.JoinRequest{
		PrivateId:           j.ID,
		JoinRequestId:       j.ID,
		NetworkId:           b.NetworkID,
		RequestorId:         j.RequestorPublicID,
		RequestorInternalId: j.RequestorID,
		RequestorPublicId:   j.RequestorPublicID,
		ResponderId:         j.ResponderPublicID,
		ResponderInternalId: j.ResponderID,
		ResponderPublicId:   j.ResponderPublicID,
		RespondedAt:         tsOrNil(j.RespondedAt),
		Status:              j.Status,
		TargetId:            j.CommunityID,
		TargetType:          "community",
		Type:                "communityJoinRequest",
		UserId:              j.RequestorPublicID,
		CreatedAt:           ts(j.CreatedAt),
		UpdatedAt:           ts(j.UpdatedAt),
	}
}
