package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

// Kind tells what sort of caller it is.
type Kind int

// The kinds of callers. Whoever presents a server key or an API key is Anonymous with a KeyID: such a key opens one
// operation and stands for nobody.
const (
	Anonymous Kind = iota
	User
	Admin
)

// String returns the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Anonymous:
		return "anonymous"
	case User:
		return "user"
	case Admin:
		return "admin"
	}
	return fmt.Sprintf("kind %d", int(k))
}

// Causes of a refusal, for the log.
var (
	ErrNoCredentials  = errors.New("no credentials")
	ErrUnknownUser    = errors.New("the user of the token does not exist")
	ErrDeletedUser    = errors.New("the user of the token is deleted")
	ErrSessionRevoked = errors.New("the session of the token is revoked")
	ErrUnconfirmed    = errors.New("the caller was not confirmed against the database")
)

// Caller is who calls. The exported fields come from a verified token or key and do not change afterwards; what the
// database says about the user arrives with Confirm. Share it by pointer; safe for use by several goroutines.
type Caller struct {
	Kind      Kind
	UserID    string      // internal id of a User
	PublicID  string      // the client's own id of a User
	SessionID string      // of a User
	Home      region.Code // where a User's row lives
	Name      string      // of an Admin
	IssuedAt  time.Time   // when the token was issued
	ExpiresAt time.Time   // when the token ends
	KeyID     string      // which server key or API key was presented, if any

	// KeepsEditedAt reports whether an administrator asked to leave the editedAt of what they edit unchanged.
	KeepsEditedAt bool

	// needs is the network permission that the operation asks of its callers; Confirm insists on it.
	needs Permission
	// verdict is nil until Confirm.
	verdict atomic.Pointer[verdict]
	// decided is set once the policy was asked about this caller.
	decided atomic.Bool
}

type verdict struct {
	accepted    bool
	roles       []string
	granted     []Permission
	displayName string
}

// Facts is what the database knows about the user of an access token.
type Facts struct {
	Exists          bool
	Deleted         bool
	GlobalBan       bool
	SessionRevoked  bool         // true also where the session is unknown
	TokensValidFrom time.Time    // tokens issued before it do not hold; zero means all do
	Roles           []string     // network roles
	Granted         []Permission // what those of them grant that administrators made: Catalog.Granted
	DisplayName     string
}

// CallerOf makes the caller that a verified token speaks for, not yet confirmed.
func CallerOf(claims Claims) *Caller {
	if claims.Admin {
		return &Caller{Kind: Admin, Name: claims.Name, IssuedAt: claims.IssuedAt, ExpiresAt: claims.ExpiresAt}
	}
	home, _ := region.HomeOf(claims.UserID) // Verify has checked it
	return &Caller{
		Kind:      User,
		UserID:    claims.UserID,
		PublicID:  claims.PublicID,
		SessionID: claims.SessionID,
		Home:      home,
		IssuedAt:  claims.IssuedAt,
		ExpiresAt: claims.ExpiresAt,
	}
}

type callerKey struct{}

// WithCaller returns ctx with the caller in it.
func WithCaller(ctx context.Context, caller *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// CallerFrom returns the caller of ctx, an anonymous one where there is none; never nil.
func CallerFrom(ctx context.Context) *Caller {
	if caller, ok := ctx.Value(callerKey{}).(*Caller); ok && caller != nil {
		return caller
	}
	return &Caller{}
}

// Confirm judges the caller of ctx by what the database says. A user passes with its network roles, or is refused:
//
//	unknown, deleted                              400100
//	banned from the network                       400312
//	session revoked, token issued too early       400100
//	operation asks for a network permission
//	that no role of the user grants               400300
//
// The ban comes before the session, because a ban ends the sessions too and the client should hear of the ban. An
// administrator passes whatever the facts; an anonymous caller never does (400100).
func Confirm(ctx context.Context, facts Facts) error { return CallerFrom(ctx).confirm(facts) }

// Confirmed reports whether the caller of ctx is an administrator, or a user that passed Confirm.
func Confirmed(ctx context.Context) bool { return CallerFrom(ctx).Confirmed() }

// Confirmed reports whether c is an administrator, or a user that passed Confirm.
func (c *Caller) Confirmed() bool {
	if c.Kind == Admin {
		return true
	}
	v := c.verdict.Load()
	return c.Kind == User && v != nil && v.accepted
}

// Roles returns the network roles of a confirmed user, and none before; the slice is the caller's to keep.
func (c *Caller) Roles() []string { return slices.Clone(c.roles()) }

// DisplayName returns the display name of a confirmed user and the name of an administrator.
func (c *Caller) DisplayName() string {
	if v := c.verdict.Load(); v != nil && v.accepted {
		return v.displayName
	}
	return c.Name
}

// LogValue is what a log shows: who, without the person's own words.
func (c *Caller) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("kind", c.Kind.String())}
	for _, field := range []struct{ name, value string }{
		{"userId", c.UserID}, {"sessionId", c.SessionID}, {"name", c.Name}, {"keyId", c.KeyID},
	} {
		if field.value != "" {
			attrs = append(attrs, slog.String(field.name, field.value))
		}
	}
	return slog.GroupValue(attrs...)
}

func (c *Caller) roles() []string {
	if v := c.verdict.Load(); v != nil && v.accepted {
		return v.roles
	}
	return nil
}

// holds reports whether a network role of a confirmed user grants p.
func (c *Caller) holds(p Permission) bool {
	v := c.verdict.Load()
	return v != nil && v.accepted && (granted(v.roles, inNetwork, p) || slices.Contains(v.granted, p))
}

func (c *Caller) confirm(facts Facts) error {
	if c.Kind == Admin {
		return nil
	}
	if err := c.judge(facts); err != nil {
		c.verdict.Store(&verdict{})
		return err
	}
	c.verdict.Store(&verdict{accepted: true, roles: slices.Clone(facts.Roles), granted: facts.Granted, displayName: facts.DisplayName})
	return nil
}

func (c *Caller) judge(facts Facts) error {
	switch {
	case c.Kind != User:
		return fail.Unauthorized().Because(ErrNoCredentials)
	case !facts.Exists:
		return fail.Unauthorized().Because(ErrUnknownUser)
	case facts.Deleted:
		return fail.Unauthorized().Because(ErrDeletedUser)
	case facts.GlobalBan:
		return fail.GlobalBan()
	case facts.SessionRevoked, c.IssuedAt.Before(facts.TokensValidFrom):
		return fail.Unauthorized().Because(ErrSessionRevoked)
	case c.needs != "" && !granted(facts.Roles, inNetwork, c.needs) && !slices.Contains(facts.Granted, c.needs):
		return fail.NotAllowed()
	}
	return nil
}
