package feed

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListPostsOfUser lists the posts on a user's wall, the user's posts in communities, or both.
func (s *Service) ListPostsOfUser(ctx context.Context, m *plazav1.ListPostsOfUserRequest) (*plazav1.ListPostsResponse, error) {
	q := posting.PostQuery{
		TargetType: "user", TargetID: m.GetUserId(), SortBy: m.GetSortBy(),
		DataTypes: service.SortedSet(m.GetDataTypes()), ParentsOnly: m.GetMatchingOnlyParentPost(),
		EveryPost: m.MatchingOnlyParentPost != nil && !m.GetMatchingOnlyParentPost(),
		Deleted:   service.DeletedOf(m.IsDeleted), Page: m.GetOptions(),
	}
	if m.GetIncludeMixedStructure() && q.ParentsOnly && len(q.DataTypes) > 0 {
		q.DataTypes = append(q.DataTypes, "mixed")
	}
	list := posting.ListPosts
	if sources := m.GetIncludePostedFeed(); slices.Contains(sources, "community") {
		list = func(ctx context.Context, d *service.Deps, q posting.PostQuery) (*view.Aggregate, *plazav1.Paging, error) {
			return posting.ListAuthorPosts(ctx, d, q, slices.Contains(sources, "user"))
		}
	}
	a, paging, err := list(ctx, s.Deps, q)
	return view.Fill(a, &plazav1.ListPostsResponse{Paging: paging}), err
}
