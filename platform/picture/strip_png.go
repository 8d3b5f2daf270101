package picture

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/plaza-social/plaza/platform/narrow"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// keptChunks are the ancillary chunks that affect the rendering: transparency, colours, resolution and animation.
var keptChunks = map[string]bool{
	"tRNS": true, "cHRM": true, "gAMA": true, "iCCP": true, "sBIT": true, "sRGB": true, "cICP": true, "mDCV": true, "cLLI": true,
	"bKGD": true, "hIST": true, "pHYs": true, "sPLT": true, "acTL": true, "fcTL": true, "fdAT": true,
}

func stripPNG(to io.Writer, from io.Reader, orientation int) error {
	w, r := &writer{Writer: to}, &reader{Reader: from}
	if signature := r.take(len(pngSignature)); r.err == nil && string(signature) != pngSignature {
		return broken(errors.New("no PNG signature"))
	}
	w.write([]byte(pngSignature))
	for name := ""; name != "IEND" && r.err == nil && w.err == nil; {
		head := r.take(8)
		name = string(head[4:])
		rest := int64(binary.BigEndian.Uint32(head)) + 4 // including the checksum
		if name[0]&0x20 != 0 && !keptChunks[name] {      // lower case: an ancillary chunk
			r.pass(io.Discard, rest)
			continue
		}
		w.write(head)
		r.pass(w, rest)
		if tiff := orientationTIFF(orientation); name == "IHDR" && tiff != nil {
			writeChunk(w, "eXIf", tiff)
		}
	}
	if w.err != nil {
		return w.err
	}
	if r.err != nil {
		return broken(r.err)
	}
	return nil
}

func writeChunk(w *writer, name string, data []byte) {
	chunk := append([]byte(name), data...)
	w.write(binary.BigEndian.AppendUint32(nil, narrow.To[uint32](len(data))))
	w.write(chunk, binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(chunk)))
}
