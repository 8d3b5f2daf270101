package view

import (
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Category makes the message of a category.
func (b *Builder) Category(c store.Category) *plazav1.Category {
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

// CategoryResponse is the answer about categories in both of its shapes; paging may be nil where there are no pages.
func (b *Builder) CategoryResponse(rows []store.Category, paging *plazav1.Paging) *plazav1.CategoryResponse {
	if paging == nil {
		paging = &plazav1.Paging{}
	}
	data := &plazav1.CategoryData{Categories: make([]*plazav1.Category, 0, len(rows))}
	for _, c := range rows {
		data.Categories = append(data.Categories, b.Category(c))
	}
	return &plazav1.CategoryResponse{
		Status: "success", Data: data, Categories: data.Categories, Files: data.Files, Paging: paging,
	}
}
