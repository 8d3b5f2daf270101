package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/fairqueue"
	"github.com/plaza-social/plaza/platform/region"
)

// Kind is the kind of a caller.
type Kind int

// The kinds of callers. A caller with a server key or an API key is Anonymous with a KeyID: such a key authorizes
// particular operations and identifies no user.
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

// Causes of rejected credentials, for the log.
var (
	ErrNoCredentials  = errors.New("no credentials")
	ErrUnknownUser    = errors.New("the user of the token does not exist")
	ErrDeletedUser    = errors.New("the user of the token is deleted")
	ErrSessionRevoked = errors.New("the session of the token is revoked")
	// ErrUnauthenticatedSession means that a user with a network role signed in without an authToken, before the role was
	// assigned.
	ErrUnauthenticatedSession = errors.New("the user has a network role and the session was created without an authToken")
	ErrUnconfirmed            = errors.New("the caller was not confirmed against the database")
)

// Caller is the caller of an operation. The exported fields come from a verified token or key and do not change
// afterwards; Confirm adds the user's state in the database. Share a Caller by pointer; it is safe for concurrent use.
type Caller struct {
	Kind      Kind
	UserID    string      // internal id; Kind User only
	PublicID  string      // the application's id of the user; Kind User only
	SessionID string      // Kind User only
	Guest     Guest       // Kind User only
	Home      region.Code // contained in the id of the user, whose rows may have moved since; Kind User only
	Name      string      // Kind Admin only
	IssuedAt  time.Time   // when the token was issued
	ExpiresAt time.Time   // when the token expires
	KeyID     string      // which server key or API key was presented, if any

	// KeepsEditedAt reports whether an administrator asked to leave the editedAt of edited content unchanged.
	KeepsEditedAt bool

	// required is the network permission that the operation declares; Confirm checks it.
	required Permission
	// verdict is nil until Confirm was called, and zero if it rejected the user.
	verdict atomic.Pointer[verdict]
	// decided is set when the policy has been asked about this caller.
	decided atomic.Bool

	// What the audit records about the request.
	privilege atomic.Pointer[Privilege]
	signIn    atomic.Pointer[SignIn]
	createdMu sync.Mutex
	created   []Object
}

type verdict struct {
	accepted    bool
	roles       []string
	granted     []Permission
	displayName string
}

// Facts is the state of an access token's user in the database.
type Facts struct {
	Exists               bool
	Deleted              bool
	GlobalBan            bool
	SessionRevoked       bool         // also true if the session is unknown
	SessionAuthenticated bool         // whether it was created with an authToken
	TokensValidFrom      time.Time    // tokens issued earlier are revoked; zero if none are
	Roles                []string     // network roles
	Granted              []Permission // what custom roles among them grant: Catalog.Granted
	DisplayName          string
}

// CallerOf returns the caller that a verified token identifies. It is not yet confirmed.
func CallerOf(claims Claims) *Caller {
	if claims.Admin {
		return &Caller{Kind: Admin, Name: claims.Name, IssuedAt: claims.IssuedAt, ExpiresAt: claims.ExpiresAt}
	}
	home, _ := region.HomeOf(claims.UserID) // checked by Verify
	return &Caller{
		Kind:      User,
		UserID:    claims.UserID,
		PublicID:  claims.PublicID,
		SessionID: claims.SessionID,
		Guest:     claims.Guest,
		Home:      home,
		IssuedAt:  claims.IssuedAt,
		ExpiresAt: claims.ExpiresAt,
	}
}

type callerKey struct{}

// WithCaller returns ctx with the caller in it, who is also the user of ctx in fair queues.
func WithCaller(ctx context.Context, caller *Caller) context.Context {
	ctx = context.WithValue(ctx, callerKey{}, caller)
	if caller == nil {
		return ctx
	}
	return fairqueue.WithUser(ctx, cmp.Or(caller.UserID, caller.Name))
}

// CallerFrom returns the caller in ctx, or an anonymous one if there is none. It never returns nil.
func CallerFrom(ctx context.Context) *Caller {
	if caller, ok := ctx.Value(callerKey{}).(*Caller); ok && caller != nil {
		return caller
	}
	return &Caller{}
}

// Confirm checks the caller in ctx against the state of its user in the database. It rejects a user who
//
//	does not exist or is deleted                    400100
//	is banned from the network                      400312
//	has a revoked session or a revoked token        400100
//	has a network role, and a session that was
//	created without an authToken                    400100
//	lacks the network permission that the
//	operation requires                              400300
//
// The ban is checked before the session: a ban also revokes sessions, and the client should be told about the ban.
// Administrators are always confirmed; anonymous callers never are (400100).
func Confirm(ctx context.Context, facts Facts) error { return CallerFrom(ctx).confirm(facts) }

// Confirmed reports whether the caller in ctx is an administrator or a user accepted by Confirm.
func Confirmed(ctx context.Context) bool { return CallerFrom(ctx).Confirmed() }

// Confirmed reports whether c is an administrator or a user accepted by Confirm.
func (c *Caller) Confirmed() bool {
	return c.Kind == Admin || c.Kind == User && c.state().accepted
}

// Roles returns a copy of the network roles of a confirmed user; it is empty for other callers.
func (c *Caller) Roles() []string { return slices.Clone(c.state().roles) }

// DisplayName returns the display name of a confirmed user or the name of an administrator.
func (c *Caller) DisplayName() string { return cmp.Or(c.state().displayName, c.Name) }

// LogValue returns the attributes that identify the caller in logs. They contain no text chosen by the user.
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

// state returns what Confirm has found out; zero unless the user was accepted.
func (c *Caller) state() verdict {
	if v := c.verdict.Load(); v != nil {
		return *v
	}
	return verdict{}
}

// holds reports whether a network role of a confirmed user grants p.
func (c *Caller) holds(p Permission) bool {
	v := c.state()
	return granted(v.roles, inNetwork, p) || slices.Contains(v.granted, p)
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
	if c.required != "" {
		c.exercise(c.required, Scope{})
	}
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
	case len(facts.Roles) > 0 && !facts.SessionAuthenticated:
		return fail.Unauthorized().WithDetails("authToken: users with a network role must sign in with one").Because(ErrUnauthenticatedSession)
	case c.required != "" && !granted(facts.Roles, inNetwork, c.required) && !slices.Contains(facts.Granted, c.required):
		return fail.NotAllowed()
	}
	return nil
}
