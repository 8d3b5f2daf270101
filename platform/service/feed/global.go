package feed

import (
	"context"
	"slices"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// globalRequest is what the two global feeds ask for alike.
type globalRequest interface {
	GetDataTypes() []string
	GetShowOnlyMyFeed() bool
	GetIncludeMixedStructure() bool
	GetOptions() *plazav1.PageOptions
	GetToken() string
}

// ListGlobalFeed lists the posts that the network's settings put into the global feed, newest first.
func (s *Service) ListGlobalFeed(ctx context.Context, req *connect.Request[plazav1.ListGlobalFeedRequest]) (*connect.Response[plazav1.ListGlobalFeedResponse], error) {
	return s.global(ctx, req.Msg, req.Msg.Limit, byLastCreated)
}

// ListRankedGlobalFeed lists the same posts by customRanking.
func (s *Service) ListRankedGlobalFeed(ctx context.Context, req *connect.Request[plazav1.ListRankedGlobalFeedRequest]) (*connect.Response[plazav1.ListGlobalFeedResponse], error) {
	return s.global(ctx, req.Msg, req.Msg.Limit, byCustomRanking)
}

func (s *Service) global(ctx context.Context, m globalRequest, limit *int32, sortBy string) (*connect.Response[plazav1.ListGlobalFeedResponse], error) {
	options := page.Merge(m.GetOptions(), limit, m.GetToken())
	list, err := s.lister(paging{sortBy: sortBy, limit: options.Limit, token: options.GetToken(), field: "options.token"})
	if err != nil {
		return nil, err
	}
	src, err := s.sources(ctx)
	if err != nil {
		return nil, err
	}
	q := src.global(m.GetShowOnlyMyFeed())
	if types := distinct(m.GetDataTypes()); len(types) > 0 {
		q.StructureTypes = types
		if m.GetIncludeMixedStructure() {
			q.StructureTypes = append(slices.Clone(types), "mixed")
		}
	}
	a, paging, err := s.page(ctx, src, list, q)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(a.GlobalFeed(paging)), nil
}

// global is what the settings put into the global feed of the caller. From the start that is what the following feed shows;
// a network can add what everybody posts, or take parts out.
func (src *sources) global(onlyMine bool) store.FeedQuery {
	q := src.query()
	set := src.settings
	if onlyMine || set.ShowOnlyMyFeed {
		q.OwnWall = true
		return q
	}
	q.OwnWall, q.Following = set.ShowMyPost, set.ShowFollowingPost
	if set.ShowCommunityPost {
		q.Communities = src.communities
	}
	q.Everyone, q.WallsOpen = set.ShowEveryonePost, !set.IsPrivate()
	return q
}
