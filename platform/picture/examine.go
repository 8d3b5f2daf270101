package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
)

// Size is one of the smaller sizes that an image is kept in.
type Size struct {
	Name string
	Side int // most pixels of the longer side
}

// Sizes are the smaller sizes, the largest first. An image that is smaller has none of that size: it is shown as it is.
func Sizes() []Size { return []Size{{"large", 1500}, {"medium", 600}, {"small", 160}} }

// Smaller is an image in one of the smaller sizes.
type Smaller struct {
	Size     string
	MimeType string
	Bytes    []byte
}

// Facts are what Examine finds out about an image.
type Facts struct {
	Metadata
	// Width and Height are in pixels, as the image is shown: turned by its orientation.
	Width, Height int
	// Moves tells that it has several frames. Such an image is kept in no smaller size.
	Moves bool
	// Smaller are the smaller sizes, the largest first; all of one media type.
	Smaller []Smaller
}

// Gate lets so many pixels be decoded at once as memory allows.
type Gate interface {
	Acquire(ctx context.Context, pixels int64) error
	Release(pixels int64)
}

// Examine reads an image to its end, and again from its start where it has to. The error wraps ErrBroken or is a
// *TooManyPixelsError where the image is at fault; anything else is a failure of r or of ctx.
func Examine(ctx context.Context, r io.ReadSeeker, f Format, limit int64, gate Gate) (*Facts, error) {
	e := &examination{ctx: ctx, source: r, format: f}
	facts := &Facts{}
	var err error
	if facts.Width, facts.Height, err = measure(e.fromStart(), f); err != nil {
		return nil, e.because(err)
	}
	pixels := int64(facts.Width) * int64(facts.Height)
	if pixels > limit {
		return nil, &TooManyPixelsError{Width: facts.Width, Height: facts.Height, Limit: limit}
	}
	if facts.Metadata, err = readMetadata(e.rewound(), f); err != nil {
		return nil, e.because(err)
	}
	if facts.Moves, err = moves(e.fromStart(), f); err != nil {
		return nil, e.because(err)
	}
	if facts.Moves && f == WebP { // its container is whole, and nobody here reads its frames
		return facts, nil
	}
	if err := gate.Acquire(ctx, pixels); err != nil {
		return nil, err
	}
	defer gate.Release(pixels)
	img, err := decode(e.fromStart(), f)
	if err != nil {
		return nil, e.because(err)
	}
	if !facts.Moves {
		if facts.Smaller, err = smaller(img, facts.Orientation); err != nil {
			return nil, err
		}
	}
	if facts.Orientation > 4 {
		facts.Width, facts.Height = facts.Height, facts.Width
	}
	return facts, nil
}

// examination reads one source several times, and remembers what is not the image's fault.
type examination struct {
	ctx     context.Context //nolint:containedctx // one call long
	source  io.ReadSeeker
	format  Format
	failure error
}

func (e *examination) fromStart() io.Reader { return e.rewound() }

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

// because prefers a failure of the source: an image that could not be read is not broken.
func (e *examination) because(err error) error {
	if e.failure != nil {
		return fmt.Errorf("reading the image back: %w", e.failure)
	}
	return err
}

// moves reports whether the image has several frames. It reads the whole container of those formats that can.
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

func smaller(img image.Image, orientation int) ([]Smaller, error) {
	var out []Smaller
	turned := false
	for _, size := range Sizes() {
		bounds := img.Bounds()
		if max(bounds.Dx(), bounds.Dy()) <= size.Side {
			continue
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

// mimeTypeFor is that of the sizes before, and where it is the first, JPEG for what is opaque.
func mimeTypeFor(before []Smaller, img *image.RGBA) string {
	switch {
	case len(before) > 0:
		return before[0].MimeType
	case img.Opaque():
		return "image/jpeg"
	}
	return "image/png"
}
