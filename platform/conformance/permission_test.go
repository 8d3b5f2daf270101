package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
)

// needs are the permissions of the network that an operation needs.
type needs struct {
	any  []auth.Permission // each of them suffices; none if only administrators may call the operation
	also []auth.Permission // in addition, such as those that the operation grants to others
}

func anyOf(permissions ...auth.Permission) needs         { return needs{any: permissions} }
func (n needs) and(permissions ...auth.Permission) needs { return needs{n.any, permissions} }

// needsOf are the needs of the operations and cases of authorizationRows that are refused to users without a role and that an
// administrator may call. A name of a service stands for those of its operations that have no row of their own.
var needsOf = map[string]needs{
	"AnalyticsService":                                  anyOf(auth.ManageCommunityStory),
	"AuditService":                                      anyOf(auth.ManageSecurity),
	"CategoryService/CreateCategory":                    anyOf(auth.CreateCommunityCategory),
	"CategoryService/DeleteCategory":                    anyOf(auth.DeleteCommunityCategory),
	"CategoryService/UpdateCategory":                    anyOf(auth.EditCommunityCategory),
	"ChannelService/CreateChannel broadcast":            anyOf(auth.ManageChannel),
	"ChannelService/DeleteChannel":                      anyOf(auth.CloseChannel),
	"ChannelService/MuteChannel":                        anyOf(auth.MuteChannel),
	"ChannelService/UpdateChannel":                      anyOf(auth.EditChannel),
	"ChannelUserService/AddChannelUserRoles":            anyOf(auth.AssignChannelUserRole),
	"ChannelUserService/AddChannelUsers":                anyOf(auth.AddChannelUser),
	"ChannelUserService/BanChannelUsers":                anyOf(auth.BanChannelUser),
	"ChannelUserService/MuteChannelUsers":               anyOf(auth.MuteChannelUser),
	"ChannelUserService/RemoveChannelUserRoles":         anyOf(auth.AssignChannelUserRole),
	"ChannelUserService/RemoveChannelUsers":             anyOf(auth.RemoveChannelUser),
	"ChannelUserService/UnbanChannelUsers":              anyOf(auth.BanChannelUser),
	"CommentService/ClearCommentFlags":                  anyOf(auth.ModeratePostAndComment),
	"CommentService/DeleteComment":                      anyOf(auth.DeleteCommunityComment),
	"CommentService/DeleteComment on a wall":            anyOf(auth.DeleteUserFeedComment),
	"CommentService/UpdateComment":                      anyOf(auth.EditCommunityComment),
	"CommentService/UpdateComment on a wall":            anyOf(auth.EditUserFeedComment),
	"CommunityService/DeleteCommunity":                  anyOf(auth.DeleteCommunity),
	"CommunityService/ListCommunities deleted":          anyOf(auth.ViewCommunity),
	"CommunityService/UpdateCommunity":                  anyOf(auth.EditCommunity),
	"CommunityService/UpdateCommunity official":         anyOf(auth.EditCommunity),
	"ErasureService":                                    anyOf(auth.ManageAdmin),
	"EventService/DeleteEvent":                          anyOf(auth.DeleteEvent),
	"EventService/UpdateEvent":                          anyOf(auth.ManageCommunityEvents),
	"ExportService":                                     anyOf(auth.ManageAdmin),
	"FeedService/ListCommunityFeed declined":            anyOf(auth.ModeratePostAndComment),
	"FileService":                                       anyOf(),
	"FlagService":                                       anyOf(auth.ViewModerationFeed),
	"FlagService/CountFlagItems of a community":         anyOf(auth.ViewModerationFeed, auth.ModeratePostAndComment),
	"FlagService/ListFlagItems of a community":          anyOf(auth.ViewModerationFeed, auth.ModeratePostAndComment),
	"InvitationService":                                 anyOf(auth.AddCommunityUser),
	"InvitationService/CountInvitations of a room":      anyOf(auth.ManageLiveStreaming),
	"InvitationService/CreateInvitations to a room":     anyOf(auth.ManageLiveStreaming),
	"InvitationService/ListInvitations of a room":       anyOf(auth.ManageLiveStreaming),
	"JoinRequestService":                                anyOf(auth.AddCommunityUser),
	"MarkerService":                                     anyOf(auth.ManageSetting),
	"MemberService/AddMemberRoles":                      anyOf(auth.AssignCommunityUserRole).and(auth.RemoveCommunityUser),
	"MemberService/AddMembers":                          anyOf(auth.AddCommunityUser),
	"MemberService/BanMembers":                          anyOf(auth.BanCommunityUser),
	"MemberService/RemoveMemberRoles":                   anyOf(auth.AssignCommunityUserRole).and(auth.RemoveCommunityUser),
	"MemberService/RemoveMembers":                       anyOf(auth.RemoveCommunityUser),
	"MemberService/UnbanMembers":                        anyOf(auth.BanCommunityUser),
	"MessageFeedService/CreateMessageFeed":              anyOf(auth.EditChannel),
	"ModerationListService/AddAllowRules":               anyOf(auth.ManageAllowList),
	"ModerationListService/AddBlockRules":               anyOf(auth.ManageBlockList),
	"ModerationListService/DeleteAllowRules":            anyOf(auth.ManageAllowList),
	"ModerationListService/DeleteBlockRules":            anyOf(auth.ManageBlockList),
	"ModerationListService/ListAllowRules":              anyOf(auth.ManageAllowList),
	"ModerationListService/ListBlockRules":              anyOf(auth.ManageBlockList),
	"ModerationListService/UpdateAllowRule":             anyOf(auth.ManageAllowList),
	"ModerationListService/UpdateBlockRule":             anyOf(auth.ManageBlockList),
	"MoveService":                                       anyOf(auth.ManageAdmin),
	"NetworkSettingService":                             anyOf(auth.ManageSetting),
	"PinService":                                        anyOf(auth.PinCommunityPost),
	"PinService/PinGlobalPost":                          anyOf(auth.CanManageGlobalPinnedPost),
	"PinService/UnpinAllGlobalPosts":                    anyOf(auth.CanManageGlobalPinnedPost),
	"PinService/UnpinGlobalPost":                        anyOf(auth.CanManageGlobalPinnedPost),
	"PollService":                                       anyOf(),
	"PostService":                                       anyOf(auth.ModeratePostAndComment),
	"PostService/DeletePost":                            anyOf(auth.DeleteCommunityPost),
	"PostService/DeletePost on a wall":                  anyOf(auth.DeleteUserFeedPost),
	"PostService/UpdatePost":                            anyOf(auth.EditCommunityPost),
	"PostService/UpdatePost on a wall":                  anyOf(auth.EditUserFeedPost),
	"PrehookService":                                    anyOf(auth.ManageSetting),
	"ProductService":                                    anyOf(auth.ManageSetting),
	"RoleService/CreateRole":                            anyOf(auth.CreateRole).and(auth.CreateCommunityCategory),
	"RoleService/DeleteRole":                            anyOf(auth.DeleteRole),
	"RoleService/UpdateRole":                            anyOf(auth.EditRole).and(auth.CreateCommunityCategory),
	"RoleService/UpdateRoles":                           anyOf(auth.EditRole).and(auth.CreateCommunityCategory),
	"RoomService":                                       anyOf(auth.ManageLiveStreaming),
	"RoomService/ListRooms deleted":                     anyOf(auth.ViewLiveStreaming),
	"SessionService":                                    anyOf(auth.EditUser),
	"StoryService":                                      anyOf(auth.ManageCommunityStory),
	"StoryService/ClearStoryFlags":                      anyOf(auth.ModerateStory, auth.ManageCommunityStory),
	"StoryService/ListStories ended":                    anyOf(auth.ViewStory),
	"UserService/BanUser":                               anyOf(auth.BanUser),
	"UserService/ClearUserFlags":                        anyOf(auth.ModerateUser),
	"UserService/UnbanUser":                             anyOf(auth.BanUser),
	"UserService/UpdateUser":                            anyOf(auth.EditUser),
	"UserService/UpdateUser roles":                      anyOf(auth.AssignUserRole).and(append(ofModerators(), auth.EditUser)...),
	"VideoStreamingService":                             anyOf(auth.ManageLiveStreaming),
	"VideoStreamingService/BanStreamViewers":            anyOf(auth.ManageLiveStreaming).and(auth.BanUser),
	"VideoStreamingService/ListVideoStreamings deleted": anyOf(auth.ViewLiveStreaming),
	"WebhookService":                                    anyOf(auth.ManageSetting),
}

// TestPermissions calls each operation that needs a permission as users with a role of the network: one that has only this permission,
// and one that has all others.
func TestPermissions(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	holders := map[string]*apptest.Client{}
	as := func(t *testing.T, r row, permissions []auth.Permission) int {
		t.Helper()
		slices.Sort(permissions)
		names := slices.Compact(permissions)
		key := fmt.Sprint(names)
		if holders[key] == nil {
			holders[key] = g.holder(t, names)
		}
		body := object{}
		if r.request != nil {
			body = r.request(t, g)
		}
		return g.call(t, holders[key], r, body)
	}
	unused := map[string]bool{}
	for name := range needsOf {
		unused[name] = true
	}
	for _, r := range authorizationRows() {
		if r.want[stranger] != 400300 || r.want[adminToken] != 0 {
			continue
		}
		name := strings.TrimSuffix(r.procedure+" "+r.name, " ")
		service, _, _ := strings.Cut(name, "/")
		key := name
		if _, found := needsOf[key]; !found {
			key = service
		}
		delete(unused, key)
		t.Run(name, func(t *testing.T) {
			needed, found := needsOf[key]
			require.True(t, found, "the operation has no row in needsOf")
			for _, permission := range needed.any {
				require.Zero(t, as(t, r, append(slices.Clone(needed.also), permission)), permission)
			}
			others := slices.DeleteFunc(auth.AllPermissions(), func(p auth.Permission) bool { return slices.Contains(needed.any, p) })
			require.Equal(t, 400300, as(t, r, others), "all other permissions")
		})
	}
	require.Empty(t, unused, "no operation has these needs")
}

// holder returns a new user whose only role of the network has the given permissions.
func (g *fixture) holder(t *testing.T, permissions []auth.Permission) *apptest.Client {
	t.Helper()
	admin, role := g.n.Admin(region.EU), apptest.UserID("role")
	admin.Do(t, http.MethodPost, rolesPath, object{"roleId": role, "permissions": permissions}).OK(t)
	user := g.user(t)
	admin.Do(t, http.MethodPut, "/api/v3/users", object{"userId": user.UserID, "roles": []string{role}}).OK(t)
	return user
}

// ofModerators returns the permissions of the role moderator, which only those can give to others who have all of them.
func ofModerators() []auth.Permission {
	role, _ := auth.RoleByID(auth.RoleModerator)
	return role.Permissions
}
