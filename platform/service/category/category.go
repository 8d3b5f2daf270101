// Package category holds the categories that communities stand in.
package category

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements CategoryService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

// CreateCategory makes a category. It lives at this server's region.
func (s *Service) CreateCategory(ctx context.Context, req *plazav1.CreateCategoryRequest) (*plazav1.CategoryResponse, error) {
	r := s.NewRequest(ctx)
	avatar := fileref.Read(r.ReadBatch, fileref.Avatar(&req.AvatarFileId))
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if err := auth.Require(r.Caller, auth.CreateCommunityCategory, auth.Scope{}); err != nil {
		return nil, err
	}
	if err := avatar.Err(); err != nil {
		return nil, err
	}
	now := s.Now()
	c := store.Category{
		ID:           s.NewID(s.Region),
		Name:         req.GetName(),
		Metadata:     view.ObjectJSON(req.GetMetadata()),
		AvatarFileID: req.GetAvatarFileId(),
		CreatedAt:    now,
		UpdatedAt:    now,
	}
	tx := s.Store.NewTx(s.Region)
	tx.InsertCategory(c, now)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.View.CategoryResponse([]store.Category{c}, nil), nil
}

// GetCategory gets one category.
func (s *Service) GetCategory(ctx context.Context, req *plazav1.GetCategoryRequest) (*plazav1.CategoryResponse, error) {
	var rows []store.Category
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

// BatchGetCategories gets several categories in the order of the request; unknown ones and those of a region that is away
// are left out. A request that names none gets them all, by pages.
func (s *Service) BatchGetCategories(ctx context.Context, req *plazav1.BatchGetCategoriesRequest) (*plazav1.CategoryResponse, error) {
	ids := wanted(req)
	if len(ids) == 0 {
		return s.list(ctx, listing{sortBy: req.GetSortBy(), options: req.GetOptions()})
	}
	if err := s.NewRequest(ctx).Run(ctx); err != nil {
		return nil, err
	}
	var rows []store.Category
	reads := s.Store.NewBestEffortBatch()
	reads.Categories(ids, &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b store.Category) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return s.View.CategoryResponse(rows, nil), nil
}

// wanted are the ids of the request, each once.
func wanted(req *plazav1.BatchGetCategoriesRequest) []string {
	var ids []string
	for _, id := range append(slices.Clone(req.GetCategoryIds()), req.GetCategoryId()) {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
