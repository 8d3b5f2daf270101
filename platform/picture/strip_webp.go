package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/plaza-social/plaza/platform/narrow"
)

// The flags of a VP8X chunk.
const (
	webpAnimated = 0x02
	webpXMP      = 0x04
	webpExif     = 0x08
)

var errWebP = errors.New("not a WebP container")

// keptWebP are the chunks that affect the rendering.
var keptWebP = map[string]bool{
	"VP8 ": true, //nolint:gocritic // names have four letters
	"VP8L": true, "VP8X": true, "ALPH": true, "ANIM": true, "ANMF": true, "ICCP": true,
}

// maxWebPExif is the maximum size in bytes of an EXIF block that is read; cameras write smaller ones.
const maxWebPExif = 1 << 18

// webpLayout is the structure of a WebP container.
type webpLayout struct {
	animated bool
	extended bool  // has a VP8X chunk, which metadata requires
	kept     int64 // total size of the chunks that Strip keeps
	exif     []byte
}

// readWebP reads the whole container.
func readWebP(r io.Reader) (webpLayout, error) {
	var l webpLayout
	err := walkWebP(r, func(name string, size uint32, in *reader) {
		if keptWebP[name] {
			l.kept += 8 + padded(size)
		}
		rest := padded(size)
		switch {
		case name == "VP8X" && size >= 10:
			l.extended = true
			l.animated = in.take(1)[0]&webpAnimated != 0
			rest--
		case name == "EXIF" && size <= maxWebPExif:
			l.exif = bytes.TrimPrefix(in.take(int(size)), []byte("Exif\x00\x00"))
			rest -= int64(size)
		}
		in.pass(io.Discard, rest)
	})
	return l, err
}

// walkWebP calls visit for every chunk; visit must read its content.
func walkWebP(from io.Reader, visit func(name string, size uint32, in *reader)) error {
	in := &reader{Reader: from}
	head := in.take(12)
	if in.err != nil || string(head[:4]) != "RIFF" || string(head[8:]) != "WEBP" {
		return broken(errors.Join(errWebP, in.err))
	}
	in.Reader = io.LimitReader(from, int64(binary.LittleEndian.Uint32(head[4:]))-4)
	for {
		chunk := in.take(8)
		if errors.Is(in.err, io.EOF) { // at a chunk boundary
			return nil
		}
		visit(string(chunk[:4]), binary.LittleEndian.Uint32(chunk[4:]), in)
		if in.err != nil {
			return broken(in.err)
		}
	}
}

func padded(size uint32) int64 { return int64(size) + int64(size)%2 }

// stripWebP reads the container twice, because its header contains its size.
func stripWebP(to io.Writer, r io.ReadSeeker, orientation int) error {
	l, err := readWebP(r)
	if err != nil {
		return err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return err
	}
	var exif []byte
	if tiff := orientationTIFF(orientation); l.extended && tiff != nil {
		exif = append(binary.LittleEndian.AppendUint32([]byte("EXIF"), narrow.To[uint32](len(tiff))), tiff...)
	}
	w := &writer{Writer: to}
	w.write([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, narrow.To[uint32](4+l.kept+int64(len(exif)))), []byte("WEBP"))
	err = walkWebP(r, func(name string, size uint32, in *reader) {
		if !keptWebP[name] {
			in.pass(io.Discard, padded(size))
			return
		}
		w.write([]byte(name), binary.LittleEndian.AppendUint32(nil, size))
		rest := padded(size)
		if name == "VP8X" && size >= 10 {
			flags := in.take(1)
			flags[0] &^= webpExif | webpXMP
			if exif != nil {
				flags[0] |= webpExif
			}
			w.write(flags)
			rest--
		}
		in.pass(w, rest)
	})
	if err != nil {
		return errors.Join(w.err, err)
	}
	w.write(exif)
	return w.err
}
