package edge

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/freeform"
)

// Names of codecs, as in content types.
const (
	codecJSON        = "json"
	codecJSONCharset = "json; charset=utf-8"
	codecProto       = "proto"
)

// codec is JSON or binary Protobuf for connect. It never fails to decode: see decodeError.
type codec struct {
	name   string
	inputs inputPlans
}

var _ connect.Codec = codec{}

// Name implements connect.Codec.
func (c codec) Name() string { return c.name }

// Marshal implements connect.Codec.
func (c codec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

// MarshalAppend lets connect reuse its buffers.
func (c codec) MarshalAppend(b []byte, message any) ([]byte, error) {
	m, err := asProto(message)
	if err != nil {
		return nil, err
	}
	if c.name == codecProto {
		return freeform.MarshalBinary(b, m)
	}
	return appendMessage(b, m)
}

// Unmarshal implements connect.Codec.
func (c codec) Unmarshal(data []byte, message any) error {
	m, err := asProto(message)
	if err != nil {
		return err
	}
	return decodeInTurn(context.Background(), len(data), func() { c.decode(data, m) }) // connect passes no context
}

func (c codec) decode(data []byte, m proto.Message) {
	if c.name == codecProto {
		decodeBinary(data, m)
		return
	}
	c.inputs[m.ProtoReflect().Descriptor().FullName()].decodeJSON(data, m)
}

func asProto(message any) (proto.Message, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a Protobuf message", message)
	}
	return m, nil
}
