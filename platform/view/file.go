package view

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FileObject is an object in a response that refers to a file; zero if the response is about the file itself.
type FileObject struct {
	Kind string // store.UsePost … store.UseStream, or FileAvatar
	ID   string // empty for FileAvatar
}

// FileAvatar is the kind of the objects whose files are not restricted: avatars of users, communities and channels, and
// images of categories.
const FileAvatar = "avatar"

// File converts a file that is shown to the caller as a part of an object.
func (b *Builder) File(ctx context.Context, f media.File, in FileObject) *plazav1.File {
	m := &plazav1.File{
		FileId:     f.ID,
		FileUrl:    b.fileURL(ctx, f, in),
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

func (b *Builder) fileURL(ctx context.Context, f media.File, object FileObject) string {
	if b.FileURL == nil {
		return ""
	}
	return b.FileURL(f, object, auth.CallerFrom(ctx))
}
