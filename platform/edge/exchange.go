package edge

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
)

// protocol names how a request speaks, in logs and metrics.
type protocol string

const (
	protocolREST    protocol = "rest"
	protocolConnect protocol = "connect"
	protocolGRPC    protocol = "grpc"
	protocolGRPCWeb protocol = "grpc_web"
)

// procedureUnknown labels requests that reached no operation, so that made-up paths make no new metrics.
const procedureUnknown = "unknown"

// exchange is one request and its answer: the ResponseWriter that everything below writes to, and what the layers tell
// each other about the request.
type exchange struct {
	http.ResponseWriter
	requestID string
	began     time.Time
	protocol  protocol
	procedure string

	route       *route // of a REST request that has one
	transcoding bool   // vanguard is speaking

	status     int         // as written, or as it will be written; 0 before
	written    int64       // bytes of the body
	failure    *fail.Error // what the operation failed with, if it did
	clientGone bool        // nobody waited for the answer

	// held is what vanguard answers a REST client with, in its own form, when it answers an error; restFront writes the
	// interface's error body instead. It is also where vanguard speaks to after a panic.
	held *bytes.Buffer
}

type exchangeKey struct{}

// exchangeFrom returns the exchange of ctx, nil outside a request.
func exchangeFrom(ctx context.Context) *exchange {
	ex, _ := ctx.Value(exchangeKey{}).(*exchange)
	return ex
}

// maxHeld bounds what is kept of an answer that will not be sent.
const maxHeld = 64 << 10

// WriteHeader sends the header, except that it holds back errors while vanguard is speaking.
func (ex *exchange) WriteHeader(code int) {
	if code < http.StatusOK { // 1xx may come more than once
		ex.ResponseWriter.WriteHeader(code)
		return
	}
	if ex.status != 0 || ex.held != nil {
		return
	}
	if ex.transcoding && code == http.StatusOK && ex.route.success != 0 {
		code = ex.route.success
	}
	ex.status = code
	if ex.transcoding && code >= http.StatusBadRequest {
		ex.held = new(bytes.Buffer)
		return
	}
	if ex.transcoding {
		ex.Header().Del("Accept-Encoding") // between connect and vanguard it means something
	}
	ex.ResponseWriter.WriteHeader(code)
}

// Write sends a part of the body, or holds it back with its header.
func (ex *exchange) Write(data []byte) (int, error) {
	if ex.status == 0 && ex.held == nil {
		ex.WriteHeader(http.StatusOK)
	}
	if ex.held != nil {
		if ex.held.Len()+len(data) <= maxHeld {
			ex.held.Write(data)
		}
		return len(data), nil
	}
	n, err := ex.ResponseWriter.Write(data)
	ex.written += int64(n)
	return n, err
}

// Flush is for streams. vanguard flushes whole answers too; they leave when the request is settled, so that whoever
// reads an answer finds it in the log and in the metrics.
func (ex *exchange) Flush() {
	if ex.transcoding || ex.held != nil {
		return
	}
	if ex.status == 0 {
		ex.status = http.StatusOK
	}
	if flusher, ok := ex.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
}

// Unwrap lets http.ResponseController find the connection.
func (ex *exchange) Unwrap() http.ResponseWriter { return ex.ResponseWriter }

// refuse answers a REST request with an error, unless an answer has begun.
func (ex *exchange) refuse(r refusal) {
	if ex.status != 0 && ex.held == nil {
		return
	}
	ex.held = nil
	ex.status = r.status
	ex.failure = r.Error
	writeRefusal(answerWriter{ex}, r, ex.route != nil && ex.route.isToken)
}

// refuseUnread is refuse for a request whose body was not read to its end: over HTTP/1 the connection ends with it,
// because the server would read on otherwise.
func (ex *exchange) refuseUnread(request *http.Request, r refusal) {
	if request.ProtoMajor == 1 && request.ContentLength != 0 {
		ex.Header().Set("Connection", "close")
	}
	ex.refuse(r)
}

// answerWriter passes refuse's own answer by the rule that holds errors back.
type answerWriter struct{ ex *exchange }

func (w answerWriter) Header() http.Header  { return w.ex.Header() }
func (w answerWriter) WriteHeader(code int) { w.ex.ResponseWriter.WriteHeader(code) }

func (w answerWriter) Write(data []byte) (int, error) {
	n, err := w.ex.ResponseWriter.Write(data)
	w.ex.written += int64(n)
	return n, err
}

// outcome is the HTTP status by which logs and metrics count the request: over gRPC the real one is always 200.
func (ex *exchange) outcome() int {
	switch {
	case ex.clientGone:
		return statusClientGone
	case ex.protocol == protocolREST || ex.failure == nil:
		if ex.status == 0 {
			return http.StatusOK
		}
		return ex.status
	default:
		return httpStatus(ex.failure)
	}
}
