package conformance

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/plaza-social/plaza/platform/apptest"
)

// exchange is one request of a test and its answer, as sent and received.
type exchange struct {
	// Method and Path are the request's; Path is escaped and without the query.
	Method, Path string
	// Query is the request's, as it was sent.
	Query string
	// Header is the request's.
	Header http.Header
	// Request is the request's body; nil if it is too large to keep.
	Request []byte
	// Status is the answer's.
	Status int
	// Body is the answer's; nil for a stream of events.
	Body []byte
	// Event reports whether Body is one event of a stream. Each event is an exchange of its own.
	Event bool
}

// observers are called for every exchange.
var observers []func(exchange)

// observe registers a function that is called for every exchange of every network in this process, including failed
// ones. It is called concurrently. Call observe before the first test, in TestMain.
func observe(f func(exchange)) {
	observers = append(observers, f)
	apptest.Hooks.Transport = func(t *http.Transport) http.RoundTripper { return observedTransport{t} }
	apptest.Hooks.Event = reportEvent
}

// reportEvent reports an event of a stream to the observers.
func reportEvent(path string, e apptest.StreamEvent) {
	path, query, _ := strings.Cut(path, "?")
	exchange{Method: http.MethodGet, Path: path, Query: query, Status: http.StatusOK, Body: []byte(e.Data), Event: true}.report()
}

// observedTransport reports exchanges to the observers.
type observedTransport struct{ *http.Transport }

// RoundTrip sends the request. The observers are called after the caller has read the answer.
func (t observedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.Transport.RoundTrip(req)
	if err != nil {
		return resp, err
	}
	x := exchangeOf(req)
	x.Status = resp.StatusCode
	if isStream(resp.Header) {
		x.report()
		return resp, nil
	}
	resp.Body = &observedBody{ReadCloser: resp.Body, exchange: x}
	return resp, nil
}

func exchangeOf(req *http.Request) exchange {
	x := exchange{Method: req.Method, Path: req.URL.EscapedPath(), Query: req.URL.RawQuery, Header: req.Header}
	if req.GetBody == nil {
		return x
	}
	if body, err := req.GetBody(); err == nil {
		x.Request, _ = io.ReadAll(body)
	}
	return x
}

func isStream(header http.Header) bool {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && kind == "text/event-stream"
}

// report calls the observers.
func (x exchange) report() {
	for _, f := range observers {
		f(x)
	}
}

// observedBody records what is read of a body.
type observedBody struct {
	io.ReadCloser

	exchange exchange
	read     bytes.Buffer
	once     sync.Once
}

func (b *observedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read.Write(p[:n])
	if err != nil {
		b.report()
	}
	return n, err
}

func (b *observedBody) Close() error {
	b.report()
	return b.ReadCloser.Close()
}

func (b *observedBody) report() {
	b.once.Do(func() {
		b.exchange.Body = b.read.Bytes()
		b.exchange.report()
	})
}
