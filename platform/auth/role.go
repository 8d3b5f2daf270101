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

// RoleScope says where a role can be held. A role counts only there: naming global-admin in a membership gives nothing.
type RoleScope int

// The scopes of roles.
const (
	NetworkRole   RoleScope = iota // held by a user, everywhere
	CommunityRole                  // held by a member, in one community
	ChannelRole                    // held by a member, in one channel or in the channel of a community
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

// The groups of permissions that roles are made of.
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

var builtin = []Role{
	// Everything there is.
	newRole(RoleGlobalAdmin, "Global admin", NetworkRole, allPermissions),
	// Everything that moderating the whole network takes, communities and bans included; not who holds which network
	// role, not the settings and not the administrators, or it could make itself one.
	newRole(RoleSuperModerator, "Super moderator", NetworkRole,
		channelModeration, communityModeration, categoryCuration, wallModeration,
		consoleView, consoleModeration, consoleManagement,
		[]Permission{EditUser, BanUser, DeleteCommunity, CloseChannel, EditChannelRatelimit}),
	// Flags, content and members anywhere; communities stay as their owners made them, and nobody is banned from the
	// whole network.
	newRole(RoleModerator, "Moderator", NetworkRole,
		memberModeration, contentModeration, wallModeration, consoleView, consoleModeration,
		[]Permission{EditMessage, DeleteMessage, MuteChannel, MuteChannelUser, MuteUserInsideChannel, BanChannelUser, BanUserFromChannel}),
	// Runs one community. Closing it is included because clients show that button to whoever holds DELETE_COMMUNITY,
	// and a creator holds what this role holds.
	newRole(RoleCommunityModerator, "Community moderator", CommunityRole,
		communityModeration, []Permission{DeleteCommunity}),
	// Membership itself is what lets a member read, post and comment.
	newRole(RoleCommunityMember, "Community member", CommunityRole),
	newRole(RoleChannelModerator, "Channel moderator", ChannelRole,
		channelModeration, []Permission{CloseChannel, EditChannelRatelimit}),
	newRole(RoleChannelMember, "Channel member", ChannelRole),
}

type grants struct {
	scope       RoleScope
	permissions map[Permission]bool
}

var grantsOf = func() map[string]grants {
	all := make(map[string]grants, len(builtin))
	for _, role := range builtin {
		all[role.ID] = grants{scope: role.Scope, permissions: setOf(role.Permissions)}
	}
	return all
}()

func newRole(id, displayName string, scope RoleScope, groups ...[]Permission) Role {
	permissions := slices.Concat(groups...)
	slices.Sort(permissions)
	return Role{ID: id, DisplayName: displayName, Scope: scope, Permissions: slices.Compact(permissions)}
}

// Builtin returns the built-in roles, the mightiest first. The result is the caller's to keep.
func Builtin() []Role {
	roles := slices.Clone(builtin)
	for i := range roles {
		roles[i].Permissions = slices.Clone(roles[i].Permissions)
	}
	return roles
}

// RoleByID returns the built-in role with id, and false where there is none.
func RoleByID(id string) (Role, bool) {
	for _, role := range builtin {
		if role.ID == id {
			role.Permissions = slices.Clone(role.Permissions)
			return role, true
		}
	}
	return Role{}, false
}

// PermissionsOf returns the names of all permissions that the roles list, sorted, each once; never nil. Unknown roles
// list nothing.
func PermissionsOf(roles []string) []string {
	names := []string{}
	for _, id := range roles {
		for p := range grantsOf[id].permissions {
			names = append(names, string(p))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// inNetwork and inMembership tell which roles count where.
func inNetwork(scope RoleScope) bool    { return scope == NetworkRole }
func inMembership(scope RoleScope) bool { return scope == CommunityRole || scope == ChannelRole }

// granted reports whether one of the roles, held where counts accepts its scope, grants p.
func granted(roles []string, counts func(RoleScope) bool, p Permission) bool {
	for _, id := range roles {
		if g, ok := grantsOf[id]; ok && counts(g.scope) && g.permissions[p] {
			return true
		}
	}
	return false
}
