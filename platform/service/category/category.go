// Package category implements CategoryService: the categories of communities.
package category

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements CategoryService.
type Service struct{ *service.Deps }

// New returns the service.
func New(d *service.Deps) *Service { return &Service{d} }

// CreateCategory creates a category in the region of this server.
func (s *Service) CreateCategory(ctx context.Context, req *plazav1.CreateCategoryRequest) (*plazav1.CategoryResponse, error) {
	r := s.NewPrivilegedRequest(ctx, auth.CreateCommunityCategory)
	textrules.Require(r, s.Region, textrules.TextOfList(req.GetName()))
	fileref.Require(r, fileref.Avatar(&req.AvatarFileId))
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	now := s.Now()
	c := communities.Category{
		ID:           s.NewID(s.Region),
		Name:         req.GetName(),
		Metadata:     view.ObjectJSON(req.GetMetadata()),
		AvatarFileID: req.GetAvatarFileId(),
		CreatedAt:    now,
		UpdatedAt:    now,
	}
	auth.Created(ctx, "category", c.ID)
	tx := s.Store.NewTx(s.Region)
	tx.InsertCategory(c, now)
	return s.View.CategoryResponse([]communities.Category{c}, nil), tx.Commit(ctx)
}

// GetCategory gets one category.
func (s *Service) GetCategory(ctx context.Context, req *plazav1.GetCategoryRequest) (*plazav1.CategoryResponse, error) {
	var rows []communities.Category
	r := s.NewRequest(ctx)
	r.Categories([]string{req.GetCategoryId()}, &rows)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fail.NotFound()
	}
	return s.View.CategoryResponse(rows, nil), nil
}

// BatchGetCategories gets several categories in the order of the request. Categories that do not exist or whose home
// is unavailable are left out. A request without ids lists all categories.
func (s *Service) BatchGetCategories(ctx context.Context, req *plazav1.BatchGetCategoriesRequest) (*plazav1.CategoryResponse, error) {
	ids := idsOf(req)
	if len(ids) == 0 {
		return s.list(ctx, req, false)
	}
	if err := s.NewRequest(ctx).Run(ctx); err != nil {
		return nil, err
	}
	rows, err := service.ReadAvailable(ctx, s.Deps, (*store.ReadBatch).Categories, ids)
	service.SortByID(rows, ids, func(c communities.Category) string { return c.ID })
	return s.View.CategoryResponse(rows, nil), err
}

// idsOf returns the ids of a request without repetitions.
func idsOf(req *plazav1.BatchGetCategoriesRequest) []string {
	ids := service.Distinct(append(slices.Clone(req.GetCategoryIds()), req.GetCategoryId()))
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}
