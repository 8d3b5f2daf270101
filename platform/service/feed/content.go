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
	rows, paging, err := service.Merged[store.Post]{
		Cursor: cursor, Desc: list.Desc,
		At: func(p store.Post) (time.Time, string, string) { return list.Key(p), "", p.ID },
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]store.Post) {
			list.After, _, list.AfterID = from.Start(list.Desc)
			contentOfAll(reads, list, into)
		},
	}.Page(ctx, s.Deps)
	if err != nil {
		return nil, err
	}
	a, err := s.View.Load(ctx, s.Store, f.Caller.UserID, view.Rows{Posts: rows, Users: f.UserRows()})
	data := view.Fill(a, &plazav1.ContentFeedData{Paging: paging})
	return &plazav1.ListContentFeedResponse{Status: "success", Paging: paging, Data: data}, err
}

// contentOfAll reads up to a page of the content posts of each home.
func contentOfAll(reads *store.ReadBatch, list store.PostList, into *[]store.Post) {
	parts := make([][]store.Post, len(region.All()))
	for i, home := range region.All() {
		list.TargetID = visibility.ContentTarget(home)
		reads.ListPosts(list, &parts[i])
	}
	reads.Finally(func() { *into = slices.Concat(parts...) })
}
