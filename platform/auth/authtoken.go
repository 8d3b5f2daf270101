package auth

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/narrow"
)

// An authToken is obtained by an application's own server with its server key and passed to a client, which opens a
// session with it. The API limits it to 100 characters, too few for a JWT. Plaza's have 68:
//
//	"pz1." base64url( kid hint 4 | expiry, Unix seconds 4 | nonce 8 | HMAC-SHA256 32 )
//
// The MAC covers the network, the public user id and the preceding bytes. Its key is derived from the signing seed.
const (
	authTokenPrefix = "pz1."
	kidHintSize     = 4
	expirySize      = 4
	nonceSize       = 8
	authHeadSize    = kidHintSize + expirySize + nonceSize
	authTokenSize   = authHeadSize + sha256.Size
)

// errAuthTokenMismatch means that the token is forged or was minted for another user; the MAC cannot tell which.
var errAuthTokenMismatch = errors.New("authToken is not for this user")

// MintAuthToken returns an authToken with which the user with publicUserID can open a session. It expires no later than
// the key that signs it.
func (i *Issuer) MintAuthToken(publicUserID string) (string, error) {
	now := i.now()
	key, err := i.ring.signer(now)
	if err != nil {
		return "", err
	}
	expires := key.capped(now.Add(i.authLifetime)).Unix()
	if expires < 0 || expires > math.MaxUint32 {
		return "", ErrTokenClaims
	}
	raw := make([]byte, 0, authTokenSize)
	raw = append(raw, key.hint[:]...)
	raw = binary.BigEndian.AppendUint32(raw, uint32(expires))
	raw = append(raw, randomBytes(nonceSize)...)
	raw = append(raw, i.authMAC(key, raw, publicUserID)...)
	return authTokenPrefix + base64.RawURLEncoding.EncodeToString(raw), nil
}

// CheckAuthToken returns nil if publicUserID may open a session with token now, and fail.Unauthorized with a cause
// otherwise.
func (i *Issuer) CheckAuthToken(publicUserID, token string) error {
	raw, ok := decodeAuthToken(token)
	if !ok {
		return fail.Unauthorized().Because(ErrTokenMalformed)
	}
	head, mac := raw[:authHeadSize], raw[authHeadSize:]
	keys := i.ring.verifiers(i.now(), func(k *signingKey) bool { return bytes.Equal(k.hint[:], head[:kidHintSize]) })
	if len(keys) == 0 {
		return fail.Unauthorized().Because(ErrTokenUnsigned)
	}
	genuine := false
	for _, key := range keys { // two kids may share a hint
		if hmac.Equal(mac, i.authMAC(key, head, publicUserID)) {
			genuine = true
		}
	}
	if !genuine {
		return fail.Unauthorized().Because(errAuthTokenMismatch)
	}
	expires := time.Unix(int64(binary.BigEndian.Uint32(head[kidHintSize:])), 0)
	if !i.now().Before(expires) {
		return fail.Unauthorized().Because(ErrTokenExpired)
	}
	return nil
}

func decodeAuthToken(token string) ([]byte, bool) {
	text, ok := strings.CutPrefix(token, authTokenPrefix)
	if !ok || len(text) != base64.RawURLEncoding.EncodedLen(authTokenSize) {
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return raw, err == nil && len(raw) == authTokenSize // the decoder ignores line breaks
}

// authMAC prefixes the network id with its length and puts the user id last, so that no two inputs encode alike.
func (i *Issuer) authMAC(key *signingKey, head []byte, publicUserID string) []byte {
	mac := hmac.New(sha256.New, key.mac)
	mac.Write(head)
	mac.Write(binary.BigEndian.AppendUint32(nil, narrow.To[uint32](len(i.networkID))))
	mac.Write([]byte(i.networkID))
	mac.Write([]byte(publicUserID))
	return mac.Sum(nil)
}

func kidHint(kid string) [kidHintSize]byte {
	digest := sha256.Sum256([]byte(kid))
	return [kidHintSize]byte(digest[:kidHintSize])
}
