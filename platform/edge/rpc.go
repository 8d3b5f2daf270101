package edge

import (
	"net/http"
	"strings"

	"github.com/plaza-social/plaza/platform/fail"
)

// rpcFront passes Connect, gRPC and gRPC-Web requests to their handlers, which speak all three.
type rpcFront struct {
	services   map[string]http.Handler // by service name
	procedures map[string]bool         // the unary operations of the interface
	maxBody    int64
}

// envelopeRoom is what a body may be longer than its message: the prefix of gRPC, and the trailer of gRPC-Web.
const envelopeRoom = 4 << 10

// handles reports whether the path is one of a service: its first segment holds a dot.
func (f *rpcFront) handles(path string) bool {
	service, _, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return ok && strings.Contains(service, ".")
}

func (f *rpcFront) ServeHTTP(ex *exchange, request *http.Request) {
	service, _, _ := strings.Cut(request.URL.Path[1:], "/")
	handler, ok := f.services[service]
	if !ok {
		ex.refuseUnread(request, refuse(fail.NotFound()))
		return
	}
	ex.protocol = protocolOf(request.Header.Get("Content-Type"))
	if f.procedures[request.URL.Path] {
		ex.procedure = request.URL.Path
		// connect would read a body to its end, however long, to tell its length.
		request.Body = http.MaxBytesReader(ex.ResponseWriter, request.Body, f.maxBody+envelopeRoom)
	}
	handler.ServeHTTP(ex, request)
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
