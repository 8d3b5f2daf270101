package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/communities"
)

func TestInvitationTargets(t *testing.T) {
	t.Parallel()
	i := communities.Invitation{
		TargetType: communities.InviteToCommunity, TargetID: "t", InvitedPublicID: "anna", InviterPublicID: "bob",
		RespondedAt: &deletedAt,
	}
	m := (&Builder{NetworkID: "n"}).Invitation(i)
	require.Equal(t, "t", m.GetCommunityId())
	require.Equal(t, [4]string{"anna", "anna", "bob", "bob"},
		[4]string{m.GetInvitedUserId(), m.GetUserId(), m.GetInviterUserId(), m.GetCreatedBy()})
	require.Equal(t, deletedAt, m.GetRespondedAt().AsTime())
	i.TargetType, i.RespondedAt = communities.InviteToRoom, nil
	m = (&Builder{}).Invitation(i)
	require.Empty(t, m.GetCommunityId())
	require.Nil(t, m.GetRespondedAt())
}
