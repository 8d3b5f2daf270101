package session

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// A device has one user: whoever signs in on it ends the sessions that others began on it. Those of users of other homes
// end when the outbox tells their homes, moments later.

// topic is the outbox topic of devices that changed hands; the payload is a takeover.
const topic = "device"

// takeover is what the homes of a device's earlier users are told.
type takeover struct {
	DeviceHash []byte    `json:"deviceHash"`
	UserID     string    `json:"userId"` // whose device it is now
	At         time.Time `json:"at"`
}

func deviceHash(deviceID string) []byte {
	sum := sha256.Sum256([]byte(deviceID))
	return sum[:]
}

// Register makes the outbox tell the other homes.
func Register(d *service.Deps) {
	d.Outbox.Handle(topic, func(ctx context.Context, row store.OutboxRow) error {
		var t takeover
		if err := json.Unmarshal(row.Payload, &t); err != nil {
			return err
		}
		var g errgroup.Group
		for _, home := range region.All() {
			if home == homeOf(t.UserID) {
				continue // ended where it was written
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

// takeOver ends the sessions that others began on a device before a time, when the new one began. The caller has no token
// before it is stored that they end.
func (s *Service) takeOver(ctx context.Context, deviceID, userID string, now time.Time) error {
	t := takeover{DeviceHash: deviceHash(deviceID), UserID: userID, At: now}
	tx := s.Store.NewTx(homeOf(userID))
	tx.RevokeDevice(t.DeviceHash, userID, now)
	row := tx.Emit(topic, t, now, s.Outbox.FirstTry())
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	s.Outbox.DeliverSoon(ctx, tx.Home(), row)
	return nil
}
