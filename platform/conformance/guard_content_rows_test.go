package conformance

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/store/content"
)

// Changes that several rows share.
var (
	deletesPost      = calls("PostService/DeletePost", "postId")
	deletesReference = calls("PostService/DeletePost", "postId=referenceId")
	deletesComment   = calls("CommentService/DeleteComment", "commentId")
	deletesStory     = calls("StoryService/DeleteStory", "storyId")
	deletesMessage   = calls("MessageService/DeleteMessage", "messageId")
	deletesCommunity = calls("CommunityService/DeleteCommunity", "communityId")
	deletesTarget    = calls("CommunityService/DeleteCommunity", "communityId=targetId")
)

// otherWords is a change of the text of a post, comment or message.
var otherWords = object{"data": object{"text": "words of the change"}}

// newTarget builds a request for a new post or story in a new community.
func newTarget(more object) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		return with(object{"targetType": "community", "targetId": g.community(t)}, more)
	}
}

// editedPost builds a request for a published post of the author in a community that reviews posts; it has a pending edit if pending
// is true.
func editedPost(pending bool) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		post := object{"postId": g.post(t, g.community(t, object{"needApprovalOnPostCreation": true}))}
		calls("PostService/ApprovePost", "postId")(t, g, "", post)
		if pending {
			callsAs(theAuthor, "PostService/UpdatePost", object{"data": object{"text": "an edit"}}, "postId")(t, g, "", post)
		}
		return post
	}
}

func postGuardRows() []guardRow {
	const guard = "service/post."
	text := object{"data": object{"text": "x"}}
	edit := func(t *testing.T, g *fixture) object { t.Helper(); return with(editedPost(false)(t, g), text) }
	scheduled := func(t *testing.T, g *fixture) object {
		t.Helper()
		return scheduling(timeIn(time.Hour), g.community(t), "later")
	}
	deletesTargetOfData := func(t *testing.T, g *fixture, _ string, request object) {
		t.Helper()
		deletesTarget(t, g, "", request["postData"].(object))
	}
	return []guardRow{
		{
			condition: "service/internal/posting.InsertPosts GuardTarget", procedure: "PostService/CreatePost", by: member,
			request: newTarget(text), change: deletesTarget, want: 400400,
		},
		{condition: guard + "DeletePost GuardPost", procedure: "PostService/DeletePost", by: moderator, change: deletesPost, want: 400400},
		{condition: guard + "changeFlags GuardPost", procedure: "PostService/FlagPost", by: member, change: deletesPost, want: 400400},
		{
			condition: guard + "tryReview GuardPost", procedure: "PostService/ApprovePost", by: moderator,
			change: calls("PostService/DeclinePost", "postId"), want: 400400,
		},
		{
			condition: guard + "edit GuardPostUnchanged", procedure: "PostService/UpdatePost", by: theAuthor,
			request: edit, change: deletesPost, want: 400400,
		},
		{condition: guard + "edit GuardPostUnchanged 2", procedure: "PostService/UpdatePost", by: moderator, change: deletesPost, want: 400400},
		{
			condition: guard + "settleEdit GuardPostUnchanged", procedure: "PostService/ApprovePost", by: theBoss,
			request: editedPost(true), change: deletesPost, want: 400400,
		},
		{
			condition: guard + "settleEdit GuardPendingEdit", procedure: "PostService/ApprovePost", by: theBoss, request: editedPost(true),
			change: callsAs(theAuthor, "PostService/UpdatePost", otherWords, "postId"),
		},
		{
			condition: "service/scheduledpost.SchedulePost GuardTarget", procedure: "ScheduledPostService/SchedulePost", by: member,
			request: scheduled,
			change:  deletesTargetOfData, want: 400400,
		},
		{
			condition: "store/content.UpdateScheduledPost sqlScheduledGuard", procedure: "ScheduledPostService/UpdateScheduledPost", by: theAuthor,
			change: calls("ScheduledPostService/CancelScheduledPost", "id"), want: 400000,
		},
		{
			condition: "store/content.DeleteScheduledPost sqlScheduledGuard", procedure: "ScheduledPostService/CancelScheduledPost", by: theAuthor,
			change: again(adminToken), want: 400000,
		},
	}
}

// editedComment is editedPost for a comment.
func editedComment(pending bool) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		comment := object{"commentId": g.comment(t, g.community(t, object{"needApprovalOnCommentCreation": true}))}
		calls("CommentService/ApproveComment", "commentId")(t, g, "", comment)
		if pending {
			callsAs(theAuthor, "CommentService/UpdateComment", object{"data": object{"text": "an edit"}}, "commentId")(t, g, "", comment)
		}
		return comment
	}
}

func commentGuardRows() []guardRow {
	const guard = "service/comment."
	reply := func(t *testing.T, g *fixture) object {
		t.Helper()
		post := g.post(t, g.open)
		return object{"referenceId": post, "parentId": newComment(t, g.author, post), "data": object{"text": "x"}}
	}
	waiting := func(t *testing.T, g *fixture) object {
		t.Helper()
		post := g.post(t, g.community(t, object{"needApprovalOnCommentCreation": true}))
		return object{"referenceId": post, "commentId": newComment(t, g.author, post)}
	}
	answer := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"referenceId": g.post(t, g.community(t, object{"needApprovalOnCommentCreation": true})), "data": object{"text": "x"}}
	}
	approve := func(t *testing.T, g *fixture) object {
		t.Helper()
		r := waiting(t, g)
		g.kept = r
		return object{"commentId": r["commentId"]}
	}
	deletesItsPost := func(t *testing.T, g *fixture, _ string, _ object) {
		t.Helper()
		deletesReference(t, g, "", g.kept)
	}
	return []guardRow{
		{condition: guard + "CreateComment Guard", procedure: "CommentService/CreateComment", by: member, change: deletesReference, want: 400400},
		{
			condition: "service/internal/visibility.Guard GuardLiveStory", procedure: "CommentService/CreateComment", by: member, name: "story",
			change: calls("StoryService/DeleteStory", "storyId=referenceId"), want: 400400,
		},
		{
			condition: guard + "CreateComment GuardComment", procedure: "CommentService/CreateComment", by: member, request: reply,
			change: calls("CommentService/DeleteComment", "commentId=parentId"), want: 400400,
		},
		{
			condition: guard + "CreateComment GuardUnapprovedComments", procedure: "CommentService/CreateComment", by: theAuthor, request: answer,
			want: 400300,
			change: func(t *testing.T, g *fixture, _ string, r object) {
				t.Helper()
				pending := newComment(t, g.author, r["referenceId"].(string))
				copyRowTimes(t, connectTo(t, g.n), content.MaxUnapprovedComments-1, "comments", "id = '"+pending+"'",
					map[string]string{"id": copyID("id")}, nil)
			},
		},
		{
			condition: guard + "changeFlags GuardComment", procedure: "CommentService/FlagComment", by: member, change: deletesComment,
			want: 400400,
		},
		{
			condition: guard + "tryReview Guard", procedure: "CommentService/ApproveComment", by: theBoss,
			request: approve, change: deletesItsPost, want: 400400,
		},
		{
			condition: guard + "tryReview GuardCommentStatus", procedure: "CommentService/ApproveComment", by: moderator,
			change: calls("CommentService/DeclineComment", "commentId"), want: 400400,
		},
		{
			condition: guard + "settleEdit GuardCommentUnchanged", procedure: "CommentService/ApproveComment", by: theBoss,
			request: editedComment(true),
			change:  deletesComment, want: 400400,
		},
		{
			condition: guard + "settleEdit GuardPendingEdit", procedure: "CommentService/ApproveComment", by: theBoss, request: editedComment(true),
			change: callsAs(theAuthor, "CommentService/UpdateComment", otherWords, "commentId"),
		},
		{
			condition: guard + "edit GuardCommentUnchanged", procedure: "CommentService/UpdateComment", by: moderator,
			change: deletesComment, want: 400400,
		},
		{
			condition: guard + "delete GuardCommentStatus", procedure: "CommentService/DeleteComment", by: moderator,
			change: deletesComment, want: 400400,
		},
	}
}

func reactionGuardRows() []guardRow {
	onComment := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"referenceId": g.comment(t, g.open), "referenceType": "comment", "reactionName": "like"}
	}
	liked := func(t *testing.T, g *fixture) object {
		t.Helper()
		like := object{"referenceId": g.post(t, g.open), "referenceType": "post", "reactionName": "like"}
		again(member)(t, g, "ReactionService/AddReaction", like)
		return like
	}
	const most = 100 // names of the reactions to an object
	full := func(t *testing.T, g *fixture) object {
		t.Helper()
		like := object{"referenceId": g.post(t, g.open), "referenceType": "post", "reactionName": "like"}
		for i := range most - 1 {
			again(theAuthor, object{"reactionName": fmt.Sprint("name", i)})(t, g, "ReactionService/AddReaction", like)
		}
		return like
	}
	const guard = "service/reaction."
	return []guardRow{
		{condition: guard + "guard Guard", procedure: "ReactionService/AddReaction", by: member, change: deletesReference, want: 400400},
		{
			condition: guard + "guard GuardComment", procedure: "ReactionService/AddReaction", by: member, request: onComment,
			change: calls("CommentService/DeleteComment", "commentId=referenceId"), want: 400400,
		},
		{
			condition: guard + "guard GuardMessage", procedure: "ReactionService/AddReaction", by: member, name: "to a message",
			change: calls("MessageService/DeleteMessage", "messageId=referenceId"), want: 400400,
		},
		{
			condition: guard + "AddReaction GuardReactionNames", procedure: "ReactionService/AddReaction", by: member, request: full,
			change: again(theAuthor, object{"reactionName": "love"}), want: 400000,
		},
		{condition: "store/content.InsertReaction reactions_pkey", procedure: "ReactionService/AddReaction", by: member, change: again(member)},
		{
			condition: "store/content.DeleteReaction sqlReactionGuard", procedure: "ReactionService/RemoveReaction", by: member,
			request: liked, change: again(member), want: 400400,
		},
	}
}

func pollGuardRows() []guardRow {
	deletesPoll := calls("PollService/DeletePoll", "pollId")
	create := func(t *testing.T, g *fixture) *apptest.Response {
		t.Helper()
		return g.author.Do(t, http.MethodPost, pollsPath,
			object{"question": "Which?", "answers": []object{{"data": "this"}, {"data": "that"}}}).OK(t)
	}
	posted := func(t *testing.T, g *fixture) object {
		t.Helper()
		id := create(t, g).String(t, "polls.0.pollId")
		return object{"pollId": id, "targetType": "community", "targetId": g.open, "dataType": "poll", "data": object{"text": "x", "pollId": id}}
	}
	post := func(t *testing.T, g *fixture) object {
		t.Helper()
		g.kept = posted(t, g)
		body := with(g.kept)
		delete(body, "pollId")
		return body
	}
	deletesItsPoll := func(t *testing.T, g *fixture, _ string, _ object) { t.Helper(); deletesPoll(t, g, "", g.kept) }
	voted := func(t *testing.T, g *fixture) object {
		t.Helper()
		poll := create(t, g)
		id, answers := poll.String(t, "polls.0.pollId"), poll.Strings(t, "polls.0.answers", "id")
		require.Zero(t, g.call(t, g.principals[member], row{procedure: "PollService/VotePoll"}, object{"pollId": id, "answerIds": answers[:1]}))
		return object{"pollId": id, "answerIds": answers[1:2]}
	}
	return []guardRow{
		{
			condition: "store/content.ClosePoll sqlPollGuard", procedure: "PollService/UpdatePoll", by: adminToken, change: deletesPoll,
			want: 400400,
		},
		{
			condition: "store/content.DeletePoll sqlPollGuard", procedure: "PollService/DeletePoll", by: adminToken, change: deletesPoll,
			want: 400400,
		},
		{condition: "store/content.ChangeVotes sqlPollGuard", procedure: "PollService/VotePoll", by: member, change: deletesPoll, want: 400400},
		{
			condition: "store/content.ChangeVotes sqlPollGuardOpen", procedure: "PollService/VotePoll", by: member,
			change: callsAs(adminToken, "PollService/UpdatePoll", object{"status": "closed"}, "pollId"), want: 400000,
		},
		{
			condition: "store/content.ChangeVotes sqlVotesGuardUnchanged", procedure: "PollService/ChangePollVote", by: member,
			request: voted, change: again(member),
		},
		{
			condition: "store/content.AttachPoll sqlPollAttach", procedure: "PostService/CreatePost", by: theAuthor,
			request: post, change: deletesItsPoll, want: 400000,
		},
	}
}

func storyGuardRows() []guardRow {
	const guard = "service/story."
	create := func(t *testing.T, g *fixture) object { t.Helper(); return textStory(g.community(t)) }
	flagged := func(t *testing.T, g *fixture) object {
		t.Helper()
		story := object{"storyId": newStory(t, g.boss, g.open)}
		again(member)(t, g, "StoryService/FlagStory", story)
		return story
	}
	return []guardRow{
		{
			condition: guard + "CreateStory GuardTarget", procedure: "StoryService/CreateStory", by: moderator,
			request: create, change: deletesTarget, want: 400400,
		},
		{condition: guard + "changeFlags Guard", procedure: "StoryService/FlagStory", by: member, change: deletesStory, want: 400400},
		{condition: guard + "DeleteStory GuardStory", procedure: "StoryService/DeleteStory", by: moderator, change: deletesStory, want: 400400},
		{
			condition: guard + "purge GuardStoryRow", procedure: "StoryService/DeleteStory", by: moderator,
			name: "permanently", change: again(adminToken),
		},
		{
			condition: "service/internal/flags.RemoveExisting GuardFlag", procedure: "StoryService/UnflagStory", by: member,
			request: flagged, change: again(member), want: 400300,
		},
		{
			condition: "service/analytics.put Guard", procedure: "AnalyticsService/ReportActivities", by: member,
			change: func(t *testing.T, g *fixture, _ string, request object) {
				t.Helper()
				deletesStory(t, g, "", object{"storyId": request["activities"].([]object)[0]["contentId"]})
			},
		},
	}
}
