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

// Content is the bytes of a file in some size. The caller closes it.
type Content struct {
	io.ReadSeekCloser
	Name     string
	MimeType string
	// Tag changes with the bytes.
	Tag      string
	Modified time.Time
	// Public tells whether everybody may have the bytes, and keep them for others.
	Public bool
	// Inline tells whether a browser may show the bytes as a page's part; it should offer others to be saved.
	Inline bool
}

var errSignature = fail.Forbidden("The address of the file is not valid, or not any more")

// Download opens the bytes of a file in a size: full (or empty), large, medium or small. An image that is no larger than
// the size, and whatever is no image, comes in full. token is the signature of the address, where it has one; without it,
// a file that is not public is for users of the network.
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

// isInline: pictures of points, sound and films run no scripts.
func isInline(mimeType string) bool {
	return strings.HasPrefix(mimeType, "video/") || strings.HasPrefix(mimeType, "audio/") ||
		(strings.HasPrefix(mimeType, "image/") && !strings.Contains(mimeType, "xml"))
}
