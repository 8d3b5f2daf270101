package apptest

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"sync"
)

// Exchange is a request and its response as sent on the wire.
type Exchange struct {
	// Method and Path are the request's. Path is escaped and does not contain the query.
	Method, Path string
	// Query is the request's raw query.
	Query string
	// Header is the request's header.
	Header http.Header
	// Request is the request's body; nil if it is too large to keep.
	Request []byte
	// Status is the response's status.
	Status int
	// Body is the response's body; nil for an event stream.
	Body []byte
	// Event reports whether Body is one event of a stream. Each event is an Exchange.
	Event bool
}

// observers are called for every exchange.
var observers []func(Exchange)

// Observe registers a function that is called for every exchange of every network in this process, including failed
// ones. The function is called concurrently. Observe must be called before the first test, for example in TestMain.
func Observe(observe func(Exchange)) { observers = append(observers, observe) }

// transport calls the observers for the requests it sends.
type transport struct{ *http.Transport }

// RoundTrip sends the request. The observers are called when the caller has read the response.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.Transport.RoundTrip(req)
	if err != nil || len(observers) == 0 {
		return resp, err
	}
	x := exchangeOf(req)
	x.Status = resp.StatusCode
	if isStream(resp.Header) {
		x.notify()
		return resp, nil
	}
	resp.Body = &observedBody{ReadCloser: resp.Body, exchange: x}
	return resp, nil
}

func exchangeOf(req *http.Request) Exchange {
	x := Exchange{Method: req.Method, Path: req.URL.EscapedPath(), Query: req.URL.RawQuery, Header: req.Header}
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

func (x Exchange) notify() {
	for _, observe := range observers {
		observe(x)
	}
}

// observedBody records what is read from a body.
type observedBody struct {
	io.ReadCloser

	exchange Exchange
	read     bytes.Buffer
	once     sync.Once
}

func (b *observedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read.Write(p[:n])
	if err != nil {
		b.notify()
	}
	return n, err
}

func (b *observedBody) Close() error {
	b.notify()
	return b.ReadCloser.Close()
}

func (b *observedBody) notify() {
	b.once.Do(func() {
		b.exchange.Body = b.read.Bytes()
		b.exchange.notify()
	})
}
