package file

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gabriel-vasile/mimetype"
	"github.com/stretchr/testify/require"
)

// shownInline are the types that browsers may show in a page: raster images, sounds and films, none of which can have a script.
var shownInline = []string{
	"audio/aac", "audio/aiff", "audio/amr", "audio/ape", "audio/basic", "audio/flac", "audio/midi", "audio/mp4", "audio/mpeg",
	"audio/musepack", "audio/ogg", "audio/qcelp", "audio/wav", "audio/x-m4a", "audio/x-unknown", "image/avif", "image/bmp", "image/bpg",
	"image/gif", "image/heic", "image/heic-sequence", "image/heif", "image/heif-sequence", "image/jp2", "image/jpeg", "image/jpm",
	"image/jpx", "image/jxl", "image/jxr", "image/jxs", "image/png", "image/tiff", "image/vnd.adobe.photoshop", "image/vnd.djvu",
	"image/vnd.dwg", "image/vnd.dxf", "image/vnd.mozilla.apng", "image/vnd.radiance", "image/webp", "image/x-gimp-gbr", "image/x-gimp-pat",
	"image/x-icns", "image/x-icon", "image/x-portable-arbitrarymap", "image/x-portable-bitmap", "image/x-portable-graymap",
	"image/x-portable-pixmap", "image/x-xcf", "image/x-xpixmap", "video/3gpp", "video/3gpp2", "video/mj2", "video/mp4", "video/mpeg",
	"video/ogg", "video/quicktime", "video/vnd.dvb.file", "video/webm", "video/x-flv", "video/x-m4v", "video/x-matroska", "video/x-ms-asf",
	"video/x-msvideo",
}

// TestTypesShownInline compares shownInline with all types that the content of a file can have. A new one must be looked at first.
func TestTypesShownInline(t *testing.T) {
	t.Parallel()
	var inline []string
	for _, mimeType := range detectable() {
		if isInline(mimeType) {
			inline = append(inline, mimeType)
		}
	}
	require.Equal(t, shownInline, inline)
}

// detectable returns the types that mimetype.Detect can return, in order.
func detectable() []string {
	var all []string
	var walk func(node reflect.Value)
	walk = func(node reflect.Value) {
		all = append(all, node.FieldByName("mime").String())
		children := node.FieldByName("children")
		for i := range children.Len() {
			walk(children.Index(i).Elem())
		}
	}
	walk(reflect.ValueOf(mimetype.Lookup("application/octet-stream")).Elem())
	slices.Sort(all)
	return slices.Compact(all)
}
