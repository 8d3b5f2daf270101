package edge

import (
	"context"
	"runtime"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/fairqueue"
)

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
