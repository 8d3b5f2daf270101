package edge

import (
	"context"
	"net/http"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// protocol is the protocol of a request, as logs and metrics name it.
type protocol string

const (
	protocolREST    protocol = "rest"
	protocolConnect protocol = "connect"
	protocolGRPC    protocol = "grpc"
	protocolGRPCWeb protocol = "grpc_web"
)

// procedureUnknown labels requests that reached no operation, so that made-up paths do not create metrics.
const procedureUnknown = "unknown"

// responseWriter is the http.ResponseWriter of every request. It records what logs and metrics show, and carries what
// the layers below need to know about the request.
type responseWriter struct {
	http.ResponseWriter
	requestID string
	start     time.Time
	protocol  protocol
	procedure string
	peer      string   // address of the connection
	forwarded []string // values of X-Forwarded-For
	userAgent string
	call      *restCall // nil unless the request is a REST call of an operation

	status     int         // as written; 0 before
	written    int64       // bytes of the body
	failure    *fail.Error // the error that the operation returned
	fault      fault       // the error for the log
	clientGone bool        // the client disconnected before the response

	ctx          context.Context // of the request, which lives as long
	writeTimeout time.Duration   // 0 for event streams, which set their own deadlines
	http2        bool            // over HTTP/2
	memory       *responseMemory // nil for responses that are not in memory as a whole
	reserved     int64           // bytes of memory
}

type responseWriterKey struct{}

// responseWriterFrom returns the responseWriter of the request that ctx belongs to, nil outside a request.
func responseWriterFrom(ctx context.Context) *responseWriter {
	w, _ := ctx.Value(responseWriterKey{}).(*responseWriter)
	return w
}

// WriteHeader sends the header, once.
func (w *responseWriter) WriteHeader(code int) {
	if code >= http.StatusOK { // 1xx may be sent more than once
		if w.status != 0 {
			return
		}
		w.status = code
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write sends a part of the body, within the limits on memory and time. Connect writes a whole message at once.
func (w *responseWriter) Write(data []byte) (int, error) {
	if w.reserved == 0 {
		if failed := w.reserve(len(data)); failed != nil {
			w.writeError(newHTTPError(failed))
			return 0, failed
		}
	}
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.writeInTime(data)
	w.written += int64(n)
	return n, err
}

// Flush sends what is buffered. Only streams call it.
func (w *responseWriter) Flush() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if flusher, ok := w.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
}

// Unwrap returns the underlying writer to http.ResponseController.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// writeError answers with the interface's error body, unless a response has already begun.
func (w *responseWriter) writeError(e httpError) {
	if w.status != 0 {
		return
	}
	w.failure = e.Error
	style := plazav1.RestErrors_REST_ERRORS_UNSPECIFIED
	if w.call != nil {
		style = w.call.route.errors
	}
	writeError(w, e, style)
}

// rejectUnread is writeError for a request whose body was not read to its end. Over HTTP/1 it also closes the
// connection: the server would otherwise read the rest of the body first.
func (w *responseWriter) rejectUnread(request *http.Request, e httpError) {
	if request.ProtoMajor == 1 && request.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
	w.writeError(e)
}

// rejectMethod rejects a request with status 405.
func (w *responseWriter) rejectMethod(request *http.Request, allowed string) {
	w.Header().Set("Allow", allowed)
	w.rejectUnread(request, httpError{Error: fail.BadRequest(), status: http.StatusMethodNotAllowed})
}

// outcome returns the HTTP status that logs and metrics record. For gRPC, whose HTTP status is always 200, it is the
// status that REST would have had.
func (w *responseWriter) outcome() int {
	switch {
	case w.clientGone:
		return statusClientGone
	case w.protocol == protocolREST || w.failure == nil:
		if w.status == 0 {
			return http.StatusOK
		}
		return w.status
	}
	status, _ := statusOf(w.failure)
	return status
}
