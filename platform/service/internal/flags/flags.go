// Package flags holds the rules of flags that posts, comments, stories, messages and users share.
package flags

import (
	"cmp"
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// defaultReason is the reason of a flag whose request names none.
const defaultReason = "Others"

// Change adds a change of the flags of one target to a transaction. What depends on the flags is recomputed after it.
type Change func(tx *store.Tx, id string)

// reasons are given by requests that flag something.
type reasons interface {
	GetReason() string
	GetDetail() string
}

// Add returns the change that adds the caller's flag; flagging twice changes nothing. It adds to the request the checks
// that the caller is a user and that the network allows reports. The transaction fails if the target already has as
// many flags as the network allows.
func Add(r *service.Request, target store.FlagTarget, why reasons) Change {
	var settings store.Settings
	r.Settings(r.Deps.Region, &settings)
	r.Check(r.RequireUser)
	r.Check(func() error {
		if !settings.IsReportEnabled {
			return fail.NotAllowed()
		}
		return nil
	})
	return func(tx *store.Tx, id string) {
		flag := store.Flag{
			ID: r.Deps.NewID(tx.Home()), TargetType: target, TargetID: id, UserID: r.Caller.UserID,
			Reason: cmp.Or(why.GetReason(), defaultReason), Detail: why.GetDetail(), CreatedAt: r.Deps.Now(),
		}
		tx.GuardFlagLimit(flag, settings.FlagLimit, fail.FlagLimit())
		tx.InsertFlag(flag)
	}
}

// Remove returns the change that removes the caller's own flag; without one it changes nothing. It adds to the request
// the check that the caller is a user.
func Remove(r *service.Request) Change {
	r.Check(r.RequireUser)
	return func(tx *store.Tx, id string) { tx.DeleteFlag(id, r.Caller.UserID) }
}

// Clear is the change that removes every flag of a target.
func Clear(tx *store.Tx, id string) { tx.DeleteFlags(id) }

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
