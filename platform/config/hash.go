package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Hash returns the SHA-256, in lowercase hexadecimal, of the non-secret settings as lines "name=value" in the order of
// the struct. Servers with the same hash have the same settings. It covers neither secrets nor database URLs, so that
// it reveals nothing about passwords.
func (c Config) Hash() string {
	digest := sha256.New()
	for _, s := range settingsOf(&c) {
		if !s.secret {
			_, _ = fmt.Fprintf(digest, "%s=%s\n", s.name, s) // hash.Hash never returns an error
		}
	}
	return hex.EncodeToString(digest.Sum(nil))
}
