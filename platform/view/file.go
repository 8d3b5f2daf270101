package view

import (
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// File converts a file.
func (b *Builder) File(f store.File) *plazav1.File {
	m := &plazav1.File{
		FileId:     f.ID,
		FileUrl:    b.fileURL(f),
		Type:       f.Type,
		AccessType: f.AccessType,
		AltText:    f.AltText,
		Status:     "uploaded",
		CreatedAt:  ts(f.CreatedAt),
		UpdatedAt:  ts(f.UpdatedAt),
		Attributes: &plazav1.FileAttributes{
			Name:      f.Name,
			Extension: f.Extension,
			Size:      count(f.Size),
			MimeType:  f.MimeType,
			Metadata: &plazav1.FileMetadata{
				Exif: object(f.Exif), Gps: object(f.GPS), Height: count(f.Height), Width: count(f.Width), IsFull: f.Type == "image",
			},
		},
	}
	if f.FeedType != "" {
		m.FeedType = &f.FeedType
	}
	if f.Type == "video" || f.Type == "clip" {
		m.VideoUrl = &plazav1.VideoUrl{Original: m.GetFileUrl()}
	}
	return m
}

func (b *Builder) fileURL(f store.File) string {
	if b.FileURL == nil {
		return ""
	}
	return b.FileURL(f)
}
