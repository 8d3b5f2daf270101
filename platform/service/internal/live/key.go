package live

import (
	"crypto/rand"
	"crypto/subtle"
)

// NewKey returns a random key of 26 letters and digits (130 bits).
func NewKey() string { return rand.Text() }

// SameKey compares keys in constant time. No key equals an empty one.
func SameKey(want, got string) bool {
	return want != "" && subtle.ConstantTimeCompare([]byte(want), []byte(got)) == 1
}
