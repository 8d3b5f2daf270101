package statusz

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// ServerKeyRequest asks whether a server accepts a server key, without sending it: the server answers with a digest that only a
// holder of the key can compute.
type ServerKeyRequest struct {
	ID    string `json:"id"`    // id of the key
	Nonce string `json:"nonce"` // new random text of 32 to 128 bytes
}

// The lengths that a nonce may have in bytes.
const (
	MinNonce = 32
	MaxNonce = 128
)

// ServerKeyAnswer reports whether the server accepts the key, and the key's id.
type ServerKeyAnswer struct {
	Valid    bool      `json:"valid"`
	ID       string    `json:"id,omitempty"`
	NotAfter time.Time `json:"notAfter,omitzero"`
	// Digest is ServerKeyDigest of the key with this id; empty unless the server accepts it.
	Digest string `json:"digest,omitempty"`
}

// ServerKeyDigest returns the HMAC-SHA256 of an id and a nonce in lowercase hexadecimal. Its key is the SHA-256 of the server key,
// which is what servers keep.
func ServerKeyDigest(hash [sha256.Size]byte, id, nonce string) string {
	mac := hmac.New(sha256.New, hash[:])
	_, _ = mac.Write([]byte(id + "\n" + nonce))
	return hex.EncodeToString(mac.Sum(nil))
}
