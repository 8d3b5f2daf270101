// Package apidoc serves the API document: OpenAPI 3.1 at /openapi.json, and a page at /docs for reading it and trying operations. They are
// identical in every region and load nothing from other hosts.
//
// hack/openapi generates openapi.json from proto/ and byhand.yaml. The page is Swagger UI, from its Go module.
package apidoc

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Paths of the document and the page.
const (
	DocumentPath = "/openapi.json"
	PagePath     = "/docs"
)

//go:embed openapi.json
var document []byte

// Document returns the API document. The caller must not change it.
func Document() []byte { return document }

// Handler serves the document and the page.
type Handler struct {
	page     http.Handler
	prepared func() prepared
}

// New returns a handler.
func New() (*Handler, error) {
	shown, err := newPage()
	if err != nil {
		return nil, err
	}
	return &Handler{page: shown, prepared: sync.OnceValue(prepare)}, nil
}

// prepared contains the derived data for serving the document. It is computed on the first request, because most servers never get one.
type prepared struct {
	packed []byte
	tag    string // entity tag of the document, without quotes
}

func prepare() prepared {
	sum := sha256.Sum256(document)
	return prepared{packed: pack(document), tag: hex.EncodeToString(sum[:8])}
}

func pack(text []byte) []byte {
	var buffer bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&buffer, gzip.BestCompression) // the level is valid
	_, _ = writer.Write(text)                                       // writing to a buffer cannot fail
	_ = writer.Close()
	return buffer.Bytes()
}

// Handles reports whether the handler serves path.
func (h *Handler) Handles(path string) bool {
	return path == DocumentPath || path == PagePath || strings.HasPrefix(path, PagePath+"/")
}

// ServeHTTP serves GET and HEAD requests. The caller must reject other methods.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache") // the document changes with the server
	if r.URL.Path != DocumentPath {
		h.page.ServeHTTP(w, r)
		return
	}
	h.serveDocument(w, r)
}

func (h *Handler) serveDocument(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	ready := h.prepared()
	content, tag := document, ready.tag
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		content, tag = ready.packed, ready.tag+"-gzip"
		header.Set("Content-Encoding", "gzip")
		r.Header.Del("Range") // ranges of compressed data are useless
	}
	header.Set("Etag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

func acceptsGzip(accept string) bool {
	for each := range strings.SplitSeq(accept, ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(each), ";")
		if strings.EqualFold(name, "gzip") && strings.TrimSpace(quality) != "q=0" {
			return true
		}
	}
	return false
}
