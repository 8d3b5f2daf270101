package edge

import (
	"net/http"
	"time"
)

// Limits of the listener, which a handler cannot set.
const (
	// MaxHeaderBytes bounds the request line and the headers; net/http answers 431 itself, and the handler never sees
	// the request.
	MaxHeaderBytes = 64 << 10
	// HeaderTimeout bounds the time in which the headers have to arrive.
	HeaderTimeout = 10 * time.Second
	// IdleTimeout ends connections on which nobody asks.
	IdleTimeout = 2 * time.Minute
)

// NewServer returns a server for handler with the limits of the listener, speaking HTTP/1.1 and HTTP/2 with and without
// TLS on one port. It sets no read or write timeout for whole requests: streams have no end, and for everything else
// the handler has its own.
func NewServer(handler http.Handler) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           handler,
		Protocols:         protocols,
		MaxHeaderBytes:    MaxHeaderBytes,
		ReadHeaderTimeout: HeaderTimeout,
		IdleTimeout:       IdleTimeout,
	}
}
