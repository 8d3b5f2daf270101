package edge

import (
	"net/http"
	"time"
)

// Limits that a handler cannot enforce.
const (
	// MaxHeaderBytes limits the request line and the headers. net/http answers longer ones with status 431.
	MaxHeaderBytes = 64 << 10
	// IdleTimeout closes connections without requests.
	IdleTimeout = 2 * time.Minute
	// MaxConcurrentStreams limits the requests in progress on one HTTP/2 connection.
	MaxConcurrentStreams = 100
)

// NewServer returns a server for handler with these limits and the time limit of the headers, which serves HTTP/1.1 and HTTP/2, with and
// without TLS, on one port. It has no read or write timeouts, because streams have no end; the handler has deadlines that depend on
// progress.
func NewServer(handler http.Handler, headers time.Duration) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           handler,
		Protocols:         protocols,
		MaxHeaderBytes:    MaxHeaderBytes,
		ReadHeaderTimeout: headers,
		IdleTimeout:       IdleTimeout,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: MaxConcurrentStreams},
	}
}
