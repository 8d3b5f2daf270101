// Package feed lists posts by target: the feeds of users, communities and content, the following feed and the global
// feed.
package feed

import (
	"context"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements FeedService.
type Service struct{ *service.Deps }

// New returns the service of feeds.
func New(d *service.Deps) *Service { return &Service{d} }

// ListUserFeed lists the posts of a user's wall.
func (s *Service) ListUserFeed(ctx context.Context, m *plazav1.ListUserFeedRequest) (*plazav1.ListUserFeedResponse, error) {
	a, paging, err := posting.ListPosts(ctx, s.Deps, posting.PostQuery{
		TargetType: "user", TargetID: m.GetUserId(), SortBy: m.GetSortBy(), DataTypes: service.SortedSet(m.GetDataTypes()),
		HasFlag: m.HasFlag, Deleted: deletedOf(m.IsDeleted),
		Page: page.Merge(m.GetOptions(), m.Limit, m.GetToken()),
	})
	return &plazav1.ListUserFeedResponse{Status: "success", Paging: paging, Data: view.Fill(a, &plazav1.UserFeedData{Paging: paging})}, err
}

// ListCommunityFeed lists the posts of a community's feed.
func (s *Service) ListCommunityFeed(ctx context.Context, m *plazav1.ListCommunityFeedRequest) (*plazav1.ListCommunityFeedResponse, error) {
	a, paging, err := posting.ListPosts(ctx, s.Deps, posting.PostQuery{
		TargetType: "community", TargetID: m.GetCommunityId(), FeedType: m.GetFeedType(), SortBy: m.GetSortBy(),
		DataTypes: service.SortedSet(m.GetDataTypes()), HasFlag: m.HasFlag, Deleted: deletedOf(m.IsDeleted),
		Page: page.Merge(m.GetOptions(), m.Limit, m.GetToken()),
	})
	data := view.Fill(a, &plazav1.CommunityFeedData{Paging: paging})
	return &plazav1.ListCommunityFeedResponse{Status: "success", Paging: paging, Data: data}, err
}

// deletedOf leaves deleted posts out unless a request asks for them.
func deletedOf(isDeleted *bool) core.Deleted {
	if isDeleted == nil {
		return core.DeletedNone
	}
	return service.DeletedOf(isDeleted)
}
