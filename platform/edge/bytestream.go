package edge

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
)

// Stream is an operation whose request or response is a stream of bytes instead of a message, such as an upload. It
// has the request id, CORS, error body, log and metrics of all requests. Limits, compression and authentication are
// its own.
type Stream struct {
	// Procedure is its name in logs and metrics, such as "/plaza.v1.FileService/UploadFile".
	Procedure string
	// Method and Path are its route. A path segment in braces becomes a path value of the request. GET includes HEAD.
	Method, Path string
	// Serve serves a request. An error that it returns before it has written anything becomes the response; a later one
	// closes the connection.
	Serve func(w http.ResponseWriter, request *http.Request) error
}

// addStream adds the route of a stream.
func (t *routes) addStream(s Stream) error {
	if s.Serve == nil || s.Procedure == "" {
		return fmt.Errorf("stream %q: Procedure and Serve are required", s.Procedure)
	}
	variables, err := parseTemplate(s.Path)
	if err != nil {
		return fmt.Errorf("stream %q: %w", s.Procedure, err)
	}
	r := &route{procedure: s.Procedure, template: s.Path, variables: variables, stream: s.Serve}
	if err := t.add(s.Method, r); err != nil {
		return fmt.Errorf("stream %q: %w", s.Procedure, err)
	}
	return nil
}

// serveStream serves a stream, and answers with the error body if it fails.
func (h *restHandler) serveStream(w *responseWriter, request *http.Request, found *route, path string) {
	w.memory, w.writeTimeout = nil, streamIdleTimeout
	found.setPathValues(request, path)
	err := found.stream(w, request)
	if err == nil {
		return
	}
	_ = h.failures.mapError(request.Context(), found.procedure, err) // which sets w.failure or w.clientGone
	if w.status != 0 || w.clientGone {
		panic(http.ErrAbortHandler) // so that the client notices the truncated response
	}
	rejected := newHTTPError(w.failure)
	if _, timedOut := errors.AsType[*bodyTimeoutError](err); timedOut {
		rejected.status = http.StatusRequestTimeout
	}
	w.rejectUnread(request, rejected)
	drain(w, request)
}

// Limits on how much of a rejected body is read.
const (
	drainBytes = 64 << 20
	drainTime  = 5 * time.Second
)

// drain reads the rest of a rejected body, up to a limit. A client that is still sending would otherwise see a closed
// connection instead of the response.
func drain(w *responseWriter, request *http.Request) {
	if request.ProtoMajor != 1 {
		return // HTTP/2 delivers the response independently of the body
	}
	w.Flush()
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainTime))
	_, _ = io.CopyN(io.Discard, request.Body, drainBytes)
}

// streamIdleTimeout is how long a stream may make no progress.
const streamIdleTimeout = 30 * time.Second

// bodyTimeoutError is the error for a body that stopped arriving.
type bodyTimeoutError struct{ cause error }

// Error implements error.
func (e *bodyTimeoutError) Error() string { return "the body stopped arriving: " + e.cause.Error() }

// Unwrap returns the error of the interface.
func (e *bodyTimeoutError) Unwrap() error { return fail.BadRequest().Because(e.cause) }

// StreamBody is a request body without a time limit but with an idle timeout. Its errors are those of the interface.
type StreamBody struct {
	io.Reader
	conn *http.ResponseController
}

// NewStreamBody returns the body of a request, which must make progress.
func NewStreamBody(w http.ResponseWriter, request *http.Request) *StreamBody {
	return &StreamBody{Reader: request.Body, conn: http.NewResponseController(w)}
}

// Read implements io.Reader.
func (b *StreamBody) Read(p []byte) (int, error) {
	_ = b.conn.SetReadDeadline(time.Now().Add(streamIdleTimeout)) // not supported by httptest.ResponseRecorder
	n, err := b.Reader.Read(p)
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return n, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, &bodyTimeoutError{cause: err}
	}
	return n, fail.BadRequest().Because(err)
}

// ClearDeadline restores the server's own timeouts.
func (b *StreamBody) ClearDeadline() { _ = b.conn.SetReadDeadline(time.Time{}) }
