// Package linkpreview returns previews of the web pages that users link to.
package linkpreview

import (
	"context"
	"errors"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/webpage"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements LinkPreviewService.
type Service struct {
	*service.Deps
	fetcher *webpage.Fetcher
}

// New returns the service of link previews.
func New(d *service.Deps, fetcher *webpage.Fetcher) *Service { return &Service{d, fetcher} }

// GetLinkPreview returns the preview of a page.
func (s *Service) GetLinkPreview(ctx context.Context, req *plazav1.GetLinkPreviewRequest) (*plazav1.LinkPreview, error) {
	u, err := webpage.Parse(req.GetUrl())
	if err != nil {
		return nil, fail.Validation("url: " + err.Error())
	}
	r := s.NewUserRequest(ctx)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	p, err := s.fetcher.Fetch(ctx, r.Caller.UserID, u)
	if errors.Is(err, webpage.ErrBusy) {
		return nil, fail.Unavailable(err.Error(), nil)
	}
	if err != nil {
		return nil, err
	}
	return &plazav1.LinkPreview{
		Title: textOf(p.Title), Description: textOf(p.Description), Domain: textOf(p.Domain), ImageUrl: textOf(p.ImageURL),
	}, nil
}

// textOf returns nil for an empty text.
func textOf(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
