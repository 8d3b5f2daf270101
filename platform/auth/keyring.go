package auth

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
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
type Keyring struct{ *watchedFile[*signingKey] }

type signingKey struct {
	KeyInfo
	private ed25519.PrivateKey
	public  ed25519.PublicKey
	mac     []byte            // for authTokens
	fileMAC []byte            // for addresses of files
	hint    [kidHintSize]byte // identifies the key in an authToken, which has no room for a kid
}

func (k *signingKey) material() string { return string(k.public) }

type keyringEntry struct {
	Kid      string `json:"kid"`
	Seed     string `json:"seed"`
	NotAfter string `json:"notAfter,omitempty"`
}

// OpenKeyring reads the signing keys in path. An invalid file is an error now; one that becomes invalid later is
// logged, and the previous keys stay in use.
func OpenKeyring(path string, opts ...FileOption) (*Keyring, error) {
	return openKeyring(path, func() ([]byte, error) { return readSmallFile(path) }, opts...)
}

// ParseKeyring returns the signing keys in content, such as those of a Secret. They are never re-read.
func ParseKeyring(content []byte) (*Keyring, error) {
	return openKeyring("(memory)", func() ([]byte, error) { return content, nil })
}

func openKeyring(path string, read func() ([]byte, error), opts ...FileOption) (*Keyring, error) {
	f := &watchedFile[*signingKey]{path: path, noun: "signing keys", read: read, parse: parseKeyring}
	return &Keyring{f}, f.open(opts)
}

// signer returns the key that signs tokens at now.
func (r *Keyring) signer(now time.Time) (*signingKey, error) {
	if key, ok := r.find(func(k *signingKey) bool { return k.ValidAt(now) }); ok {
		return key, nil
	}
	return nil, ErrNoSigningKey
}

// verifiers returns the keys that satisfy match and are valid at now. If there are none it re-reads the file: another
// server may have signed the token with a key that this one has not read yet.
func (r *Keyring) verifiers(now time.Time, match func(*signingKey) bool) []*signingKey {
	for keys, more := r.get(), true; more; keys, more = r.getNewer(keys) {
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

func parseKeyring(content []byte) ([]*signingKey, error) {
	return parseKeys(content, keyringEntry.derive)
}

func (e keyringEntry) derive() (*signingKey, error) {
	info, err := keyInfo(e.Kid, e.NotAfter)
	if err != nil {
		return nil, err
	}
	seed, err := base64.StdEncoding.DecodeString(e.Seed)
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, errSeed
	}
	mac, err := hkdf.Key(sha256.New, seed, nil, "plaza authToken v1", sha256.Size)
	if err != nil {
		return nil, err
	}
	fileMAC, err := hkdf.Key(sha256.New, seed, nil, "plaza file address v1", sha256.Size)
	if err != nil {
		return nil, err
	}
	private := ed25519.NewKeyFromSeed(seed)
	public, _ := private.Public().(ed25519.PublicKey)
	return &signingKey{KeyInfo: info, private: private, public: public, mac: mac, fileMAC: fileMAC, hint: kidHint(e.Kid)}, nil
}

// GenerateKeyring creates path (mode 0600) with one new signing key. If the file exists it is left unchanged and the
// error is fs.ErrExist.
func GenerateKeyring(path string) error {
	return writeKeyDoc(path, keyDoc[keyringEntry]{Keys: []keyringEntry{{
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
