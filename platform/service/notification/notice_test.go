package notification

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
)

func mentioning(ids string) []byte {
	return fmt.Appendf(nil, `[{"type": "user", "userInternalIds": [%s]}]`, ids)
}

// noticeRows has a post with a mention, a poll, a story, and comments on them.
func noticeRows() *rows {
	post := func(id, feedType string) *content.Post {
		return &content.Post{
			ID: id, AuthorID: "author", FeedType: feedType, ParentID: "parent of " + id, Mentionees: mentioning(`"me"`),
			TargetType: "community", TargetID: "c", TargetPublicID: "public c",
		}
	}
	comment := func(id, parentID, referenceID string) *content.Comment {
		return &content.Comment{
			ID: id, AuthorID: "commenter", ParentID: parentID, RootID: "root", ReferenceType: content.ReferencePost, ReferenceID: referenceID,
			ApprovalStatus: content.Approved, TargetType: "user", TargetID: "w", TargetPublicID: "public w",
		}
	}
	r := &rows{
		posts: map[string]*content.Post{
			"post": post("post", "published"), "poll": post("poll", "published"),
			"waiting": post("waiting", "reviewing"), "gone": post("gone", "published"),
		},
		comments: map[string]*content.Comment{},
		stories:  map[string]*content.Story{"story": {ID: "story", AuthorID: "teller"}},
		follows:  map[[2]string]**people.Follow{}, joinRequests: map[[2]string]*joinRequestRows{},
		invitations: map[string]**communities.Invitation{},
	}
	r.posts["gone"].DeletedAt = &servicetest.Noon
	r.posts["poll"].DataType = "poll"
	for _, c := range []*content.Comment{
		comment("comment", "", "post"), comment("reply", "comment", "post"), comment("pending", "", "post"), comment("removed", "", "post"),
		comment("to removed", "removed", "post"), comment("on story", "", "story"), comment("mentions", "comment", "post"),
	} {
		r.comments[c.ID] = c
	}
	r.comments["comment"].AuthorID = "first"
	r.comments["pending"].ApprovalStatus = content.Pending
	r.comments["removed"].DeletedAt, r.comments["removed"].AuthorID = &servicetest.Noon, "first"
	r.comments["on story"].ReferenceType = content.ReferenceStory
	r.comments["mentions"].Mentionees = mentioning(`"first", "me", "me"`)
	return r
}

// TestNotices checks whom each change concerns, what the items are about, and what the users must be able to see.
func TestNotices(t *testing.T) {
	t.Parallel()
	at := func(event, id, otherID string) service.Notice {
		return service.Notice{Event: event, ID: id, OtherID: otherID, ActorID: "actor", At: servicetest.Noon}
	}
	for name, c := range map[string]struct {
		notice service.Notice
		want   []string
	}{
		"post": {
			at("post.created", "post", ""),
			[]string{"postMention me by author: post post, action post, under parent of post, sees post"},
		},
		"approved post": {
			at("post.approved", "post", ""),
			[]string{"postMention me by author: post post, action post, under parent of post, sees post"},
		},
		"poll": {
			at("post.created", "poll", ""),
			[]string{"pollMention me by author: post poll, action poll, under parent of poll, sees poll"},
		},
		"post that waits": {at("post.created", "waiting", ""), nil},
		"deleted post":    {at("post.created", "gone", ""), nil},
		"unknown post":    {at("post.created", "none", ""), nil},
		"reaction to a post": {
			at("post.addReaction", "post", "r"),
			[]string{"postReaction author by actor: post post, action r, under parent of post, sees post"},
		},
		"of a deleted post": {at("post.addReaction", "gone", "r"), nil},
		"comment": {
			at("comment.created", "comment", ""),
			[]string{"postComment author by first: post post, action comment, root root, latest comment, sees comment"},
		},
		"comment on a story": {
			at("comment.created", "on story", ""),
			[]string{"storyComment teller by commenter: story story, action on story, root root, latest on story, sees on story"},
		},
		"pending comment": {at("comment.created", "pending", ""), nil},
		"deleted comment": {at("comment.created", "removed", ""), nil},
		"reply to a deleted": {
			at("comment.created", "to removed", ""),
			[]string{"postComment author by commenter: post post, action to removed, under removed, root root, latest to removed, sees to removed"},
		},
		"reaction to a reply": {
			at("comment.addReaction", "reply", "r"),
			[]string{"replyReaction commenter by actor: comment reply, action r, under comment, root root, sees reply"},
		},
		"to a comment": {
			at("comment.addReaction", "comment", "r"),
			[]string{"commentReaction first by actor: comment comment, action r, root root, sees comment"},
		},
		"to a deleted comment": {at("comment.addReaction", "removed", "r"), nil},
		"reply": {at("comment.created", "reply", ""), []string{
			"commentReply first by commenter: comment comment, action reply, under comment, root root, latest reply, sees reply",
			"postComment author by commenter: post post, action reply, under comment, root root, latest reply, sees reply",
		}},
		"reply that mentions": {at("comment.created", "mentions", ""), []string{ // first is also the author of the parent
			"replyMention first by commenter: post post, action mentions, under comment, root root, latest mentions, sees mentions",
			"replyMention me by commenter: post post, action mentions, under comment, root root, latest mentions, sees mentions",
			"postComment author by commenter: post post, action mentions, under comment, root root, latest mentions, sees mentions",
		}},
		"approved request": {at(service.NoticeJoinApproved, "c", "asker"), []string{"joinApproved asker by actor: community c, action c"}},
		"rejected request": {at(service.NoticeJoinRejected, "c", "asker"), []string{"joinRejected asker by actor: community c, action c"}},
		"something else":   {at("post.updated", "post", ""), nil},
	} {
		var got []string
		for _, n := range noticeRows().noticesOf(c.notice) {
			require.Equal(t, servicetest.Noon, n.item.LastOccurredAt, name)
			got = append(got, textOfNotice(n))
		}
		require.Equal(t, c.want, got, name)
	}
}

func textOfNotice(n notice) string {
	var text strings.Builder
	_, _ = fmt.Fprintf(&text, "%s %s by %s: %s %s, action %s", n.item.Kind, n.item.UserID, n.actorID, n.item.ReferenceType,
		n.item.ReferenceID, n.item.ActionID)
	for _, part := range [][2]string{
		{"under", n.item.ParentID},
		{"root", n.item.RootID},
		{"latest", n.item.CommentID},
		{"sees", n.postID + n.commentID},
	} {
		if part[1] != "" {
			_, _ = fmt.Fprintf(&text, ", %s %s", part[0], part[1])
		}
	}
	return text.String()
}

// TestNoticesOfPeople checks the items about follows, join requests and invitations, and that there are none once these have ended.
func TestNoticesOfPeople(t *testing.T) {
	t.Parallel()
	follow := &people.Follow{
		FollowerID: "fan", FolloweeID: "star", FollowerPublicID: "public fan", FolloweePublicID: "public star",
		Status: people.FollowAccepted,
	}
	invitation := &communities.Invitation{
		ID: "i", InviterID: "host", InvitedID: "guest", TargetType: communities.InviteToCommunity, TargetID: "c",
		Status: communities.JoinPending,
	}
	about := func(r *rows, event, id, otherID string) []string {
		var got []string
		for _, n := range r.noticesOf(service.Notice{Event: event, ID: id, OtherID: otherID, At: servicetest.Noon}) {
			got = append(got, textOfNotice(n)+", at "+n.item.TargetType+" "+n.item.TargetPublicID)
		}
		return got
	}
	r := noticeRows()
	*r.follow("fan", "star") = follow
	require.Equal(t, []string{"newFollower star by fan: user star, action fan, at user public star"},
		about(r, "follow.created", "fan", "star"))
	require.Equal(t, []string{"followRequest star by fan: user star, action fan, at user public star"},
		about(r, "follow.requested", "fan", "star"))
	require.Equal(t, []string{"followAccepted fan by star: user fan, action star, at user public fan"},
		about(r, "follow.accepted", "fan", "star"))
	follow.Status = people.FollowNone
	for _, event := range []string{"follow.created", "follow.requested", "follow.accepted"} {
		require.Empty(t, about(r, event, "fan", "star"), "the follow has ended")
	}
	*r.invitation("i") = invitation
	require.Equal(t, []string{"communityInvitation guest by host: community c, action i, at community c"},
		about(r, service.NoticeInvited, "i", ""))
	invitation.TargetType = communities.InviteToRoom
	require.Equal(t, []string{"coHostInvitation guest by host: room c, action i, at room c"}, about(r, service.NoticeInvited, "i", ""))
	invitation.Status = communities.JoinCancelled
	require.Empty(t, about(r, service.NoticeInvited, "i", ""))
	require.Empty(t, about(r, service.NoticeInvited, "none", ""))
	require.Empty(t, about(r, service.NoticeJoinRequested, "c", "asker"), "the request has ended")
	j := r.joinRequest(service.Notice{ID: "c", OtherID: "asker"})
	j.pending, j.moderators = &communities.JoinRequest{},
		[]communities.MemberRow{{Member: communities.Member{UserID: "mod1"}}, {Member: communities.Member{UserID: "mod2"}}}
	require.Equal(t, []string{
		"joinRequest mod1 by asker: community c, action c, at community c", "joinRequest mod2 by asker: community c, action c, at community c",
	}, about(r, service.NoticeJoinRequested, "c", "asker"))
}
