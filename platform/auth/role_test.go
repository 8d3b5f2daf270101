package auth_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
)

func TestBuiltinRoles(t *testing.T) {
	t.Parallel()
	var got []string
	for _, role := range auth.Builtin() {
		got = append(got, role.ID)
		require.NotEmpty(t, role.DisplayName)
		require.True(t, slices.IsSorted(role.Permissions), role.ID)
		require.Len(t, slices.Compact(slices.Clone(role.Permissions)), len(role.Permissions), role.ID)
		for _, p := range role.Permissions {
			require.True(t, p.Known(), "%s of %s", p, role.ID)
		}
		byID, ok := auth.RoleByID(role.ID)
		require.True(t, ok)
		require.Equal(t, role, byID)
	}
	require.Equal(t, []string{
		"global-admin", "super-moderator", "moderator", "community-moderator", "community-member",
		"channel-moderator", "channel-member",
	}, got)
	_, ok := auth.RoleByID("unknown")
	require.False(t, ok)
}

func TestRolesCannotBeChangedFromOutside(t *testing.T) {
	t.Parallel()
	auth.Builtin()[2].Permissions[0] = auth.ManageAdmin
	role, _ := auth.RoleByID(auth.RoleModerator)
	role.Permissions[0] = auth.ManageAdmin
	require.NotContains(t, auth.PermissionsOf([]string{auth.RoleModerator}), "MANAGE_ADMIN")
	fresh, _ := auth.RoleByID(auth.RoleModerator)
	require.NotContains(t, fresh.Permissions, auth.ManageAdmin)
}

func TestWhatRolesHold(t *testing.T) {
	t.Parallel()
	all := auth.AllPermissions()
	administration := []auth.Permission{
		auth.CreateRole, auth.EditRole, auth.DeleteRole, auth.AssignUserRole,
		auth.ManageAdmin, auth.ManageSetting, auth.ManageSecurity,
	}
	for _, tc := range []struct {
		role       string
		holds      []auth.Permission
		holdsNever []auth.Permission
	}{
		{auth.RoleGlobalAdmin, all, nil},
		{
			auth.RoleSuperModerator,
			without(all, append(administration, auth.CreateEvent, auth.CreateEventWithLivestream)...),
			administration,
		},
		{
			auth.RoleModerator,
			[]auth.Permission{
				auth.EditCommunityPost, auth.DeleteCommunityPost, auth.DeleteCommunityComment, auth.DeleteUserFeedPost,
				auth.BanCommunityUser, auth.AddCommunityUser, auth.ViewModerationFeed, auth.ModeratePostAndComment,
				auth.CreatePrivilegedPost, auth.DeleteMessage,
			},
			append([]auth.Permission{
				auth.EditCommunity, auth.DeleteCommunity, auth.BanUser, auth.EditUser, auth.ManageBlockList,
				auth.AssignCommunityUserRole, auth.CreateCommunityCategory, auth.ManageCommunity, auth.CloseChannel,
			}, administration...),
		},
		{
			auth.RoleCommunityModerator,
			[]auth.Permission{
				auth.EditCommunity, auth.DeleteCommunity, auth.AddCommunityUser, auth.EditCommunityUser,
				auth.RemoveCommunityUser, auth.MuteCommunityUser, auth.BanCommunityUser, auth.AssignCommunityUserRole,
				auth.EditCommunityPost, auth.DeleteCommunityPost, auth.EditCommunityComment, auth.DeleteCommunityComment,
				auth.ManageCommunityStory, auth.CreatePrivilegedPost, auth.PinCommunityPost, auth.ModeratePostAndComment,
			},
			append([]auth.Permission{
				auth.EditUser, auth.BanUser, auth.EditUserFeedPost, auth.DeleteUserFeedPost, auth.CreateCommunityCategory,
				auth.CanManageGlobalPinnedPost, auth.ViewModerationFeed, auth.EditChannel,
			}, administration...),
		},
		{auth.RoleCommunityMember, nil, all},
		{
			auth.RoleChannelModerator,
			[]auth.Permission{auth.MuteChannel, auth.BanChannelUser, auth.BanUserFromChannel, auth.DeleteMessage, auth.CloseChannel},
			append([]auth.Permission{auth.EditCommunity, auth.DeleteCommunityPost, auth.BanUser}, administration...),
		},
		{auth.RoleChannelMember, nil, all},
	} {
		t.Run(tc.role, func(t *testing.T) {
			role, ok := auth.RoleByID(tc.role)
			require.True(t, ok)
			require.Subset(t, role.Permissions, tc.holds)
			for _, p := range tc.holdsNever {
				require.NotContains(t, role.Permissions, p)
			}
		})
	}
}

func TestPermissionNames(t *testing.T) {
	t.Parallel()
	all := auth.AllPermissions()
	require.True(t, slices.IsSorted(all))
	for _, p := range all {
		require.Regexp(t, `^[A-Z]+(_[A-Z]+)*$`, string(p))
		require.True(t, p.Known())
	}
	require.False(t, auth.Permission("").Known())
	require.False(t, auth.Permission("edit_user").Known())
	var names []string
	for _, p := range all {
		names = append(names, string(p))
	}
	// The names that existing clients of the API use.
	require.Subset(t, names, strings.Fields(`EDIT_USER BAN_USER CREATE_ROLE EDIT_ROLE DELETE_ROLE ASSIGN_USER_ROLE
		EDIT_CHANNEL EDIT_CHANNEL_RATELIMIT MUTE_CHANNEL CLOSE_CHANNEL ADD_CHANNEL_USER EDIT_CHANNEL_USER
		REMOVE_CHANNEL_USER MUTE_CHANNEL_USER BAN_CHANNEL_USER EDIT_MESSAGE DELETE_MESSAGE EDIT_COMMUNITY
		DELETE_COMMUNITY ADD_COMMUNITY_USER EDIT_COMMUNITY_USER REMOVE_COMMUNITY_USER MUTE_COMMUNITY_USER
		BAN_COMMUNITY_USER EDIT_USER_FEED_POST DELETE_USER_FEED_POST EDIT_USER_FEED_COMMENT DELETE_USER_FEED_COMMENT
		EDIT_COMMUNITY_POST DELETE_COMMUNITY_POST EDIT_COMMUNITY_COMMENT DELETE_COMMUNITY_COMMENT
		CREATE_COMMUNITY_CATEGORY EDIT_COMMUNITY_CATEGORY DELETE_COMMUNITY_CATEGORY MANAGE_COMMUNITY_STORY
		CREATE_PRIVILEGED_POST CREATE_EVENT DELETE_EVENT CREATE_EVENT_WITH_LIVESTREAM MANAGE_COMMUNITY_EVENTS
		BAN_USER_FROM_CHANNEL MUTE_USER_INSIDE_CHANNEL ASSIGN_CHANNEL_USER_ROLE ASSIGN_COMMUNITY_USER_ROLE
		PIN_COMMUNITY_POST CAN_MANAGE_GLOBAL_PINNED_POST CAN_MANAGE_PINNED_POST MANAGE_ALLOW_LIST MANAGE_BLOCK_LIST
		VIEW_MODERATION_FEED MANAGE_ADMIN MANAGE_SETTING MANAGE_SECURITY`))
}

func TestPermissionsOf(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{}, auth.PermissionsOf(nil))
	require.Equal(t, []string{}, auth.PermissionsOf([]string{"unknown", auth.RoleCommunityMember}))
	both := auth.PermissionsOf([]string{auth.RoleCommunityModerator, auth.RoleModerator, auth.RoleModerator})
	require.True(t, slices.IsSorted(both))
	require.Len(t, slices.Compact(slices.Clone(both)), len(both))
	require.Subset(t, both, []string{"EDIT_COMMUNITY", "VIEW_MODERATION_FEED", "DELETE_COMMUNITY_POST"})
	require.Len(t, auth.PermissionsOf([]string{auth.RoleGlobalAdmin}), len(auth.AllPermissions()))
}

func without(all []auth.Permission, these ...auth.Permission) []auth.Permission {
	return slices.DeleteFunc(slices.Clone(all), func(p auth.Permission) bool { return slices.Contains(these, p) })
}
