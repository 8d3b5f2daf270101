package file

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/picture"
	"github.com/plaza-social/plaza/platform/store/media"
)

// takeImage stores an image and its smaller sizes. The image is decoded from the storage, so that it is not in memory
// while it arrives. If the network removes positions, the image that is served is a copy without metadata.
func (u *Upload) takeImage(ctx context.Context, field string, f *media.File, in *incoming) error {
	s := u.service
	part := partFull
	if s.StripGPS {
		part = partUpload
	}
	var err error
	if f.Size, err = s.write(ctx, f.ID, part, in); err != nil {
		return err
	}
	facts, err := s.examine(ctx, field, f, part)
	if err != nil {
		return err
	}
	if s.StripGPS {
		if err := s.strip(ctx, field, f, facts.Orientation); err != nil {
			return err
		}
		clear(facts.GPS)
	}
	f.Width, f.Height = int64(facts.Width), int64(facts.Height)
	if f.Exif, err = json.Marshal(facts.Exif); err != nil {
		return err
	}
	if f.GPS, err = json.Marshal(facts.GPS); err != nil {
		return err
	}
	for _, smaller := range facts.Smaller {
		if err := s.writeBytes(ctx, f.ID, smaller.Size, smaller.Bytes); err != nil {
			return err
		}
		f.Sizes, f.SizesMimeType = append(f.Sizes, smaller.Size), smaller.MimeType
	}
	return nil
}

// examine decodes the header of an image that was stored as a part of a file.
func (s *Service) examine(ctx context.Context, field string, f *media.File, part string) (*picture.Facts, error) {
	format, _ := picture.FormatOf(f.MimeType)
	stored, err := s.Storage.Open(ctx, f.ID, part)
	if err != nil {
		return nil, errStorage.Because(err)
	}
	defer s.close(ctx, stored)
	facts, err := picture.Examine(ctx, stored, format, s.MaxPixels, s.images.Of(f.OwnerID)) // administrators share a place
	return facts, imageError(field, err)
}

// strip stores the copy that is served and removes the original.
func (s *Service) strip(ctx context.Context, field string, f *media.File, orientation int) error {
	format, _ := picture.FormatOf(f.MimeType)
	stored, err := s.Storage.Open(ctx, f.ID, partUpload)
	if err != nil {
		return errStorage.Because(err)
	}
	defer s.close(ctx, stored)
	from, to := io.Pipe()
	stripped := make(chan error, 1)
	go func() {
		err := picture.Strip(ctx, to, stored, format, orientation)
		_ = to.CloseWithError(err) // CloseWithError never fails
		stripped <- err
	}()
	f.Size, err = s.Storage.Write(ctx, f.ID, partFull, from)
	_ = from.Close() // unblocks the writer
	if failed := <-stripped; failed != nil && !errors.Is(failed, io.ErrClosedPipe) {
		return imageError(field, failed)
	}
	if err != nil {
		return errStorage.Because(err)
	}
	if err := s.Storage.Delete(ctx, f.ID, partUpload); err != nil {
		return errStorage.Because(err)
	}
	return nil
}

func (s *Service) close(ctx context.Context, c io.Closer) {
	if err := c.Close(); err != nil {
		s.Log.DebugContext(ctx, "stored file was not closed cleanly", "error", err)
	}
}

// imageError returns a validation error for an invalid image, and other errors unchanged.
func imageError(field string, err error) error {
	if err == nil {
		return nil
	}
	if large, ok := errors.AsType[*picture.TooManyPixelsError](err); ok {
		return fail.Validation(field + ": " + large.Error()).Because(err)
	}
	switch {
	case errors.Is(err, picture.ErrBroken):
		return fail.Validation(field + ": must be a valid image").Because(err)
	case errors.Is(err, picture.ErrTooSlow):
		return fail.Validation(field + ": takes too long to decode").Because(err)
	case errors.Is(err, picture.ErrUserQueueFull):
		return errTooManyImages.Because(err)
	case errors.Is(err, picture.ErrQueueFull):
		return errImagesBusy.Because(err)
	case errors.Is(err, context.DeadlineExceeded):
		return errAbandoned.Because(err)
	}
	return errStorage.Because(err)
}

var (
	errTooManyImages = fail.New(fail.CodeRateLimited, "Too many of your images are waiting to be processed")
	errImagesBusy    = fail.Unavailable("too many images are waiting to be processed", nil)
)
