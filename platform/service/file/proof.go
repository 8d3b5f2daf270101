package file

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/view"
)

// Signer signs what an address states. All servers of the network must accept each other's signatures.
type Signer interface {
	SignFileAddress(statement []byte, now time.Time) ([]byte, error)
	VerifyFileAddress(statement, mac []byte, now time.Time) bool
}

// proof is the last part of the path of a restricted file's address: it identifies a viewer, and the object in which
// the file was shown to that viewer.
//
// The proof does not grant access by itself. It replaces the viewer's access token, which clients cannot send when they
// load images, for one file: every download checks that the viewer may still read the object. An address therefore
// stops working when the viewer leaves, is removed or banned, or when the object is deleted. If the viewer passes the
// address on, other people can read this one file until then, and for at most an eighth more than file-url-ttl. Only
// the rounded expiry changes with time, so that an address stays the same long enough for the caches of clients.
//
// The signature is made with a key derived from the first signing key; addresses made with an older one remain valid
// until that key is removed.
type proof struct {
	expires time.Time
	object  view.FileObject
	viewer  string // internal id; empty for an administrator
	guest   bool   // whether the viewer has no account
}

const (
	proofVersion = 1 // of users with an account, and administrators
	guestVersion = 2
	idBytes      = region.IDLength / 2
	proofSize    = 1 + 4 + 1 + 2*idBytes // without the signature
)

// objectKinds are the kinds of objects. A proof contains the index: only add to the end.
var objectKinds = []string{
	"", core.UsePost, core.UseComment, core.UseStory, core.UseMessage, core.UsePoll, core.UseRoom, core.UseStream, view.FileAvatar,
	core.UseEvent,
}

// encode returns the proof for a file, and false if it cannot be signed.
func (l *Links) encode(p proof, fileID string) (string, bool) {
	kind := slices.Index(objectKinds, p.object.Kind)
	if kind < 0 {
		return "", false
	}
	raw := make([]byte, 0, proofSize)
	raw = append(raw, p.version())
	raw = binary.BigEndian.AppendUint32(raw, narrow.To[uint32](p.expires.Unix()))
	raw = append(raw, narrow.To[byte](kind))
	raw = append(append(raw, idOrZero(p.object.ID)...), idOrZero(p.viewer)...)
	mac, err := l.signer.SignFileAddress(l.statement(raw, fileID), l.now())
	return base64.RawURLEncoding.EncodeToString(append(raw, mac...)), err == nil
}

// decode returns a proof for a file, and false if it is not valid or has expired.
func (l *Links) decode(text, fileID string) (proof, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) <= proofSize || raw[0] < proofVersion || raw[0] > guestVersion || int(raw[5]) >= len(objectKinds) {
		return proof{}, false
	}
	now := l.now()
	if !l.signer.VerifyFileAddress(l.statement(raw[:proofSize], fileID), raw[proofSize:], now) {
		return proof{}, false
	}
	p := proof{
		expires: time.Unix(int64(binary.BigEndian.Uint32(raw[1:5])), 0),
		object:  view.FileObject{Kind: objectKinds[raw[5]], ID: idOrEmpty(raw[6 : 6+idBytes])},
		viewer:  idOrEmpty(raw[6+idBytes : proofSize]),
		guest:   raw[0] == guestVersion,
	}
	return p, now.Before(p.expires)
}

// version returns the first byte of a proof.
func (p proof) version() byte {
	if p.guest {
		return guestVersion
	}
	return proofVersion
}

// statement returns what the signature of a proof covers.
func (l *Links) statement(raw []byte, fileID string) []byte {
	return append([]byte(l.networkID+"\n"+fileID+"\n"), raw...)
}

var noID = strings.Repeat("0", region.IDLength)

func idOrZero(id string) []byte {
	if !region.ValidID(id) {
		id = noID
	}
	raw, _ := hex.DecodeString(id) // valid
	return raw
}

func idOrEmpty(raw []byte) string {
	id := hex.EncodeToString(raw)
	if id == noID {
		return ""
	}
	return id
}

// restrictedURL returns the address of a restricted file for a caller, and false if the caller is neither a user nor an
// administrator.
func (l *Links) restrictedURL(f media.File, object view.FileObject, caller *auth.Caller) (string, bool) {
	if caller.Kind == auth.Anonymous {
		return "", false
	}
	p := proof{expires: l.expiry(), object: object}
	if caller.Kind == auth.User {
		p.viewer, p.guest = caller.UserID, caller.Guest != auth.NoGuest
	}
	text, ok := l.encode(p, f.ID)
	return l.base + "/api/v3/files/" + f.ID + "/download/" + text, ok
}
