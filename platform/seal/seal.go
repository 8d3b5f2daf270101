// Package seal encrypts secrets that are stored, with a key that all servers of a network have.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
)

// Sealer encrypts the secrets that are stored.
type Sealer struct{ aead cipher.AEAD }

// New returns a sealer whose key is derived from the network's directory key, which all servers have and which never changes.
func New(directoryKey []byte) (*Sealer, error) {
	key, err := hkdf.Key(sha256.New, directoryKey, nil, "plaza/webhook secrets/1", sha256.Size)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &Sealer{aead}, err
}

// Seal encrypts the secret of the object with an id.
func (s *Sealer) Seal(id, secret string) []byte {
	return s.aead.Seal(nil, nil, []byte(secret), []byte(id)) //nolint:gosec // the AEAD makes a random nonce
}

// Open decrypts a secret that was sealed with the same id.
func (s *Sealer) Open(id string, sealed []byte) (string, error) {
	secret, err := s.aead.Open(nil, nil, sealed, []byte(id))
	if err != nil {
		return "", errors.New("the stored secret cannot be decrypted: it was encrypted with another directory key")
	}
	return string(secret), nil
}

// Seals reports whether sealed is a secret that was sealed with the same id.
func (s *Sealer) Seals(id string, sealed []byte, secret string) bool {
	opened, err := s.Open(id, sealed)
	return err == nil && subtle.ConstantTimeCompare([]byte(opened), []byte(secret)) == 1
}
