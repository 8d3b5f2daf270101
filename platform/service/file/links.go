package file

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/view"
)

// Links builds the addresses of files, and signs those of restricted files, see proof, and of access type network.
//
// A signature is an HMAC over the network, the file and the expiry time. All servers of a network have the same key,
// so an address that one region signed is valid in every region.
type Links struct {
	base      string
	networkID string
	key       []byte
	signer    Signer
	ttl       time.Duration
	now       func() time.Time
}

// NewLinks returns links that begin with base. All servers of the network must share secret, from which the key of
// signed addresses is derived, so that no other use of secret produces valid signatures. signer signs the addresses of
// restricted files.
func NewLinks(base, networkID string, secret []byte, signer Signer, ttl time.Duration, now func() time.Time) (*Links, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "plaza/file address/1", sha256.Size)
	if err != nil {
		return nil, err
	}
	return &Links{base: base, networkID: networkID, key: key, signer: signer, ttl: ttl, now: now}, nil
}

// URL returns the download address of a file that is shown to a caller as a part of an object. A signed address is
// valid for at least the configured lifetime and stays the same for an eighth of it, so that caches of browsers remain
// useful.
func (l *Links) URL(f media.File, object view.FileObject, caller *auth.Caller) string {
	if f.Restricted {
		if address, ok := l.restrictedURL(f, object, caller); ok {
			return address
		}
	}
	address := l.base + "/api/v3/files/" + f.ID + "/download"
	if f.Restricted || f.AccessType == media.AccessPublic {
		return address
	}
	expires := strconv.FormatInt(l.expiry().Unix(), 10)
	return address + "?t=" + expires + "." + base64.RawURLEncoding.EncodeToString(l.sign(f.ID, expires))
}

// expiry returns when an address that is made now expires.
func (l *Links) expiry() time.Time {
	step := max(l.ttl/8, time.Second)
	return l.now().Add(l.ttl + step).Truncate(step)
}

// Valid reports whether token is a signature of the file's address that has not expired.
func (l *Links) Valid(fileID, token string) bool {
	expires, signature, _ := strings.Cut(token, ".")
	given, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !hmac.Equal(given, l.sign(fileID, expires)) { // in constant time
		return false
	}
	at, err := strconv.ParseInt(expires, 10, 64)
	return err == nil && l.now().Before(time.Unix(at, 0))
}

func (l *Links) sign(fileID, expires string) []byte {
	mac := hmac.New(sha256.New, l.key)
	_, _ = mac.Write([]byte(l.networkID + "\n" + fileID + "\n" + expires)) // a hash never fails
	return mac.Sum(nil)
}
