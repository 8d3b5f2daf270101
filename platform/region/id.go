package region

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
)

// IDLength is the length of every id: 24 lowercase hexadecimal characters, encoding one byte of region and eleven
// random bytes.
const IDLength = 24

// ErrBadID is returned for text that is not a valid id.
var ErrBadID = errors.New("not an id")

// The first byte of ids, and its hexadecimal form.
const (
	byteUS, prefixUS = 0x01, "01"
	byteEU, prefixEU = 0x02, "02"
	byteSG, prefixSG = 0x03, "03"
)

var codeBytes = map[Code]byte{US: byteUS, EU: byteEU, SG: byteSG}

// NewID returns a random id whose row is stored in home. It panics if home is not a region, which is a programming
// error.
//
// Ids are random because time-ordered keys would put all new rows of a region into one range.
func NewID(home Code) string {
	b, ok := codeBytes[home]
	if !ok {
		panic("region: no such home: " + string(home))
	}
	var raw [IDLength / 2]byte
	_, _ = rand.Read(raw[1:]) // crypto/rand.Read never fails: it crashes the program instead
	raw[0] = b
	return hex.EncodeToString(raw[:])
}

// DerivedID returns an id in home derived from a hash of at least eleven bytes, for rows that clients identify by other
// means and that are found without a lookup. The hash must be unpredictable, or the ids could be guessed.
func DerivedID(home Code, hash []byte) string {
	raw := [IDLength / 2]byte{codeBytes[home]}
	copy(raw[1:], hash)
	return hex.EncodeToString(raw[:])
}

// FixedID returns a fixed id of a home, for singletons without a row. All its bytes except the first are zero.
func FixedID(home Code) string {
	raw := [IDLength / 2]byte{codeBytes[home]}
	return hex.EncodeToString(raw[:])
}

// HomeOf returns the region in which the row with an id is stored.
func HomeOf(id string) (Code, error) {
	if !wellFormed(id) {
		return "", ErrBadID
	}
	switch id[:2] {
	case prefixUS:
		return US, nil
	case prefixEU:
		return EU, nil
	case prefixSG:
		return SG, nil
	}
	return "", ErrBadID
}

// IDRange returns bounds of the ids that contain home: the first is below all of them, and the second above.
func IDRange(home Code) (from, to string) {
	from = hex.EncodeToString([]byte{codeBytes[home]})
	return from, from + "g"
}

// ValidID reports whether id is well-formed and contains a known region.
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
