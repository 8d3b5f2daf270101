package session

import (
	"context"
	"crypto/sha256"

	"github.com/plaza-social/plaza/platform/service"
)

// topic is the outbox topic with which earlier versions ended the sessions of other users on a device. Everyone can
// send any deviceId, so that a sign-in ends no session any more.
const topic = "device"

func deviceHash(deviceID string) []byte {
	sum := sha256.Sum256([]byte(deviceID))
	return sum[:]
}

// Register registers the outbox handler that discards the rows of earlier versions.
func Register(d *service.Deps) {
	service.HandleOutbox(d, topic, func(context.Context, struct{}) error { return nil })
}
