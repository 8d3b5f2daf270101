// Package picture inspects images, checks that they are intact and scales them down. It reads streams; only pixels are
// held in memory, and no more than the caller allows.
package picture

import (
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"
)

// Format is a supported image format.
type Format string

// The supported formats.
const (
	JPEG Format = "jpeg"
	PNG  Format = "png"
	GIF  Format = "gif"
	WebP Format = "webp"
)

// FormatOf returns the format of a media type, and false if it is not supported.
func FormatOf(mimeType string) (Format, bool) {
	f, ok := map[string]Format{
		"image/jpeg": JPEG, "image/png": PNG, "image/vnd.mozilla.apng": PNG, "image/gif": GIF, "image/webp": WebP,
	}[mimeType]
	return f, ok
}

// ErrBroken is returned for bytes that are not a complete image of their format.
var ErrBroken = errors.New("the image is broken")

// TooManyPixelsError is returned for an image that would need too much memory.
type TooManyPixelsError struct {
	Width, Height int
	Limit         int64
}

// Error states the dimensions and the limit.
func (e *TooManyPixelsError) Error() string {
	return fmt.Sprintf("an image may have at most %d pixels; this one has %d by %d", e.Limit, e.Width, e.Height)
}

func broken(cause error) error { return fmt.Errorf("%w: %w", ErrBroken, cause) }

// codecs are the decoders of the dimensions and of the first frame.
var codecs = map[Format]struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}{
	JPEG: {jpeg.DecodeConfig, func(r io.Reader) (image.Image, error) { return jpeg.Decode(&scanLimit{source: r}) }},
	PNG:  {png.DecodeConfig, png.Decode},
	GIF:  {gif.DecodeConfig, gif.Decode},
	WebP: {webp.DecodeConfig, webp.Decode},
}

// measure reads the dimensions from the header of an image at the start of r.
func measure(r io.Reader, f Format) (width, height int, err error) {
	config, err := codecs[f].config(r)
	if err != nil {
		return 0, 0, broken(err)
	}
	if config.Width < 1 || config.Height < 1 {
		return 0, 0, broken(errors.New("the image has no pixels"))
	}
	return config.Width, config.Height, nil
}

// decode decodes the pixels of an image, of the first frame if it is animated.
func decode(r io.Reader, f Format) (image.Image, error) {
	img, err := codecs[f].decode(r)
	if err != nil {
		return nil, broken(err)
	}
	return img, nil
}

// maxScans is more than encoders produce. Each scan costs time for every pixel, however few bytes it has.
const maxScans = 64

var errScans = errors.New("the image has too many scans")

// scanLimit fails if a JPEG has more than maxScans scans.
type scanLimit struct {
	source io.Reader
	scans  int
	last   byte
}

func (s *scanLimit) Read(p []byte) (int, error) {
	n, err := s.source.Read(p)
	for _, b := range p[:n] {
		if s.last == 0xff && b == markerSOS {
			s.scans++
		}
		s.last = b
	}
	if s.scans > maxScans {
		return 0, errScans
	}
	return n, err
}
