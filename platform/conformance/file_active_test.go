package conformance

import (
	"bytes"
	"image"
	"image/gif"
	"image/jpeg"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/edge/transfer"
	"github.com/plaza-social/plaza/platform/region"
)

// sampleFile is content of one type.
type sampleFile struct {
	mimeType string
	content  string
	// active says that a browser runs what it finds in such a file, or that it does not show it: it must be saved.
	active bool
	broken bool // an image of which only the beginning is right
}

// sampleFiles returns content of each type that the kinds of uploads tell apart, and of the types in which browsers run scripts.
func sampleFiles(t *testing.T) []sampleFile {
	t.Helper()
	var photo, animation bytes.Buffer
	require.NoError(t, jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 2, 2)), nil))
	require.NoError(t, gif.Encode(&animation, image.NewGray(image.Rect(0, 0, 2, 2)), nil))
	const xml = `<?xml version="1.0" encoding="UTF-8"?>`
	const script = `<script>alert(1)</script>`
	return []sampleFile{
		{mimeType: "image/png", content: string(pngOf(t, 2, 2))},
		{mimeType: "image/jpeg", content: photo.String()},
		{mimeType: "image/gif", content: animation.String()},
		{mimeType: "image/webp", content: "RIFF\x1a\x00\x00\x00WEBPVP8L and so on", broken: true},
		{mimeType: "image/tiff", content: "II*\x00 and so on"},
		{mimeType: "video/mp4", content: tinyVideo},
		{mimeType: "video/webm", content: "\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm\x42\x87\x81\x02"},
		{mimeType: "audio/mpeg", content: tinySound},
		{mimeType: "audio/wav", content: "RIFF\x24\x00\x00\x00WAVEfmt and so on"},
		{mimeType: "audio/flac", content: "fLaC\x00\x00\x00\x22 and so on"},

		{mimeType: "application/ogg", content: "OggS\x00\x02 and so on", active: true},
		{mimeType: "text/html", content: "<!DOCTYPE html><html>" + script + "</html>", active: true},
		{mimeType: "text/html", content: "  \n<!-- a comment --><body onload=alert(1)>", active: true},
		{mimeType: "text/html", content: script, active: true},
		{mimeType: "image/svg+xml", content: `<svg xmlns="http://www.w3.org/2000/svg">` + script + `</svg>`, active: true},
		{mimeType: "image/svg+xml", content: xml + `<svg xmlns="http://www.w3.org/2000/svg">` + script + `</svg>`, active: true},
		{mimeType: "application/xhtml+xml", content: xml + `<html xmlns="http://www.w3.org/1999/xhtml">` + script + `</html>`, active: true},
		{mimeType: "text/xml", content: xml + `<a><script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script></a>`, active: true},
		{mimeType: "application/rss+xml", content: xml + `<rss version="2.0"></rss>`, active: true},
		{mimeType: "application/atom+xml", content: xml + `<feed xmlns="http://www.w3.org/2005/Atom"></feed>`, active: true},
		{mimeType: "text/javascript", content: "#!/usr/bin/env node\nalert(1)", active: true},
		{mimeType: "application/pdf", content: "%PDF-1.7 and so on", active: true},
		{mimeType: "application/x-shockwave-flash", content: "FWS\x0a and so on", active: true},
		{mimeType: "application/json", content: `{"a": [1, 2]}`, active: true},
		{mimeType: "application/zip", content: "PK\x03\x04\x14\x00\x00\x00 and so on", active: true},
		{mimeType: "text/plain", content: "alert(1)", active: true},
		{mimeType: "application/octet-stream", content: "\x00\x01\x02\x03\xff\xfe", active: true},
	}
}

// uploadKinds are the operations that upload, and which types each takes.
var uploadKinds = map[string]struct {
	path  string
	takes func(f sampleFile) bool
}{
	"UploadFile":  {"/api/v4/files", func(sampleFile) bool { return true }},
	"UploadImage": {"/api/v4/images", func(f sampleFile) bool { return f.isPicture() && !f.broken }},
	"UploadVideo": {"/api/v4/videos", func(f sampleFile) bool { return strings.HasPrefix(f.mimeType, "video/") }},
	"UploadClip":  {"/api/v4/clips", func(f sampleFile) bool { return strings.HasPrefix(f.mimeType, "video/") }},
	"UploadAudio": {"/api/v4/audios", func(f sampleFile) bool {
		return strings.HasPrefix(f.mimeType, "video/") || strings.HasPrefix(f.mimeType, "audio/") || f.mimeType == "application/ogg"
	}},
	"UploadAny": {filesPath, func(f sampleFile) bool { return !f.broken }},
}

// isPicture reports whether a file is of a type that the server decodes.
func (f sampleFile) isPicture() bool {
	switch f.mimeType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// TestEveryUploadIsServedSafely uploads content of every type by every operation that uploads, and downloads what was accepted.
func TestEveryUploadIsServedSafely(t *testing.T) {
	t.Parallel()
	uploader := newUser(t, region.EU, "uploader")
	anonymous := apptest.Shared(t).Anonymous(region.EU)
	for _, procedure := range transfer.UploadProcedures() {
		_, name, _ := strings.Cut(procedure[1:], "/")
		kind, known := uploadKinds[name]
		require.True(t, known, "%s has no row: say which types it takes", name)
		for _, f := range sampleFiles(t) {
			r := uploader.UploadTo(t, kind.path, "page.html", []byte(f.content))
			if !kind.takes(f) {
				requireFailure(t, invalid("files[0]"), r)
				continue
			}
			file := "0"
			if r.OK(t).Has(t, "data") {
				file = "data.0"
			}
			require.Equal(t, f.mimeType, r.String(t, file+".attributes.mimeType"), f.content)
			requireServedSafely(t, anonymous, pathOf(t, r.Get(t, file).(object)), f)
		}
	}
}

// requireServedSafely checks the headers with which a file is served, in full and in part.
func requireServedSafely(t *testing.T, c *apptest.Client, path string, f sampleFile) {
	t.Helper()
	disposition := "inline"
	if f.active {
		disposition = "attachment"
	}
	for _, r := range []*apptest.Response{
		c.Do(t, http.MethodGet, path, nil), c.Do(t, http.MethodGet, path+"?size=small", nil),
		c.With("Range", "bytes=0-1").Do(t, http.MethodGet, path, nil), c.Do(t, http.MethodHead, path, nil),
	} {
		require.Less(t, r.Status, 300, r.Short())
		require.Equal(t, f.mimeType, r.Header.Get("Content-Type"))
		require.Equal(t, disposition+"; filename=page.html", r.Header.Get("Content-Disposition"), f.mimeType)
		require.Equal(t, "nosniff", r.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "default-src 'none'; style-src 'unsafe-inline'; sandbox", r.Header.Get("Content-Security-Policy"))
	}
}
