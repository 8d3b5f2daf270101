package notification

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/push"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/notify"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// providerOf are the providers of the kinds of devices.
var providerOf = map[string]string{"ios": push.APNs, "android": push.FCM, "web": push.WebPush}

// topicToken is the outbox topic with which a token is taken from the users of other homes; the payload is a takenToken.
const topicToken = "push token"

// takenToken is a token that a user registered.
type takenToken struct {
	Hash   []byte    `json:"hash"`
	UserID string    `json:"userId"` // internal id
	At     time.Time `json:"at"`
}

// deviceOf returns the key of a device, which is derived like the device hash of sessions.
func deviceOf(deviceID string) string {
	sum := sha256.Sum256([]byte(deviceID))
	return hex.EncodeToString(sum[:])
}

// RegisterDevice registers the caller's device, or gives it a new token. It is the device of the session, because public clients can
// name another one here than when they sign in.
func (s *Service) RegisterDevice(ctx context.Context, req *plazav1.RegisterDeviceRequest) (*plazav1.StatusSuccessResponse, error) {
	provider := cmp.Or(req.GetProvider(), providerOf[req.GetPlatform()])
	if err := checkToken(provider, req.GetToken()); err != nil {
		return nil, err
	}
	var ofSession string
	r := s.newOwnRequest(ctx, req.GetUserId())
	r.DeviceOfSession(r.Caller.UserID, r.Caller.SessionID, &ofSession)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	now, id := s.Now(), r.Caller.UserID
	device := notify.PushDevice{
		UserID: id, Device: ofSession, Platform: req.GetPlatform(), Provider: provider, Token: req.GetToken(),
		UpdatedAt: now,
	}
	taken := takenToken{Hash: notify.PushTokenHash(device.Token), UserID: id, At: now}
	tx := s.Store.NewTx(s.HomeOf(id))
	tx.GuardDeviceSession(id, device.Device, now, fail.Unauthorized())
	tx.PutPushDevice(device)
	row := tx.Emit(topicToken, taken, now, s.Outbox.FirstTry())
	return service.StatusSuccess(), s.Commit(ctx, tx, row)
}

// checkToken returns an error unless a token has the form of the provider's tokens.
func checkToken(provider, token string) error {
	if provider != push.WebPush {
		return nil
	}
	if _, err := push.ParseSubscription(token); err != nil {
		return fail.Validation("token: " + err.Error())
	}
	return nil
}

// newOwnRequest returns a request of a user who may name only himself.
func (s *Service) newOwnRequest(ctx context.Context, publicID string) *service.Request {
	r := s.NewUserRequest(ctx)
	r.Check(func() error {
		if publicID != "" && publicID != r.Caller.PublicID {
			return fail.NotAllowed()
		}
		return nil
	})
	return r
}

// UnregisterDevice ends the push notifications to a device of the caller, by default that of the session.
func (s *Service) UnregisterDevice(ctx context.Context, req *plazav1.UnregisterDeviceRequest) (*plazav1.StatusSuccessResponse, error) {
	r := s.newOwnRequest(ctx, req.GetUserId())
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(s.HomeOf(r.Caller.UserID))
	if req.GetDeviceId() == "" {
		tx.RemovePushDeviceOfSession(r.Caller.UserID, r.Caller.SessionID)
	} else {
		tx.RemovePushDevice(r.Caller.UserID, deviceOf(req.GetDeviceId()))
	}
	return service.StatusSuccess(), tx.Commit(ctx)
}

// takeToken removes a token that a user registered from the devices of others: a device has one user at a time.
func (s *Service) takeToken(ctx context.Context, t takenToken) error {
	var failed []error
	for _, home := range region.All() {
		tx := s.Store.NewTx(home)
		tx.TakePushToken(t.Hash, t.UserID, t.At)
		failed = append(failed, tx.Commit(ctx))
	}
	return errors.Join(failed...)
}
