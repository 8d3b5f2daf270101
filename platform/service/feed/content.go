package feed

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListContentFeed lists the posts of all regions whose target is content. Regions that do not answer are left out.
func (s *Service) ListContentFeed(ctx context.Context, m *plazav1.ListContentFeedRequest) (*plazav1.ListContentFeedResponse, error) {
	cursor, err := page.Parse(m.GetOptions(), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	f := s.NewRequest(ctx)
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	order := service.OrderOf(m.GetSortBy())
	list := store.PostList{
		FeedType: "published", Deleted: deletedOf(m.IsDeleted), ByUpdate: order.ByUpdate,
		Desc: order.Desc != cursor.Back, Limit: cursor.Limit + 1,
	}
	if list.Flagged, err = service.FlaggedOf(m.HasFlag, auth.Allowed(f.Caller, auth.ModeratePostAndComment, auth.Scope{})); err != nil {
		return nil, err
	}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	rows, err := s.contentOfAll(ctx, list)
	if err != nil {
		return nil, err
	}
	rows, paging := service.Page(cursor, rows, false, list.Desc, func(p store.Post) (time.Time, string, string) { return list.Key(p), "", p.ID })
	a, err := s.View.Load(ctx, s.Store, f.Caller.UserID, view.Rows{Posts: rows, Users: f.UserRows()})
	if err != nil {
		return nil, err
	}
	return a.ContentFeed(paging), nil
}

// contentOfAll reads up to a page of the content posts of each home.
func (s *Service) contentOfAll(ctx context.Context, list store.PostList) ([]store.Post, error) {
	parts := make([][]store.Post, len(region.All()))
	reads := s.Store.NewBestEffortBatch()
	for i, home := range region.All() {
		list.TargetID = visibility.ContentTarget(home)
		reads.ListPosts(list, &parts[i])
	}
	err := reads.Run(ctx)
	return slices.Concat(parts...), err
}
