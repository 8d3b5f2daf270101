package edge

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/narrow"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// statusClientGone is recorded in the access log and in metrics for a request whose client disconnected.
const statusClientGone = 499

// detailTimeout is the detail of the error for an operation that exceeded its time limit.
const detailTimeout = "the operation did not finish in time"

// httpError is an error with its HTTP status on REST.
type httpError struct {
	*fail.Error
	status int
}

func newHTTPError(e *fail.Error) httpError {
	status, _ := statusOf(e)
	return httpError{Error: e, status: status}
}

// statusOf returns the HTTP status of an error on REST, and its code on Connect and gRPC.
func statusOf(e *fail.Error) (int, connect.Code) {
	switch e.Kind {
	case fail.KindValidation:
		return http.StatusUnprocessableEntity, connect.CodeInvalidArgument
	case fail.KindTooLarge:
		return http.StatusRequestEntityTooLarge, connect.CodeResourceExhausted
	case fail.KindUnavailable:
		return http.StatusServiceUnavailable, connect.CodeUnavailable
	case fail.KindPlain:
	}
	switch e.Code {
	case fail.CodeBadRequest, fail.CodeWordBlocked, fail.CodeLinkNotAllowed:
		return http.StatusBadRequest, connect.CodeInvalidArgument
	case fail.CodeUnauthorized:
		return http.StatusUnauthorized, connect.CodeUnauthenticated
	case fail.CodeRateLimited:
		return http.StatusTooManyRequests, connect.CodeResourceExhausted
	case fail.CodeBotDenied, fail.CodeVisitorDenied:
		return http.StatusForbidden, connect.CodePermissionDenied
	case fail.CodeAlreadyExists:
		return http.StatusForbidden, connect.CodeAlreadyExists
	case fail.CodeNotFound:
		return http.StatusNotFound, connect.CodeNotFound
	case fail.CodeConflict:
		return http.StatusConflict, connect.CodeAborted
	}
	if e.Code >= fail.CodeForbidden && e.Code < fail.CodeNotFound {
		return http.StatusForbidden, connect.CodePermissionDenied
	}
	return http.StatusInternalServerError, connect.CodeInternal
}

// connectError returns e as Connect and gRPC clients see it: a code, a message, and an ErrorInfo with what REST shows.
func connectError(e *fail.Error) *connect.Error {
	status, code := statusOf(e)
	out := connect.NewError(code, errors.New(e.Message))
	detail, err := connect.NewErrorDetail(&plazav1.ErrorInfo{
		Code:       int32(e.Code),
		Message:    e.Message,
		Detail:     e.Details,
		HttpStatus: narrow.To[int32](status),
	})
	if err == nil { // without the detail, code and message remain
		out.AddDetail(detail)
	}
	return out
}

// errorBody is the error body of the interface.
type errorBody struct {
	Status  string     `json:"status"`
	Code    fail.Code  `json:"code"`
	Message string     `json:"message"`
	Data    *errorData `json:"data,omitempty"`
}

type errorData struct {
	Detail []string `json:"detail,omitempty"`
}

// bareUnauthorized is the body of REST_ERRORS_BARE_UNAUTHORIZED.
const bareUnauthorized = `"Unauthorized"`

// writeError writes a REST error. No other code does.
func writeError(w http.ResponseWriter, e httpError, style plazav1.RestErrors) {
	bare := style == plazav1.RestErrors_REST_ERRORS_BARE_UNAUTHORIZED
	body := []byte(bareUnauthorized)
	if !bare || e.Code != fail.CodeUnauthorized {
		body = encodeError(e, bare)
	}
	header := w.Header()
	for _, name := range []string{"Content-Encoding", "Accept-Encoding", "Trailer", "Etag", "Cache-Control"} {
		header.Del(name)
	}
	header.Set("Cache-Control", cacheNever)
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(e.status)
	_, _ = w.Write(body) // fails if the client has disconnected
}

// WriteError writes a REST error with a status of its own.
func WriteError(w http.ResponseWriter, failed *fail.Error, status int) {
	writeError(w, httpError{Error: failed, status: status}, plazav1.RestErrors_REST_ERRORS_UNSPECIFIED)
}

func encodeError(e httpError, withData bool) []byte {
	body := errorBody{Status: "error", Code: e.Code, Message: e.Message}
	if withData || len(e.Details) > 0 {
		body.Data = &errorData{Detail: e.Details}
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body) // strings and numbers always encode
	return bytes.TrimRight(buffer.Bytes(), "\n")
}
