package category

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListCategories lists the categories of all regions. Regions that are unavailable are left out.
func (s *Service) ListCategories(ctx context.Context, req *plazav1.ListCategoriesRequest) (*plazav1.CategoryResponse, error) {
	return s.list(ctx, listParams{sortBy: req.GetSortBy(), deleted: req.GetIsDeleted(), options: req.GetOptions()})
}

// listParams are the parameters of a request that lists categories.
type listParams struct {
	sortBy  string
	deleted bool
	options *plazav1.PageOptions
}

func (s *Service) list(ctx context.Context, l listParams) (*plazav1.CategoryResponse, error) {
	cursor, err := page.Parse(l.options, page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	if err := s.NewRequest(ctx).Run(ctx); err != nil {
		return nil, err
	}
	list := listOf(l, cursor)
	var rows []store.Category
	reads := s.Store.NewBestEffortBatch()
	reads.ListCategories(list, &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging := service.Page(cursor, rows, list.ByName, list.Desc, position)
	return s.View.CategoryResponse(rows, paging), nil
}

// listOf returns the query of a request.
func listOf(l listParams, cursor page.Cursor) store.CategoryList {
	list := store.CategoryList{
		Deleted: l.deleted,
		ByName:  l.sortBy == "" || l.sortBy == "name",
		Desc:    (l.sortBy == "lastCreated") != cursor.Back,
		Limit:   cursor.Limit + 1,
	}
	list.AfterTime, list.AfterKey, list.AfterID = cursor.Start(list.Desc)
	return list
}

// position returns the sort key of a category.
func position(c store.Category) (t time.Time, key, id string) { return c.CreatedAt, c.NameKey, c.ID }
