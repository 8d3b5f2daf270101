package view

import (
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Category converts a category.
func (b *Builder) Category(c communities.Category) *plazav1.Category {
	return &plazav1.Category{
		CategoryId:   c.ID,
		Name:         c.Name,
		Metadata:     object(c.Metadata),
		AvatarFileId: c.AvatarFileID,
		IsDeleted:    c.DeletedAt != nil,
		CreatedAt:    ts(c.CreatedAt),
		UpdatedAt:    ts(c.UpdatedAt),
	}
}

// Categories converts categories, each once.
func (b *Builder) Categories(rows []communities.Category) []*plazav1.Category {
	return mapList(unique(rows, func(c communities.Category) string { return c.ID }), b.Category)
}

// CategoryResponse returns a response about categories, which repeats them at the top level and in data. paging may be
// nil.
func (b *Builder) CategoryResponse(rows []communities.Category, paging *plazav1.Paging) *plazav1.CategoryResponse {
	if paging == nil {
		paging = &plazav1.Paging{}
	}
	data := &plazav1.CategoryData{Categories: mapList(rows, b.Category)}
	return &plazav1.CategoryResponse{
		Status: "success", Data: data, Categories: data.Categories, Files: data.Files, Paging: paging,
	}
}
