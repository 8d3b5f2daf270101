package edge

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/fairqueue"
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

// Encoding and decoding a large message takes a processor for many milliseconds. Large messages therefore wait for each
// other, fairly between users, so that the requests of others find a processor.

// largeMessage is the size from which on a message counts as large.
const largeMessage = 32 << 10

// largeSlots is the number of large messages that are encoded or decoded at a time: half of the processors.
var largeSlots = max(1, runtime.GOMAXPROCS(0)/2)

// largeMessages are the slots, which the whole process shares.
var largeMessages = fairqueue.New(largeSlots)

// decodeInTurn calls decode for a message of size bytes. It fails if ctx ends before it is the message's turn.
func decodeInTurn(ctx context.Context, size int, decode func()) error {
	if size < largeMessage {
		decode()
		return nil
	}
	release, err := largeMessages.Acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	decode()
	return nil
}

// encoding is the number of responses that are being encoded. As long as there are no more than processors, none waits.
var encoding atomic.Int64

// encodeInTurn calls encode for a response. It fails if ctx ends before it is the response's turn.
func encodeInTurn(ctx context.Context, response proto.Message, encode func() error) error {
	defer encoding.Add(-1)
	if encoding.Add(1) > int64(largeSlots) && proto.Size(response) >= largeMessage {
		release, err := largeMessages.Acquire(ctx)
		if err != nil {
			return err
		}
		defer release()
	}
	return encode()
}
