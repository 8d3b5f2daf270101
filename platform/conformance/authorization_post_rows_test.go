package conformance

import "testing"

// aPost builds a request for a new post.
func aPost(field string, private bool) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		id := g.post(t, map[bool]string{false: g.open, true: g.private}[private])
		if field == "postIds" {
			return object{field: []string{id}}
		}
		return object{field: id}
	}
}

func postRows() []row {
	create := func(private bool) func(*testing.T, *fixture) object {
		return func(_ *testing.T, g *fixture) object {
			id := map[bool]string{false: g.open, true: g.private}[private]
			return object{"targetType": "community", "targetId": id, "data": object{"text": "x"}}
		}
	}
	onWall := func(_ *testing.T, g *fixture) object {
		return object{"targetType": "user", "targetId": g.author.UserID, "data": object{"text": "x"}}
	}
	wallPost := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"postId": newWallPost(t, g.author)}
	}
	waiting := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"postId": g.post(t, g.community(t, object{"needApprovalOnPostCreation": true}))}
	}
	reviewing := func(_ *testing.T, g *fixture) object { return object{"targetId": g.open, "feedType": "reviewing"} }
	review := codesFor(400400, 400400, 0, 400400, 0) // other users do not see it before approval
	return []row{
		{procedure: "PostService/CreatePost", request: create(false), want: codesFor(400301, 0, 0, 400304, 400300)},
		{procedure: "PostService/CreatePost", name: "private", request: create(true), want: codesFor(400301, 0, 0, 400304, 400300)},
		{procedure: "PostService/CreatePost", name: "on a wall", request: onWall, want: usersOnly},
		{procedure: "PostService/GetPost", request: aPost("postId", false), want: everyone},
		{procedure: "PostService/GetPost", name: "private", request: aPost("postId", true), want: communityReaders},
		{procedure: "PostService/GetPost", name: "on a wall", request: wallPost, want: everyone},
		{procedure: "PostService/GetPost", name: "waiting", request: waiting, want: review},
		{procedure: "PostService/BatchGetPosts", request: aPost("postIds", true), want: everyone},
		{procedure: "PostService/ListPosts", request: aCommunity("targetId", false), want: everyone},
		{procedure: "PostService/ListPosts", name: "private", request: aCommunity("targetId", true), want: communityReaders},
		{procedure: "PostService/ListPosts", name: "waiting", request: reviewing, want: moderators},
		{procedure: "PostService/UpdatePost", request: changed(aPost("postId", false)), want: moderators},
		{
			procedure: "PostService/UpdatePost", name: "private", request: changed(aPost("postId", true)),
			want: codesFor(400301, 400300, 0, 400304, 0),
		},
		{procedure: "PostService/UpdatePost", name: "on a wall", request: changed(wallPost), want: adminsOnly},
		{procedure: "PostService/UpdatePost", name: "waiting", request: changed(waiting), want: review},
		{procedure: "PostService/DeletePost", request: aPost("postId", false), want: moderators},
		{procedure: "PostService/DeletePost", name: "on a wall", request: wallPost, want: adminsOnly},
		{procedure: "PostService/ListPendingEdits", request: aCommunity("communityId", false), want: moderators},
		{procedure: "PostService/ApprovePost", request: waiting, want: review},
		{procedure: "PostService/DeclinePost", request: waiting, want: review},
	}
}

func postFlagRows() []row {
	return []row{
		{procedure: "PostService/FlagPost", request: aPost("postId", false), want: notBanned},
		{procedure: "PostService/FlagPost", name: "private", request: aPost("postId", true), want: codesFor(400301, 0, 0, 400304, 400300)},
		{procedure: "PostService/UnflagPost", request: aPost("postId", false), want: usersOnly},
		{procedure: "PostService/ClearPostFlags", request: aPost("postId", false), want: moderators},
		{procedure: "PostService/IsPostFlaggedByMe", request: aPost("postId", false), want: everyone},
		{procedure: "PostService/IsPostFlaggedByMe", name: "private", request: aPost("postId", true), want: communityReaders},
	}
}
