package picture

import (
	"errors"
	"io"
)

// The introducers of the blocks of a GIF, and the labels of extensions.
const (
	gifExtension = 0x21
	gifImage     = 0x2c
	gifTrailer   = 0x3b

	gifComment     = 0xfe
	gifApplication = 0xff
)

var errGIF = errors.New("a GIF block was expected")

// keptApplications are the application extensions that control looping and colours.
var keptApplications = map[string]bool{"NETSCAPE2.0": true, "ANIMEXTS1.0": true, "ICCRGBG1012": true}

// copyGIF copies a GIF without comments and metadata and returns its number of frames.
func copyGIF(to io.Writer, from io.Reader) (frames int, err error) {
	w, r := &writer{Writer: to}, &reader{Reader: from}
	head := r.take(13)
	if r.err == nil && string(head[:3]) != "GIF" {
		return 0, broken(errGIF)
	}
	w.write(head)
	r.pass(w, colourTable(head[10]))
	for r.err == nil && w.err == nil {
		kind := r.take(1)[0]
		switch {
		case errors.Is(r.err, io.EOF) && frames > 0, r.err == nil && kind == gifTrailer: // some encoders omit the trailer
			w.write([]byte{gifTrailer})
			return frames, w.err
		case r.err != nil:
		case kind == gifExtension:
			copyExtension(w, r)
		case kind == gifImage:
			frames++
			copyFrame(w, r)
		default:
			r.err = errGIF
		}
	}
	if w.err != nil {
		return frames, w.err
	}
	return frames, broken(r.err)
}

// colourTable returns the size in bytes of the colour table of a block with these flags.
func colourTable(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

func copyFrame(w *writer, r *reader) {
	head := r.take(9)
	w.write([]byte{gifImage}, head)
	r.pass(w, colourTable(head[8]))
	r.pass(w, 1) // initial code size
	copySubBlocks(w, r)
}

func copyExtension(w *writer, r *reader) {
	head := r.take(2) // label, and length of the first block
	first := r.take(int(head[1]))
	if head[0] == gifComment || (head[0] == gifApplication && !keptApplications[string(first)]) {
		w = &writer{Writer: io.Discard}
	}
	w.write([]byte{gifExtension}, head, first)
	if head[1] > 0 { // an empty block terminates the list
		copySubBlocks(w, r)
	}
}

func copySubBlocks(w *writer, r *reader) {
	for r.err == nil && w.err == nil {
		size := r.take(1)
		w.write(size)
		if size[0] == 0 {
			return
		}
		r.pass(w, int64(size[0]))
	}
}
