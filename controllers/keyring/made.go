package keyring

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
)

// The names of the files in the Secrets.
const (
	ServerKeysFile   = "server-keys.json"
	APIKeysFile      = "api-keys.json" //nolint:gosec // a file's name
	SigningKeysFile  = "signing-keys.json"
	DirectoryKeyFile = "directory-key"
	NetworkIDFile    = "network-id"
)

type wireSigningFile struct {
	Keys []wireSigningKey `json:"keys"`
}

type wireSigningKey struct {
	Kid  string `json:"kid"`
	Seed string `json:"seed"`
}

// NewSigningKeys makes a signing-keys.json with one key.
func NewSigningKeys(random io.Reader) (Secret, error) {
	kid, err := draw(random, 8)
	if err != nil {
		return Secret{}, err
	}
	seed, err := draw(random, ed25519.SeedSize)
	if err != nil {
		return Secret{}, err
	}
	return encode(wireSigningFile{Keys: []wireSigningKey{{
		Kid: "s-" + hex.EncodeToString(kid), Seed: base64.StdEncoding.EncodeToString(seed),
	}}}), nil
}

// NewAPIKeys makes an api-keys.json with one key. Apps carry an API key in themselves, so that it does not rotate.
func NewAPIKeys(random io.Reader) (Secret, error) {
	id, err := draw(random, 4)
	if err != nil {
		return Secret{}, err
	}
	key, err := newKey(random)
	if err != nil {
		return Secret{}, err
	}
	return File{{ID: "a-" + hex.EncodeToString(id), Key: key}}.Content(), nil
}

// Identity is what makes a network the one it is: with another identity, the users of the database are not found again.
type Identity struct {
	DirectoryKey Secret
	NetworkID    string // 24 lowercase hexadecimal characters; no secret
}

// NewIdentity makes the identity of a new network.
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

// Check says what is wrong with an identity that was found.
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
		return nil, fmt.Errorf("no randomness for a key: %w", err)
	}
	return raw, nil
}
