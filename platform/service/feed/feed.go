// Package feed lists posts by where they stand.
package feed

import (
	"context"
	"slices"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements FeedService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

// ListUserFeed lists the posts of a user's wall.
func (s *Service) ListUserFeed(ctx context.Context, req *connect.Request[plazav1.ListUserFeedRequest]) (*connect.Response[plazav1.ListUserFeedResponse], error) {
	m := req.Msg
	a, paging, err := s.PostPage(ctx, service.PostQuery{
		TargetType: "user", TargetID: m.GetUserId(), SortBy: m.GetSortBy(), DataTypes: distinct(m.GetDataTypes()),
		Flagged: service.FlaggedOf(m.HasFlag), Deleted: deletedOf(m.IsDeleted),
		Page: page.Merge(m.GetOptions(), m.Limit, m.GetToken()),
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(a.UserFeed(paging)), nil
}

// ListCommunityFeed lists the posts of a community's feed.
func (s *Service) ListCommunityFeed(ctx context.Context, req *connect.Request[plazav1.ListCommunityFeedRequest]) (*connect.Response[plazav1.ListCommunityFeedResponse], error) {
	m := req.Msg
	a, paging, err := s.PostPage(ctx, service.PostQuery{
		TargetType: "community", TargetID: m.GetCommunityId(), FeedType: m.GetFeedType(), SortBy: m.GetSortBy(),
		DataTypes: distinct(m.GetDataTypes()), Flagged: service.FlaggedOf(m.HasFlag), Deleted: deletedOf(m.IsDeleted),
		Page: page.Merge(m.GetOptions(), m.Limit, m.GetToken()),
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(a.CommunityFeed(paging)), nil
}

func distinct(types []string) []string {
	sorted := slices.Sorted(slices.Values(types))
	return slices.Compact(sorted)
}

// deletedOf leaves deleted posts out unless they are asked for: a feed is for reading.
func deletedOf(isDeleted *bool) store.Deleted {
	if isDeleted == nil {
		return store.DeletedNone
	}
	return service.DeletedOf(isDeleted)
}
