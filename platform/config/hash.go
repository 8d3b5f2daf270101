package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Hash returns the SHA-256, in lowercase hexadecimal, of every setting that is no secret, as lines "name=value" in the
// order of the struct. Two servers with the same hash run the same settings; a new password or address of the database
// does not change it, and nobody can guess one from it.
func (c Config) Hash() string {
	digest := sha256.New()
	for _, s := range settingsOf(&c) {
		if !s.secret {
			_, _ = fmt.Fprintf(digest, "%s=%s\n", s.name, s) // a hash takes everything
		}
	}
	return hex.EncodeToString(digest.Sum(nil))
}
