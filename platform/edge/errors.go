package edge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/fail"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// statusClientGone is what the access log and the metrics show for a request whose client did not wait.
const statusClientGone = 499

// refusal is a failure and the HTTP status that goes with it on REST.
type refusal struct {
	*fail.Error
	status int
}

func refuse(e *fail.Error) refusal { return refusal{Error: e, status: httpStatus(e)} }

// httpStatus is the table of the interface: error code to HTTP status.
func httpStatus(e *fail.Error) int {
	switch e.Kind {
	case fail.KindValidation:
		return http.StatusUnprocessableEntity
	case fail.KindTooLarge:
		return http.StatusRequestEntityTooLarge
	case fail.KindUnavailable:
		return http.StatusServiceUnavailable
	case fail.KindPlain:
	}
	switch e.Code {
	case fail.CodeBadRequest, fail.CodeWordBlocked, fail.CodeLinkNotAllowed:
		return http.StatusBadRequest
	case fail.CodeUnauthorized:
		return http.StatusUnauthorized
	case fail.CodeRateLimited:
		return http.StatusTooManyRequests
	case fail.CodeNotFound:
		return http.StatusNotFound
	case fail.CodeConflict:
		return http.StatusConflict
	}
	if e.Code >= fail.CodeForbidden && e.Code < fail.CodeNotFound {
		return http.StatusForbidden
	}
	return http.StatusInternalServerError
}

// connectCode is the same table for Connect and gRPC.
func connectCode(e *fail.Error) connect.Code {
	switch e.Kind {
	case fail.KindValidation:
		return connect.CodeInvalidArgument
	case fail.KindTooLarge:
		return connect.CodeResourceExhausted
	case fail.KindUnavailable:
		return connect.CodeUnavailable
	case fail.KindPlain:
	}
	switch e.Code {
	case fail.CodeBadRequest, fail.CodeWordBlocked, fail.CodeLinkNotAllowed:
		return connect.CodeInvalidArgument
	case fail.CodeUnauthorized:
		return connect.CodeUnauthenticated
	case fail.CodeRateLimited:
		return connect.CodeResourceExhausted
	case fail.CodeAlreadyExists:
		return connect.CodeAlreadyExists
	case fail.CodeNotFound:
		return connect.CodeNotFound
	case fail.CodeConflict:
		return connect.CodeAborted
	}
	if e.Code >= fail.CodeForbidden && e.Code < fail.CodeNotFound {
		return connect.CodePermissionDenied
	}
	return connect.CodeInternal
}

// connectError is e as Connect and gRPC clients see it: code, message, and an ErrorInfo with what REST says.
func connectError(e *fail.Error) *connect.Error {
	out := connect.NewError(connectCode(e), errors.New(e.Message))
	detail, err := connect.NewErrorDetail(&plazav1.ErrorInfo{
		Code:       int32(e.Code),
		Message:    e.Message,
		Detail:     e.Details,
		HttpStatus: int32(httpStatus(e)), //nolint:gosec // a status has three digits
	})
	if err == nil { // a detail that does not marshal leaves code and message
		out.AddDetail(detail)
	}
	return out
}

// refusalOfStatus reads what vanguard answers a REST client with: the status of a connectError, or of a failure of
// vanguard's or connect's own with the request input. known is false for those of the latter that nobody has logged and
// nobody expects.
func refusalOfStatus(body []byte, input protoreflect.MessageDescriptor) (r refusal, known bool) {
	var stat status.Status
	if err := proto.Unmarshal(body, &stat); err != nil {
		return refuse(fail.Unexpected(fmt.Errorf("read the status of a failure: %w", err))), false
	}
	for _, detail := range stat.GetDetails() {
		var info plazav1.ErrorInfo
		if detail.MessageIs(&info) && detail.UnmarshalTo(&info) == nil {
			return refusalOfInfo(&info), true
		}
	}
	return refusalOfLibrary(connect.Code(stat.GetCode()), stat.GetMessage(), input) //nolint:gosec // codes are small
}

func refusalOfInfo(info *plazav1.ErrorInfo) refusal {
	return refusal{
		Error:  fail.New(fail.Code(info.GetCode()), info.GetMessage()).WithDetails(info.GetDetail()...),
		status: int(info.GetHttpStatus()),
	}
}

// refusalOfLibrary maps the failures that vanguard and connect find themselves, before any handler of ours.
func refusalOfLibrary(code connect.Code, message string, input protoreflect.MessageDescriptor) (r refusal, known bool) {
	switch code {
	case connect.CodeCanceled:
		return refusal{Error: fail.Unexpected(errors.New(message)), status: statusClientGone}, true
	case connect.CodeDeadlineExceeded:
		return refuse(fail.Unavailable(detailTooSlow, errors.New(message))), true
	case connect.CodeResourceExhausted:
		return refuse(&fail.Error{Code: fail.CodeUnexpected, Kind: fail.KindTooLarge, Message: messageTooLarge}), true
	case connect.CodeUnimplemented:
		return refuse(fail.NotFound()), true
	}
	if found := refusedParameter.FindStringSubmatch(message); found != nil {
		path, words := parameterInWords(found[1], input)
		return refuse(fail.Validation(path + ": " + words)), true
	}
	if code == connect.CodeInvalidArgument {
		return refuse(fail.BadRequest()), true
	}
	return refuse(fail.Unexpected(errors.New(message))), false
}

const (
	messageTooLarge = "Payload Too Large"
	detailTooSlow   = "the operation did not finish in time"
)

// refusedParameter matches the sentences in which vanguard refuses a query parameter: for a value that does not fit its
// field, and for a name that goes on below a field that has nothing below it.
var refusedParameter = regexp.MustCompile(`^(?:invalid parameter|in field path) "([^"]*)"`)

// parameterInWords returns the JSON names of a dotted path, and what the field at its end must be.
func parameterInWords(path string, message protoreflect.MessageDescriptor) (jsonPath, words string) {
	words = "is not a parameter"
	for name := range strings.SplitSeq(path, ".") {
		field := fieldByName(message, name)
		if field == nil {
			return joined(jsonPath, name), "is not a parameter"
		}
		jsonPath = joined(jsonPath, field.JSONName())
		words = "must be " + kindInWords(field.Kind())
		message = field.Message()
	}
	return jsonPath, words
}

func fieldByName(message protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if message == nil {
		return nil
	}
	if field := message.Fields().ByName(protoreflect.Name(name)); field != nil {
		return field
	}
	return message.Fields().ByJSONName(name)
}

// kindInWords completes "must be".
func kindInWords(kind protoreflect.Kind) string {
	switch kind {
	case protoreflect.BoolKind:
		return "true or false"
	case protoreflect.StringKind:
		return "a string"
	case protoreflect.BytesKind:
		return "base64"
	case protoreflect.EnumKind:
		return "one of its values"
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		return "a number"
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return "an object"
	}
	return "a whole number within its bounds"
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

// bareUnauthorized is how the token endpoint answers a missing or wrong key: a JSON string, no object.
const bareUnauthorized = `"Unauthorized"`

// writeRefusal is the only place that writes a REST error. The token endpoint has two habits of its own.
func writeRefusal(w http.ResponseWriter, r refusal, tokenEndpoint bool) {
	body := []byte(bareUnauthorized)
	if !tokenEndpoint || r.Code != fail.CodeUnauthorized {
		body = refusalBody(r, tokenEndpoint)
	}
	header := w.Header()
	for _, name := range []string{"Content-Encoding", "Accept-Encoding", "Trailer", "Etag", "Cache-Control"} {
		header.Del(name)
	}
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(r.status)
	_, _ = w.Write(body) // a client that is gone reads no error
}

func refusalBody(r refusal, alwaysData bool) []byte {
	body := errorBody{Status: "error", Code: r.Code, Message: r.Message}
	if alwaysData || len(r.Details) > 0 {
		body.Data = &errorData{Detail: r.Details}
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body) // strings and numbers always encode
	return bytes.TrimRight(buffer.Bytes(), "\n")
}
