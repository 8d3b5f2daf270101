package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

// TestMentionListsMatch mentions an unknown user between two known ones. The three lists of a mention name the same
// users in the same order and omit unknown users.
func TestMentionListsMatch(t *testing.T) {
	t.Parallel()
	author, a, b := newUser(t, region.EU, "author"), newUser(t, region.US, "a"), newUser(t, region.SG, "b")
	mentions := []object{
		{"type": "user", "userIds": []string{a.UserID, "unknown-user", b.UserID}}, {"type": "user", "userIds": []string{"unknown-user"}},
	}
	want := []any{map[string]any{
		"type": "user", "userIds": []any{a.UserID, b.UserID}, "userPublicIds": []any{a.UserID, b.UserID},
		"userInternalIds": []any{a.InternalID, b.InternalID},
	}}
	id := newPost(t, author, newCommunity(t, author), object{"mentionees": mentions})
	require.Equal(t, want, author.Do(t, http.MethodGet, "/api/v3/posts/"+id, nil).OK(t).Get(t, "posts.0.mentionees"))
	comment := newComment(t, author, id, object{"mentionees": mentions})
	require.Equal(t, want, author.Do(t, http.MethodGet, "/api/v3/comments/"+comment, nil).OK(t).Get(t, "comments.0.mentionees"))
}
