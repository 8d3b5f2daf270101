package edge

import (
	"bytes"
	"encoding/json"
	"fmt"

	"connectrpc.com/connect"
	"connectrpc.com/vanguard"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Names of codecs, as the content types have them.
const (
	codecJSON        = "json"
	codecJSONCharset = "json; charset=utf-8"
	codecProto       = "proto"
)

// appendByProtojson is the slow way, for types whose JSON is an art of its own and that no hot answer holds.
func appendByProtojson(b []byte, m protoreflect.Message) ([]byte, error) {
	data, err := protojson.MarshalOptions{EmitUnpopulated: true}.Marshal(m.Interface())
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, err
	}
	return append(b, compact.Bytes()...), nil
}

// jsonCodec is JSON for the connect handlers. It never fails to decode: see flaw.
type jsonCodec struct{ name string }

var _ connect.Codec = jsonCodec{}

func (c jsonCodec) Name() string { return c.name }

func (c jsonCodec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

// MarshalAppend lets connect marshal into its pooled buffers.
func (c jsonCodec) MarshalAppend(b []byte, message any) ([]byte, error) {
	m, err := asProto(message)
	if err != nil {
		return nil, err
	}
	return appendMessage(b, m.ProtoReflect())
}

// MarshalStable is what connect asks for answers to GET.
func (c jsonCodec) MarshalStable(message any) ([]byte, error) { return c.Marshal(message) }

// IsBinary tells connect how to put a message into a URL.
func (c jsonCodec) IsBinary() bool { return false }

func (c jsonCodec) Unmarshal(data []byte, message any) error {
	m, err := asProto(message)
	if err != nil {
		return err
	}
	decodeJSON(data, m)
	return nil
}

// protoCodec is binary Protobuf for the connect handlers. It never fails to decode either.
type protoCodec struct{}

var _ connect.Codec = protoCodec{}

func (protoCodec) Name() string { return codecProto }

func (c protoCodec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

func (protoCodec) MarshalAppend(b []byte, message any) ([]byte, error) {
	m, err := asProto(message)
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{}.MarshalAppend(b, m)
}

func (protoCodec) MarshalStable(message any) ([]byte, error) {
	m, err := asProto(message)
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

func (protoCodec) IsBinary() bool { return true }

func (protoCodec) Unmarshal(data []byte, message any) error {
	m, err := asProto(message)
	if err != nil {
		return err
	}
	decodeBinary(data, m)
	return nil
}

func asProto(message any) (proto.Message, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no Protobuf message", message)
	}
	return m, nil
}

// handoffMark begins a request that vanguard has put together and passes to the connect handler in this process. Neither
// JSON nor a binary message begins with a zero byte, and restFront lets no body in that does.
const handoffMark = 0

// restCodec is JSON between vanguard and the connect handlers behind it. Answers pass through vanguard as the handler
// wrote them, because both sides call their codec "json"; a request that vanguard had to decode, to add parameters to
// it, goes on in binary instead of being written and parsed as JSON a second time, and keeps its flaw that way.
type restCodec struct {
	requests map[protoreflect.FullName]bool
}

var _ vanguard.RESTCodec = restCodec{}

func (c restCodec) Name() string { return codecJSON }

func (c restCodec) isRequest(m proto.Message) bool {
	return c.requests[m.ProtoReflect().Descriptor().FullName()]
}

// MarshalAppend appends a request for the handler behind, an error for restFront, or an answer for the client.
func (c restCodec) MarshalAppend(b []byte, m proto.Message) ([]byte, error) {
	if stat, ok := m.(*status.Status); ok {
		return proto.MarshalOptions{}.MarshalAppend(b, stat)
	}
	if c.isRequest(m) {
		return appendHandoff(b, m), nil
	}
	return appendMessage(b, m.ProtoReflect())
}

// appendHandoff cannot fail: text that is not UTF-8 came with a parameter, and becomes the flaw of the request.
func appendHandoff(b []byte, m proto.Message) []byte {
	b = append(b, handoffMark)
	data, err := proto.MarshalOptions{}.MarshalAppend(b, m)
	if err != nil {
		return append(b, flawNotText.unknown()...)
	}
	return data
}

// Unmarshal decodes a request of a client, or an answer of which the client gets one field.
func (c restCodec) Unmarshal(data []byte, m proto.Message) error {
	if c.isRequest(m) {
		decodeJSON(data, m)
		return nil
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, m)
}

// MarshalAppendField appends one field of an answer, for response_body.
func (c restCodec) MarshalAppendField(b []byte, m proto.Message, field protoreflect.FieldDescriptor) ([]byte, error) {
	return appendField(b, m, field)
}

// UnmarshalField decodes a body that is one field of the request.
func (c restCodec) UnmarshalField(data []byte, m proto.Message, field protoreflect.FieldDescriptor) error {
	object := append(appendQuoted([]byte{'{'}, field.JSONName()), ':')
	object = append(append(object, data...), '}')
	return c.Unmarshal(object, m)
}

// handoffCodec is the other end of restCodec, in the connect handlers of REST.
type handoffCodec struct{ jsonCodec }

func (c handoffCodec) Unmarshal(data []byte, message any) error {
	if len(data) == 0 || data[0] != handoffMark {
		return c.jsonCodec.Unmarshal(data, message)
	}
	m, err := asProto(message)
	if err != nil {
		return err
	}
	return proto.Unmarshal(data[1:], m)
}
