package conformance

import "testing"

// aComment builds a request for a new comment.
func aComment(field string, private bool) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		id := g.comment(t, map[bool]string{false: g.open, true: g.private}[private])
		if field == "commentIds" {
			return object{field: []string{id}}
		}
		return object{field: id}
	}
}

func commentRows() []row {
	create := func(private bool) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			return with(aPost("referenceId", private)(t, g), object{"data": object{"text": "x"}})
		}
	}
	onWall := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"referenceId": newWallPost(t, g.author), "data": object{"text": "x"}}
	}
	wallComment := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"commentId": newComment(t, g.author, newWallPost(t, g.author))}
	}
	waiting := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"commentId": g.comment(t, g.community(t, object{"needApprovalOnCommentCreation": true}))}
	}
	review := codesFor(400400, 400400, 0, 400400, 0) // other users do not see it before approval
	return []row{
		{procedure: "CommentService/CreateComment", request: create(false), want: notBanned},
		{procedure: "CommentService/CreateComment", name: "private", request: create(true), want: codesFor(400301, 0, 0, 400304, 400300)},
		{procedure: "CommentService/CreateComment", name: "on a wall", request: onWall, want: usersOnly},
		{procedure: "CommentService/GetComment", request: aComment("commentId", false), want: everyone},
		{procedure: "CommentService/GetComment", name: "private", request: aComment("commentId", true), want: communityReaders},
		{procedure: "CommentService/BatchGetComments", request: aComment("commentIds", true), want: everyone},
		{procedure: "CommentService/ListComments", request: aPost("referenceId", false), want: everyone},
		{procedure: "CommentService/ListComments", name: "private", request: aPost("referenceId", true), want: communityReaders},
		{procedure: "CommentService/GetComment", name: "waiting", request: waiting, want: review},
		{procedure: "CommentService/UpdateComment", request: changed(aComment("commentId", false)), want: moderators},
		{
			procedure: "CommentService/UpdateComment", name: "private", request: changed(aComment("commentId", true)),
			want: codesFor(400301, 400300, 0, 400304, 0),
		},
		{procedure: "CommentService/UpdateComment", name: "on a wall", request: changed(wallComment), want: adminsOnly},
		{procedure: "CommentService/UpdateComment", name: "waiting", request: changed(waiting), want: review},
		{procedure: "CommentService/ApproveComment", request: waiting, want: review},
		{
			procedure: "CommentService/ApproveComment", name: "approved", request: aComment("commentId", false),
			want: codesFor(400300, 400300, 400400, 400300, 400400),
		},
		{procedure: "CommentService/DeclineComment", request: waiting, want: review},
		{procedure: "CommentService/DeleteComment", request: aComment("commentId", false), want: moderators},
		{procedure: "CommentService/DeleteComment", name: "on a wall", request: wallComment, want: adminsOnly},
	}
}

func commentFlagRows() []row {
	return []row{
		{procedure: "CommentService/FlagComment", request: aComment("commentId", false), want: notBanned},
		{
			procedure: "CommentService/FlagComment", name: "private", request: aComment("commentId", true),
			want: codesFor(400301, 0, 0, 400304, 400300),
		},
		{procedure: "CommentService/UnflagComment", request: aComment("commentId", false), want: usersOnly},
		{procedure: "CommentService/ClearCommentFlags", request: aComment("commentId", false), want: moderators},
		{procedure: "CommentService/IsCommentFlaggedByMe", request: aComment("commentId", false), want: everyone},
		{procedure: "CommentService/IsCommentFlaggedByMe", name: "private", request: aComment("commentId", true), want: communityReaders},
	}
}
