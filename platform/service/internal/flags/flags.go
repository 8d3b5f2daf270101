// Package flags holds the rules of flags that posts, comments, stories, messages and users share.
package flags

import (
	"cmp"
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// defaultReason is the reason of a flag whose request names none.
const defaultReason = "Others"

// Change is a change of the flags of one target.
type Change struct {
	apply    func(tx *store.Tx, t Target)
	settings *network.Settings
	clears   bool
}

// Apply adds the change of the flags of a target, and of what depends on them, to a transaction.
func (c Change) Apply(tx *store.Tx, t Target, now time.Time) {
	c.apply(tx, t)
	switch {
	case !c.IsAddition():
		t.Recompute(tx, 0, now)
	case c.HideLimit() > 0:
		t.raise(tx)
		t.hide(tx, c.HideLimit(), now)
	default:
		t.raise(tx)
	}
}

// HideLimit returns the number of flags that hide content after the change; 0 if the change hides nothing.
func (c Change) HideLimit() int {
	if c.settings == nil {
		return 0
	}
	return c.settings.FlagHideLimit
}

// Event returns the name of the event about the change, for a kind of objects whose clients call the event of removed
// flags cleared.
func (c Change) Event(kind, cleared string) string {
	switch {
	case c.clears:
		return kind + "." + cleared
	case c.IsAddition():
		return kind + ".flagged"
	}
	return kind + ".unflagged"
}

// IsAddition reports whether the change adds a flag and removes none.
func (c Change) IsAddition() bool { return c.settings != nil }

// reasons are given by requests that flag something.
type reasons interface {
	GetReason() string
	GetDetail() string
}

// Add returns the change that adds the caller's flag; flagging twice changes nothing. It adds to the request the checks
// that the caller is a user and that the network allows reports. The transaction fails if the target already has as
// many flags as the network allows.
func Add(r *service.Request, target content.FlagTarget, why reasons) Change {
	var settings network.Settings
	r.Settings(r.Deps.Region, &settings)
	r.Check(r.RequireUser)
	r.Check(func() error {
		if !settings.IsReportEnabled {
			return fail.NotAllowed()
		}
		return nil
	})
	apply := func(tx *store.Tx, t Target) {
		flag := content.Flag{
			ID: r.Deps.NewID(tx.Home()), TargetType: target, TargetID: t.ID, UserID: r.Caller.UserID,
			Reason: cmp.Or(why.GetReason(), defaultReason), Detail: why.GetDetail(), CreatedAt: r.Deps.Now(),
		}
		tx.GuardFlagLimit(flag, settings.FlagLimit, fail.FlagLimit())
		tx.InsertFlag(flag, t.PlaceID)
	}
	return Change{apply: apply, settings: &settings}
}

// Remove returns the change that removes the caller's own flag; without one it changes nothing. It adds to the request
// the check that the caller is a user.
func Remove(r *service.Request) Change {
	r.Check(r.RequireUser)
	return Change{apply: func(tx *store.Tx, t Target) { tx.DeleteFlag(t.ID, r.Caller.UserID, r.Deps.Now()) }}
}

// RemoveExisting is Remove with a transaction that fails with refusal if the caller has not flagged the target.
func RemoveExisting(r *service.Request, refusal error) Change {
	remove := Remove(r)
	return Change{apply: func(tx *store.Tx, t Target) {
		tx.GuardFlag(t.ID, r.Caller.UserID, refusal)
		remove.apply(tx, t)
	}}
}

// Clear returns the change that removes every flag of a target, which dismisses them.
func Clear(r *service.Request) Change {
	return Change{clears: true, apply: func(tx *store.Tx, t Target) {
		tx.ClearFlags(t.ID, content.FlagResolution{Outcome: content.FlagsDismissed, By: ModeratorID(r.Caller), At: r.Deps.Now()})
	}}
}

// Review adds to the transaction that approves or declines a post or comment the resolution of its flags, if they hide
// it; item is nil if it never had any. The transaction fails with store.ErrConflict if the item has changed since it was
// read. A Recompute method must follow it.
func Review(tx *store.Tx, r *service.Request, item *content.FlagItem, approved bool) {
	if item == nil || !item.IsHidden {
		return
	}
	outcome := content.FlagsContentRemoved
	if approved {
		outcome = content.FlagsDismissed
	}
	tx.GuardFlagItem(*item)
	tx.ClearFlags(item.TargetID, content.FlagResolution{Outcome: outcome, By: ModeratorID(r.Caller), At: r.Deps.Now()})
	tx.ShowFlagItem(item.TargetID)
}

// ModeratorID returns the internal id by which the rows of the flag queue name a moderator. Administrators have none.
func ModeratorID(caller *auth.Caller) string {
	if caller.Kind == auth.Admin {
		return content.FlagAdministrator
	}
	return caller.UserID
}

// Mine runs a request and reports whether the caller flags a target; administrators never do.
func Mine(ctx context.Context, r *service.Request, id string) (*plazav1.FlaggedByMeResponse, error) {
	var flagged bool
	r.FlaggedBy(id, r.Caller.UserID, &flagged)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	flagged = flagged && r.Caller.Kind == auth.User
	return &plazav1.FlaggedByMeResponse{Result: flagged, IsFlagByMe: flagged}, nil
}
