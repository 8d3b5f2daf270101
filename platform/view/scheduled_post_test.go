package view

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestScheduledPosts(t *testing.T) {
	t.Parallel()
	data, err := structpb.NewStruct(map[string]any{"fileId": "image"})
	require.NoError(t, err)
	video, err := structpb.NewStruct(map[string]any{"videoFileId": map[string]any{"original": "video"}})
	require.NoError(t, err)
	a := &Aggregate{
		Posts:        []*plazav1.Post{{PostId: "1"}, {PostId: "2"}},
		PostChildren: []*plazav1.Post{{ParentPostId: "1", Data: data}, {ParentPostId: "1", Data: video}, {ParentPostId: "2"}},
		Files:        []*plazav1.File{{FileId: "avatar"}, {FileId: "video"}, {FileId: "image"}, {}},
		Users:        []*plazav1.User{{PrivateId: "x", DisplayName: "X"}, {PrivateId: "u", DisplayName: "Anna"}},
		Communities:  []*plazav1.Community{{CommunityId: "other"}, {CommunityId: "c"}},
	}
	rows := []content.ScheduledPost{
		{ID: "s1", AuthorID: "u", AuthorPublicID: "anna", TargetID: "c", Status: "failed", Description: "why"},
		{ID: "s2", AuthorID: "unavailable", TargetID: "wall"},
	}
	m := (&Builder{NetworkID: "n"}).ScheduledPosts(a, rows, &plazav1.Paging{Next: "next"})
	first, second := m.GetData()[0], m.GetData()[1]
	require.Equal(t, "1", first.GetPostData().GetPostId())
	require.Equal(t, [2]string{"u", "anna"}, [2]string{first.GetPostData().GetPublisherId(), first.GetPostData().GetPublisherPublicId()})
	require.Equal(t, "Anna", first.GetUserDisplayName())
	require.Equal(t, []string{"c"}, mapList(first.GetCommunities(), (*plazav1.Community).GetCommunityId))
	require.Equal(t, []string{"video", "image"}, mapList(first.GetFiles(), (*plazav1.File).GetFileId), "only the files of its own children")
	require.Equal(t, [2]string{"failed", "why"}, [2]string{first.GetStatus().GetCode(), first.GetStatus().GetDescription()})
	require.Empty(t, second.GetUserDisplayName())
	require.Empty(t, second.GetCommunities())
	require.Empty(t, second.GetFiles())
	require.Equal(t, "next", m.GetPaging().GetNext())
}
