package picture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/plaza-social/plaza/platform/narrow"
)

const (
	markerSOI  = 0xd8
	markerEOI  = 0xd9
	markerSOS  = 0xda
	markerAPP0 = 0xe0
	markerAPP1 = 0xe1
	markerAPPF = 0xef
	markerCOM  = 0xfe
)

var errJPEG = errors.New("a JPEG marker was expected")

// stripJPEG copies a JPEG up to its end marker; data after that is another image with its own metadata.
func stripJPEG(to io.Writer, r *bufio.Reader, orientation int) error {
	w := &writer{Writer: to}
	in := &reader{Reader: r}
	if start := in.take(2); in.err == nil && !bytes.Equal(start, []byte{0xff, markerSOI}) {
		return broken(errJPEG)
	}
	w.write([]byte{0xff, markerSOI})
	if tiff := orientationTIFF(orientation); tiff != nil {
		writeSegment(w, markerAPP1, append([]byte("Exif\x00\x00"), tiff...))
	}
	marker := nextMarker(in)
	for in.err == nil && w.err == nil && marker != markerEOI {
		marker = copySegment(w, in, r, marker)
	}
	if in.err != nil {
		return broken(in.err)
	}
	w.write([]byte{0xff, markerEOI})
	return w.err
}

// copySegment copies a segment, including the scan that it starts, and returns the marker after it.
func copySegment(w *writer, in *reader, r *bufio.Reader, marker byte) byte {
	if marker == 0x01 || (marker >= 0xd0 && marker <= 0xd7) { // marker without segment
		w.write([]byte{0xff, marker})
		return nextMarker(in)
	}
	length := int(binary.BigEndian.Uint16(in.take(2)))
	if in.err == nil && length < 2 {
		in.err = errJPEG
	}
	if in.err != nil {
		return 0
	}
	payload := in.take(length - 2)
	if keptSegment(marker, payload) {
		writeSegment(w, marker, payload)
	}
	if marker == markerSOS {
		return copyScan(w, in, r)
	}
	return nextMarker(in)
}

// keptSegment reports whether a segment is kept: those needed for decoding, and of the application segments only JFIF,
// Adobe and the colour profile.
func keptSegment(marker byte, payload []byte) bool {
	switch {
	case marker == markerCOM:
		return false
	case marker < markerAPP0 || marker > markerAPPF:
		return true
	}
	return bytes.HasPrefix(payload, []byte("JFIF\x00")) || bytes.HasPrefix(payload, []byte("ICC_PROFILE\x00")) ||
		bytes.HasPrefix(payload, []byte("Adobe"))
}

func writeSegment(w *writer, marker byte, payload []byte) {
	head := binary.BigEndian.AppendUint16([]byte{0xff, marker}, narrow.To[uint16](len(payload)+2))
	w.write(head, payload)
}

// copyScan copies entropy-coded data up to the next marker and returns that marker. Within the data, 0xff is followed
// by 0 or by a restart marker.
func copyScan(w *writer, in *reader, r *bufio.Reader) byte {
	for in.err == nil && w.err == nil {
		chunk, err := r.ReadSlice(0xff)
		if errors.Is(err, bufio.ErrBufferFull) {
			w.write(chunk)
			continue
		}
		if err != nil {
			in.err = err
			return 0
		}
		w.write(chunk[:len(chunk)-1])
		marker := afterFill(in)
		if marker != 0 && (marker < 0xd0 || marker > 0xd7) {
			return marker
		}
		w.write([]byte{0xff, marker})
	}
	return 0
}

func nextMarker(in *reader) byte {
	if b := in.take(1); in.err == nil && b[0] != 0xff {
		in.err = errJPEG
	}
	return afterFill(in)
}

// afterFill returns the first byte after 0xff that is not a 0xff fill byte.
func afterFill(in *reader) byte {
	for {
		if b := in.take(1)[0]; b != 0xff || in.err != nil {
			return b
		}
	}
}
