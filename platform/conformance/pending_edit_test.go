package conformance

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// editable is a published post or an approved comment of a member, in a community that reviews.
type editable struct {
	club
	noun, edit, id string
}

// eachEditable runs a test for a post and for a comment.
func eachEditable(t *testing.T, test func(t *testing.T, e editable)) {
	t.Helper()
	t.Run("posts", func(t *testing.T) {
		club := newClub(t, object{"needApprovalOnPostCreation": true})
		id := newPost(t, club.member, club.id, object{"data": object{"text": "approved"}})
		club.boss.Do(t, http.MethodPost, "/api/v3/posts/"+id+"/approve", nil).OK(t)
		test(t, editable{club, "posts", "/api/v4/posts/" + id, id})
	})
	t.Run("comments", func(t *testing.T) {
		club := newClub(t, object{"needApprovalOnCommentCreation": true})
		id := newComment(t, club.member, newPost(t, club.boss, club.id), object{"data": object{"text": "approved"}})
		review(t, club.boss, id, "approve")
		test(t, editable{club, "comments", commentsPath + "/" + id, id})
	})
}

func (e editable) read(t *testing.T, by *apptest.Client) object {
	t.Helper()
	return by.Do(t, http.MethodGet, "/api/v3/"+e.noun+"/"+e.id, nil).OK(t).Get(t, e.noun+".0").(object)
}

func (e editable) write(t *testing.T, by *apptest.Client, body object) *apptest.Response {
	t.Helper()
	nextMillisecond()
	return by.Do(t, http.MethodPut, e.edit, body)
}

func (e editable) review(t *testing.T, by *apptest.Client, decision string) *apptest.Response {
	t.Helper()
	return by.Do(t, http.MethodPost, "/api/v3/"+e.noun+"/"+e.id+"/"+decision, nil)
}

// requireText checks the text that everyone sees, and the pending one that the author and moderators see.
func (e editable) requireText(t *testing.T, want, pending string) {
	t.Helper()
	for _, by := range []*apptest.Client{e.member, e.boss, admin(t), e.stranger} {
		for _, at := range region.All() {
			o := e.read(t, by.At(at))
			require.Equal(t, want, o["data"].(object)["text"])
			if pending == "" || by == e.stranger {
				require.Nil(t, o["pendingEdit"])
				continue
			}
			require.Equal(t, pending, o["pendingEdit"].(object)["data"].(object)["text"])
			require.Equal(t, e.id, o["pendingEdit"].(object)["referenceId"])
		}
	}
	listed := e.boss.Do(t, http.MethodGet, "/api/v1/communities/"+e.club.id+"/pending-edits", nil).OK(t).Strings(t, "pendingEdits",
		"referenceId")
	if pending == "" {
		require.Empty(t, listed)
	} else {
		require.Equal(t, []string{e.id}, listed)
	}
}

func words(text string) object { return object{"data": object{"text": text}} }

// TestEditsWaitForApproval edits approved content in every way.
func TestEditsWaitForApproval(t *testing.T) {
	t.Parallel()
	eachEditable(t, func(t *testing.T, e editable) {
		t.Helper()
		before := e.read(t, e.stranger)
		e.write(t, e.member, words("SPAM")).OK(t)
		e.requireText(t, "approved", "SPAM")
		require.Equal(t, before, e.read(t, e.stranger))
		e.write(t, e.member, with(words("better"), object{"metadata": object{"a": "b"}})).OK(t) // replaces the edit
		e.requireText(t, "approved", "better")
		for _, by := range []*apptest.Client{e.member, e.stranger} {
			requireFailure(t, notAllowed, e.review(t, by, "approve"))
		}
		e.review(t, e.boss.At(region.SG), "approve").OK(t)
		e.requireText(t, "better", "")
		after := e.read(t, e.stranger)
		require.Equal(t, object{"a": "b"}, after["metadata"])
		require.NotEqual(t, before["editedAt"], after["editedAt"])
		require.NotEqual(t, http.StatusOK, e.review(t, e.boss, "approve").Status, "nothing waits")

		e.write(t, e.member, words("worse")).OK(t)
		e.review(t, e.boss, "decline").OK(t)
		e.requireText(t, "better", "")
		e.write(t, e.member, words("worse")).OK(t)
		e.write(t, e.boss, words("by a moderator")).OK(t) // a moderator's edit ends the pending one
		e.requireText(t, "by a moderator", "")
		flag(t, e.stranger, e.noun, e.id)
		e.write(t, e.member, words("again")).OK(t)
		requireFlags(t, e.read(t, e.boss), 1)
		e.boss.Do(t, http.MethodPut, communitiesPath+"/"+e.club.id,
			object{"needApprovalOnPostCreation": false, "needApprovalOnCommentCreation": false}).OK(t)
		e.write(t, e.member, object{"metadata": object{"c": "d"}}).OK(t) // nothing is reviewed any more
		e.requireText(t, "again", "")
	})
}

// TestFieldsOfPendingEdits edits every field. The pending edit contains what is answered once it is approved.
func TestFieldsOfPendingEdits(t *testing.T) {
	t.Parallel()
	eachEditable(t, func(t *testing.T, e editable) {
		t.Helper()
		edit := object{
			"data": object{"text": "better"}, "metadata": object{"a": "b"},
			"mentionees":  []object{{"type": "user", "userIds": []string{e.stranger.UserID}}},
			"attachments": photos(t, 2), "links": []object{{"index": 0, "length": 6, "url": "https://example.com"}},
		}
		if e.noun == "posts" {
			edit = with(edit, object{
				"tags": []string{"t"}, "hashtags": []string{"h"}, "pinnedProductId": "p",
				"productTags": []object{{"productId": "p", "text": "shoe", "index": 0, "length": 4}},
			})
		}
		before := e.read(t, e.member)
		e.write(t, e.member, edit).OK(t)
		shown := e.read(t, e.member)
		pending := shown["pendingEdit"].(object)
		listed := e.boss.Do(t, http.MethodGet, "/api/v1/communities/"+e.club.id+"/pending-edits", nil).OK(t)
		require.Equal(t, pending, listed.Get(t, "pendingEdits.0"))
		e.review(t, e.boss, "approve").OK(t)
		after := e.read(t, e.member)
		require.Len(t, pending["attachments"], 2)
		if e.noun == "posts" {
			delete(edit, "attachments") // which are child posts
		}
		for field := range edit {
			require.NotEmpty(t, pending[field], field)
			require.Equal(t, after[field], pending[field], field)
			require.Equal(t, before[field], shown[field], field)
			require.NotEqual(t, before[field], after[field], field)
		}
		require.Equal(t, strings.TrimSuffix(e.noun, "s"), pending["referenceType"])
		require.Greater(t, text(pending, "createdAt"), text(before, "createdAt"))
	})
}

// TestPagesOfPendingEdits lists the pending edits of several posts and of a comment, and those that a client edits again.
func TestPagesOfPendingEdits(t *testing.T) {
	t.Parallel()
	club := newClub(t, object{"needApprovalOnPostCreation": true, "needApprovalOnCommentCreation": true})
	var waiting []string
	for range 3 {
		id := newPost(t, club.boss, club.id)
		waiting = append(waiting, newPost(t, club.member, club.id), newComment(t, club.member, id))
	}
	for i, id := range waiting {
		noun, path := "posts", postsPath+"/"
		if i%2 == 1 {
			noun, path = "comments", commentsPath+"/"
		}
		club.boss.Do(t, http.MethodPost, "/api/v3/"+noun+"/"+id+"/approve", nil).OK(t)
		nextMillisecond()
		club.member.Do(t, http.MethodPut, path+id, words("edited")).OK(t)
	}
	path := "/api/v1/communities/" + club.id + "/pending-edits"
	l := listing{by: club.boss.At(region.SG), path: path, list: "pendingEdits", id: "referenceId"}
	l.requirePages(t, 2, reversed(waiting))
	l.requirePages(t, 1, reversed(waiting))
	l.requireLimits(t)
}

// TestPendingEditsAreDeleted deletes content with a pending edit.
func TestPendingEditsAreDeleted(t *testing.T) {
	t.Parallel()
	eachEditable(t, func(t *testing.T, e editable) {
		t.Helper()
		e.write(t, e.member, words("SPAM")).OK(t)
		e.member.Do(t, http.MethodDelete, "/api/v4/"+e.noun+"/"+e.id, nil).OK(t)
		require.Empty(t, e.boss.Do(t, http.MethodGet, "/api/v1/communities/"+e.club.id+"/pending-edits", nil).OK(t).List(t, "pendingEdits"))
	})
}

// TestPendingAttachments adds and removes attachments by a pending edit: child posts change with its approval.
func TestPendingAttachments(t *testing.T) {
	t.Parallel()
	club := newClub(t, object{"needApprovalOnPostCreation": true})
	id := newPost(t, club.member, club.id, object{"attachments": photos(t, 1)})
	club.boss.Do(t, http.MethodPost, "/api/v3/posts/"+id+"/approve", nil).OK(t)
	children := func() []any {
		return club.stranger.Do(t, http.MethodGet, "/api/v3/posts/"+id, nil).OK(t).Get(t, "posts.0.children").([]any)
	}
	first := children()
	edit := object{"attachments": photos(t, 2)}
	club.member.Do(t, http.MethodPut, "/api/v4/posts/"+id, edit).OK(t)
	require.Equal(t, first, children())
	club.boss.Do(t, http.MethodPost, "/api/v3/posts/"+id+"/approve", nil).OK(t)
	require.Len(t, children(), 2)
	require.Contains(t, children(), first[0])
}
