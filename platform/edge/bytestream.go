package edge

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
)

// Stream is an operation whose request or answer is no message but a stream of bytes, such as an upload. It is served over
// plain HTTP in front of the transcoder, with all that other requests have: id, CORS, error body, log and metrics. What
// it does not have is a limit to its body and its time, compression, and authentication: those are its own.
type Stream struct {
	// Procedure names it in logs and metrics: "/plaza.v1.FileService/UploadFile".
	Procedure string
	// Method and Path are how it is called. A segment of the path in braces is a request's PathValue. A stream that is
	// called by GET is called by HEAD too.
	Method, Path string
	// Serve answers. An error that it returns before it has written anything becomes the answer; afterwards it ends the
	// connection.
	Serve func(w http.ResponseWriter, request *http.Request) error
}

// addStream makes a stream a route.
func (t *routes) addStream(s Stream) error {
	if s.Serve == nil || s.Procedure == "" || !strings.HasPrefix(s.Path, "/") {
		return fmt.Errorf("stream %q: incomplete", s.Procedure)
	}
	node := t
	for segment := range strings.SplitSeq(s.Path[1:], "/") {
		if strings.HasPrefix(segment, "{") {
			node = node.any()
		} else {
			node = node.literal(segment)
		}
	}
	if node.methods == nil {
		node.methods = map[string]*route{}
	}
	if node.methods[s.Method] != nil {
		return fmt.Errorf("stream %q: %s %s is taken", s.Procedure, s.Method, s.Path)
	}
	node.methods[s.Method] = &route{procedure: s.Procedure, template: s.Path, stream: s.Serve}
	return nil
}

// setPathValues gives a request the segments that the template has in braces.
func (r *route) setPathValues(request *http.Request, path string) {
	segments := strings.Split(path, "/")
	for i, part := range strings.Split(r.template, "/") {
		if name, isVariable := strings.CutPrefix(part, "{"); isVariable && i < len(segments) {
			if value, err := url.PathUnescape(segments[i]); err == nil {
				request.SetPathValue(strings.TrimSuffix(name, "}"), value)
			}
		}
	}
}

// serveStream runs a stream, and answers with the error body where it fails.
func (f *restFront) serveStream(ex *exchange, request *http.Request, found *route, path string) {
	found.setPathValues(request, path)
	err := found.stream(ex, request)
	if err == nil {
		return
	}
	_ = (&failures{log: f.log}).answer(request.Context(), found.procedure, err) // which notes the failure in the exchange
	if ex.status != 0 || ex.clientGone {
		panic(http.ErrAbortHandler) // the client must see that the answer is cut off
	}
	r := refuse(ex.failure)
	if _, late := errors.AsType[*bodyTimeoutError](err); late {
		r.status = http.StatusRequestTimeout
	}
	ex.refuseUnread(request, r)
	linger(ex, request)
}

// What is read of a body that nobody wants.
const (
	lingerBytes = 64 << 20
	lingerTime  = 5 * time.Second
)

// linger reads some more of a body that was refused: a client that is sending still would otherwise meet a closed
// connection, and never see the answer.
func linger(ex *exchange, request *http.Request) {
	if request.ProtoMajor != 1 {
		return // over HTTP/2 the answer arrives whatever becomes of the body
	}
	ex.Flush()
	_ = http.NewResponseController(ex).SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.CopyN(io.Discard, request.Body, lingerBytes)
}

// streamPatience is how long either side of a stream waits for the other to move.
const streamPatience = 30 * time.Second

// bodyTimeoutError says that a body stopped arriving.
type bodyTimeoutError struct{ cause error }

func (e *bodyTimeoutError) Error() string { return "the body stopped arriving: " + e.cause.Error() }
func (e *bodyTimeoutError) Unwrap() error { return fail.BadRequest().Because(e.cause) }

// patientBody is a request body that may take as long as it likes, as long as it moves. Its errors are those of the
// interface.
type patientBody struct {
	io.Reader
	conn *http.ResponseController
}

func newPatientBody(w http.ResponseWriter, request *http.Request) *patientBody {
	return &patientBody{Reader: request.Body, conn: http.NewResponseController(w)}
}

func (b *patientBody) Read(p []byte) (int, error) {
	_ = b.conn.SetReadDeadline(time.Now().Add(streamPatience)) // the recorder of a test has no deadlines
	n, err := b.Reader.Read(p)
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return n, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, &bodyTimeoutError{cause: err}
	}
	return n, fail.BadRequest().Because(err)
}

// lift lets the server wait for the next request as long as it usually does.
func (b *patientBody) lift() { _ = b.conn.SetReadDeadline(time.Time{}) }

// patientWriter is an answer that may take as long as the client keeps reading.
type patientWriter struct {
	http.ResponseWriter
	conn *http.ResponseController
}

func newPatientWriter(w http.ResponseWriter) *patientWriter {
	return &patientWriter{ResponseWriter: w, conn: http.NewResponseController(w)}
}

func (w *patientWriter) Write(p []byte) (int, error) {
	_ = w.conn.SetWriteDeadline(time.Now().Add(streamPatience))
	return w.ResponseWriter.Write(p)
}

func (w *patientWriter) lift() { _ = w.conn.SetWriteDeadline(time.Time{}) }

// logClosed tells of something that could not be closed in order; nobody can do anything about it.
func logClosed(log *slog.Logger, request *http.Request, what string, err error) {
	if err != nil {
		log.DebugContext(request.Context(), "not closed in order", "what", what, "error", err)
	}
}
