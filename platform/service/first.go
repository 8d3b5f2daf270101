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
	f := &Request{ReadBatch: d.Store.NewReadBatch(), Caller: auth.CallerFrom(ctx), catalog: d.View.Catalog}
	if f.Caller.Kind == auth.User {
		f.ReadBatch.Caller(f.Caller.UserID, f.Caller.SessionID, &f.row)
	}
	return f
}

// Run sends the reads and confirms the caller by what the database says. Until it returns nil, nothing that was read
// may leave.
func (f *Request) Run(ctx context.Context) error {
	if err := f.ReadBatch.Run(ctx); err != nil {
		return err
	}
	return f.Confirm(ctx)
}

// Confirm confirms the caller by what the database says, once the reads have run. Run does both; an operation that is open
// to strangers under some condition asks by itself.
func (f *Request) Confirm(ctx context.Context) error { return auth.Confirm(ctx, f.facts()) }

func (f *Request) facts() auth.Facts {
	if f.row == nil {
		return auth.Facts{}
	}
	return auth.Facts{
		Exists:         true,
		Deleted:        f.row.DeletedAt != nil,
		GlobalBan:      f.row.IsGlobalBan,
		SessionRevoked: !f.row.SessionLive,
		Roles:          f.row.Roles,
		Granted:        f.catalog.Granted(f.row.Roles),
		DisplayName:    f.row.DisplayName,
	}
}

// User is the caller's own row; nil for an administrator.
func (f *Request) User() *store.User {
	if f.row == nil {
		return nil
	}
	return &f.row.User
}

// UserRows is the caller's own row as a slice, empty for an administrator: what an answer about the caller starts from.
func (f *Request) UserRows() []store.User {
	if f.row == nil {
		return nil
	}
	return []store.User{f.row.User}
}

// RequireUser refuses administrators where an operation needs a user to act as.
func (f *Request) RequireUser() error {
	if f.row == nil {
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
