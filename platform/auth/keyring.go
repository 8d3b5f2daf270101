package auth

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strconv"
	"time"
)

// ErrNoSigningKey is returned when every signing key of the file has expired.
var ErrNoSigningKey = errors.New("all signing keys have expired")

var errSeed = errors.New("the seed is not the base64 of 32 bytes")

// Keyring is a file of Ed25519 keys that sign tokens. It is re-read when it changes:
//
//	{"keys": [{"kid": "s1", "seed": "<base64 of 32 bytes>", "notAfter": "2027-01-01T00:00:00Z"}]}
//
// notAfter is optional. The first valid key signs; every valid key verifies. To rotate, insert the new key first and
// remove the old one when its last token has expired. A Keyring is safe for concurrent use and prints no key.
type Keyring struct{ file *watchedFile[signingKeys] }

type signingKeys []*signingKey

type signingKey struct {
	KeyInfo
	private ed25519.PrivateKey
	public  ed25519.PublicKey
	mac     []byte            // for authTokens
	hint    [kidHintSize]byte // identifies the key in an authToken, which has no room for a kid
}

type keyringDoc struct {
	Keys []keyringEntry `json:"keys"`
}

type keyringEntry struct {
	Kid      string `json:"kid"`
	Seed     string `json:"seed"`
	NotAfter string `json:"notAfter,omitempty"`
}

// OpenKeyring reads the signing keys in path. An invalid file is an error now; one that becomes invalid later is
// logged, and the previous keys stay in use.
func OpenKeyring(path string, opts ...FileOption) (*Keyring, error) {
	file, err := openFile(path, parseKeyring, opts)
	if err != nil {
		return nil, err
	}
	return &Keyring{file: file}, nil
}

// IDs describes the keys in the order of the file.
func (r *Keyring) IDs() []KeyInfo {
	keys := *r.file.get()
	infos := make([]KeyInfo, len(keys))
	for i, key := range keys {
		infos[i] = key.KeyInfo
	}
	return infos
}

// Format prints the number of keys for every verb.
func (r *Keyring) Format(state fmt.State, _ rune) { _, _ = fmt.Fprint(state, r.LogValue().String()) }

// LogValue returns the number of keys.
func (r *Keyring) LogValue() slog.Value {
	if r == nil || r.file == nil {
		return slog.StringValue("no signing keys")
	}
	return slog.StringValue(fmt.Sprintf("%d signing keys", len(*r.file.current.Load())))
}

// MarshalJSON returns the text of LogValue.
func (r *Keyring) MarshalJSON() ([]byte, error) { return quoted(r.LogValue()), nil }

func quoted(v slog.Value) []byte { return strconv.AppendQuote(nil, v.String()) }

// signer returns the key that signs tokens at now.
func (r *Keyring) signer(now time.Time) (*signingKey, error) {
	for keys, more := r.file.get(), true; more; keys, more = r.file.getNewer(keys) {
		for _, key := range *keys {
			if key.ValidAt(now) {
				return key, nil
			}
		}
	}
	return nil, ErrNoSigningKey
}

// verifiers returns the keys that satisfy match and are valid at now. If there are none it re-reads the file: another
// server may have signed the token with a key that this one has not read yet.
func (r *Keyring) verifiers(now time.Time, match func(*signingKey) bool) []*signingKey {
	for keys, more := r.file.get(), true; more; keys, more = r.file.getNewer(keys) {
		var found []*signingKey
		for _, key := range *keys {
			if match(key) && key.ValidAt(now) {
				found = append(found, key)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// capped returns the earlier of expires and the key's own expiry, so that a token never outlives its key.
func (k *signingKey) capped(expires time.Time) time.Time {
	if !k.NotAfter.IsZero() && k.NotAfter.Before(expires) {
		return k.NotAfter
	}
	return expires
}

func parseKeyring(content []byte) (*signingKeys, error) {
	var doc keyringDoc
	if err := decodeKeyDoc(content, &doc); err != nil {
		return nil, err
	}
	if len(doc.Keys) == 0 {
		return nil, errNoKeys
	}
	keys := make(signingKeys, 0, len(doc.Keys))
	ids, publics := map[string]bool{}, map[string]bool{}
	for i, entry := range doc.Keys {
		key, err := deriveKey(entry, ids)
		if err == nil && publics[string(key.public)] {
			err = errDuplicateKey
		}
		if err != nil {
			return nil, atEntry(i, err)
		}
		publics[string(key.public)] = true
		keys = append(keys, key)
	}
	return &keys, nil
}

func deriveKey(entry keyringEntry, ids map[string]bool) (*signingKey, error) {
	info, err := keyInfo(entry.Kid, entry.NotAfter, ids)
	if err != nil {
		return nil, err
	}
	seed, err := base64.StdEncoding.DecodeString(entry.Seed)
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, errSeed
	}
	mac, err := hkdf.Key(sha256.New, seed, nil, "plaza authToken v1", sha256.Size)
	if err != nil {
		return nil, err
	}
	private := ed25519.NewKeyFromSeed(seed)
	public, _ := private.Public().(ed25519.PublicKey)
	return &signingKey{KeyInfo: info, private: private, public: public, mac: mac, hint: kidHint(entry.Kid)}, nil
}

// GenerateKeyring creates path (mode 0600) with one new signing key. If the file exists it is left unchanged and the
// error is fs.ErrExist.
func GenerateKeyring(path string) error {
	return writeKeyDoc(path, keyringDoc{Keys: []keyringEntry{{
		Kid:  "s-" + hex.EncodeToString(randomBytes(8)),
		Seed: base64.StdEncoding.EncodeToString(randomBytes(ed25519.SeedSize)),
	}}})
}

// EnsureKeyring generates path if it does not exist.
func EnsureKeyring(path string) error {
	if err := GenerateKeyring(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
