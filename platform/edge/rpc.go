package edge

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
)

// rpcFront passes Connect, gRPC and gRPC-Web requests to their handlers, which speak all three.
type rpcFront struct {
	services    map[string]http.Handler // by service name; the interface's, health and reflection
	procedures  map[string]procedure    // of the interface
	maxBody     int64
	bodyTimeout time.Duration
}

// procedure is what has to be known of an operation before its handler is called.
type procedure struct {
	unary bool // its body is one message, and may be limited as a whole
	get   bool // Connect may call it by GET

	outdated *deprecation // nil for most
}

// envelopeRoom is what a body may be longer than its message: the prefix of gRPC, and the trailer of gRPC-Web.
const envelopeRoom = 4 << 10

// handles reports whether the path is one of a service: its first segment holds a dot.
func (f *rpcFront) handles(path string) bool {
	service, _, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return ok && strings.Contains(service, ".")
}

func (f *rpcFront) ServeHTTP(ex *exchange, request *http.Request) {
	ex.protocol = protocolOf(request.Header.Get("Content-Type"))
	service, _, _ := strings.Cut(request.URL.Path[1:], "/")
	handler, known := f.services[service]
	called, ours := f.procedures[request.URL.Path]
	switch {
	case !known, !ours && strings.HasPrefix(service, "plaza."):
		ex.refuseUnread(request, refuse(fail.NotFound()))
		return
	case ours && request.Method != http.MethodPost && (request.Method != http.MethodGet || !called.get):
		ex.Header().Set("Allow", called.allowed())
		ex.refuseUnread(request, refusal{Error: fail.BadRequest(), status: http.StatusMethodNotAllowed})
		return
	case ours:
		ex.procedure = request.URL.Path
		called.outdated.say(ex.Header())
	}
	if called.unary {
		f.limitBody(ex, request)
	}
	handler.ServeHTTP(ex, request)
}

func (p procedure) allowed() string {
	if p.get {
		return http.MethodGet + ", " + http.MethodPost
	}
	return http.MethodPost
}

// limitBody bounds the length of a body, which connect would read to its end, however long, to tell how long it is; and
// the time in which it arrives.
func (f *rpcFront) limitBody(ex *exchange, request *http.Request) {
	if request.ContentLength == 0 {
		return
	}
	limited := http.MaxBytesReader(ex.ResponseWriter, request.Body, f.maxBody+envelopeRoom)
	request.Body = &timedBody{ReadCloser: limited, deadline: newBodyDeadline(ex.ResponseWriter, f.bodyTimeout)}
}

// timedBody lifts the deadline once the body has been read.
type timedBody struct {
	io.ReadCloser
	deadline bodyDeadline
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.deadline.lift()
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
