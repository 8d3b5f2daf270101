package edge

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
)

// restHandler serves REST: it matches routes, reads request bodies, calls the connect handler of the operation in this
// process, and writes what the handler returned.
type restHandler struct {
	routes      *routes
	maxBody     int64
	bodyTimeout time.Duration
	failures    *failures
}

func (h *restHandler) serve(w *responseWriter, request *http.Request) {
	method := request.Method
	if method == http.MethodHead {
		method = http.MethodGet // net/http omits the body
	}
	path := restPath(request.URL)
	found, allowed := h.routes.match(method, path)
	if found == nil {
		w.rejectRoute(request, allowed)
		return
	}
	w.procedure = found.procedure
	found.deprecated.setHeaders(w.Header())
	if found.stream != nil {
		h.serveStream(w, request, found, path)
		return
	}
	w.call = &restCall{route: found, method: method, path: path, query: request.URL.RawQuery}
	body, rejected := readBody(w.ResponseWriter, request, h.maxBody, h.bodyTimeout)
	if rejected != nil {
		w.rejectUnread(request, *rejected)
		return
	}
	defer releaseBuffer(body)
	w.call.body = body.Bytes()
	gzip := acceptsGzip(request.Header.Get("Accept-Encoding"))
	found.call(w, request)
	h.respond(w, request, gzip)
}

// rejectRoute rejects a request without a route; allowed are the methods of its path, if the path exists.
func (w *responseWriter) rejectRoute(request *http.Request, allowed []string) {
	if allowed == nil {
		w.rejectUnread(request, newHTTPError(fail.NotFound()))
		return
	}
	w.rejectMethod(request, strings.Join(allowed, ", "))
}

// call calls the route's connect handler. The handler sees a POST request without a body: the transcoder fills the
// request message. What the handler writes is discarded, apart from headers: the transcoder keeps the response message,
// and failures keeps the error. The request is a copy that belongs to the edge.
func (r *route) call(w *responseWriter, request *http.Request) {
	request.Method, request.URL = http.MethodPost, r.url
	request.Body, request.ContentLength = http.NoBody, 0
	for _, name := range connectHeaders {
		delete(request.Header, name)
	}
	request.Header["Content-Type"] = contentTypeJSON
	r.handler.ServeHTTP(headerWriter(w.Header()), request)
}

// connectHeaders have a meaning for connect that they do not have for REST.
var connectHeaders = []string{
	"Accept-Encoding", "Content-Encoding", "Content-Length", "Connect-Protocol-Version", "Connect-Timeout-Ms",
}

var contentTypeJSON = []string{"application/json"}

// headerWriter is an http.ResponseWriter that keeps headers only.
type headerWriter http.Header

// Header implements http.ResponseWriter.
func (h headerWriter) Header() http.Header { return http.Header(h) }

// WriteHeader implements http.ResponseWriter.
func (headerWriter) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (headerWriter) Write(data []byte) (int, error) { return len(data), nil }

var (
	errCanceled   = errors.New("canceled")
	errNoResponse = errors.New("the handler returned neither a response nor an error")
)

// respond writes the result of a call.
func (h *restHandler) respond(w *responseWriter, request *http.Request, gzip bool) {
	switch {
	case w.clientGone:
		w.writeError(httpError{Error: fail.Unexpected(errCanceled), status: statusClientGone})
		return
	case w.failure != nil:
		w.writeError(newHTTPError(w.failure))
		return
	}
	buffer := newBuffer()
	defer releaseBuffer(buffer)
	err := encodeInTurn(request.Context(), w.call.response, func() error { return w.call.encode(buffer) })
	w.call.response = nil // it would stay in memory until the client has read the response
	if err != nil {
		failed := fail.Unexpected(err)
		w.record(failed, err)
		w.writeError(newHTTPError(failed))
		return
	}
	if w.call.method == http.MethodGet && hasETag(request.Header["If-None-Match"], setETag(w.Header(), buffer.Bytes())) {
		w.writeNotModified()
		return
	}
	w.writeJSON(w.call.route.status, buffer, gzip)
}

// writeJSON writes a response body, compressed if the client accepts it and it is worth it.
func (w *responseWriter) writeJSON(status int, body *bytes.Buffer, gzip bool) {
	header := w.Header()
	delete(header, "Accept-Encoding") // set by connect
	header["Content-Type"] = contentTypeJSON
	if gzip && body.Len() >= compressMinBytes {
		compressed := newBuffer()
		defer releaseBuffer(compressed)
		if compress(compressed, body.Bytes()) == nil {
			header["Content-Encoding"] = []string{compressionGzip}
			body = compressed
		}
	}
	if failed := w.reserve(body.Len()); failed != nil {
		w.writeError(newHTTPError(failed))
		return
	}
	header["Content-Length"] = []string{strconv.Itoa(body.Len())}
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // fails if the client has disconnected
}
