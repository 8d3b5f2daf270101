package member

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestRolesOf(t *testing.T) {
	for _, c := range []struct {
		name  string
		roles []string
		role  string
		want  []string // nil for an error
	}{
		{"none", nil, "", nil},
		{"roles", []string{auth.RoleCommunityModerator}, "", []string{auth.RoleCommunityModerator}},
		{"role", nil, auth.RoleChannelModerator, []string{auth.RoleChannelModerator}},
		{
			"both",
			[]string{auth.RoleCommunityModerator},
			auth.RoleChannelModerator,
			[]string{auth.RoleCommunityModerator, auth.RoleChannelModerator},
		},
		{"the same twice", []string{auth.RoleCommunityModerator}, auth.RoleCommunityModerator, []string{auth.RoleCommunityModerator}},
		{"network role", []string{auth.RoleModerator}, "", nil},
		{"unknown", []string{auth.RoleCommunityModerator}, "unknown", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			roles, err := rolesOf(&plazav1.AddMemberRolesRequest{Roles: c.roles, Role: c.role})
			require.Equal(t, c.want == nil, err != nil)
			require.Equal(t, c.want, roles)
		})
	}
}

func TestEndsModeration(t *testing.T) {
	moderator := communities.Member{State: communities.StateMember, Roles: []string{auth.RoleCommunityModerator}}
	member, left := communities.Member{State: communities.StateMember}, communities.Member{State: communities.StateLeft}
	for _, c := range []struct {
		name string
		from *communities.Member
		to   communities.Member
		want bool
	}{
		{"a moderator leaves", &moderator, left, true},
		{"a moderator loses the role", &moderator, member, true},
		{"a moderator stays", &moderator, moderator, false},
		{"a member leaves", &member, left, false},
		{"a member becomes a moderator", &member, moderator, false},
		{"a stranger joins", nil, member, false},
	} {
		require.Equal(t, c.want, endsModeration([]communities.MemberChange{{Old: &member, New: member}, {Old: c.from, New: c.to}}), c.name)
	}
}

func TestStatesOf(t *testing.T) {
	require.Equal(t, []string{communities.StateMember}, statesOf(&plazav1.ListMembersRequest{}))
	require.Equal(t, []string{"banned", "member"}, statesOf(&plazav1.ListMembersRequest{Memberships: []string{"member", "banned", "member"}}))
}
