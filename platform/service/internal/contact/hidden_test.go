package contact

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store"
)

// TestWithoutPosts checks that neither the posts of blocked users are shown nor those of others on their walls.
func TestWithoutPosts(t *testing.T) {
	t.Parallel()
	posts := []store.Post{
		{ID: "in a community", AuthorID: "other", TargetType: "community", TargetID: "club"},
		{ID: "by a blocked user in a community", AuthorID: "blocked", TargetType: "community", TargetID: "club"},
		{ID: "on a wall", AuthorID: "other", TargetType: "user", TargetID: "friend"},
		{ID: "on the wall of a blocked user", AuthorID: "other", TargetType: "user", TargetID: "blocked"},
		{ID: "by a blocked user on a wall", AuthorID: "blocked", TargetType: "user", TargetID: "friend"},
	}
	shown, err := WithoutPosts(t.Context(), &Hidden{ids: []string{"blocked"}}, posts)
	require.NoError(t, err)
	var ids []string
	for _, p := range shown {
		ids = append(ids, p.ID)
	}
	require.Equal(t, []string{"in a community", "on a wall"}, ids)
}
