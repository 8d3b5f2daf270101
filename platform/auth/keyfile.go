package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
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
type KeySet struct{ file *watchedFile[hashedKeys] }

type hashedKeys []hashedKey

type hashedKey struct {
	KeyInfo
	digest [sha256.Size]byte
}

type keySetDoc struct {
	Keys []keySetEntry `json:"keys"`
}

type keySetEntry struct {
	ID       string `json:"id"`
	Key      string `json:"key"`
	NotAfter string `json:"notAfter,omitempty"`
}

// OpenKeySet reads the keys in path. An invalid file is an error now; one that becomes invalid later is logged, and the
// previous keys stay in use.
func OpenKeySet(path string, opts ...FileOption) (*KeySet, error) {
	file, err := openFile(path, parseKeySet, opts)
	if err != nil {
		return nil, err
	}
	return &KeySet{file: file}, nil
}

// Check reports whether presented is a valid key, and returns its id. A key added to the file works immediately; a
// removed one stops working within a second.
func (s *KeySet) Check(presented string) (id string, ok bool) {
	digest := sha256.Sum256([]byte(presented))
	keys := s.file.get()
	for {
		if key, found := keys.find(digest); found && key.ValidAt(s.file.options.now()) {
			return key.ID, true
		}
		newer, changed := s.file.getNewer(keys)
		if !changed {
			return "", false
		}
		keys = newer
	}
}

// IDs describes the keys in the order of the file.
func (s *KeySet) IDs() []KeyInfo {
	keys := *s.file.get()
	infos := make([]KeyInfo, len(keys))
	for i, key := range keys {
		infos[i] = key.KeyInfo
	}
	return infos
}

// Format prints the number of keys for every verb.
func (s *KeySet) Format(state fmt.State, _ rune) { _, _ = fmt.Fprint(state, s.LogValue().String()) }

// LogValue returns the number of keys.
func (s *KeySet) LogValue() slog.Value {
	if s == nil || s.file == nil {
		return slog.StringValue("no keys")
	}
	return slog.StringValue(fmt.Sprintf("%d keys", len(*s.file.current.Load())))
}

// MarshalJSON returns the text of LogValue.
func (s *KeySet) MarshalJSON() ([]byte, error) { return quoted(s.LogValue()), nil }

// find compares digest with every key, so that its duration does not depend on which one matches.
func (k *hashedKeys) find(digest [sha256.Size]byte) (hashedKey, bool) {
	found := -1
	for i, key := range *k {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(key.digest[:], digest[:]), i, found)
	}
	if found < 0 {
		return hashedKey{}, false
	}
	return (*k)[found], true
}

func parseKeySet(content []byte) (*hashedKeys, error) {
	var doc keySetDoc
	if err := decodeKeyDoc(content, &doc); err != nil {
		return nil, err
	}
	if len(doc.Keys) == 0 {
		return nil, errNoKeys
	}
	keys := make(hashedKeys, 0, len(doc.Keys))
	ids, digests := map[string]bool{}, map[[sha256.Size]byte]bool{}
	for i, entry := range doc.Keys {
		key, err := hashEntry(entry, ids, digests)
		if err != nil {
			return nil, atEntry(i, err)
		}
		keys = append(keys, key)
	}
	return &keys, nil
}

func hashEntry(entry keySetEntry, ids map[string]bool, digests map[[sha256.Size]byte]bool) (hashedKey, error) {
	info, err := keyInfo(entry.ID, entry.NotAfter, ids)
	if err != nil {
		return hashedKey{}, err
	}
	if len(entry.Key) < minKeyLength || len(entry.Key) > 1024 || !visibleASCII(entry.Key) {
		return hashedKey{}, errKeyShape
	}
	digest := sha256.Sum256([]byte(entry.Key))
	if digests[digest] {
		return hashedKey{}, errDuplicateKey
	}
	digests[digest] = true
	return hashedKey{KeyInfo: info, digest: digest}, nil
}

// GenerateKeySet creates path (mode 0600) with one new key called id and returns the key. If the file exists it is left
// unchanged and the error is fs.ErrExist.
func GenerateKeySet(path, id string) (key string, err error) {
	if _, err := keyInfo(id, "", map[string]bool{}); err != nil {
		return "", err
	}
	key = hex.EncodeToString(randomBytes(32))
	if err := writeKeyDoc(path, keySetDoc{Keys: []keySetEntry{{ID: id, Key: key}}}); err != nil {
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
	var doc keySetDoc
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
