package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
)

func TestStory(t *testing.T) {
	t.Parallel()
	s := content.Story{
		ID: "s", TargetType: "community", TargetID: "c", TargetPublicID: "public", AuthorID: "internal", AuthorPublicID: "anna",
		Data: []byte(`{"videoFileId": {"original": "v"}}`), Items: []byte(`[{"type": "hyperlink"}]`), ExpiresAt: deletedAt,
		Mentionees: []byte(`[{"type": "user", "userInternalIds": ["u"], "userPublicIds": ["public-u"]}]`), FlagCount: 2,
		Flaggers: []string{"x", "y"},
	}
	m := (&Builder{NetworkID: "n"}).story(s, core.Counts{"s": {core.CountComments: 3, content.CountReach: 2, content.CountImpressions: 5}})
	require.Equal(t, "n/social/community/c/story/s", m.GetPath())
	require.Equal(t, "v", freeform.Of(m.GetData()).Text("videoFileId", "low"), "clients request sizes that were not made")
	require.Equal(t, "hyperlink", freeform.Of(m.GetItems()[0]).Text("type"))
	require.Equal(t, []string{"u"}, m.GetMentionedUsers()[0].GetUserIds())
	require.Equal(t, []string{"public-u"}, m.GetMentionedUsers()[0].GetUserPublicIds())
	require.Equal(t, [3]int32{3, 2, 5}, [3]int32{m.GetCommentsCount(), m.GetReach(), m.GetImpression()})
	require.True(t, MayContain(m.GetHashFlag(), "y"))
}

func TestBuildStories(t *testing.T) {
	t.Parallel()
	l := &loader{
		builder: &Builder{}, mine: []content.Reaction{{ReferenceID: "s", Name: "like"}, {ReferenceID: "other", Name: "love"}},
		Rows: Rows{
			Stories: []content.Story{{ID: "s"}}, Counts: core.Counts{"s": {core.CountReactions("like"): 3}},
		},
	}
	var a Aggregate
	l.buildStories(&a)
	require.Equal(t, []string{"like"}, a.Stories[0].GetMyReactions())
	require.Equal(t, int32(3), a.Stories[0].GetReactionsCount())
}
