package auth

import "slices"

// Permission is the name of a permission, as clients of the API know it.
type Permission string

// Permissions on users and roles.
const (
	EditUser       Permission = "EDIT_USER"
	BanUser        Permission = "BAN_USER"
	CreateRole     Permission = "CREATE_ROLE"
	EditRole       Permission = "EDIT_ROLE"
	DeleteRole     Permission = "DELETE_ROLE"
	AssignUserRole Permission = "ASSIGN_USER_ROLE"
)

// Permissions on channels and messages. Older and newer clients spell two of them differently; roles grant both
// spellings.
const (
	EditChannel           Permission = "EDIT_CHANNEL"
	EditChannelRatelimit  Permission = "EDIT_CHANNEL_RATELIMIT"
	MuteChannel           Permission = "MUTE_CHANNEL"
	CloseChannel          Permission = "CLOSE_CHANNEL"
	AddChannelUser        Permission = "ADD_CHANNEL_USER"
	EditChannelUser       Permission = "EDIT_CHANNEL_USER"
	RemoveChannelUser     Permission = "REMOVE_CHANNEL_USER"
	MuteChannelUser       Permission = "MUTE_CHANNEL_USER"
	MuteUserInsideChannel Permission = "MUTE_USER_INSIDE_CHANNEL"
	BanChannelUser        Permission = "BAN_CHANNEL_USER"
	BanUserFromChannel    Permission = "BAN_USER_FROM_CHANNEL"
	AssignChannelUserRole Permission = "ASSIGN_CHANNEL_USER_ROLE"
	EditMessage           Permission = "EDIT_MESSAGE"
	DeleteMessage         Permission = "DELETE_MESSAGE"
)

// Permissions on communities, their members and their content.
const (
	EditCommunity             Permission = "EDIT_COMMUNITY"
	DeleteCommunity           Permission = "DELETE_COMMUNITY"
	AddCommunityUser          Permission = "ADD_COMMUNITY_USER"
	EditCommunityUser         Permission = "EDIT_COMMUNITY_USER"
	RemoveCommunityUser       Permission = "REMOVE_COMMUNITY_USER"
	MuteCommunityUser         Permission = "MUTE_COMMUNITY_USER"
	BanCommunityUser          Permission = "BAN_COMMUNITY_USER"
	AssignCommunityUserRole   Permission = "ASSIGN_COMMUNITY_USER_ROLE"
	EditCommunityPost         Permission = "EDIT_COMMUNITY_POST"
	DeleteCommunityPost       Permission = "DELETE_COMMUNITY_POST"
	PinCommunityPost          Permission = "PIN_COMMUNITY_POST"
	EditCommunityComment      Permission = "EDIT_COMMUNITY_COMMENT"
	DeleteCommunityComment    Permission = "DELETE_COMMUNITY_COMMENT"
	CreateCommunityCategory   Permission = "CREATE_COMMUNITY_CATEGORY"
	EditCommunityCategory     Permission = "EDIT_COMMUNITY_CATEGORY"
	DeleteCommunityCategory   Permission = "DELETE_COMMUNITY_CATEGORY"
	ManageCommunityStory      Permission = "MANAGE_COMMUNITY_STORY"
	CreatePrivilegedPost      Permission = "CREATE_PRIVILEGED_POST"
	CreateEvent               Permission = "CREATE_EVENT"
	DeleteEvent               Permission = "DELETE_EVENT"
	CreateEventWithLivestream Permission = "CREATE_EVENT_WITH_LIVESTREAM"
	ManageCommunityEvents     Permission = "MANAGE_COMMUNITY_EVENTS"
)

// Permissions on the content of users' feeds.
const (
	EditUserFeedPost      Permission = "EDIT_USER_FEED_POST"
	DeleteUserFeedPost    Permission = "DELETE_USER_FEED_POST"
	EditUserFeedComment   Permission = "EDIT_USER_FEED_COMMENT"
	DeleteUserFeedComment Permission = "DELETE_USER_FEED_COMMENT"
)

// Permissions of console users, who run the network. VIEW shows content restricted to members; MODERATE hides content,
// clears flags and reviews; MANAGE edits and deletes.
const (
	ViewChannel               Permission = "VIEW_CHANNEL"
	ManageChannel             Permission = "MANAGE_CHANNEL"
	ModerateChannel           Permission = "MODERATE_CHANNEL"
	ViewStory                 Permission = "VIEW_STORY"
	ManageStory               Permission = "MANAGE_STORY"
	ModerateStory             Permission = "MODERATE_STORY"
	ViewPostAndComment        Permission = "VIEW_POST_AND_COMMENT"
	ManagePostAndComment      Permission = "MANAGE_POST_AND_COMMENT"
	ModeratePostAndComment    Permission = "MODERATE_POST_AND_COMMENT"
	ViewLiveStreaming         Permission = "VIEW_LIVE_STREAMING"
	ManageLiveStreaming       Permission = "MANAGE_LIVE_STREAMING"
	ModerateLiveStreaming     Permission = "MODERATE_LIVE_STREAMING"
	ViewCommunity             Permission = "VIEW_COMMUNITY"
	ManageCommunity           Permission = "MANAGE_COMMUNITY"
	ModerateCommunity         Permission = "MODERATE_COMMUNITY"
	ViewUser                  Permission = "VIEW_USER"
	ManageUser                Permission = "MANAGE_USER"
	ModerateUser              Permission = "MODERATE_USER"
	CanManageGlobalPinnedPost Permission = "CAN_MANAGE_GLOBAL_PINNED_POST"
	CanManagePinnedPost       Permission = "CAN_MANAGE_PINNED_POST"
	ManageAllowList           Permission = "MANAGE_ALLOW_LIST"
	ManageBlockList           Permission = "MANAGE_BLOCK_LIST"
	ViewModerationFeed        Permission = "VIEW_MODERATION_FEED"
	ManageAdmin               Permission = "MANAGE_ADMIN"
	ManageSetting             Permission = "MANAGE_SETTING"
	ManageSecurity            Permission = "MANAGE_SECURITY"
)

var allPermissions = slices.Concat(
	[]Permission{EditUser, BanUser},
	roleAdministration,
	channelModeration,
	[]Permission{EditChannelRatelimit, CloseChannel},
	[]Permission{DeleteCommunity},
	communityModeration,
	categoryCuration,
	wallModeration,
	consoleView,
	consoleModeration,
	consoleManagement,
	networkAdministration,
)

var knownPermissions = setOf(allPermissions)

// Known reports whether p is a permission of this network.
func (p Permission) Known() bool { return knownPermissions[p] }

func setOf(permissions []Permission) map[Permission]bool {
	set := make(map[Permission]bool, len(permissions))
	for _, p := range permissions {
		set[p] = true
	}
	return set
}

// AllPermissions returns all permissions, sorted by name.
func AllPermissions() []Permission {
	all := slices.Clone(allPermissions)
	slices.Sort(all)
	return slices.Compact(all)
}
