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
	// clockLeeway is how far the clocks of two servers may be apart.
	clockLeeway = 10 * time.Second
	// maxTokenLength is several times the longest token we mint; longer text is not worth decoding.
	maxTokenLength = 4096
	maxNameLength  = 100
)

// Why a token was refused. These are causes for the log; the client sees 400100 for each.
var (
	ErrTokenMalformed  = errors.New("token is malformed")
	ErrTokenUnsigned   = errors.New("token is not signed by a valid key of this network")
	ErrTokenExpired    = errors.New("token has expired")
	ErrTokenFromFuture = errors.New("token was issued in the future")
	ErrTokenForeign    = errors.New("token is of another network")
	ErrTokenClaims     = errors.New("token lacks claims or contradicts itself")
)

// AccessSubject is whom an access token is for.
type AccessSubject struct {
	UserID    string // internal id, 24 hexadecimal characters
	PublicID  string // the client's own id
	SessionID string
}

// Claims is what a verified token says.
type Claims struct {
	Admin     bool   // true for an admin token
	Name      string // the administrator's name; empty for users
	UserID    string // internal id; empty for administrators, as are PublicID and SessionID
	PublicID  string
	SessionID string
	IssuedAt  time.Time // to the millisecond
	ExpiresAt time.Time // to the second
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
	known          remembered
}

// IssuerOption changes an Issuer.
type IssuerOption func(*Issuer)

// WithIssuerClock replaces time.Now.
func WithIssuerClock(now func() time.Time) IssuerOption { return func(i *Issuer) { i.now = now } }

// WithAccessLifetime replaces DefaultAccessLifetime, how long an access token is valid.
func WithAccessLifetime(d time.Duration) IssuerOption {
	return func(i *Issuer) { i.accessLifetime = d }
}

// WithAuthLifetime replaces DefaultAuthLifetime, how long an authToken can open a session.
func WithAuthLifetime(d time.Duration) IssuerOption { return func(i *Issuer) { i.authLifetime = d } }

// NewIssuer makes the issuer of the network with the 24-hex networkID.
func NewIssuer(networkID string, ring *Keyring, opts ...IssuerOption) *Issuer {
	i := &Issuer{
		networkID:      networkID,
		ring:           ring,
		now:            time.Now,
		accessLifetime: DefaultAccessLifetime,
		authLifetime:   DefaultAuthLifetime,
		known:          newRemembered(),
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

// Format prints the network and no more, whatever the verb.
func (i *Issuer) Format(state fmt.State, _ rune) { _, _ = fmt.Fprint(state, i.name()) }

// LogValue is what a log shows.
func (i *Issuer) LogValue() slog.Value { return slog.StringValue(i.name()) }

func (i *Issuer) name() string { return "plaza/" + i.networkID }

// wireClaims is the body of our JWTs. Clients read user, iat and exp.
type wireClaims struct {
	jwt.RegisteredClaims
	SessionID string    `json:"sid,omitempty"`
	IssuedMS  int64     `json:"ims"` // iat in milliseconds: "revoke everything issued before" needs finer than a second
	Admin     bool      `json:"adm,omitempty"`
	User      *wireUser `json:"user,omitempty"`
}

type wireUser struct {
	UserID       string `json:"userId"`
	PublicUserID string `json:"publicUserId"`
}

// MintAccess makes the access token of a session. issuedAt has milliseconds and expiresAt whole seconds, as the token.
// The token ends no later than the key that signs it.
func (i *Issuer) MintAccess(subject AccessSubject) (token string, issuedAt, expiresAt time.Time, err error) {
	if !region.ValidID(subject.UserID) || subject.PublicID == "" || subject.SessionID == "" {
		return "", time.Time{}, time.Time{}, fmt.Errorf("mint access token: %w", ErrTokenClaims)
	}
	return i.mint(i.accessLifetime, wireClaims{
		RegisteredClaims: jwt.RegisteredClaims{Subject: subject.UserID},
		SessionID:        subject.SessionID,
		User:             &wireUser{UserID: subject.UserID, PublicUserID: subject.PublicID},
	})
}

// MintAdmin makes an admin token that is valid for ttl. It may do everything, it has no session and cannot be revoked
// by itself, only with the key that signed it: keep ttl short. name (1 to 100 characters) is what logs show.
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

// Verify reads an access token or an admin token. Every failure is fail.Unauthorized with one of the errors above as
// its cause; no part of the token is in it.
func (i *Issuer) Verify(token string) (Claims, error) {
	if len(token) > maxTokenLength {
		return Claims{}, fail.Unauthorized().Because(ErrTokenMalformed)
	}
	digest := sha256.Sum256([]byte(token))
	if claims, ok := i.known.find(digest, i.ring, i.now()); ok {
		return claims, nil
	}
	verified, err := i.verify(token)
	if err != nil {
		return Claims{}, fail.Unauthorized().Because(err)
	}
	if verified.key != nil {
		i.known.keep(digest, verified)
	}
	return verified.claims, nil
}

// verify checks a token from the beginning. The key of the result is nil for a token that must not be remembered.
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
		return verifiedToken{}, refusal(err)
	}
	claims, ok := wire.claims()
	if !ok {
		return verifiedToken{}, ErrTokenClaims
	}
	claims.KeyID = key.ID
	if wire.NotBefore != nil { // a limit that we never set, and that is not looked at again
		key = nil
	}
	return verifiedToken{claims: claims, key: key}, nil
}

// keyOf returns the valid key that a token names, nil where there is none.
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

// refusal replaces the library's error, which may quote the token, by one of ours.
func refusal(err error) error {
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

// claims reports false where the token is neither wholly a user's nor wholly an administrator's.
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
		return claims, w.SessionID == "" && w.User == nil
	}
	if w.User == nil || w.User.UserID != w.Subject || w.User.PublicUserID == "" || w.SessionID == "" {
		return Claims{}, false
	}
	claims.UserID, claims.PublicID, claims.SessionID = w.Subject, w.User.PublicUserID, w.SessionID
	return claims, region.ValidID(w.Subject)
}

// AccessLifetime is how long an access token is valid, unless its signing key ends before.
func (i *Issuer) AccessLifetime() time.Duration { return i.accessLifetime }
