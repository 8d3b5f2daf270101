package conformance

import (
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
)

// review approves or declines a comment.
func review(t *testing.T, by *apptest.Client, id, decision string) object {
	t.Helper()
	nextMillisecond()
	return requireAggregate(t, by.Do(t, http.MethodPost, commentsPath+"/"+id+"/"+decision, nil), "", commentAggregate).one("comments")
}

// reviewedCommunity is a community that reviews comments, with a post, an approved comment, and a member's comment
// under review.
type reviewedCommunity struct {
	club
	post, open, waiting string
	other               *apptest.Client // another member
}

func newReviewedCommunity(t *testing.T) reviewedCommunity {
	t.Helper()
	w := reviewedCommunity{club: newClub(t, object{"needApprovalOnCommentCreation": true})}
	w.other = newMember(t, w.id)
	w.post = newPost(t, w.boss, w.id)
	w.open = newComment(t, w.boss, w.post)
	w.waiting = newComment(t, w.member, w.post)
	return w
}

func (w reviewedCommunity) list(by *apptest.Client) listing {
	return listing{by: by, path: commentsPath, list: "comments", id: "commentId"}.with("referenceId", w.post).with("sortBy", "firstCreated")
}

// requireHidden checks at every address that only the author and moderators see a comment and that no count includes
// it.
func (w reviewedCommunity) requireHidden(t *testing.T, id string) {
	t.Helper()
	batch := commentsPath + "/list?" + url.Values{"commentIds[]": {id, w.open}}.Encode()
	for _, code := range region.All() {
		for _, by := range []*apptest.Client{w.member, w.boss, admin(t)} {
			require.Equal(t, id, getComment(t, by.At(code), id).one("comments")["commentId"])
			w.list(by.At(code)).requireOrder(t, []string{w.open, id})
			got := requireAggregate(t, by.At(code).Do(t, http.MethodGet, batch, nil), "", commentAggregate)
			require.Equal(t, []string{id, w.open}, got.values("comments", "commentId"))
		}
		for _, by := range []*apptest.Client{w.other, w.stranger, w.banned} {
			requireFailure(t, notFound, by.At(code).Do(t, http.MethodGet, commentsPath+"/"+id, nil))
			w.list(by.At(code)).requireOrder(t, []string{w.open})
			w.list(by.At(code)).with("filterByParentId", "false").requireOrder(t, []string{w.open})
			got := requireAggregate(t, by.At(code).Do(t, http.MethodGet, batch, nil), "", commentAggregate)
			require.Equal(t, []string{w.open}, got.values("comments", "commentId"))
		}
		for _, by := range []*apptest.Client{w.member, w.boss, w.other} {
			a := requireAggregate(t, by.At(code).Do(t, http.MethodGet, "/api/v3/posts/"+w.post, nil), "", postAggregate)
			require.InDelta(t, 1, a.one("posts")["commentsCount"], 0)
			require.Equal(t, []any{w.open}, a.one("posts")["comments"])
			require.Equal(t, []string{w.open}, a.values("comments", "commentId"))
			require.NotContains(t, a.values("users", "userId"), w.member.UserID, "nor its author")
		}
	}
	react := object{"referenceId": id, "referenceType": "comment", "reactionName": "like"}
	var attempts []attempt
	for name, by := range map[string]*apptest.Client{"author": w.member, "moderator": w.boss, "other": w.other} {
		attempts = append(attempts,
			attempt{
				name + " answers", by, http.MethodPost, commentsPath,
				object{"referenceId": w.post, "parentId": id, "data": object{"text": "x"}},
				notFound,
			},
			attempt{name + " flags", by, http.MethodPost, commentsPath + "/" + id + "/flag", nil, notFound},
			attempt{name + " reacts", by, http.MethodPost, "/api/v2/reactions", react, notFound})
	}
	requireAttempts(t, append(attempts,
		attempt{"other edits", w.other, http.MethodPut, commentsPath + "/" + id, object{"data": object{"text": "x"}}, notFound},
		attempt{"other deletes", w.other, http.MethodDelete, "/api/v4/comments/" + id, nil, notFound},
		attempt{"other asks for flags", w.other, http.MethodGet, commentsPath + "/" + id + "/isflagbyme", nil, notFound}))
}

func TestApproveComment(t *testing.T) {
	t.Parallel()
	w := newReviewedCommunity(t)
	require.Equal(t, "pending", getComment(t, w.member, w.waiting).one("comments")["approvalStatus"])
	w.requireHidden(t, w.waiting)
	c := editComment(t, w.member, w.waiting, object{"data": object{"text": "better"}}).one("comments")
	require.Equal(t, "pending", c["approvalStatus"], "an edit leaves the state")
	approved := review(t, w.boss.At(region.SG), w.waiting, "approve")
	require.Equal(t, "approved", approved["approvalStatus"])
	require.Equal(t, c["editedAt"], approved["editedAt"])
	require.Greater(t, approved["updatedAt"], c["updatedAt"])
	for _, code := range region.All() {
		require.Equal(t, approved, getComment(t, w.stranger.At(code), w.waiting).one("comments"))
		w.list(w.stranger.At(code)).requireOrder(t, []string{w.open, w.waiting})
		a := requireAggregate(t, w.other.At(code).Do(t, http.MethodGet, "/api/v3/posts/"+w.post, nil), "", postAggregate)
		require.InDelta(t, 2, a.one("posts")["commentsCount"], 0)
		require.Equal(t, []any{w.waiting, w.open}, a.one("posts")["comments"])
	}
	requireAttempts(t, []attempt{
		{"again", w.boss, http.MethodPost, commentsPath + "/" + w.waiting + "/approve", nil, notFound},
		{"decline", w.boss, http.MethodPost, commentsPath + "/" + w.waiting + "/decline", nil, notFound},
		{"by its author", w.member, http.MethodPost, commentsPath + "/" + newComment(t, w.member, w.post) + "/approve", nil, notAllowed},
		{"unknown", w.boss, http.MethodPost, commentsPath + "/" + unknownID + "/approve", nil, notFound},
		{"flag", w.other, http.MethodPost, commentsPath + "/" + w.waiting + "/flag", nil, failure{}},
	})
	require.Equal(t, "approved", editComment(t, w.member, w.waiting, object{"data": object{"text": "more"}}).one("comments")["approvalStatus"])
}

func TestDeclineComment(t *testing.T) {
	t.Parallel()
	w := newReviewedCommunity(t)
	require.Equal(t, "declined", review(t, w.boss, w.waiting, "decline")["approvalStatus"])
	w.requireHidden(t, w.waiting)
	requireAttempts(t, []attempt{
		{"again", w.boss, http.MethodPost, commentsPath + "/" + w.waiting + "/decline", nil, notFound},
		{"approve", w.boss, http.MethodPost, commentsPath + "/" + w.waiting + "/approve", nil, notFound},
		{"delete", w.member, http.MethodDelete, "/api/v4/comments/" + w.waiting, nil, failure{}},
	})
	for _, permanent := range []string{"", "?permanent=true"} {
		pending := newComment(t, w.member, w.post)
		w.boss.Do(t, http.MethodDelete, "/api/v4/comments/"+pending+permanent, nil).OK(t)
	}
	require.Equal(t, 1, w.boss.Do(t, http.MethodGet, "/api/v3/posts/"+w.post, nil).OK(t).Int(t, "posts.0.commentsCount"), "it never counted")
}

// TestUnapprovedComments checks how many comments of an author on a post can be pending or declined, and that deleted ones count, because
// lists read past them too.
func TestUnapprovedComments(t *testing.T) {
	t.Parallel()
	w := newReviewedCommunity(t)
	copyRowTimes(t, connectTo(t, apptest.Shared(t)), content.MaxUnapprovedComments-2, "comments", "id = '"+w.waiting+"'",
		map[string]string{"id": copyID("id"), "deleted_at": "created_at"}, nil)
	last := newComment(t, w.member, w.post)
	comment := object{"referenceId": w.post, "data": object{"text": "one too many"}}
	requireRefused(t, w.member.Do(t, http.MethodPost, commentsPath, comment), http.StatusForbidden, 400300)
	newComment(t, w.other, w.post)
	newComment(t, w.boss, w.post)
	newComment(t, w.member, newPost(t, w.boss, w.id))
	review(t, w.boss, last, "decline")
	requireRefused(t, w.member.Do(t, http.MethodPost, commentsPath, comment), http.StatusForbidden, 400300)
	review(t, w.boss, w.waiting, "approve")
	newComment(t, w.member, w.post)
	requireRefused(t, w.member.Do(t, http.MethodPost, commentsPath, comment), http.StatusForbidden, 400300)
}

// TestRepliesUnderReview checks that a comment counts and includes only its approved replies.
func TestRepliesUnderReview(t *testing.T) {
	t.Parallel()
	w := newReviewedCommunity(t)
	reply := newComment(t, w.member, w.post, object{"parentId": w.open})
	c := getComment(t, w.boss, w.open)
	require.InDelta(t, 0, c.one("comments")["childrenNumber"], 0)
	require.Equal(t, []any{}, c.one("comments")["children"])
	w.list(w.other).with("parentId", w.open).requireOrder(t, []string{})
	w.list(w.member).with("parentId", w.open).requireOrder(t, []string{reply})
	review(t, w.boss, reply, "approve")
	c = getComment(t, w.other, w.open)
	require.InDelta(t, 1, c.one("comments")["childrenNumber"], 0)
	require.Equal(t, []any{reply}, c.one("comments")["children"])
	require.Equal(t, []string{reply}, c.values("commentChildren", "commentId"))
	w.boss.Do(t, http.MethodDelete, "/api/v4/comments/"+reply, nil).OK(t)
	require.InDelta(t, 0, getComment(t, w.other, w.open).one("comments")["childrenNumber"], 0)
}

// TestListCommentsByStatus checks that moderators list all comments under review and other users only their own.
func TestListCommentsByStatus(t *testing.T) {
	t.Parallel()
	w := newReviewedCommunity(t)
	pending := []string{w.waiting}
	for range 4 {
		pending = append(pending, newComment(t, w.other, w.post))
	}
	pending = append(pending, newComment(t, w.member, w.post, object{"parentId": w.open}))
	declined := []string{newComment(t, w.member, w.post), newComment(t, w.other, w.post)}
	for _, id := range declined {
		review(t, w.boss, id, "decline")
	}
	of := func(by *apptest.Client, status string) listing {
		return w.list(by).with("filterByParentId", "false").with("approvalStatus", status)
	}
	of(w.boss, "pending").requirePages(t, 2, pending)
	of(w.boss, "pending").with("sortBy", "lastUpdated").requirePages(t, 2, reversed(pending))
	of(w.boss, "pending").with("parentId", w.open).requireOrder(t, pending[5:])
	w.list(w.boss).with("approvalStatus", "pending").requireOrder(t, pending[:5])
	of(w.boss, "pending").with("hasFlag", "true").requireOrder(t, []string{})
	of(w.boss, "declined").requireOrder(t, declined)
	of(admin(t), "declined").requireOrder(t, declined)
	of(w.boss, "approved").requireOrder(t, []string{w.open})
	of(w.member, "pending").requireOrder(t, []string{pending[0], pending[5]})
	of(w.member, "declined").requireOrder(t, declined[:1])
	of(w.other, "pending").requirePages(t, 1, pending[1:5])
	of(w.stranger, "pending").requireOrder(t, []string{})
	of(w.stranger, "approved").requireOrder(t, []string{w.open})
	of(w.boss, "").requireOrder(t, slices.Concat([]string{w.open}, pending, declined))
	requireAttempts(t,
		[]attempt{{
			"other status", w.boss, http.MethodGet, commentsPath + "?referenceId=" + w.post + "&approvalStatus=lost", nil,
			invalid("approvalStatus"),
		}})
}

// TestConcurrentReviews checks that only one of several concurrent decisions succeeds and that the comment is
// counted once.
func TestConcurrentReviews(t *testing.T) {
	t.Parallel()
	n, w := apptest.Shared(t), newReviewedCommunity(t)
	var requests []*http.Request
	for i := range 6 {
		requests = append(requests, w.boss.At(region.All()[i%3]).Request(t, http.MethodPost, commentsPath+"/"+w.waiting+"/approve", object{}))
	}
	statuses := sendConcurrently(n, requests)
	slices.Sort(statuses)
	require.Equal(t, []int{200, 404, 404, 404, 404, 404}, statuses)
	require.Equal(t, 2, w.boss.Do(t, http.MethodGet, "/api/v3/posts/"+w.post, nil).OK(t).Int(t, "posts.0.commentsCount"))
}
