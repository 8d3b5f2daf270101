package joinrequest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/communities"
)

func TestNeedsApproval(t *testing.T) {
	invited := []communities.Invitation{{}}
	pending, approved := &communities.JoinRequest{Status: communities.JoinPending}, &communities.JoinRequest{Status: communities.JoinApproved}
	for _, c := range []struct {
		name           string
		approval       bool
		invited        []communities.Invitation
		latest         *communities.JoinRequest
		needs, pending bool
	}{
		{"open community", false, nil, nil, false, false},
		{"approval required", true, nil, nil, true, false},
		{"an invitation replaces the approval", true, invited, nil, false, false},
		{"pending", true, nil, pending, true, true},
		{"pending and invited", true, invited, pending, false, true},
		{"approval no longer required", false, nil, pending, false, true},
		{"approved before", true, nil, approved, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &draft{state: &state{community: &communities.Community{JoinApproval: c.approval}}, invited: c.invited, latest: c.latest}
			require.Equal(t, c.needs, d.needsApproval())
			require.Equal(t, c.pending, d.isPending())
		})
	}
}
