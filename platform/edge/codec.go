package edge

import (
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
)

// Names of codecs, as in content types.
const (
	codecJSON        = "json"
	codecJSONCharset = "json; charset=utf-8"
	codecProto       = "proto"
)

// jsonCodec is JSON for connect. It never fails to decode: see decodeError.
type jsonCodec struct {
	name   string
	inputs inputPlans
}

var _ connect.Codec = jsonCodec{}

func (c jsonCodec) Name() string { return c.name }

func (c jsonCodec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

// MarshalAppend lets connect reuse its buffers.
func (jsonCodec) MarshalAppend(b []byte, message any) ([]byte, error) {
	m, err := asProto(message)
	if err != nil {
		return nil, err
	}
	return appendMessage(b, m.ProtoReflect())
}

// MarshalStable and IsBinary make the codec usable for Connect GET.
func (c jsonCodec) MarshalStable(message any) ([]byte, error) { return c.Marshal(message) }

func (jsonCodec) IsBinary() bool { return false }

func (c jsonCodec) Unmarshal(data []byte, message any) error {
	m, err := asProto(message)
	if err != nil {
		return err
	}
	c.inputs[m.ProtoReflect().Descriptor().FullName()].decodeJSON(data, m)
	return nil
}

// protoCodec is binary Protobuf for connect. It never fails to decode either.
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
		return nil, fmt.Errorf("%T is not a Protobuf message", message)
	}
	return m, nil
}
