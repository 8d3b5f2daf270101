package session

import (
	"context"
	"crypto/sha256"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
)

// A device has one user: a new session on a device ends the sessions of other users on it. At other homes, the
// sessions end asynchronously, through the outbox.

// topic is the outbox topic of new sessions; the payload is a deviceSession.
const topic = "device"

// deviceSession tells other homes which user a device has now.
type deviceSession struct {
	DeviceHash []byte    `json:"deviceHash"`
	UserID     string    `json:"userId"` // of the device since At
	At         time.Time `json:"at"`
}

func deviceHash(deviceID string) []byte {
	sum := sha256.Sum256([]byte(deviceID))
	return sum[:]
}

// Register registers the outbox handler that ends sessions at other homes.
func Register(d *service.Deps) {
	service.HandleOutbox(d, topic, func(ctx context.Context, t deviceSession) error {
		var g errgroup.Group
		for _, home := range region.All() {
			if home == service.HomeOf(t.UserID) {
				continue // done by the transaction that emitted the event
			}
			g.Go(func() error {
				tx := d.Store.NewTx(home)
				tx.RevokeDevice(t.DeviceHash, t.UserID, t.At)
				return tx.Commit(ctx)
			})
		}
		return g.Wait()
	})
}

// endOtherSessions ends the sessions that other users created on a device before now. The event is stored before the
// caller gets a token.
func (s *Service) endOtherSessions(ctx context.Context, deviceID, userID string, now time.Time) error {
	t := deviceSession{DeviceHash: deviceHash(deviceID), UserID: userID, At: now}
	tx := s.Store.NewTx(service.HomeOf(userID))
	tx.RevokeDevice(t.DeviceHash, userID, now)
	row := tx.Emit(topic, t, now, s.Outbox.FirstTry())
	return s.CommitSoon(ctx, tx, row)
}
