package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
)

// Guest is a kind of user without an account, who has an access token but no row. Guests read what a user without
// memberships reads, and change nothing: see Access.Guests.
type Guest string

// The kinds of guests: people who have not signed up, and programs such as crawlers. Users with an account are NoGuest.
const (
	NoGuest Guest = ""
	Visitor Guest = "visitor"
	Bot     Guest = "bot"
)

// GuestLifetime is the longest validity of a guest's access token.
const GuestLifetime = 24 * time.Hour

// ErrGuestSignature means that the signature of a guest's device is missing, wrong or has expired.
var ErrGuestSignature = errors.New("the device of the guest is not signed by a server key")

// denied returns the error for what guests may not do.
func (g Guest) denied() *fail.Error {
	if g == Bot {
		return fail.BotDenied()
	}
	return fail.VisitorDenied()
}

// known reports whether g occurs in tokens.
func (g Guest) known() bool { return g == NoGuest || g == Visitor || g == Bot }

// GuestFacts are the facts of a guest, who has no row.
func GuestFacts(revoked bool) Facts {
	return Facts{Exists: true, SessionRevoked: revoked, SessionAuthenticated: true}
}

// SignGuest returns the signature of a device until a time, which must be in RFC 3339: the hexadecimal HMAC-SHA256 of
// both under secret, which is the lowercase hexadecimal SHA-256 of a server key.
func SignGuest(secret, deviceID, expiresAt string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("deviceId=" + deviceID + "&authSignatureExpiresAt=" + expiresAt))
	return hex.EncodeToString(mac.Sum(nil))
}

// CheckGuest returns nil if signature is that of a device until a time that has not passed, under the secret of a valid
// server key.
func (s *KeySet) CheckGuest(signature, deviceID, expiresAt string) error {
	until, err := time.Parse(time.RFC3339, expiresAt)
	if err != nil || !s.options.now().Before(until) {
		return fail.Unauthorized().Because(ErrGuestSignature)
	}
	_, ok := s.findValid(func(k hashedKey) bool {
		return hmac.Equal([]byte(signature), []byte(SignGuest(hex.EncodeToString(k.digest[:]), deviceID, expiresAt)))
	})
	if !ok {
		return fail.Unauthorized().Because(ErrGuestSignature)
	}
	return nil
}
