package feed

import (
	"context"

	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListContentFeed lists the posts of all regions whose target is content. Regions that do not answer are left out.
func (s *Service) ListContentFeed(ctx context.Context, m *plazav1.ListContentFeedRequest) (*plazav1.ListContentFeedResponse, error) {
	a, paging, err := posting.ListContentPosts(ctx, s.Deps, posting.PostQuery{
		SortBy: m.GetSortBy(), HasFlag: m.HasFlag, Deleted: deletedOf(m.IsDeleted), Page: m.GetOptions(),
	})
	if err != nil {
		return nil, err
	}
	return &plazav1.ListContentFeedResponse{Status: "success", Paging: paging, Data: view.Fill(a, &plazav1.ContentFeedData{Paging: paging})},
		nil
}
