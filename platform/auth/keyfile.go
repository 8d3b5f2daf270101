package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
)

// minKeyLength rejects keys that are short enough to guess.
const minKeyLength = 16

var errKeyShape = errors.New("the key must be 16 to 1024 visible ASCII characters")

// KeySet is a file of server keys or API keys, several of which may be valid concurrently. It is re-read when it
// changes:
//
//	{"keys": [{"id": "k1", "key": "…", "notAfter": "2027-01-01T00:00:00Z"}]}
//
// notAfter is optional. Only digests of the keys are kept, and they are never printed. A KeySet is safe for concurrent
// use.
type KeySet struct{ *watchedFile[hashedKey] }

type hashedKey struct {
	KeyInfo
	digest [sha256.Size]byte
}

func (k hashedKey) material() string { return string(k.digest[:]) }

type keySetEntry struct {
	ID       string `json:"id"`
	Key      string `json:"key"`
	NotAfter string `json:"notAfter,omitempty"`
}

// OpenKeySet reads the keys in path. An invalid file is an error now; one that becomes invalid later is logged, and the
// previous keys stay in use.
func OpenKeySet(path string, opts ...FileOption) (*KeySet, error) {
	f := &watchedFile[hashedKey]{path: path, noun: "keys", read: func() ([]byte, error) { return readSmallFile(path) }, parse: parseKeySet}
	return &KeySet{f}, f.open(opts)
}

// Check reports whether presented is a valid key, and returns its id. A key added to the file works immediately; a
// removed one stops working within a second.
func (s *KeySet) Check(presented string) (id string, ok bool) {
	digest := sha256.Sum256([]byte(presented))
	key, ok := s.findValid(func(k hashedKey) bool { return k.is(digest) })
	return key.ID, ok
}

// Digest returns what digest computes from the SHA-256 of the valid key with an id, and false if there is none. Like Check, it knows
// a key that was added to the file immediately.
func (s *KeySet) Digest(id string, digest func(hash [sha256.Size]byte) string) (string, bool) {
	key, ok := s.findValid(func(k hashedKey) bool { return k.ID == id })
	if !ok {
		return "", false
	}
	return digest(key.digest), true
}

// findValid returns a valid key that satisfies a condition.
func (s *KeySet) findValid(condition func(hashedKey) bool) (hashedKey, bool) {
	return s.find(func(k hashedKey) bool { return k.ValidAt(s.options.now()) && condition(k) })
}

// is reports whether the key has a digest. The comparison takes constant time.
func (k hashedKey) is(digest [sha256.Size]byte) bool {
	return subtle.ConstantTimeCompare(k.digest[:], digest[:]) == 1
}

func parseKeySet(content []byte) ([]hashedKey, error) { return parseKeys(content, keySetEntry.hash) }

func (e keySetEntry) hash() (hashedKey, error) {
	info, err := keyInfo(e.ID, e.NotAfter)
	if err != nil {
		return hashedKey{}, err
	}
	if len(e.Key) < minKeyLength || len(e.Key) > 1024 || !visibleASCII(e.Key) {
		return hashedKey{}, errKeyShape
	}
	return hashedKey{KeyInfo: info, digest: sha256.Sum256([]byte(e.Key))}, nil
}

// GenerateKeySet creates path (mode 0600) with one new key called id and returns the key. If the file exists it is left
// unchanged and the error is fs.ErrExist.
func GenerateKeySet(path, id string) (key string, err error) {
	if _, err := keyInfo(id, ""); err != nil {
		return "", err
	}
	key = hex.EncodeToString(randomBytes(32))
	if err := writeKeyDoc(path, keyDoc[keySetEntry]{Keys: []keySetEntry{{ID: id, Key: key}}}); err != nil {
		return "", err
	}
	return key, nil
}

// EnsureKeySet returns the key called id in path and generates the file if it does not exist. Development networks use
// it to keep their keys across restarts.
func EnsureKeySet(path, id string) (key string, err error) {
	content, err := readSmallFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return GenerateKeySet(path, id)
	}
	if err != nil {
		return "", err
	}
	var doc keyDoc[keySetEntry]
	if err := decodeKeyDoc(content, &doc); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	for _, entry := range doc.Keys {
		if entry.ID == id {
			return entry.Key, nil
		}
	}
	return "", fmt.Errorf("%s: no key has the id %q", path, id)
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand.Read never fails: it crashes the program instead
	return b
}
