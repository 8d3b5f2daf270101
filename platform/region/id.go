package region

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
)

// IDLength is the length of every id: 24 lowercase hexadecimal characters, one byte of region and eleven random bytes.
const IDLength = 24

// ErrBadID is returned for text that is not an id of any region.
var ErrBadID = errors.New("not an id")

var codeBytes = map[Code]byte{US: 0x01, EU: 0x02, SG: 0x03}

// NewID makes a random id whose row lives in home. It panics on a home that is not a region: that is a programming error.
//
// Random rather than time-ordered: a time-ordered key would put every new row of a region into one range.
func NewID(home Code) string {
	b, ok := codeBytes[home]
	if !ok {
		panic("region: no such home: " + string(home))
	}
	var raw [IDLength / 2]byte
	_, _ = rand.Read(raw[1:]) // crypto/rand.Read never fails: it ends the program instead
	raw[0] = b
	return hex.EncodeToString(raw[:])
}

// DerivedID is the id in home that a hash of at least eleven bytes gives, the same every time: for what is found by something that
// its clients know, without a look-up. The hash has to be as good as random, or ids of this kind could be guessed.
func DerivedID(home Code, hash []byte) string {
	raw := [IDLength / 2]byte{codeBytes[home]}
	copy(raw[1:], hash)
	return hex.EncodeToString(raw[:])
}

// FixedID is the same id of a home every time, for what each home has one of and no row: its bytes after the first are zero.
func FixedID(home Code) string {
	raw := [IDLength / 2]byte{codeBytes[home]}
	return hex.EncodeToString(raw[:])
}

// HomeOf tells from an id alone where its row lives.
func HomeOf(id string) (Code, error) {
	if !wellFormed(id) {
		return "", ErrBadID
	}
	for code, b := range codeBytes {
		if id[0] == hexDigit(b>>4) && id[1] == hexDigit(b&0xf) {
			return code, nil
		}
	}
	return "", ErrBadID
}

// ValidID reports whether id is well formed and names a region.
func ValidID(id string) bool {
	_, err := HomeOf(id)
	return err == nil
}

func wellFormed(id string) bool {
	if len(id) != IDLength {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func hexDigit(n byte) byte { return "0123456789abcdef"[n] }
