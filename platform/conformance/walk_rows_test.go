package conformance

import (
	"slices"
	"testing"
)

// walkRows says for every operation who may call it. A new service adds its rows here.
func walkRows() []row {
	return slices.Concat(
		sessionRows(), userRows(), networkRows(), communityRows(), memberRows(), joinRequestRows(), postRows(), postFlagRows(),
		commentRows(), commentFlagRows(), feedRows(), reactionRows(), followRows(), pinRows(), moreFeedRows(), scheduleRows(), pollRows(), fileRows(), markerRows(), liveRows(), userFlagRows(), storyRows(), roleRows(), invitationRows(), moderationListRows(), channelRows(), messageRows(),
	)
}

// nothing is a request without fields.
func nothing(*testing.T, *grounds) object { return object{} }

// in makes a request about a community: the open one, or the private one.
func in(field string, private bool) func(*testing.T, *grounds) object {
	return func(_ *testing.T, g *grounds) object {
		if private {
			return object{field: g.private}
		}
		return object{field: g.open}
	}
}

// somebody makes a request about a user, new each time.
func somebody(field string, more ...object) func(*testing.T, *grounds) object {
	return func(t *testing.T, g *grounds) object {
		t.Helper()
		return with(object{field: g.user(t).UserID}, more...)
	}
}

func sessionRows() []row {
	newcomer := func(*testing.T, *grounds) object { return object{"userId": "newcomer", "deviceId": "d"} }
	token := func(*testing.T, *grounds) object { return object{"userId": "newcomer"} }
	ownOrAdmin := users(400300, 400300, 400300, 400300, 0)
	adminNames := users(0, 0, 0, 0, 500000) // an administrator has no session, and has to name somebody
	return []row{
		{procedure: "AuthenticationService/CreateToken", request: token, want: keyHolders()},
		{procedure: "SessionService/CreateSession", request: newcomer, want: keyHolders()},
		{procedure: "SessionService/VerifySession", request: nothing, want: everybody},
		{procedure: "SessionService/DeleteSession", request: nothing, want: adminNames, spends: true},
		{procedure: "SessionService/DeleteSession", name: "of somebody", request: somebody("userId"), want: ownOrAdmin},
		{procedure: "SessionService/RevokeUserSessions", request: somebody("userId"), want: ownOrAdmin},
	}
}

func userRows() []row {
	batch := func(_ *testing.T, g *grounds) object { return object{"userIds": []string{g.author.UserID}} }
	one := func(_ *testing.T, g *grounds) object { return object{"userId": g.author.UserID} }
	role := func(*testing.T, *grounds) object { return object{"roleId": "moderator"} }
	return []row{
		{procedure: "UserService/GetUser", request: one, want: everybody},
		{procedure: "UserService/BatchGetUsers", request: batch, want: everybody},
		{procedure: "UserService/ListUsers", request: nothing, want: everybody},
		{procedure: "UserService/UpdateUser", request: somebody("userId", object{"displayName": "x"}), want: adminsOnly},
		{procedure: "UserService/UpdateUser", name: "roles", request: somebody("userId", object{"roles": []string{"moderator"}}), want: adminsOnly},
		{procedure: "UserService/BanUser", request: somebody("userId"), want: adminsOnly},
		{procedure: "UserService/UnbanUser", request: somebody("userId"), want: adminsOnly},
		{procedure: "RoleService/ListRoles", request: nothing, want: everybody},
		{procedure: "RoleService/GetRole", request: role, want: everybody},
	}
}

func networkRows() []row {
	category := func(t *testing.T, g *grounds) object {
		t.Helper()
		return object{"categoryId": newCategory(t, g.walkers[adminToken], "category")}
	}
	moderation := func(*testing.T, *grounds) object { return object{"isReportEnabled": true} }
	settings := func(*testing.T, *grounds) object { return object{"flagLimit": 100} }
	named := func(*testing.T, *grounds) object { return object{"name": "category"} }
	return []row{
		{procedure: "NetworkSettingService/GetModeration", request: nothing, want: everybody},
		{procedure: "NetworkSettingService/UpdateModeration", request: moderation, want: adminsOnly},
		{procedure: "NetworkSettingService/GetNetworkSettings", request: nothing, want: adminsOnly},
		{procedure: "NetworkSettingService/UpdateNetworkSettings", request: settings, want: adminsOnly},
		{procedure: "CategoryService/CreateCategory", request: named, want: adminsOnly},
		{procedure: "CategoryService/UpdateCategory", request: category, want: adminsOnly},
		{procedure: "CategoryService/DeleteCategory", request: category, want: adminsOnly},
		{procedure: "CategoryService/GetCategory", request: category, want: everybody},
		{procedure: "CategoryService/BatchGetCategories", request: category, want: everybody},
		{procedure: "CategoryService/ListCategories", request: nothing, want: everybody},
	}
}

func communityRows() []row {
	named := func(*testing.T, *grounds) object { return object{"displayName": "x"} }
	batch := func(_ *testing.T, g *grounds) object { return object{"communityIds": []string{g.open, g.private}} }
	update := func(_ *testing.T, g *grounds) object { return object{"communityId": g.open, "description": "x"} }
	official := func(_ *testing.T, g *grounds) object { return object{"communityId": g.open, "isOfficial": true} }
	fresh := func(t *testing.T, g *grounds) object {
		t.Helper()
		return object{"communityId": g.community(t)}
	}
	deleted := func(*testing.T, *grounds) object { return object{"isDeleted": true} }
	return []row{
		{procedure: "CommunityService/CreateCommunity", request: named, want: usersOnly},
		{procedure: "CommunityService/GetCommunity", request: in("communityId", false), want: everybody},
		{procedure: "CommunityService/GetCommunity", name: "private", request: in("communityId", true), want: everybody},
		{procedure: "CommunityService/BatchGetCommunities", request: batch, want: everybody},
		{procedure: "CommunityService/ListCommunities", request: nothing, want: everybody},
		{procedure: "CommunityService/ListCommunities", name: "deleted", request: deleted, want: adminsOnly},
		{procedure: "CommunityService/UpdateCommunity", request: update, want: moderators},
		{procedure: "CommunityService/UpdateCommunity", name: "official", request: official, want: adminsOnly},
		{procedure: "CommunityService/DeleteCommunity", request: fresh, want: moderators},
	}
}

func memberRows() []row {
	about := func(fields func(g *grounds) object) func(*testing.T, *grounds) object {
		return func(t *testing.T, g *grounds) object {
			t.Helper()
			return with(object{"communityId": g.open, "userIds": []string{g.user(t).UserID}}, fields(g))
		}
	}
	plain := about(func(*grounds) object { return nil })
	role := about(func(g *grounds) object {
		return object{"roles": []string{"channel-moderator"}, "userIds": []string{g.author.UserID}}
	})
	fresh := func(fields ...object) func(*testing.T, *grounds) object {
		return func(t *testing.T, g *grounds) object {
			t.Helper()
			return object{"communityId": g.community(t, fields...)}
		}
	}
	return []row{
		{procedure: "MemberService/ListMembers", request: in("communityId", false), want: everybody},
		{procedure: "MemberService/ListMembers", name: "private", request: in("communityId", true), want: users(400301, 0, 0, 400304, 0)},
		{procedure: "MemberService/AddMembers", request: plain, want: moderators},
		{procedure: "MemberService/RemoveMembers", request: plain, want: moderators},
		{procedure: "MemberService/BanMembers", request: plain, want: moderators},
		{procedure: "MemberService/UnbanMembers", request: plain, want: moderators},
		{procedure: "MemberService/AddMemberRoles", request: role, want: moderators},
		{procedure: "MemberService/RemoveMemberRoles", request: role, want: moderators},
		{procedure: "MemberService/JoinCommunity", request: fresh(), want: users(0, 0, 0, 400304, 400300)},
		{
			procedure: "MemberService/JoinCommunity", name: "with approval", request: fresh(object{"requiresJoinApproval": true}),
			want: users(400300, 0, 0, 400304, 400300),
		},
		{
			procedure: "MemberService/JoinCommunity", name: "secret", request: fresh(object{"isPublic": false}),
			want: users(400400, 0, 0, 400400, 400300),
		},
		{procedure: "MemberService/LeaveCommunity", request: fresh(), want: users(0, 0, 0, 0, 400300)},
	}
}

func joinRequestRows() []row {
	fresh := func(t *testing.T, g *grounds) object {
		t.Helper()
		return object{"communityId": g.community(t, object{"requiresJoinApproval": true})}
	}
	asked := func(t *testing.T, g *grounds) object {
		t.Helper()
		id := g.community(t, object{"requiresJoinApproval": true})
		asker := g.user(t)
		ask(t, asker, id)
		return object{"communityId": id, "userId": asker.InternalID}
	}
	return []row{
		{procedure: "JoinRequestService/RequestJoin", request: fresh, want: users(0, 400315, 400315, 400304, 400300)},
		{procedure: "JoinRequestService/CancelJoin", request: fresh, want: users(400400, 400400, 400400, 400400, 400300)},
		{procedure: "JoinRequestService/GetMyJoinRequest", request: fresh, want: everybody},
		{procedure: "JoinRequestService/ListJoinRequests", request: fresh, want: moderators},
		{procedure: "JoinRequestService/ApproveJoin", request: asked, want: moderators},
		{procedure: "JoinRequestService/RejectJoin", request: asked, want: moderators},
	}
}

// readable are the verdicts on reading what stands in the private community.
var readable = users(400301, 0, 0, 400304, 0)

// aPost makes a request about a new post.
func aPost(field string, private bool) func(*testing.T, *grounds) object {
	return func(t *testing.T, g *grounds) object {
		t.Helper()
		id := g.post(t, map[bool]string{false: g.open, true: g.private}[private])
		if field == "postIds" {
			return object{field: []string{id}}
		}
		return object{field: id}
	}
}

func postRows() []row {
	create := func(private bool) func(*testing.T, *grounds) object {
		return func(_ *testing.T, g *grounds) object {
			id := map[bool]string{false: g.open, true: g.private}[private]
			return object{"targetType": "community", "targetId": id, "data": object{"text": "x"}}
		}
	}
	onWall := func(_ *testing.T, g *grounds) object {
		return object{"targetType": "user", "targetId": g.author.UserID, "data": object{"text": "x"}}
	}
	wallPost := func(t *testing.T, g *grounds) object {
		t.Helper()
		return object{"postId": newWallPost(t, g.author)}
	}
	waiting := func(t *testing.T, g *grounds) object {
		t.Helper()
		return object{"postId": g.post(t, g.community(t, object{"needApprovalOnPostCreation": true}))}
	}
	reviewing := func(_ *testing.T, g *grounds) object { return object{"targetId": g.open, "feedType": "reviewing"} }
	review := users(400400, 400400, 0, 400400, 0) // for others it is not there yet
	return []row{
		{procedure: "PostService/CreatePost", request: create(false), want: users(400301, 0, 0, 400304, 400300)},
		{procedure: "PostService/CreatePost", name: "private", request: create(true), want: users(400301, 0, 0, 400304, 400300)},
		{procedure: "PostService/CreatePost", name: "on a wall", request: onWall, want: usersOnly},
		{procedure: "PostService/GetPost", request: aPost("postId", false), want: everybody},
		{procedure: "PostService/GetPost", name: "private", request: aPost("postId", true), want: readable},
		{procedure: "PostService/GetPost", name: "on a wall", request: wallPost, want: everybody},
		{procedure: "PostService/GetPost", name: "waiting", request: waiting, want: review},
		{procedure: "PostService/BatchGetPosts", request: aPost("postIds", true), want: everybody},
		{procedure: "PostService/ListPosts", request: in("targetId", false), want: everybody},
		{procedure: "PostService/ListPosts", name: "private", request: in("targetId", true), want: readable},
		{procedure: "PostService/ListPosts", name: "waiting", request: reviewing, want: moderators},
		{procedure: "PostService/UpdatePost", request: changed(aPost("postId", false)), want: moderators},
		{procedure: "PostService/UpdatePost", name: "private", request: changed(aPost("postId", true)), want: users(400301, 400300, 0, 400304, 0)},
		{procedure: "PostService/UpdatePost", name: "on a wall", request: changed(wallPost), want: adminsOnly},
		{procedure: "PostService/UpdatePost", name: "waiting", request: changed(waiting), want: review},
		{procedure: "PostService/DeletePost", request: aPost("postId", false), want: moderators},
		{procedure: "PostService/DeletePost", name: "on a wall", request: wallPost, want: adminsOnly},
		{procedure: "PostService/ApprovePost", request: waiting, want: review},
		{procedure: "PostService/DeclinePost", request: waiting, want: review},
	}
}

func postFlagRows() []row {
	return []row{
		{procedure: "PostService/FlagPost", request: aPost("postId", false), want: unbanned},
		{procedure: "PostService/FlagPost", name: "private", request: aPost("postId", true), want: users(400301, 0, 0, 400304, 400300)},
		{procedure: "PostService/UnflagPost", request: aPost("postId", false), want: usersOnly},
		{procedure: "PostService/ClearPostFlags", request: aPost("postId", false), want: moderators},
		{procedure: "PostService/IsPostFlaggedByMe", request: aPost("postId", false), want: everybody},
		{procedure: "PostService/IsPostFlaggedByMe", name: "private", request: aPost("postId", true), want: readable},
	}
}

// changed gives a request about a post or comment another text.
func changed(request func(*testing.T, *grounds) object) func(*testing.T, *grounds) object {
	return func(t *testing.T, g *grounds) object {
		t.Helper()
		return with(request(t, g), object{"data": object{"text": "other words"}})
	}
}

// aComment makes a request about a new comment.
func aComment(field string, private bool) func(*testing.T, *grounds) object {
	return func(t *testing.T, g *grounds) object {
		t.Helper()
		id := g.comment(t, map[bool]string{false: g.open, true: g.private}[private])
		if field == "commentIds" {
			return object{field: []string{id}}
		}
		return object{field: id}
	}
}

func commentRows() []row {
	create := func(private bool) func(*testing.T, *grounds) object {
		return func(t *testing.T, g *grounds) object {
			t.Helper()
			return with(aPost("referenceId", private)(t, g), object{"data": object{"text": "x"}})
		}
	}
	onWall := func(t *testing.T, g *grounds) object {
		t.Helper()
		return object{"referenceId": newWallPost(t, g.author), "data": object{"text": "x"}}
	}
	wallComment := func(t *testing.T, g *grounds) object {
		t.Helper()
		return object{"commentId": newComment(t, g.author, newWallPost(t, g.author))}
	}
	waiting := func(t *testing.T, g *grounds) object {
		t.Helper()
		return object{"commentId": g.comment(t, g.community(t, object{"needApprovalOnCommentCreation": true}))}
	}
	review := users(400400, 400400, 0, 400400, 0) // for others it is not there yet
	return []row{
		{procedure: "CommentService/CreateComment", request: create(false), want: unbanned},
		{procedure: "CommentService/CreateComment", name: "private", request: create(true), want: users(400301, 0, 0, 400304, 400300)},
		{procedure: "CommentService/CreateComment", name: "on a wall", request: onWall, want: usersOnly},
		{procedure: "CommentService/GetComment", request: aComment("commentId", false), want: everybody},
		{procedure: "CommentService/GetComment", name: "private", request: aComment("commentId", true), want: readable},
		{procedure: "CommentService/BatchGetComments", request: aComment("commentIds", true), want: everybody},
		{procedure: "CommentService/ListComments", request: aPost("referenceId", false), want: everybody},
		{procedure: "CommentService/ListComments", name: "private", request: aPost("referenceId", true), want: readable},
		{procedure: "CommentService/GetComment", name: "waiting", request: waiting, want: review},
		{procedure: "CommentService/UpdateComment", request: changed(aComment("commentId", false)), want: moderators},
		{procedure: "CommentService/UpdateComment", name: "private", request: changed(aComment("commentId", true)), want: users(400301, 400300, 0, 400304, 0)},
		{procedure: "CommentService/UpdateComment", name: "on a wall", request: changed(wallComment), want: adminsOnly},
		{procedure: "CommentService/UpdateComment", name: "waiting", request: changed(waiting), want: review},
		{procedure: "CommentService/ApproveComment", request: waiting, want: review},
		{procedure: "CommentService/ApproveComment", name: "approved", request: aComment("commentId", false), want: users(400300, 400300, 400400, 400300, 400400)},
		{procedure: "CommentService/DeclineComment", request: waiting, want: review},
		{procedure: "CommentService/DeleteComment", request: aComment("commentId", false), want: moderators},
		{procedure: "CommentService/DeleteComment", name: "on a wall", request: wallComment, want: adminsOnly},
	}
}

func commentFlagRows() []row {
	return []row{
		{procedure: "CommentService/FlagComment", request: aComment("commentId", false), want: unbanned},
		{
			procedure: "CommentService/FlagComment", name: "private", request: aComment("commentId", true),
			want: users(400301, 0, 0, 400304, 400300),
		},
		{procedure: "CommentService/UnflagComment", request: aComment("commentId", false), want: usersOnly},
		{procedure: "CommentService/ClearCommentFlags", request: aComment("commentId", false), want: moderators},
		{procedure: "CommentService/IsCommentFlaggedByMe", request: aComment("commentId", false), want: everybody},
		{procedure: "CommentService/IsCommentFlaggedByMe", name: "private", request: aComment("commentId", true), want: readable},
	}
}

func feedRows() []row {
	wall := func(_ *testing.T, g *grounds) object { return object{"userId": g.author.UserID} }
	declined := func(_ *testing.T, g *grounds) object { return object{"communityId": g.open, "feedType": "declined"} }
	return []row{
		{procedure: "FeedService/ListUserFeed", request: wall, want: everybody},
		{procedure: "FeedService/ListCommunityFeed", request: in("communityId", false), want: everybody},
		{procedure: "FeedService/ListCommunityFeed", name: "private", request: in("communityId", true), want: readable},
		{procedure: "FeedService/ListCommunityFeed", name: "declined", request: declined, want: moderators},
	}
}

func reactionRows() []row {
	react := func(private bool) func(*testing.T, *grounds) object {
		return func(t *testing.T, g *grounds) object {
			t.Helper()
			return with(aPost("referenceId", private)(t, g), object{"referenceType": "post", "reactionName": "like"})
		}
	}
	list := func(private bool) func(*testing.T, *grounds) object {
		return func(t *testing.T, g *grounds) object {
			t.Helper()
			return with(aPost("referenceId", private)(t, g), object{"referenceType": "post"})
		}
	}
	return []row{
		{procedure: "ReactionService/AddReaction", request: react(false), want: unbanned},
		{procedure: "ReactionService/AddReaction", name: "private", request: react(true), want: users(400301, 0, 0, 400304, 400300)},
		{procedure: "ReactionService/RemoveReaction", request: react(false), want: users(400400, 400400, 400400, 400400, 400300)},
		{procedure: "ReactionService/ListReactions", request: list(false), want: everybody},
		{procedure: "ReactionService/ListReactions", name: "private", request: list(true), want: readable},
	}
}
