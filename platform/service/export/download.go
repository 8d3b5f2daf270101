package export

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

// Archive is the archive of an export. The caller must close it.
type Archive struct {
	io.ReadSeekCloser
	Name     string
	Tag      string // changes with the content
	Modified time.Time
}

// Download opens the archive of a user's export.
func (s *Service) Download(ctx context.Context, publicID string) (*Archive, error) {
	e, err := s.read(ctx, publicID)
	if err != nil {
		return nil, err
	}
	if e.State != lifecycle.ExportReady || !s.Now().Before(e.DueAt) {
		return nil, fail.NotFound()
	}
	content, err := s.storage.Open(ctx, e.ID, partArchive)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, fail.NotFound().Because(err)
	}
	if err != nil {
		return nil, err
	}
	day := e.RequestedAt.UTC().Format(time.DateOnly)
	return &Archive{content, "export-" + day + ".zip", e.ID + "-" + e.FinishedAt.UTC().Format("20060102T150405"), *e.FinishedAt}, nil
}
