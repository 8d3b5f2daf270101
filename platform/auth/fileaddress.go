package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"time"
)

// SignFileAddress returns the MAC of what the address of a file says, with a key derived from the one that signs tokens
// at now. Rotating the signing keys therefore rotates these keys as well.
func (r *Keyring) SignFileAddress(statement []byte, now time.Time) ([]byte, error) {
	key, err := r.signer(now)
	if err != nil {
		return nil, err
	}
	return key.signFileAddress(statement), nil
}

// VerifyFileAddress reports whether mac is the MAC of statement with any key that is valid at now.
func (r *Keyring) VerifyFileAddress(statement, mac []byte, now time.Time) bool {
	return len(r.verifiers(now, func(k *signingKey) bool { return hmac.Equal(mac, k.signFileAddress(statement)) })) > 0
}

func (k *signingKey) signFileAddress(statement []byte) []byte {
	h := hmac.New(sha256.New, k.fileMAC)
	_, _ = h.Write(statement) // a hash never fails
	return h.Sum(nil)
}
