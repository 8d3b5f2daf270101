package category

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// UpdateCategory changes the fields of a category that the request sets.
func (s *Service) UpdateCategory(ctx context.Context, req *plazav1.UpdateCategoryRequest) (*plazav1.CategoryResponse, error) {
	r := s.NewPrivilegedRequest(ctx, auth.EditCommunityCategory)
	r.CheckID(req.GetCategoryId())
	textrules.Require(r, s.HomeOf(req.GetCategoryId()), textrules.TextOfFields(req.Name))
	fileref.Require(r, fileref.Avatar(req.AvatarFileId))
	change := communities.CategoryChange{Name: req.Name, AvatarFileID: req.AvatarFileId, Metadata: view.ChangedJSON(req.GetMetadata())}
	var updated *communities.Category
	err := r.Write(ctx, req.GetCategoryId(), func(tx *store.Tx) { tx.UpdateCategory(req.GetCategoryId(), change, s.Now(), &updated) })
	if err != nil {
		return nil, err
	}
	return s.View.CategoryResponse([]communities.Category{*updated}, nil), nil
}

// DeleteCategory deletes a category. Its communities keep its id, and show it as deleted.
func (s *Service) DeleteCategory(ctx context.Context, req *plazav1.DeleteCategoryRequest) (*plazav1.StatusSuccessResponse, error) {
	id := req.GetCategoryId()
	r := s.NewPrivilegedRequest(ctx, auth.DeleteCommunityCategory)
	r.CheckID(id)
	return service.StatusSuccess(), r.Write(ctx, id, func(tx *store.Tx) { tx.DeleteCategory(id, s.Now()) })
}
