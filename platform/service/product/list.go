package product

import (
	"cmp"
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// SearchProducts lists the products of all regions. Regions that are unavailable are left out.
func (s *Service) SearchProducts(ctx context.Context, req *plazav1.SearchProductsRequest) (*plazav1.SearchProductsResponse, error) {
	r := s.NewRequest(ctx)
	cursor := r.Page(req.GetOptions())
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	list := listOf(req, cursor)
	if list.Prefix != "" && list.Order != content.ProductsByName {
		return s.searchByTime(ctx, list, cursor)
	}
	rows, paging, err := service.Merged[content.Product]{
		Cursor: cursor, ByName: list.Order == content.ProductsByName, Desc: list.Desc,
		At: position(list.Order),
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]content.Product) {
			list.AfterTime, list.AfterKey, list.AfterID = from.Start(list.Desc)
			reads.ListProducts(list, into)
		},
	}.Page(ctx, s.Deps)
	return &plazav1.SearchProductsResponse{Products: s.View.Products(rows), Paging: paging}, err
}

// position returns the function that returns the sort key of a product in an order.
func position(order string) func(content.Product) (t time.Time, key, id string) {
	return func(p content.Product) (t time.Time, key, id string) {
		if order == content.ProductsByUpdate {
			return p.UpdatedAt, p.NameKey, p.ID
		}
		return p.CreatedAt, p.NameKey, p.ID
	}
}

// maxFound is the number of products of each home and state among which a keyword finds those that it orders by time.
const maxFound = 500

// searchByTime orders the products that a keyword finds, the first ones by name, by time.
func (s *Service) searchByTime(ctx context.Context, list content.ProductList, cursor page.Cursor) (*plazav1.SearchProductsResponse, error) {
	named := content.ProductList{
		Prefix: list.Prefix, Status: list.Status, Deleted: list.Deleted, Order: content.ProductsByName,
		Limit: maxFound,
	}
	_, named.AfterKey, named.AfterID = page.Cursor{}.Start(false)
	var rows []content.Product
	reads := s.Store.NewBestEffortBatch()
	reads.ListProducts(named, &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	at := position(list.Order)
	rows = service.After(rows, cursor, false, list.Desc, at)
	if len(rows) == 0 {
		return &plazav1.SearchProductsResponse{Paging: &plazav1.Paging{}}, service.RequireEnd(reads, cursor.First())
	}
	rows, paging := service.Page(cursor, rows, false, list.Desc, at)
	return &plazav1.SearchProductsResponse{Products: s.View.Products(rows), Paging: paging}, nil
}

// listOf returns the query of a request.
func listOf(req *plazav1.SearchProductsRequest, cursor page.Cursor) content.ProductList {
	list := content.ProductList{
		Prefix: req.GetKeyword(), Deleted: req.GetIsDeleted(), Order: cmp.Or(req.GetSortBy(),
			content.ProductsByCreation), Limit: cursor.Limit + 1,
	}
	if req.IsActive != nil {
		list.Status = content.ProductArchived
		if req.GetIsActive() {
			list.Status = content.ProductActive
		}
	}
	newestFirst := req.GetSortOrder() == "desc" || req.GetSortOrder() == "" && list.Order != content.ProductsByName
	list.Desc = newestFirst != cursor.Back
	return list
}
