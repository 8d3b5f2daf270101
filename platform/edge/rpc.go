package edge

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
)

// rpcHandler passes Connect, gRPC and gRPC-Web requests to connect, which speaks all three.
type rpcHandler struct {
	services    map[string]http.Handler // by service name; including health and reflection
	methods     map[string]*method      // by procedure; excluding health and reflection
	maxBody     int64
	bodyTimeout time.Duration
}

// envelopeBytes is the size allowed for what surrounds a message in a body: the gRPC prefix and the gRPC-Web trailer.
const envelopeBytes = 4 << 10

// handles reports whether path belongs to a service: its first segment contains a dot.
func (h *rpcHandler) handles(path string) bool {
	service, _, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return ok && strings.Contains(service, ".")
}

func (h *rpcHandler) serve(w *responseWriter, request *http.Request) {
	w.protocol = protocolOf(request.Header.Get("Content-Type"))
	service, _, _ := strings.Cut(request.URL.Path[1:], "/")
	handler, known := h.services[service]
	called := h.methods[request.URL.Path]
	switch {
	case !known, called == nil && strings.HasPrefix(service, "plaza."):
		w.rejectUnread(request, newHTTPError(fail.NotFound()))
		return
	case called == nil: // health or reflection
		handler.ServeHTTP(w, request)
		return
	case request.Method != http.MethodPost && (request.Method != http.MethodGet || !called.get):
		w.rejectMethod(request, called.allowed())
		return
	}
	w.procedure = called.procedure
	called.deprecated.of("", "").setHeaders(w.Header()) // RPCs are not deprecated with a path
	h.limitBody(w, request)
	handler.ServeHTTP(w, request)
}

// allowed returns the value of the Allow header.
func (m *method) allowed() string {
	if m.get {
		return http.MethodGet + ", " + http.MethodPost
	}
	return http.MethodPost
}

// limitBody limits the size of a body and the time in which it must arrive. Connect's own limit reads an oversized body
// to its end in order to report its size.
func (h *rpcHandler) limitBody(w *responseWriter, request *http.Request) {
	if request.ContentLength == 0 {
		return
	}
	limited := http.MaxBytesReader(w.ResponseWriter, request.Body, h.maxBody+envelopeBytes)
	request.Body = &timedBody{ReadCloser: limited, deadline: newReadDeadline(w.ResponseWriter, h.bodyTimeout)}
}

// timedBody clears its deadline at the end of the body.
type timedBody struct {
	io.ReadCloser
	deadline readDeadline
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.deadline.clear()
	}
	return n, err
}

func protocolOf(contentType string) protocol {
	switch {
	case strings.HasPrefix(contentType, "application/grpc-web"):
		return protocolGRPCWeb
	case strings.HasPrefix(contentType, "application/grpc"):
		return protocolGRPC
	}
	return protocolConnect
}
