package file

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileaccess"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/media"
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

// Address is what the address of a download consists of.
type Address struct {
	FileID string
	Size   string // full (or empty), large, medium or small
	Token  string // the signature of a file with access type network; empty without one
	Proof  string // of a restricted file; empty without one
}

// Download opens the content of a file in a size. Images that are no larger than the size, and files that are no
// images, are returned in full.
func (s *Service) Download(ctx context.Context, a Address) (*Content, error) {
	if !slices.Contains([]string{"", "full", "large", "medium", "small"}, a.Size) {
		return nil, fail.Validation("size: must be full, large, medium or small")
	}
	first := s.NewRequest(ctx)
	var f *media.File
	first.File(a.FileID, &f)
	if err := first.ReadBatch.Run(ctx); err != nil {
		return nil, err
	}
	if f == nil {
		return nil, fail.NotFound()
	}
	public, err := s.requireDownload(ctx, first, a, *f)
	if err != nil {
		return nil, err
	}
	c, err := s.open(ctx, f, a.Size)
	if err == nil {
		c.Public = public
	}
	return c, err
}

// requireDownload returns nil if the address or the caller may read a file, and whether everyone may.
func (s *Service) requireDownload(ctx context.Context, r *service.Request, a Address, f media.File) (public bool, err error) {
	switch {
	case a.Proof != "":
		return false, s.requireProof(ctx, a.Proof, f)
	case f.Restricted:
		return s.requireRestricted(ctx, r, f)
	case f.AccessType == media.AccessPublic:
		return true, nil
	case s.Links.Valid(f.ID, a.Token):
		return false, nil
	}
	err = r.Confirm(ctx)
	if err != nil && a.Token != "" {
		err = errSignature.Because(err)
	}
	return false, err
}

// requireRestricted decides about a restricted file by the caller alone.
func (s *Service) requireRestricted(ctx context.Context, r *service.Request, f media.File) (public bool, err error) {
	confirmed := r.Confirm(ctx)
	if confirmed == nil {
		if err := s.requireRead(ctx, r.Caller, f); err == nil || !fileaccess.IsRefusal(err) {
			return false, err
		}
		confirmed = fail.NotAllowed()
	}
	if public, err := fileaccess.IsPublic(ctx, s.Deps, f); err != nil || public {
		return public, err
	}
	return false, confirmed
}

// requireProof returns nil if the viewer whom a proof identifies may still read the object that it names.
func (s *Service) requireProof(ctx context.Context, text string, f media.File) error {
	p, ok := s.Links.decode(text, f.ID)
	if !ok {
		return errSignature
	}
	if p.viewer == "" { // an administrator
		return nil
	}
	viewer := &auth.Caller{Kind: auth.User, UserID: p.viewer, Home: s.HomeOf(p.viewer)}
	facts, err := s.factsOfViewer(ctx, p)
	if err == nil {
		err = auth.Confirm(auth.WithCaller(ctx, viewer), facts)
	}
	if err == nil && p.object.Kind == "" {
		err = s.requireRead(ctx, viewer, f)
	} else if err == nil {
		err = fileaccess.RequireObject(ctx, s.Deps, viewer, p.object)
	}
	if err != nil && fileaccess.IsRefusal(err) {
		return errSignature.Because(err)
	}
	return err
}

// factsOfViewer reads the state of the user whom a proof identifies. Guests have none.
func (s *Service) factsOfViewer(ctx context.Context, p proof) (auth.Facts, error) {
	if p.guest {
		return auth.GuestFacts(false), nil
	}
	users, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Users, []string{p.viewer})
	return s.FactsOf(service.UserByID(users, p.viewer)), err
}

// requireRead returns nil if a confirmed caller may read a file.
func (s *Service) requireRead(ctx context.Context, caller *auth.Caller, f media.File) error {
	if !f.Restricted {
		return nil
	}
	return fileaccess.RequireRead(ctx, s.Deps, caller, f)
}

func (s *Service) open(ctx context.Context, f *media.File, size string) (*Content, error) {
	c := &Content{
		Name: f.Name, MimeType: f.MimeType, Tag: f.ID, Modified: f.CreatedAt,
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
