package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
)

func TestPostTargets(t *testing.T) {
	t.Parallel()
	wall := region.NewID(region.SG)
	m := (&Builder{NetworkID: "n"}).post(content.Post{
		ID: "p", TargetType: "user", TargetID: wall, TargetPublicID: "anna", FeedType: published, Children: []string{"a", "b"},
	}, core.Counts{"p": {content.CountImpressions: 9, content.CountReach: 4}})
	require.Equal(t, [3]string{"anna", "anna", wall}, [3]string{m.GetTargetId(), m.GetTargetPublicId(), m.GetTargetInternalId()})
	require.Equal(t, FeedID(wall, published), m.GetFeedId())
	require.Equal(t, [3]int32{2, 9, 4}, [3]int32{m.GetChildrenNumber(), m.GetImpression(), m.GetReach()})
}

func TestPathsOfComments(t *testing.T) {
	t.Parallel()
	b := &Builder{NetworkID: "n"}
	for referenceType, want := range map[string]string{
		"post":                 "n/social/community/c/post/r/comment/x",
		"content":              "n/social/community/c/post/r/comment/x",
		content.ReferenceStory: "n/social/community/c/story/r/comment/x",
	} {
		c := content.Comment{
			ID: "x", TargetType: "community", TargetID: "c", TargetPublicID: "public", ReferenceType: referenceType,
			ReferenceID: "r",
		}
		require.Equal(t, want, b.comment(c, nil).GetPath(), referenceType)
	}
}
