// Package service holds what the packages below it share: how a request begins.
package service

import (
	"context"
	"log/slog"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/moderation"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
)

// Deps is what every noun needs. All exported fields are set.
type Deps struct {
	Store     *store.Store
	View      *view.Builder
	Directory *directory.Directory
	Outbox    *events.Outbox
	Region    region.Code // the region this server stands in
	NetworkID string
	Now       func() time.Time // milliseconds, UTC: what the wire can carry
	NewID     func(home region.Code) string
	Log       *slog.Logger

	TextRules moderation.Cache // the compiled moderation lists of each home
}

// First is a request's first round trip: the row of its caller, and whatever the operation reads beside it.
type Request struct {
	*store.ReadBatch
	Caller  *auth.Caller
	row     *store.Caller
	catalog *auth.Catalog
}

// NewRequest starts the first round trip. The noun adds its reads, and Run confirms the caller.
func (d *Deps) NewRequest(ctx context.Context) *Request {
	r := &Request{ReadBatch: d.Store.NewReadBatch(), Caller: auth.CallerFrom(ctx), catalog: d.View.Catalog}
	if r.Caller.Kind == auth.User {
		r.ReadBatch.Caller(r.Caller.UserID, r.Caller.SessionID, &r.row)
	}
	return r
}

// Run sends the reads and confirms the caller by what the database says. Until it returns nil, nothing that was read
// may leave.
func (r *Request) Run(ctx context.Context) error {
	if err := r.ReadBatch.Run(ctx); err != nil {
		return err
	}
	return r.Confirm(ctx)
}

// Confirm confirms the caller by what the database says, once the reads have run. Run does both; an operation that is open
// to strangers under some condition asks by itself.
func (r *Request) Confirm(ctx context.Context) error { return auth.Confirm(ctx, r.facts()) }

func (r *Request) facts() auth.Facts {
	if r.row == nil {
		return auth.Facts{}
	}
	return auth.Facts{
		Exists:         true,
		Deleted:        r.row.DeletedAt != nil,
		GlobalBan:      r.row.IsGlobalBan,
		SessionRevoked: !r.row.SessionLive,
		Roles:          r.row.Roles,
		Granted:        r.catalog.Granted(r.row.Roles),
		DisplayName:    r.row.DisplayName,
	}
}

// User is the caller's own row; nil for an administrator.
func (r *Request) User() *store.User {
	if r.row == nil {
		return nil
	}
	return &r.row.User
}

// UserRows is the caller's own row as a slice, empty for an administrator: what an answer about the caller starts from.
func (r *Request) UserRows() []store.User {
	if r.row == nil {
		return nil
	}
	return []store.User{r.row.User}
}

// RequireUser refuses administrators where an operation needs a user to act as.
func (r *Request) RequireUser() error {
	if r.row == nil {
		return errNoAccount
	}
	return nil
}

var errNoAccount = fail.Forbidden("This operation needs a user: administrators have no account")

// RequireAccount is RequireUser before the first round trip, where that would need something which administrators lack.
func RequireAccount(caller *auth.Caller) error {
	if caller.Kind == auth.Admin {
		return errNoAccount
	}
	return nil
}

// Millis returns the current time as the wire can carry it.
func Millis() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
