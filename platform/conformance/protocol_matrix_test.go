package conformance

import (
	"net/http"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// matrix returns operations of every service on a populated network: reads, and idempotent writes.
func matrix(t *testing.T) []operation {
	t.Helper()
	club := newClub(t, object{"categoryIds": []string{newCategory(t, admin(t), "category")}})
	post := newPost(t, club.member, club.id, object{
		"attachments": photos(t, 2), "tags": []string{"a"}, "metadata": object{"deep": []any{1.5, nil, "é"}},
	})
	comment := newComment(t, club.stranger, post, object{"attachments": photos(t, 1)})
	newComment(t, club.boss, post, object{"parentId": comment})
	flag(t, club.boss, "posts", post)
	flag(t, club.boss, "comments", comment)
	ops := entrance(t, club)
	ops = append(ops, settings(club)...)
	ops = append(ops, peopleOperations(club)...)
	ops = append(ops, contents(club, post)...)
	return append(ops, comments(club, post, comment)...)
}

// entrance returns the operations that take keys, and those on sessions.
func entrance(t *testing.T, club club) []operation {
	t.Helper()
	n := apptest.Shared(t)
	id := newUser(t, region.EU, "visitor").UserID
	return []operation{
		{
			name: "CreateToken", by: n.Anonymous(region.EU), key: "X-Server-Key", method: http.MethodPost, path: tokenPath,
			body: object{"userId": id}, bare: "token", passing: []string{"token"},
			rpc: clientCall(plazav1connect.NewAuthenticationServiceClient, plazav1connect.AuthenticationServiceClient.CreateToken,
				&plazav1.CreateTokenRequest{UserId: id}),
		},
		{
			name: "CreateSession", by: n.Anonymous(region.US), key: "X-Api-Key", method: http.MethodPost, path: "/api/v5/sessions",
			body: session(id), passing: []string{"access_token", "issued_at", "expires_at"},
			rpc: clientCall(plazav1connect.NewSessionServiceClient, plazav1connect.SessionServiceClient.CreateSession,
				&plazav1.CreateSessionRequest{UserId: id, DeviceId: "d"}),
		},
		{
			name: "VerifySession", by: club.boss, method: http.MethodGet, path: verifyPath,
			rpc: clientCall(plazav1connect.NewSessionServiceClient, plazav1connect.SessionServiceClient.VerifySession,
				&plazav1.VerifySessionRequest{}),
		},
	}
}

func settings(club club) []operation {
	return []operation{
		{
			name: "GetModeration", by: club.boss, method: http.MethodGet, path: moderationPath,
			rpc: clientCall(plazav1connect.NewNetworkSettingServiceClient, plazav1connect.NetworkSettingServiceClient.GetModeration,
				&plazav1.GetModerationRequest{}),
		},
		{
			name: "UpdateNetworkSettings", by: club.boss.Network.Admin(region.SG), method: http.MethodPut, path: settingsPath,
			body: object{"flagLimit": 100},
			rpc: clientCall(plazav1connect.NewNetworkSettingServiceClient, plazav1connect.NetworkSettingServiceClient.UpdateNetworkSettings,
				&plazav1.UpdateNetworkSettingsRequest{FlagLimit: proto.Int32(100)}),
		},
		{
			name: "ListRoles", by: club.boss, method: http.MethodGet, path: "/api/v3/roles?keyword=mod",
			rpc: clientCall(plazav1connect.NewRoleServiceClient, plazav1connect.RoleServiceClient.ListRoles,
				&plazav1.ListRolesRequest{Keyword: "mod"}),
		},
		{
			name: "GetRole", by: club.boss, method: http.MethodGet, path: "/api/v3/roles/moderator", bare: "roles",
			rpc: clientCall(plazav1connect.NewRoleServiceClient, plazav1connect.RoleServiceClient.GetRole,
				&plazav1.GetRoleRequest{RoleId: "moderator"}),
		},
		{
			name: "BatchGetCategories", by: club.boss, method: http.MethodGet, path: categoriesPath + "/list?categoryId=x",
			rpc: clientCall(plazav1connect.NewCategoryServiceClient, plazav1connect.CategoryServiceClient.BatchGetCategories,
				&plazav1.BatchGetCategoriesRequest{CategoryId: new("x")}),
		},
	}
}

func peopleOperations(club club) []operation {
	return []operation{
		{
			name: "GetUser", by: club.boss, method: http.MethodGet, path: "/api/v3/users/" + club.member.UserID,
			rpc: clientCall(plazav1connect.NewUserServiceClient, plazav1connect.UserServiceClient.GetUser,
				&plazav1.GetUserRequest{UserId: club.member.UserID}),
		},
		{
			name: "BatchGetUsers", by: club.boss, method: http.MethodGet,
			path: "/api/v3/users/list?userIds[]=" + club.member.UserID + "&userIds[]=" + club.boss.UserID,
			rpc: clientCall(plazav1connect.NewUserServiceClient, plazav1connect.UserServiceClient.BatchGetUsers,
				&plazav1.BatchGetUsersRequest{UserIds: []string{club.member.UserID, club.boss.UserID}}),
		},
		{
			name: "GetCommunity", by: club.member, method: http.MethodGet, path: communitiesPath + "/" + club.id,
			rpc: clientCall(plazav1connect.NewCommunityServiceClient, plazav1connect.CommunityServiceClient.GetCommunity,
				&plazav1.GetCommunityRequest{CommunityId: club.id}),
		},
		{
			name: "JoinCommunity", by: club.member, method: http.MethodPost, path: communitiesPath + "/" + club.id + "/join",
			rpc: clientCall(plazav1connect.NewMemberServiceClient, plazav1connect.MemberServiceClient.JoinCommunity,
				&plazav1.JoinCommunityRequest{CommunityId: club.id}),
		},
		{
			name: "ListMembers", by: club.member, method: http.MethodGet,
			path: membersPath(club.id) + "?memberships[]=member&memberships[]=banned&options[limit]=2&sortBy=firstCreated",
			rpc: clientCall(plazav1connect.NewMemberServiceClient, plazav1connect.MemberServiceClient.ListMembers, &plazav1.ListMembersRequest{
				CommunityId: club.id, Memberships: []string{"member", "banned"}, SortBy: "firstCreated",
				Options: &plazav1.PageOptions{Limit: proto.Int32(2)},
			}),
		},
		{
			name: "GetMyJoinRequest", by: club.member, method: http.MethodGet, path: joinPath(club.id) + "/me",
			rpc: clientCall(plazav1connect.NewJoinRequestServiceClient, plazav1connect.JoinRequestServiceClient.GetMyJoinRequest,
				&plazav1.GetMyJoinRequestRequest{CommunityId: club.id}),
		},
	}
}

func contents(club club, post string) []operation {
	return []operation{
		{
			name: "GetPost", by: club.stranger, method: http.MethodGet, path: "/api/v3/posts/" + post,
			rpc: clientCall(plazav1connect.NewPostServiceClient, plazav1connect.PostServiceClient.GetPost, &plazav1.GetPostRequest{PostId: post}),
		},
		{
			name: "ListPosts", by: club.boss, method: http.MethodGet,
			path: "/api/v5/posts?targetId=" + club.id + "&targetType=community&hasFlag=true&options[limit]=1",
			rpc: clientCall(plazav1connect.NewPostServiceClient, plazav1connect.PostServiceClient.ListPosts, &plazav1.ListPostsRequest{
				TargetId: club.id, TargetType: "community", HasFlag: new(true), Options: &plazav1.PageOptions{Limit: proto.Int32(1)},
			}),
		},
		{
			name: "FlagPost", by: club.boss, method: http.MethodPost, path: "/api/v3/posts/" + post + "/flag", body: object{"reason": "Others"},
			rpc: clientCall(plazav1connect.NewPostServiceClient, plazav1connect.PostServiceClient.FlagPost,
				&plazav1.FlagPostRequest{PostId: post, Reason: "Others"}),
		},
		{
			name: "ListUserFeed", by: club.boss, method: http.MethodGet, path: "/api/v3/user-feeds/" + club.boss.UserID,
			rpc: clientCall(plazav1connect.NewFeedServiceClient,
				plazav1connect.FeedServiceClient.ListUserFeed, //nolint:staticcheck // deprecated for clients, but part of the contract
				&plazav1.ListUserFeedRequest{UserId: club.boss.UserID}),
		},
		{
			name: "ListCommunityFeed", by: club.boss, method: http.MethodGet, path: "/api/v3/community-feeds/" + club.id + "?sortBy=firstUpdated",
			rpc: clientCall(plazav1connect.NewFeedServiceClient, plazav1connect.FeedServiceClient.ListCommunityFeed,
				&plazav1.ListCommunityFeedRequest{CommunityId: club.id, SortBy: "firstUpdated"}),
		},
		{
			name: "ListReactions", by: club.boss, method: http.MethodGet, path: "/api/v3/reactions?referenceType=post&referenceId=" + post,
			rpc: clientCall(plazav1connect.NewReactionServiceClient, plazav1connect.ReactionServiceClient.ListReactions,
				&plazav1.ListReactionsRequest{ReferenceType: "post", ReferenceId: post}),
		},
		{
			name: "UpdateModeration", by: club.boss.Network.Admin(region.EU), method: http.MethodPut, path: moderationPath,
			body: object{"isReportEnabled": true},
			rpc: clientCall(plazav1connect.NewNetworkSettingServiceClient, plazav1connect.NetworkSettingServiceClient.UpdateModeration,
				&plazav1.UpdateModerationRequest{IsReportEnabled: new(true)}),
		},
	}
}

func comments(club club, post, comment string) []operation {
	data := &structpb.Struct{Fields: map[string]*structpb.Value{"text": structpb.NewStringValue("é")}}
	return []operation{
		{
			name: "CreateComment", by: club.stranger, method: http.MethodPost, path: commentsPath,
			body: object{"referenceId": post, "data": object{"text": "é"}}, passing: []string{"comments"},
			rpc: clientCall(plazav1connect.NewCommentServiceClient, plazav1connect.CommentServiceClient.CreateComment,
				&plazav1.CreateCommentRequest{ReferenceId: post, Data: data}),
		},
		{
			name: "GetComment", by: club.stranger, method: http.MethodGet, path: commentsPath + "/" + comment,
			rpc: clientCall(plazav1connect.NewCommentServiceClient, plazav1connect.CommentServiceClient.GetComment,
				&plazav1.GetCommentRequest{CommentId: comment}),
		},
		{
			name: "ListComments", by: club.boss, method: http.MethodGet,
			path: commentsPath + "?referenceId=" + post + "&filterByParentId=false&dataTypes[values][0]=image&dataTypes[matchType]=any",
			rpc: clientCall(plazav1connect.NewCommentServiceClient, plazav1connect.CommentServiceClient.ListComments, &plazav1.ListCommentsRequest{
				ReferenceId: post, FilterByParentId: new(false),
				DataTypes: &plazav1.CommentDataTypes{Values: []string{"image"}, MatchType: "any"},
			}),
		},
		{
			name: "UnflagComment", by: club.stranger, method: http.MethodDelete, path: commentsPath + "/" + comment + "/unflag",
			rpc: clientCall(plazav1connect.NewCommentServiceClient, plazav1connect.CommentServiceClient.UnflagComment,
				&plazav1.UnflagCommentRequest{CommentId: comment}),
		},
		{
			name: "IsCommentFlaggedByMe", by: club.boss, method: http.MethodGet, path: commentsPath + "/" + comment + "/isflagbyme",
			rpc: clientCall(plazav1connect.NewCommentServiceClient, plazav1connect.CommentServiceClient.IsCommentFlaggedByMe,
				&plazav1.IsCommentFlaggedByMeRequest{CommentId: comment}),
		},
	}
}
