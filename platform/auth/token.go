package auth

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

// Default lifetimes of tokens.
const (
	DefaultAccessLifetime = 30 * 24 * time.Hour
	DefaultAuthLifetime   = time.Hour
)

const (
	// clockLeeway is the tolerated difference between the clocks of two servers.
	clockLeeway = 10 * time.Second
	// maxTokenLength is several times the length of the longest minted token; longer input is rejected without
	// decoding.
	maxTokenLength = 4096
	maxNameLength  = 100
)

// Causes of rejected tokens, for the log. The client receives 400100 for each.
var (
	ErrTokenMalformed  = errors.New("token is malformed")
	ErrTokenUnsigned   = errors.New("token is not signed by a valid key of this network")
	ErrTokenExpired    = errors.New("token has expired")
	ErrTokenFromFuture = errors.New("token was issued in the future")
	ErrTokenForeign    = errors.New("token belongs to another network")
	ErrTokenClaims     = errors.New("token claims are missing or inconsistent")
)

// AccessSubject identifies the user and session of an access token.
type AccessSubject struct {
	UserID    string // internal id, 24 hexadecimal characters
	PublicID  string // the application's id of the user
	SessionID string
	Guest     Guest
}

// Claims are the contents of a verified token.
type Claims struct {
	Admin     bool   // true for an admin token
	Name      string // the administrator's name; empty for users
	UserID    string // internal id; empty for administrators, like PublicID and SessionID
	PublicID  string
	SessionID string
	Guest     Guest     // NoGuest for users with an account and administrators
	IssuedAt  time.Time // with millisecond precision
	ExpiresAt time.Time // with second precision
	KeyID     string    // kid of the signing key
}

// Issuer mints and verifies the tokens of one network.
type Issuer struct {
	networkID      string
	ring           *Keyring
	now            func() time.Time
	accessLifetime time.Duration
	authLifetime   time.Duration
	parser         *jwt.Parser
	cache          *tokenCache
	uses           *cacheUses
}

// IssuerOption configures an Issuer.
type IssuerOption func(*Issuer)

// WithIssuerClock replaces time.Now.
func WithIssuerClock(now func() time.Time) IssuerOption { return func(i *Issuer) { i.now = now } }

// WithAccessLifetime replaces DefaultAccessLifetime as the validity of access tokens.
func WithAccessLifetime(d time.Duration) IssuerOption {
	return func(i *Issuer) { i.accessLifetime = d }
}

// WithAuthLifetime replaces DefaultAuthLifetime as the validity of authTokens.
func WithAuthLifetime(d time.Duration) IssuerOption { return func(i *Issuer) { i.authLifetime = d } }

// NewIssuer returns the issuer of the network whose id is networkID (24 hexadecimal digits).
func NewIssuer(networkID string, ring *Keyring, opts ...IssuerOption) *Issuer {
	i := &Issuer{
		networkID:      networkID,
		ring:           ring,
		now:            time.Now,
		accessLifetime: DefaultAccessLifetime,
		authLifetime:   DefaultAuthLifetime,
		cache:          newTokenCache(),
		uses:           new(cacheUses),
	}
	for _, opt := range opts {
		opt(i)
	}
	i.parser = jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}),
		jwt.WithIssuer(i.name()),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(clockLeeway),
		jwt.WithTimeFunc(i.now),
		jwt.WithStrictDecoding(),
	)
	return i
}

// Format prints the network's name for every verb, and no keys.
func (i *Issuer) Format(state fmt.State, _ rune) { _, _ = fmt.Fprint(state, i.name()) }

// LogValue returns the network's name.
func (i *Issuer) LogValue() slog.Value { return slog.StringValue(i.name()) }

func (i *Issuer) name() string { return "plaza/" + i.networkID }

// wireClaims is the payload of a JWT. Clients read user, iat and exp.
type wireClaims struct {
	jwt.RegisteredClaims
	SessionID string    `json:"sid,omitempty"`
	IssuedMS  int64     `json:"ims"` // iat in milliseconds, to compare with TokensValidFrom
	Admin     bool      `json:"adm,omitempty"`
	Guest     Guest     `json:"gst,omitempty"`
	User      *wireUser `json:"user,omitempty"`
}

type wireUser struct {
	UserID       string `json:"userId"`
	PublicUserID string `json:"publicUserId"`
}

// MintAccess returns the access token of a session. issuedAt has millisecond and expiresAt second precision, as in the
// token. The token expires no later than the key that signs it.
func (i *Issuer) MintAccess(subject AccessSubject) (token string, issuedAt, expiresAt time.Time, err error) {
	if !region.ValidID(subject.UserID) || subject.PublicID == "" || subject.SessionID == "" {
		return "", time.Time{}, time.Time{}, fmt.Errorf("mint access token: %w", ErrTokenClaims)
	}
	lifetime := i.accessLifetime
	if subject.Guest != NoGuest {
		lifetime = min(lifetime, GuestLifetime)
	}
	return i.mint(lifetime, wireClaims{
		RegisteredClaims: jwt.RegisteredClaims{Subject: subject.UserID},
		SessionID:        subject.SessionID,
		Guest:            subject.Guest,
		User:             &wireUser{UserID: subject.UserID, PublicUserID: subject.PublicID},
	})
}

// MintAdmin returns an admin token that is valid for ttl. It has all permissions and no session, and it cannot be
// revoked except by removing its signing key, so ttl should be short. name (1 to 100 bytes) identifies it in logs.
func (i *Issuer) MintAdmin(name string, ttl time.Duration) (token string, expiresAt time.Time, err error) {
	if name == "" || len(name) > maxNameLength || ttl <= 0 {
		return "", time.Time{}, fmt.Errorf("mint admin token: %w", ErrTokenClaims)
	}
	token, _, expiresAt, err = i.mint(ttl, wireClaims{
		RegisteredClaims: jwt.RegisteredClaims{Subject: name},
		Admin:            true,
	})
	return token, expiresAt, err
}

func (i *Issuer) mint(lifetime time.Duration, claims wireClaims) (string, time.Time, time.Time, error) {
	issued := i.now().UTC().Truncate(time.Millisecond)
	key, err := i.ring.signer(issued)
	if err != nil {
		return "", time.Time{}, time.Time{}, err
	}
	expires := key.capped(issued.Add(lifetime)).UTC().Truncate(time.Second)
	claims.Issuer = i.name()
	claims.IssuedAt = jwt.NewNumericDate(issued.Truncate(time.Second))
	claims.IssuedMS = issued.UnixMilli()
	claims.ExpiresAt = jwt.NewNumericDate(expires)
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims)
	token.Header["kid"] = key.ID
	signed, err := token.SignedString(key.private)
	if err != nil {
		return "", time.Time{}, time.Time{}, err
	}
	return signed, issued, expires, nil
}

// Verify returns the claims of an access token or admin token. Every error is fail.Unauthorized with one of the causes
// above and contains no part of the token.
func (i *Issuer) Verify(token string) (Claims, error) {
	if len(token) > maxTokenLength {
		return Claims{}, fail.Unauthorized().Because(ErrTokenMalformed)
	}
	digest := sha256.Sum256([]byte(token))
	if cached, ok := i.cache.Get(digest); ok && cached.valid(i.ring, i.now()) {
		i.uses.hits.Add(1)
		return cached.claims, nil
	}
	i.uses.misses.Add(1)
	verified, err := i.verify(token)
	if err != nil {
		return Claims{}, fail.Unauthorized().Because(err)
	}
	if verified.key != nil {
		i.cache.Add(digest, verified)
	}
	return verified.claims, nil
}

// verify fully verifies a token. The key of the result is nil if the token must not be cached.
func (i *Issuer) verify(token string) (verifiedToken, error) {
	var wire wireClaims
	var key *signingKey
	_, err := i.parser.ParseWithClaims(token, &wire, func(parsed *jwt.Token) (any, error) {
		if key = i.keyOf(parsed); key == nil {
			return nil, ErrTokenUnsigned
		}
		return key.public, nil
	})
	if err != nil {
		return verifiedToken{}, safeError(err)
	}
	claims, ok := wire.claims()
	if !ok {
		return verifiedToken{}, ErrTokenClaims
	}
	claims.KeyID = key.ID
	if wire.NotBefore != nil { // the cache does not check it; our tokens never have it
		key = nil
	}
	return verifiedToken{claims: claims, key: key}, nil
}

// keyOf returns the valid key that signed a token, or nil.
func (i *Issuer) keyOf(token *jwt.Token) *signingKey {
	kid, ok := token.Header["kid"].(string)
	if !ok {
		return nil
	}
	keys := i.ring.verifiers(i.now(), func(k *signingKey) bool { return k.ID == kid })
	if len(keys) == 0 {
		return nil
	}
	return keys[0] // kids are unique in a file
}

// safeError replaces the library's error, which may quote the token, with one of this package.
func safeError(err error) error {
	for _, known := range []struct{ theirs, ours error }{
		{jwt.ErrTokenMalformed, ErrTokenMalformed},
		{jwt.ErrTokenUnverifiable, ErrTokenUnsigned},
		{jwt.ErrTokenSignatureInvalid, ErrTokenUnsigned},
		{jwt.ErrTokenInvalidIssuer, ErrTokenForeign},
		{jwt.ErrTokenExpired, ErrTokenExpired},
		{jwt.ErrTokenUsedBeforeIssued, ErrTokenFromFuture},
		{jwt.ErrTokenNotValidYet, ErrTokenFromFuture},
	} {
		if errors.Is(err, known.theirs) {
			return known.ours
		}
	}
	return ErrTokenClaims
}

// claims returns false unless the token consistently describes either a user or an administrator.
func (w *wireClaims) claims() (Claims, bool) {
	if w.IssuedAt == nil || w.Subject == "" {
		return Claims{}, false
	}
	issued := time.UnixMilli(w.IssuedMS).UTC()
	claims := Claims{Admin: w.Admin, IssuedAt: issued, ExpiresAt: w.ExpiresAt.UTC()}
	if issued.Unix() != w.IssuedAt.Unix() {
		return Claims{}, false
	}
	if w.Admin {
		claims.Name = w.Subject
		return claims, w.SessionID == "" && w.User == nil && w.Guest == NoGuest
	}
	if w.User == nil || w.User.UserID != w.Subject || w.User.PublicUserID == "" || w.SessionID == "" {
		return Claims{}, false
	}
	claims.UserID, claims.PublicID, claims.SessionID, claims.Guest = w.Subject, w.User.PublicUserID, w.SessionID, w.Guest
	return claims, region.ValidID(w.Subject) && w.Guest.known()
}

// AccessLifetime returns how long access tokens are valid, unless their signing key expires earlier.
func (i *Issuer) AccessLifetime() time.Duration { return i.accessLifetime }
