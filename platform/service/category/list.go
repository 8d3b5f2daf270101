package category

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListCategories lists the categories of all regions. Regions that are unavailable are left out.
func (s *Service) ListCategories(ctx context.Context, req *plazav1.ListCategoriesRequest) (*plazav1.CategoryResponse, error) {
	return s.list(ctx, req, req.GetIsDeleted())
}

// listRequest is ListCategoriesRequest or BatchGetCategoriesRequest.
type listRequest interface {
	GetSortBy() string
	GetOptions() *plazav1.PageOptions
}

func (s *Service) list(ctx context.Context, req listRequest, deleted bool) (*plazav1.CategoryResponse, error) {
	r := s.NewRequest(ctx)
	cursor := r.Page(req.GetOptions())
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	list := communities.CategoryList{
		Deleted: deleted,
		ByName:  req.GetSortBy() == "" || req.GetSortBy() == "name",
		Desc:    (req.GetSortBy() == "lastCreated") != cursor.Back,
		Limit:   cursor.Limit + 1,
	}
	rows, paging, err := service.Merged[communities.Category]{
		Cursor: cursor, ByName: list.ByName, Desc: list.Desc,
		At: func(c communities.Category) (t time.Time, key, id string) { return c.CreatedAt, c.NameKey, c.ID },
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]communities.Category) {
			list.AfterTime, list.AfterKey, list.AfterID = from.Start(list.Desc)
			reads.ListCategories(list, into)
		},
	}.Page(ctx, s.Deps)
	return s.View.CategoryResponse(rows, paging), err
}
