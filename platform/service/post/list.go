package post

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListPosts lists the posts of one community, wall or content id.
func (s *Service) ListPosts(ctx context.Context, m *plazav1.ListPostsRequest) (*plazav1.ListPostsResponse, error) {
	types := slices.Clone(m.GetDataTypes())
	if m.GetDataType() != "" {
		types = append(types, m.GetDataType())
	}
	slices.Sort(types)
	q := posting.PostQuery{
		TargetType: m.GetTargetType(), TargetID: m.GetTargetId(), FeedType: m.GetFeedType(), SortBy: m.GetSortBy(),
		DataTypes: slices.Compact(types), ParentsOnly: m.GetMatchingOnlyParentPost(),
		EveryPost: m.MatchingOnlyParentPost != nil && !m.GetMatchingOnlyParentPost(), Tags: m.GetTags(),
		HasFlag: m.HasFlag, Deleted: service.DeletedOf(m.IsDeleted), Page: m.GetOptions(),
	}
	list := posting.ListPosts
	if q.TargetType == visibility.OnContent {
		list = posting.ListContentPosts
	}
	a, paging, err := list(ctx, s.Deps, q)
	return view.Fill(a, &plazav1.ListPostsResponse{Paging: paging}), err
}
