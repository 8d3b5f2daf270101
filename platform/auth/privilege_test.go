package auth_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
)

// TestPrivilege checks which decisions count as the exercise of a privilege.
func TestPrivilege(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		roles      []string
		permission auth.Permission
		scope      auth.Scope
		want       *auth.Privilege
	}{
		"another user's post by a network role": {
			[]string{auth.RoleModerator},
			auth.EditCommunityPost,
			auth.Scope{OwnerID: strangerID, Membership: member},
			&auth.Privilege{Permission: auth.EditCommunityPost, Roles: []string{auth.RoleModerator, auth.RoleCommunityMember}},
		},
		"another user's post by a membership": {
			nil, auth.EditCommunityPost,
			auth.Scope{OwnerID: strangerID, Membership: mod},
			&auth.Privilege{Permission: auth.EditCommunityPost, Roles: mod.Roles},
		},
		"the caller's own post":             {[]string{auth.RoleModerator}, auth.EditCommunityPost, auth.Scope{OwnerID: aliceID, Membership: mod}, nil},
		"a post on the caller's wall":       {[]string{auth.RoleModerator}, auth.DeleteUserFeedPost, auth.Scope{OwnerID: strangerID, WallOwnerID: aliceID}, nil},
		"editing a post on the own wall":    {[]string{auth.RoleModerator}, auth.EditUserFeedPost, auth.Scope{OwnerID: strangerID, WallOwnerID: aliceID}, &auth.Privilege{Permission: auth.EditUserFeedPost, Roles: []string{auth.RoleModerator}}},
		"own post despite a ban":            {[]string{auth.RoleModerator}, auth.EditCommunityPost, auth.Scope{OwnerID: aliceID, Membership: banned}, &auth.Privilege{Permission: auth.EditCommunityPost, Roles: []string{auth.RoleModerator}}},
		"reading":                           {[]string{auth.RoleModerator}, auth.ViewChannel, auth.Scope{}, nil},
		"writing where only staff may":      {[]string{auth.RoleModerator}, auth.CreatePrivilegedPost, auth.Scope{}, nil},
		"creating":                          {nil, auth.ManageCommunityStory, auth.Scope{Membership: mod, Creating: true}, nil},
		"a refusal":                         {nil, auth.BanUser, auth.Scope{}, nil},
		"a permission without any owner":    {[]string{auth.RoleSuperModerator}, auth.BanUser, auth.Scope{}, &auth.Privilege{Permission: auth.BanUser, Roles: []string{auth.RoleSuperModerator}}},
		"the owner of a community edits it": {nil, auth.EditCommunity, auth.Scope{OwnerID: aliceID, Membership: mod}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caller := user(t, aliceID, c.roles...)
			auth.Permits(caller, c.permission, c.scope)
			require.Nil(t, caller.Privilege(), "what a response shows is no privilege")
			auth.Allowed(caller, c.permission, c.scope)
			require.Equal(t, c.want, caller.Privilege())
		})
	}
}
