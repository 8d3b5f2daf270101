// Package flags holds the rules of flags that posts, comments, stories, messages and users share.
package flags

import (
	"cmp"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// defaultReason is the reason of a flag whose request names none.
const defaultReason = "Others"

// Change is a change of the flags of one target. What depends on them is recomputed after it in the same transaction.
type Change func(*store.Tx)

// Policy is what the network's settings say about flags.
type Policy struct{ settings store.Settings }

// Read adds the read of the network's settings to a request.
func (p *Policy) Read(d *service.Deps) func(*service.Request) {
	return func(r *service.Request) { r.Settings(d.Region, &p.settings) }
}

// reasons are given by requests that flag something.
type reasons interface {
	GetReason() string
	GetDetail() string
}

// Flag returns the change that adds the caller's flag; flagging twice changes nothing. It is an error if the caller is no user or the
// network has turned reports off, and the change is refused if the target already has as many flags as the network allows.
func (p *Policy) Flag(r *service.Request, target store.FlagTarget, id string, why reasons, now time.Time) (Change, error) {
	if err := r.RequireUser(); err != nil {
		return nil, err
	}
	if !p.settings.IsReportEnabled {
		return nil, fail.NotAllowed()
	}
	flag := store.Flag{
		TargetType: target, TargetID: id, UserID: r.Caller.UserID,
		Reason: cmp.Or(why.GetReason(), defaultReason), Detail: why.GetDetail(), CreatedAt: now,
	}
	return func(tx *store.Tx) {
		tx.GuardFlagLimit(flag, p.settings.FlagLimit, fail.FlagLimit())
		tx.InsertFlag(flag)
	}, nil
}

// Unflag returns the change that removes the caller's own flag; without one it changes nothing. It is an error if the caller is no
// user.
func Unflag(r *service.Request, id string) (Change, error) {
	if err := r.RequireUser(); err != nil {
		return nil, err
	}
	return func(tx *store.Tx) { tx.DeleteFlag(id, r.Caller.UserID) }, nil
}

// Clear returns the change that removes every flag of a target.
func Clear(id string) Change { return func(tx *store.Tx) { tx.DeleteFlags(id) } }

// Mine tells, once its read has run, whether the caller flags a target.
type Mine struct{ flagged bool }

// Read adds the read of the caller's own flag to a request.
func (m *Mine) Read(id string) func(*service.Request) {
	return func(r *service.Request) { r.FlaggedBy(id, r.Caller.UserID, &m.flagged) }
}

// Response answers whether the caller flags the target; administrators never do.
func (m *Mine) Response(caller *auth.Caller) *plazav1.FlaggedByMeResponse {
	flagged := m.flagged && caller.Kind == auth.User
	return &plazav1.FlaggedByMeResponse{Result: flagged, IsFlagByMe: flagged}
}
