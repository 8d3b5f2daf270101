package keyring

import (
	"encoding/hex"
	"fmt"
	"io"
)

// The names of the files in the Secrets.
const (
	ServerKeysFile   = "server-keys.json"
	APIKeysFile      = "api-keys.json"
	SigningKeysFile  = "signing-keys.json"
	DirectoryKeyFile = "directory-key"
	NetworkIDFile    = "network-id"
)

// NewSigningKeys returns a signing-keys.json with one key.
func NewSigningKeys(random io.Reader) (Secret, error) { return SigningKeys.file(random, 8) }

// NewAPIKeys returns an api-keys.json with one key. API keys are built into apps, so they are rotated only if the spec says so.
func NewAPIKeys(random io.Reader) (Secret, error) { return APIKeys.file(random, 4) }

// Identity is the identity of a network. With another identity, the users in the database could not be found.
type Identity struct {
	DirectoryKey Secret
	NetworkID    string // 24 lowercase hexadecimal characters; not secret
}

// NewIdentity returns the identity of a new network.
func NewIdentity(random io.Reader) (Identity, error) {
	key, err := newKey(random)
	if err != nil {
		return Identity{}, err
	}
	id, err := draw(random, 12)
	if err != nil {
		return Identity{}, err
	}
	return Identity{DirectoryKey: key, NetworkID: hex.EncodeToString(id)}, nil
}

// Check validates an identity that was read from a Secret.
func (i Identity) Check() error {
	if i.DirectoryKey.Reveal() == "" {
		return &BrokenError{Reason: DirectoryKeyFile + " is missing or empty"}
	}
	if raw, err := hex.DecodeString(i.NetworkID); err != nil || len(raw) != 12 || hex.EncodeToString(raw) != i.NetworkID {
		return &BrokenError{Reason: NetworkIDFile + " is not 24 lowercase hexadecimal characters"}
	}
	return nil
}

func newKey(random io.Reader) (Secret, error) {
	raw, err := draw(random, 32)
	if err != nil {
		return Secret{}, err
	}
	return NewSecret(hex.EncodeToString(raw)), nil
}

func draw(random io.Reader, n int) ([]byte, error) {
	raw := make([]byte, n)
	if _, err := io.ReadFull(random, raw); err != nil {
		return nil, fmt.Errorf("reading random bytes for a key: %w", err)
	}
	return raw, nil
}
