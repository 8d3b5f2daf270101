package auth

import (
	"slices"
	"time"
)

// The ids of the built-in roles.
const (
	RoleGlobalAdmin        = "global-admin"
	RoleSuperModerator     = "super-moderator"
	RoleModerator          = "moderator"
	RoleCommunityModerator = "community-moderator"
	RoleCommunityMember    = "community-member"
	RoleChannelModerator   = "channel-moderator"
	RoleChannelMember      = "channel-member"
)

// RoleScope is where a role can be held. A role counts only there: global-admin as a role of a membership grants
// nothing.
type RoleScope int

// The scopes of roles.
const (
	NetworkRole   RoleScope = iota // held by a user in the whole network
	CommunityRole                  // held by a member, in one community
	ChannelRole                    // held by a member, in one channel or the channel of a community
)

// Role is a named list of permissions.
type Role struct {
	ID          string
	DisplayName string
	Scope       RoleScope
	Permissions []Permission // sorted
	// CreatedAt and UpdatedAt are zero for a built-in role.
	CreatedAt, UpdatedAt time.Time
}

// The groups of permissions from which roles are composed.
var (
	roleAdministration = []Permission{CreateRole, EditRole, DeleteRole, AssignUserRole}

	channelModeration = []Permission{
		EditChannel, MuteChannel, AddChannelUser, EditChannelUser, RemoveChannelUser,
		MuteChannelUser, MuteUserInsideChannel, BanChannelUser, BanUserFromChannel, AssignChannelUserRole,
		EditMessage, DeleteMessage,
	}

	memberModeration = []Permission{
		AddCommunityUser, EditCommunityUser, RemoveCommunityUser, MuteCommunityUser, BanCommunityUser,
	}

	contentModeration = []Permission{
		EditCommunityPost, DeleteCommunityPost, PinCommunityPost, EditCommunityComment, DeleteCommunityComment,
		ManageCommunityStory, CreatePrivilegedPost, DeleteEvent, ManageCommunityEvents, ModeratePostAndComment,
	}

	communityModeration = slices.Concat(memberModeration, contentModeration, []Permission{
		EditCommunity, AssignCommunityUserRole, CreateEvent, CreateEventWithLivestream,
	})

	categoryCuration = []Permission{CreateCommunityCategory, EditCommunityCategory, DeleteCommunityCategory}

	wallModeration = []Permission{EditUserFeedPost, DeleteUserFeedPost, EditUserFeedComment, DeleteUserFeedComment}

	consoleView = []Permission{
		ViewChannel, ViewStory, ViewPostAndComment, ViewLiveStreaming, ViewCommunity, ViewUser, ViewModerationFeed,
	}

	consoleModeration = []Permission{
		ModerateChannel, ModerateStory, ModeratePostAndComment, ModerateLiveStreaming, ModerateCommunity, ModerateUser,
	}

	consoleManagement = []Permission{
		ManageChannel, ManageStory, ManagePostAndComment, ManageLiveStreaming, ManageCommunity, ManageUser,
		CanManagePinnedPost, CanManageGlobalPinnedPost, ManageAllowList, ManageBlockList,
	}

	networkAdministration = []Permission{ManageAdmin, ManageSetting, ManageSecurity}
)

// CommunityPermissions returns the permissions that roles of a community can grant in it, sorted by name.
func CommunityPermissions() []Permission {
	return slices.Sorted(slices.Values(append(slices.Clone(communityModeration), DeleteCommunity)))
}

var builtin = []Role{
	// Every permission.
	newRole(RoleGlobalAdmin, "Global admin", NetworkRole, allPermissions),
	// Moderation of the whole network, including communities and bans, but not network roles, settings or
	// administrators: those would allow it to make itself an administrator.
	newRole(RoleSuperModerator, "Super moderator", NetworkRole,
		channelModeration, communityModeration, categoryCuration, wallModeration,
		consoleView, consoleModeration, consoleManagement,
		[]Permission{EditUser, BanUser, DeleteCommunity, CloseChannel, EditChannelRatelimit}),
	// Flags, content and members everywhere, but no changes to communities and no network bans.
	newRole(RoleModerator, "Moderator", NetworkRole,
		memberModeration, contentModeration, wallModeration, consoleView, consoleModeration,
		[]Permission{EditMessage, DeleteMessage, MuteChannel, MuteChannelUser, MuteUserInsideChannel, BanChannelUser, BanUserFromChannel}),
	// Runs one community. It includes DELETE_COMMUNITY because clients show the delete button to its holders, and a
	// community's creator has this role; DeleteCommunity refuses the other moderators.
	newRole(RoleCommunityModerator, "Community moderator", CommunityRole,
		communityModeration, []Permission{DeleteCommunity}),
	// Membership itself allows reading, posting and commenting.
	newRole(RoleCommunityMember, "Community member", CommunityRole),
	newRole(RoleChannelModerator, "Channel moderator", ChannelRole,
		channelModeration, []Permission{CloseChannel, EditChannelRatelimit}),
	newRole(RoleChannelMember, "Channel member", ChannelRole),
}

// builtinByID has the roles in builtin.
var builtinByID = func() map[string]Role {
	all := make(map[string]Role, len(builtin))
	for _, role := range builtin {
		all[role.ID] = role
	}
	return all
}()

func newRole(id, displayName string, scope RoleScope, groups ...[]Permission) Role {
	permissions := slices.Concat(groups...)
	slices.Sort(permissions)
	return Role{ID: id, DisplayName: displayName, Scope: scope, Permissions: slices.Compact(permissions)}
}

// Builtin returns a copy of the built-in roles, the most powerful first.
func Builtin() []Role {
	roles := slices.Clone(builtin)
	for i := range roles {
		roles[i].Permissions = slices.Clone(roles[i].Permissions)
	}
	return roles
}

// RoleByID returns the built-in role with id, and false if it does not exist.
func RoleByID(id string) (Role, bool) {
	role, ok := builtinByID[id]
	role.Permissions = slices.Clone(role.Permissions)
	return role, ok
}

// PermissionsOf returns the names of all permissions that roles grant, sorted and without duplicates. It never returns
// nil. Unknown roles grant nothing.
func PermissionsOf(roles []string) []string {
	names := []string{}
	for _, id := range roles {
		for _, p := range builtinByID[id].Permissions {
			names = append(names, string(p))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// inNetwork and inMembership report whether a role of scope counts for the whole network or in a membership.
func inNetwork(scope RoleScope) bool    { return scope == NetworkRole }
func inMembership(scope RoleScope) bool { return scope == CommunityRole || scope == ChannelRole }

// granted reports whether one of roles grants p and has a scope that counts accepts.
func granted(roles []string, counts func(RoleScope) bool, p Permission) bool {
	return slices.ContainsFunc(roles, func(id string) bool {
		role, ok := builtinByID[id]
		_, grants := slices.BinarySearch(role.Permissions, p)
		return ok && grants && counts(role.Scope)
	})
}
