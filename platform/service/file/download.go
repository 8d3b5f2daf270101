package file

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store"
)

// Content is the content of a file in one size. The caller must close it.
type Content struct {
	io.ReadSeekCloser
	Name     string
	MimeType string
	// Tag is the entity tag; it changes with the content.
	Tag      string
	Modified time.Time
	// Public reports whether everyone may read the content, and shared caches may keep it.
	Public bool
	// Inline reports whether a browser may display the content in a page instead of saving it.
	Inline bool
}

var errSignature = fail.Forbidden("The file's address is invalid or has expired")

// Download opens the content of a file in a size: full (or empty), large, medium or small. Images that are no larger
// than the size, and files that are no images, are returned in full. token is the signature in the address, if any;
// without it, a file that is not public is available to users of the network only.
func (s *Service) Download(ctx context.Context, id, size, token string) (*Content, error) {
	if !slices.Contains([]string{"", "full", "large", "medium", "small"}, size) {
		return nil, fail.Validation("size: must be full, large, medium or small")
	}
	first := s.NewRequest(ctx)
	var f *store.File
	first.File(id, &f)
	if err := first.ReadBatch.Run(ctx); err != nil {
		return nil, err
	}
	if f == nil {
		return nil, fail.NotFound()
	}
	if f.AccessType != store.AccessPublic && !s.Links.Valid(id, token) {
		err := first.Confirm(ctx)
		if err != nil && token != "" {
			err = errSignature.Because(err)
		}
		if err != nil {
			return nil, err
		}
	}
	return s.open(ctx, f, size)
}

func (s *Service) open(ctx context.Context, f *store.File, size string) (*Content, error) {
	c := &Content{
		Name: f.Name, MimeType: f.MimeType, Tag: f.ID, Modified: f.CreatedAt, Public: f.AccessType == store.AccessPublic,
	}
	part := partFull
	if slices.Contains(f.Sizes, size) {
		part, c.MimeType, c.Tag = size, f.SizesMimeType, f.ID+"-"+size
	}
	c.Inline = isInline(c.MimeType)
	var err error
	c.ReadSeekCloser, err = s.Storage.Open(ctx, f.ID, part)
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, storage.ErrNone):
		return nil, errNoStorage
	case errors.Is(err, storage.ErrNotFound):
		return nil, fail.NotFound().Because(err)
	}
	return nil, errStorage.Because(err)
}

// isInline reports whether a type runs no scripts: raster images, audio and video.
func isInline(mimeType string) bool {
	return strings.HasPrefix(mimeType, "video/") || strings.HasPrefix(mimeType, "audio/") ||
		(strings.HasPrefix(mimeType, "image/") && !strings.Contains(mimeType, "xml"))
}
