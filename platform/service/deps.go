// Package service holds what every noun's service needs: its dependencies, the first round trip of a request, and
// helpers for lists, pages and responses.
package service

import (
	"context"
	"log/slog"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/push"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/textfilter"
	"github.com/plaza-social/plaza/platform/view"
)

// Deps are the dependencies of every service. All exported fields but Quotas and Push must be set.
type Deps struct {
	Store     *store.Store
	View      *view.Builder
	Directory *directory.Directory
	Outbox    *events.Outbox
	Region    region.Code // of this server
	NetworkID string
	Now       func() time.Time // UTC in milliseconds, the precision of the wire format
	NewID     func(home region.Code) string
	Log       *slog.Logger
	Quotas    Quotas
	// RankingAge is how old rankings that are the same for all callers may be.
	RankingAge time.Duration
	// Push are the senders of push notifications, by provider. Without any, nothing is pushed.
	Push map[string]push.Sender
	// RequireReadFile returns nil if a confirmed caller may read a restricted file.
	RequireReadFile func(ctx context.Context, caller *auth.Caller, f media.File) error

	TextRules textfilter.Cache // compiled moderation lists by home
}

// Millis returns the current time in UTC, truncated to milliseconds.
func Millis() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// HomeOf returns the home that stores the row with the id. The id must come from a row or from the directory; HomeOf
// returns an empty code for a malformed one.
func (d *Deps) HomeOf(id string) region.Code {
	home, _ := d.Store.HomeOf(id)
	return home
}

// ResolveUsers returns the internal ids of the users with the public ids, without repetitions, and whether all of
// them exist.
func (d *Deps) ResolveUsers(ctx context.Context, publicIDs []string) (ids []string, all bool, err error) {
	found, err := d.Directory.Resolve(ctx, publicIDs...)
	if err != nil {
		return nil, false, err
	}
	all = true
	for _, publicID := range publicIDs {
		if id := found[publicID]; id != "" {
			ids = append(ids, id)
		} else {
			all = false
		}
	}
	return Distinct(ids), all, nil
}

// ReadUsers reads users by internal id, in the order of the ids. Users whose home is unavailable are left out.
func (d *Deps) ReadUsers(ctx context.Context, ids []string) ([]people.User, error) {
	return ReadAvailable(ctx, d, (*store.ReadBatch).Users, ids)
}

// RequireOver returns an error unless the caller has authority over a user, see auth.Authority.
func (d *Deps) RequireOver(caller *auth.Caller, user people.User) error {
	return caller.Authority(auth.AuthorityNone).RequireOver(d.View.Catalog.AuthorityOf(user.Roles, auth.AuthorityNone))
}

// RequireOverOrSelf is RequireOver for a user by internal id, and also nil for the caller and unknown users. It takes a
// round trip unless the caller is that user or an administrator.
func (d *Deps) RequireOverOrSelf(ctx context.Context, caller *auth.Caller, userID string) error {
	if caller.Kind == auth.Admin || caller.UserID == userID {
		return nil
	}
	users, err := Read(ctx, d, (*store.ReadBatch).Users, []string{userID})
	if err != nil || len(users) == 0 {
		return err
	}
	return d.RequireOver(caller, users[0])
}

// RequireSelfOrOver returns an error unless the caller is the user with an internal id, or has a permission and authority
// over that user, who is among users if the user exists.
func (d *Deps) RequireSelfOrOver(caller *auth.Caller, userID string, permission auth.Permission, users []people.User) error {
	if auth.RequireSelf(caller, userID) == nil {
		return nil
	}
	if err := auth.Require(caller, permission, auth.Scope{}); err != nil || len(users) == 0 {
		return err
	}
	return d.RequireOver(caller, users[0])
}

// AuthorityOf reads the authority of a user in a place. inPlace queues the read of what decides about it there. A home that does
// not answer is left out, because moderation must work while the user's home does not.
func (d *Deps) AuthorityOf(
	ctx context.Context, userID string, inPlace func(*store.ReadBatch, string) func() auth.Authority,
) (auth.Authority, error) {
	var users []people.User
	reads := d.Store.NewBestEffortBatch()
	reads.Users([]string{userID}, &users)
	authority := inPlace(reads, userID)
	if err := reads.Run(ctx); err != nil {
		return 0, err
	}
	var roles []string
	if len(users) > 0 {
		roles = users[0].Roles
	}
	return d.View.Catalog.AuthorityOf(roles, authority()), nil
}

// UserByID returns the user with the internal id from rows, or nil.
func UserByID(rows []people.User, id string) *people.User {
	return Find(rows, func(u people.User) bool { return u.ID == id })
}
