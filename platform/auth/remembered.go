package auth

import (
	"crypto/sha256"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// rememberedTokens is how many verified tokens a server remembers, some 500 bytes each.
const rememberedTokens = 8192

// remembered keeps what verified tokens say, by their digests: a client sends the same token with every request for 30
// days, and checking its signature costs more than anything else that is done before the database is asked.
//
// Only good tokens get in, so nobody can crowd them out with bad ones. What can end a token is looked at each time: the
// clock, and whether the key that signed it is still in the file and valid. Whether its session still lives is never
// remembered; that is for Confirm.
type remembered struct {
	tokens *lru.Cache[[sha256.Size]byte, verifiedToken]
}

// verifiedToken is a token whose signature was checked with key.
type verifiedToken struct {
	claims Claims
	key    *signingKey
}

func newRemembered() remembered {
	tokens, err := lru.New[[sha256.Size]byte, verifiedToken](rememberedTokens)
	if err != nil {
		panic(err) // the size is a positive constant
	}
	return remembered{tokens}
}

// find returns what a token says that was remembered and still holds.
func (r remembered) find(digest [sha256.Size]byte, ring *Keyring, now time.Time) (Claims, bool) {
	token, ok := r.tokens.Get(digest)
	if !ok || !token.holds(ring, now) {
		return Claims{}, false
	}
	return token.claims, true
}

// holds reports whether the token would be verified again, by the same limits as the parser's. Keys that were read again
// from a file that changed are other keys, whatever they are called.
func (t verifiedToken) holds(ring *Keyring, now time.Time) bool {
	return now.Before(t.claims.ExpiresAt.Add(clockLeeway)) &&
		!now.Before(t.claims.IssuedAt.Truncate(time.Second).Add(-clockLeeway)) &&
		t.key.ValidAt(now) && slices.Contains(*ring.file.get(), t.key)
}

// keep remembers a token that was verified just now.
func (r remembered) keep(digest [sha256.Size]byte, token verifiedToken) { r.tokens.Add(digest, token) }
