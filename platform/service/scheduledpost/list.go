package scheduledpost

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListScheduledPosts lists the caller's own scheduled posts, or those of all users if the caller manages posts. Homes
// that do not answer are left out.
func (s *Service) ListScheduledPosts(
	ctx context.Context, req *plazav1.ListScheduledPostsRequest,
) (*plazav1.ListScheduledPostsResponse, error) {
	f := s.NewRequest(ctx)
	cursor := f.Page(req.GetOptions())
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	order := service.OrderOf(req.GetSortBy())
	list := content.ScheduledPostList{
		AuthorID: f.Caller.UserID, NotPosted: req.GetNotPostedOnly(), ByUpdate: order.ByUpdate, Desc: order.Desc != cursor.Back,
		Limit: cursor.Limit + 1,
	}
	if managesAll(f.Caller) {
		list.AuthorID = ""
	}
	rows, paging, err := service.Merged[content.ScheduledPost]{
		Cursor: cursor, Desc: list.Desc,
		At: func(r content.ScheduledPost) (time.Time, string, string) { return list.Key(r), "", r.ID },
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]content.ScheduledPost) {
			list.After, _, list.AfterID = from.Start(list.Desc)
			reads.ListScheduledPosts(list, into)
		},
	}.Page(ctx, s.Deps)
	if err != nil {
		return nil, err
	}
	a, err := s.gather(ctx, f, rows)
	if err != nil {
		return nil, err
	}
	return s.View.ScheduledPosts(a, rows, paging), nil
}

// gather reads what the posts of the rows will refer to. The posts are built as they would be published.
func (s *Service) gather(ctx context.Context, f *service.Request, rows []content.ScheduledPost) (*view.Aggregate, error) {
	k := view.Rows{Users: f.UserRows(), Counts: core.Counts{}}
	var communities []string
	for _, row := range rows {
		posting := &posting.PostContext{AuthorID: row.AuthorID, AuthorPublicID: row.AuthorPublicID, TargetPublicID: row.TargetPublicID}
		d, err := s.draftOf(row)
		if err != nil {
			return nil, err
		}
		posts := rowsOf(row, d, posting, row.CreatedAt)
		k.Posts, k.NewChildren = append(k.Posts, posts[0]), append(k.NewChildren, posts[1:]...)
		for _, p := range posts {
			k.Counts[p.ID] = nil // a new post has no counts
		}
		if row.TargetType == "community" && !slices.Contains(communities, row.TargetID) {
			communities = append(communities, row.TargetID)
		}
	}
	var err error
	if k.Communities, err = service.ReadAvailable(ctx, s.Deps, (*store.ReadBatch).Communities, communities); err != nil {
		return nil, err
	}
	return s.View.Load(ctx, s.Store, f.Caller.UserID, k)
}
