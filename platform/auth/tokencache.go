package auth

import (
	"crypto/sha256"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// tokenCacheSize is the maximum number of cached tokens, of about 500 bytes each.
const tokenCacheSize = 8192

// tokenCache caches the claims of verified tokens by digest. A client sends the same token with every request for 30
// days, and verifying its signature is the most expensive step before the database is read.
//
// Only valid tokens are cached, so invalid ones cannot evict them. What can invalidate a token is checked on every
// lookup: its expiry, and whether its signing key is still in the file and valid. Revoked sessions are not cached;
// Confirm checks them.
type tokenCache = lru.Cache[[sha256.Size]byte, verifiedToken]

// verifiedToken is a token whose signature was verified with key.
type verifiedToken struct {
	claims Claims
	key    *signingKey
}

func newTokenCache() *tokenCache {
	tokens, err := lru.New[[sha256.Size]byte, verifiedToken](tokenCacheSize)
	if err != nil {
		panic(err) // the size is a positive constant
	}
	return tokens
}

// valid reports whether verifying the token again would succeed, with the same limits as the parser's. A changed key
// file is parsed into new keys, so tokens verified with the old ones are verified again.
func (t verifiedToken) valid(ring *Keyring, now time.Time) bool {
	return now.Before(t.claims.ExpiresAt.Add(clockLeeway)) &&
		!now.Before(t.claims.IssuedAt.Truncate(time.Second).Add(-clockLeeway)) &&
		t.key.ValidAt(now) && slices.Contains(*ring.get(), t.key)
}
