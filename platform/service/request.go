package service

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Request is the first round trip of a request: it reads the caller's row together with whatever the operation needs.
type Request struct {
	*store.ReadBatch
	Deps   *Deps
	Caller *auth.Caller
	row    *people.Caller
	ended  bool // whether the session of a guest has been ended
	steps  []func(context.Context) error
	err    error // why it fails before it reads anything
}

// NewRequest starts the first round trip. Add reads to it, then call Run.
func (d *Deps) NewRequest(ctx context.Context) *Request {
	return d.NewRequestIn(ctx, d.Store.NewReadBatch())
}

// NewRequestIn is NewRequest for a request that shares its round trip with others. After reads has run, call Settle of
// each request instead of Run.
func (d *Deps) NewRequestIn(ctx context.Context, reads *store.ReadBatch) *Request {
	r := &Request{ReadBatch: reads, Deps: d, Caller: auth.CallerFrom(ctx)}
	switch {
	case r.Caller.Guest != auth.NoGuest:
		r.row = &people.Caller{User: GuestUser(r.Caller.UserID, r.Caller.PublicID, r.Caller.IssuedAt)}
		r.SessionRevoked(r.Caller.UserID, r.Caller.SessionID, &r.ended)
	case r.Caller.Kind == auth.User:
		r.ReadBatch.Caller(r.Caller.UserID, r.Caller.SessionID, &r.row)
	}
	return r
}

// NewUserRequest is NewRequest for operations that act as a user: Run refuses administrators.
func (d *Deps) NewUserRequest(ctx context.Context) *Request {
	r := d.NewRequest(ctx)
	r.Check(r.RequireUser)
	return r
}

// NewPrivilegedRequest is NewRequest for operations that require a network role with the permission p.
func (d *Deps) NewPrivilegedRequest(ctx context.Context, p auth.Permission) *Request {
	r := d.NewRequest(ctx)
	r.Check(func() error { return auth.Require(r.Caller, p, auth.Scope{}) })
	return r
}

// HomeOf is Deps.HomeOf.
func (r *Request) HomeOf(id string) region.Code { return r.Deps.HomeOf(id) }

// Check adds a check that Run makes once the caller is confirmed. Checks and steps run in the order in which they were
// added, and Run returns the first error.
func (r *Request) Check(check func() error) {
	r.AfterRun(func(context.Context) error { return check() })
}

// CheckThat is Check for a condition without which the result is a refusal.
func (r *Request) CheckThat(holds func() bool, refusal error) {
	r.Check(func() error {
		if !holds() {
			return refusal
		}
		return nil
	})
}

// CheckFound is CheckThat for a condition without which the result is 400400.
func (r *Request) CheckFound(found func() bool) { r.CheckThat(found, fail.NotFound()) }

// CheckID adds the check that an id has the form of an internal id, because no row has another one.
func (r *Request) CheckID(id string) {
	r.CheckFound(func() bool { return region.ValidID(id) })
}

// AfterRun adds a step that Run takes once the caller is confirmed, such as resolving access that depends on the rows
// read.
func (r *Request) AfterRun(step func(context.Context) error) { r.steps = append(r.steps, step) }

// Page returns the page that the caller asks for, of page.DefaultLimit rows by default. Run fails if its token is invalid.
func (r *Request) Page(o *plazav1.PageOptions) page.Cursor { return r.PageOf(o, page.DefaultLimit) }

// PageOf is Page with another default limit.
func (r *Request) PageOf(o *plazav1.PageOptions, defaultLimit int) page.Cursor {
	cursor, err := page.Parse(o, defaultLimit)
	r.Fail(err)
	return cursor
}

// Resolve returns the internal id of the user with a public id, "" if there is none. Run fails if the directory is unavailable.
func (r *Request) Resolve(ctx context.Context, publicID string) string {
	id, err := r.Deps.Directory.ResolveOne(ctx, publicID)
	r.Fail(err)
	return id
}

// Fail makes Run return an error before it reads anything, unless it returns an earlier one.
func (r *Request) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Run sends the reads, confirms the caller against the database and takes the steps added with AfterRun. Nothing that
// was read may leave the server before Run has returned nil.
func (r *Request) Run(ctx context.Context) error {
	if r.err != nil {
		return r.err
	}
	if err := r.ReadBatch.Run(ctx); err != nil {
		return err
	}
	return r.Settle(ctx)
}

// Write runs the request and then a transaction at the home of an id, to which change adds statements.
func (r *Request) Write(ctx context.Context, id string, change func(tx *store.Tx)) error {
	if err := r.Run(ctx); err != nil {
		return err
	}
	tx := r.Deps.Store.NewTx(r.HomeOf(id))
	change(tx)
	return tx.Commit(ctx)
}

// Settle is the part of Run after the reads: it confirms the caller and takes the steps.
func (r *Request) Settle(ctx context.Context) error {
	if err := r.Confirm(ctx); err != nil {
		return err
	}
	for _, step := range r.steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Confirm confirms the caller against the rows read. Run calls it; only an operation that some anonymous callers may
// use runs the reads and calls Confirm itself.
func (r *Request) Confirm(ctx context.Context) error { return auth.Confirm(ctx, r.facts()) }

func (r *Request) facts() auth.Facts {
	if r.row == nil {
		return auth.Facts{}
	}
	if r.Caller.Guest != auth.NoGuest {
		return auth.GuestFacts(r.ended)
	}
	facts := r.Deps.FactsOf(&r.row.User)
	facts.SessionRevoked, facts.SessionAuthenticated = !r.row.SessionLive, r.row.SessionAuthenticated
	return facts
}

// GuestUser returns a guest as a user without anything.
func GuestUser(userID, publicID string, now time.Time) people.User {
	return people.User{ID: userID, PublicID: publicID, DisplayName: publicID, Metadata: []byte("{}"), CreatedAt: now, UpdatedAt: now}
}

// FactsOf returns the state of a user on whose behalf the server acts, without a session; u is nil for an unknown one.
func (d *Deps) FactsOf(u *people.User) auth.Facts {
	if u == nil {
		return auth.Facts{}
	}
	return auth.Facts{
		Exists: true, Deleted: u.DeletedAt != nil, GlobalBan: u.IsGlobalBan, SessionAuthenticated: true, Roles: u.Roles,
		Granted: d.View.Catalog.Granted(u.Roles), DisplayName: u.DisplayName,
	}
}

// User returns the caller's row, or nil if the caller is an administrator.
func (r *Request) User() *people.User {
	if r.row == nil {
		return nil
	}
	return &r.row.User
}

// UserRows returns the caller's row as a slice, empty if the caller is an administrator.
func (r *Request) UserRows() []people.User {
	if r.row == nil {
		return nil
	}
	return []people.User{r.row.User}
}

// RequireUser returns an error if the caller is an administrator. Operations that act as a user call it.
func (r *Request) RequireUser() error {
	if r.row == nil {
		return errNoAccount
	}
	return nil
}

var errNoAccount = fail.Forbidden("This operation requires a user account, which administrators do not have")

// RequireAccount is RequireUser for use before the first round trip.
func RequireAccount(caller *auth.Caller) error {
	if caller.Kind == auth.Admin {
		return errNoAccount
	}
	return nil
}

// Success returns the response of an operation that returns nothing but its success.
func Success() *plazav1.SuccessResponse { return &plazav1.SuccessResponse{Success: true} }

// StatusSuccess is Success for the operations whose response also has a status and a data field.
func StatusSuccess() *plazav1.StatusSuccessResponse {
	return &plazav1.StatusSuccessResponse{Status: "success", Data: Success(), Success: true}
}
