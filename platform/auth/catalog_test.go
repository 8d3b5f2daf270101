package auth_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
)

func TestCatalog(t *testing.T) {
	t.Parallel()
	curator := auth.Role{ID: "curator", DisplayName: "Curator", Permissions: []auth.Permission{auth.CreateCommunityCategory, auth.BanUser}}
	made := &auth.Catalog{}
	made.Set([]auth.Role{{ID: "usher"}, curator})
	require.Equal(t, []auth.Role{curator, {ID: "usher"}}, made.Custom(), "sorted by id")
	for name, c := range map[string]*auth.Catalog{"nil": nil, "empty": {}, "made": made} {
		t.Run(name, func(t *testing.T) {
			builtin, ok := c.Find(auth.RoleModerator)
			require.True(t, ok)
			require.Equal(t, auth.RoleModerator, builtin.ID)
			require.Equal(t, auth.PermissionsOf([]string{auth.RoleModerator}), c.PermissionsOf([]string{auth.RoleModerator}))
			require.Equal(t, []string{}, c.PermissionsOf(nil))
			require.Empty(t, c.Granted([]string{auth.RoleModerator}), "built-in roles are not custom roles")
			found, ok := c.Find("curator")
			require.Equal(t, name == "made", ok)
			if ok {
				require.Equal(t, curator, found)
				require.Equal(t, []string{"BAN_USER", "CREATE_COMMUNITY_CATEGORY"}, c.PermissionsOf([]string{"curator", "curator", "unknown"}))
				require.Equal(t, curator.Permissions, c.Granted([]string{auth.RoleModerator, "curator"}))
			}
		})
	}
	made.Set(nil)
	_, ok := made.Find("curator")
	require.False(t, ok, "Set replaces all custom roles")
}

// TestGrantedCounts checks that a custom role's permissions count like those of a built-in network role.
func TestGrantedCounts(t *testing.T) {
	t.Parallel()
	user := func(granted ...auth.Permission) *auth.Caller {
		c := auth.CallerOf(auth.Claims{UserID: "020000000000000000000001", IssuedAt: time.Now()})
		require.NoError(t, auth.Confirm(auth.WithCaller(t.Context(), c), auth.Facts{Exists: true, Granted: granted}))
		return c
	}
	require.False(t, auth.Allowed(user(), auth.BanUser, auth.Scope{}))
	require.True(t, auth.Allowed(user(auth.BanUser), auth.BanUser, auth.Scope{}))
	require.False(t, auth.Allowed(user(auth.BanUser), auth.EditUser, auth.Scope{}))
	require.NoError(t, auth.RequireSee(user(auth.ViewPostAndComment), auth.Scope{}, false))
	require.Error(t, auth.RequireSee(user(auth.BanUser), auth.Scope{}, false))
	require.NoError(t, auth.RequireMember(user(auth.CreatePrivilegedPost), auth.Scope{}))
	require.Error(t, auth.RequireMember(user(), auth.Scope{}))
}
