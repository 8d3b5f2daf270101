package edge

import (
	"bytes"
	"context"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/fail"
)

// restCall is a REST call of an operation: the parts of the HTTP request that become the request message, and the
// response message.
type restCall struct {
	route    *route
	method   string // HEAD is GET here
	path     string // escaped
	query    string // raw
	body     []byte // decompressed
	response proto.Message
}

// transcode is the interceptor between REST and the operations. Connect has allocated an empty request message, because
// restCodec decodes nothing; transcode fills it. On the way back it keeps the response message for restHandler.
func transcode(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		w := responseWriterFrom(ctx)
		message, err := asProto(request.Any())
		if err != nil {
			return nil, err
		}
		if failed := w.call.fill(ctx, message.ProtoReflect()); failed != nil {
			return nil, failed
		}
		response, err := next(ctx, request)
		if err != nil {
			return nil, err
		}
		w.call.response, err = asProto(response.Any())
		return response, err
	}
}

// fill sets the fields of the request message m: from the body, then from the path, then from the query. Names that are
// not fields are ignored.
//
// A body that cannot be decoded is not an error here but marks m, see decodeError.
func (c *restCall) fill(ctx context.Context, m protoreflect.Message) *fail.Error {
	if c.route.hasBody && len(c.body) > 0 {
		err := decodeInTurn(ctx, len(c.body), func() { c.route.input.decodeJSON(c.body, m.Interface()) })
		if err != nil {
			return fail.Unavailable("the server is busy; try again later", err)
		}
	}
	s := &setter{message: m, route: c.route}
	for i := range c.route.variables {
		variable := &c.route.variables[i]
		if err := s.setField([]protoreflect.FieldDescriptor{variable.field}, variable.value(c.path)); err != nil {
			return err
		}
	}
	if c.method == http.MethodDelete && !c.route.hasBody && len(c.body) > 0 {
		if err := s.setFromBody(c.body); err != nil {
			return err
		}
	}
	if err := s.setFromQuery(c.query); err != nil {
		return err
	}
	if s.invalidText {
		decodeErrorText.mark(m.Interface())
	}
	return nil
}

// encode appends the response body to buffer.
func (c *restCall) encode(buffer *bytes.Buffer) error {
	if c.response == nil {
		return errNoResponse
	}
	var err error
	encoded := buffer.AvailableBuffer()
	if c.route.body == nil {
		encoded, err = appendMessage(encoded, c.response)
	} else {
		encoded, err = appendField(encoded, c.response, c.route.body)
	}
	if err != nil {
		return err
	}
	*buffer = *bytes.NewBuffer(encoded) // which may have outgrown the buffer
	return nil
}

// restCodec is the codec of the connect handlers behind restHandler. It does nothing: see transcode.
type restCodec struct{}

var _ connect.Codec = restCodec{}

func (restCodec) Name() string                { return codecJSON }
func (restCodec) Marshal(any) ([]byte, error) { return nil, nil }
func (restCodec) Unmarshal([]byte, any) error { return nil }
