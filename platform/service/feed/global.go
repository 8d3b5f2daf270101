package feed

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// globalRequest is implemented by the requests of both global feeds.
type globalRequest interface {
	GetDataTypes() []string
	GetShowOnlyMyFeed() bool
	GetIncludeMixedStructure() bool
	GetOptions() *plazav1.PageOptions
	GetToken() string
}

// ListGlobalFeed lists the posts that the network's settings include in the global feed, newest first.
func (s *Service) ListGlobalFeed(ctx context.Context, req *plazav1.ListGlobalFeedRequest) (*plazav1.ListGlobalFeedResponse, error) {
	return s.global(ctx, req, req.Limit, byLastCreated)
}

// ListRankedGlobalFeed lists the same posts by customRanking.
func (s *Service) ListRankedGlobalFeed(
	ctx context.Context, req *plazav1.ListRankedGlobalFeedRequest,
) (*plazav1.ListGlobalFeedResponse, error) {
	return s.global(ctx, req, req.Limit, byCustomRanking)
}

func (s *Service) global(ctx context.Context, m globalRequest, limit *int32, sortBy string) (*plazav1.ListGlobalFeedResponse, error) {
	options := page.Merge(m.GetOptions(), limit, m.GetToken())
	list, err := s.lister(sortBy, options, "options.token")
	src := s.sources(ctx)
	src.Fail(err)
	if err := src.Run(ctx); err != nil {
		return nil, err
	}
	q := src.global(m.GetShowOnlyMyFeed())
	if types := service.SortedSet(m.GetDataTypes()); len(types) > 0 {
		q.StructureTypes = types
		if m.GetIncludeMixedStructure() {
			q.StructureTypes = append(slices.Clone(types), "mixed")
		}
	}
	a, paging, err := s.page(ctx, src, list, q)
	return view.Fill(a, &plazav1.ListGlobalFeedResponse{
		Status: "success", Paging: paging, Data: view.Fill(a, &plazav1.GlobalFeedData{Paging: paging}),
	}), err
}

// global completes the query with the sources that the network's settings include in the global feed. By default
// these are the sources of the following feed; a network can add the posts of all users or leave sources out.
func (src *sources) global(onlyMine bool) content.PostFeedQuery {
	q := src.query()
	set := src.settings
	if onlyMine || set.ShowOnlyMyFeed {
		q.OwnWall = true
		return q
	}
	q.OwnWall = set.ShowMyPost
	if set.ShowFollowingPost {
		src.follow(&q)
	}
	if set.ShowCommunityPost {
		q.Communities = src.communities
	}
	q.Everyone, q.WallsOpen = set.ShowEveryonePost, !set.IsPrivate()
	return q
}
