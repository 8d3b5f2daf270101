package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"time"
)

// Size is one of the sizes to which images are scaled down.
type Size struct {
	Name string
	Side int // maximum length of the longer side in pixels
}

// Sizes returns the sizes, the largest first. A size is omitted for images that are already smaller.
func Sizes() []Size { return []Size{{"large", 1500}, {"medium", 600}, {"small", 160}} }

// Smaller is an image scaled down to one of the sizes.
type Smaller struct {
	Size     string
	MimeType string
	Bytes    []byte
}

// Facts are the properties of an image determined by Examine.
type Facts struct {
	Metadata
	// Width and Height are the dimensions in pixels as displayed, that is after applying the orientation.
	Width, Height int
	// Moves reports whether the image is animated. Animated images are not scaled down.
	Moves bool
	// Smaller are the scaled-down images, the largest first, all of the same media type.
	Smaller []Smaller
}

// Gate limits how many pixels are decoded concurrently.
type Gate interface {
	Acquire(ctx context.Context, pixels int64) error
	Release(pixels int64)
}

// ErrTooSlow is returned for an image that cannot be decoded and scaled down within the time budget.
var ErrTooSlow = errors.New("the image takes too long to decode")

// timeBudget is the time in which an image must be decoded and scaled down. The largest allowed ones take a few seconds.
var timeBudget = 30 * time.Second

// Examine determines the properties of an image, seeking back to its start if necessary. The error wraps ErrBroken or
// is a *TooManyPixelsError or ErrTooSlow if the image is at fault; any other error is a failure of r or ctx.
func Examine(ctx context.Context, r io.ReadSeeker, f Format, limit int64, gate Gate) (*Facts, error) {
	e := &examination{ctx: ctx, source: r, format: f}
	facts := &Facts{}
	var err error
	if facts.Width, facts.Height, err = measure(e.rewound(), f); err != nil {
		return nil, e.because(err)
	}
	pixels := int64(facts.Width) * int64(facts.Height)
	if pixels > limit {
		return nil, &TooManyPixelsError{Width: facts.Width, Height: facts.Height, Limit: limit}
	}
	if facts.Metadata, err = readMetadata(e.rewound(), f); err != nil {
		return nil, e.because(err)
	}
	if facts.Moves, err = moves(e.rewound(), f); err != nil {
		return nil, e.because(err)
	}
	if facts.Moves && f == WebP { // its container is intact, and no decoder reads its frames
		return facts, nil
	}
	if err := gate.Acquire(ctx, pixels); err != nil {
		return nil, err
	}
	defer gate.Release(pixels)
	if err := e.decode(ctx, facts); err != nil {
		return nil, err
	}
	if facts.Orientation > 4 {
		facts.Width, facts.Height = facts.Height, facts.Width
	}
	return facts, nil
}

// decode decodes the pixels and scales them down, within the time budget.
func (e *examination) decode(caller context.Context, facts *Facts) error {
	limited, cancel := context.WithTimeout(caller, timeBudget)
	defer cancel()
	e.ctx = limited
	img, err := decode(e.rewound(), e.format)
	if err == nil && !facts.Moves {
		facts.Smaller, err = smaller(limited, img, facts.Orientation)
	}
	if err != nil && limited.Err() != nil && caller.Err() == nil {
		return ErrTooSlow
	}
	return e.because(err)
}

// examination reads one source several times and records errors that are not the image's fault.
type examination struct {
	ctx     context.Context // lives for one call
	source  io.ReadSeeker
	format  Format
	failure error
}

func (e *examination) rewound() io.ReadSeeker {
	if _, err := e.source.Seek(0, io.SeekStart); err != nil {
		e.failure = err
	}
	return e
}

func (e *examination) Read(p []byte) (int, error) {
	if err := errors.Join(e.failure, e.ctx.Err()); err != nil {
		e.failure = err
		return 0, err
	}
	n, err := e.source.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		e.failure = err
	}
	return n, err
}

func (e *examination) Seek(offset int64, whence int) (int64, error) {
	return e.source.Seek(offset, whence)
}

// because returns the failure of the source if there is one: an unreadable image is not a broken one.
func (e *examination) because(err error) error {
	if err != nil && e.failure != nil {
		return fmt.Errorf("reading the image back: %w", e.failure)
	}
	return err
}

// moves reports whether the image has several frames. It reads the whole container of formats that allow it.
func moves(r io.Reader, f Format) (bool, error) {
	switch f {
	case GIF:
		frames, err := copyGIF(io.Discard, r)
		return frames > 1, err
	case WebP:
		layout, err := readWebP(r)
		return layout.animated, err
	default:
		return false, nil
	}
}

func smaller(ctx context.Context, img image.Image, orientation int) ([]Smaller, error) {
	var out []Smaller
	turned := false
	for _, size := range Sizes() {
		bounds := img.Bounds()
		if max(bounds.Dx(), bounds.Dy()) <= size.Side {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		fitted := fit(img, size.Side)
		if !turned {
			fitted, turned = turn(fitted, orientation), true
		}
		img = fitted
		var buffer bytes.Buffer
		if err := encode(&buffer, fitted, mimeTypeFor(out, fitted)); err != nil {
			return nil, err
		}
		out = append(out, Smaller{Size: size.Name, MimeType: mimeTypeFor(out, fitted), Bytes: buffer.Bytes()})
	}
	return out, nil
}

// mimeTypeFor returns the media type of the preceding sizes; for the first one, JPEG if the image is opaque.
func mimeTypeFor(before []Smaller, img *image.RGBA) string {
	switch {
	case len(before) > 0:
		return before[0].MimeType
	case img.Opaque():
		return "image/jpeg"
	}
	return "image/png"
}
