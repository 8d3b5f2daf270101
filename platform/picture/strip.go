package picture

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
)

// Strip copies an image without its metadata: EXIF, XMP, IPTC, comments, previews and any data after the image. It
// copies the pixels unchanged and keeps the colour profile, orientation and animation. The error wraps ErrBroken if the
// image is at fault.
func Strip(ctx context.Context, w io.Writer, source io.ReadSeeker, f Format, orientation int) error {
	e := &examination{ctx: ctx, source: source, format: f}
	r := e.rewound()
	var err error
	switch f {
	case JPEG:
		err = stripJPEG(w, bufio.NewReader(r), orientation)
	case PNG:
		err = stripPNG(w, r, orientation)
	case GIF:
		_, err = copyGIF(w, r)
	case WebP:
		err = stripWebP(w, r, orientation)
	default:
		return errors.New("picture: unknown format " + string(f))
	}
	if err != nil {
		return e.because(err)
	}
	return nil
}

// orientationTIFF returns a minimal EXIF block with an orientation, or nil for the default orientation.
func orientationTIFF(orientation int) []byte {
	if orientation < 2 || orientation > 8 {
		return nil
	}
	out := []byte("MM\x00*")
	out = binary.BigEndian.AppendUint32(out, 8) // offset of the directory
	out = binary.BigEndian.AppendUint16(out, 1) // number of entries
	out = binary.BigEndian.AppendUint16(out, 0x0112)
	out = binary.BigEndian.AppendUint16(out, 3) // type SHORT
	out = binary.BigEndian.AppendUint32(out, 1) // count
	out = binary.BigEndian.AppendUint16(out, uint16(orientation))
	out = binary.BigEndian.AppendUint16(out, 0)
	return binary.BigEndian.AppendUint32(out, 0) // no next directory
}

// writer and reader keep the first error, so that copying code need not check every call.
type writer struct {
	io.Writer
	err error
}

func (w *writer) write(parts ...[]byte) {
	for _, part := range parts {
		if w.err == nil {
			_, w.err = w.Writer.Write(part)
		}
	}
}

type reader struct {
	io.Reader
	err error
}

// take reads n bytes. It returns zeros after an error.
func (r *reader) take(n int) []byte {
	out := make([]byte, n)
	if r.err == nil {
		_, r.err = io.ReadFull(r.Reader, out)
	}
	return out
}

// pass copies n bytes to w.
func (r *reader) pass(w io.Writer, n int64) {
	if r.err == nil {
		_, r.err = io.CopyN(w, r.Reader, n)
	}
}
