package flag

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/flags"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var errNotRemoved = fail.New(fail.CodeBadRequest, "The object must be deleted, declined or hidden by its flags for this outcome")

// ResolveFlagItem resolves an item and clears the flags of its target.
func (s *Service) ResolveFlagItem(ctx context.Context, req *plazav1.ResolveFlagItemRequest) (*plazav1.FlagItemResponse, error) {
	return service.RetryOnConflict(ctx, func() (*plazav1.FlagItemResponse, error) { return s.tryResolve(ctx, req) })
}

// tryResolve is one attempt of ResolveFlagItem.
func (s *Service) tryResolve(ctx context.Context, req *plazav1.ResolveFlagItemRequest) (*plazav1.FlagItemResponse, error) {
	outcome := content.FlagOutcome(req.GetOutcome())
	var target flags.Target
	r := s.newItemRequest(ctx, req.GetTargetId())
	r.checkChange()
	r.AfterRun(r.requireResolve)
	r.AfterRun(func(ctx context.Context) (err error) {
		target, err = s.readFlagged(ctx, *r.item)
		return err
	})
	r.Check(func() error {
		if outcome == content.FlagsContentRemoved && !target.Removed && !r.item.IsHidden {
			return errNotRemoved
		}
		return nil
	})
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(s.HomeOf(r.item.TargetID))
	tx.GuardFlagItem(*r.item)
	tx.ClearFlags(r.item.TargetID, content.FlagResolution{Outcome: outcome, By: flags.ModeratorID(r.Caller), At: s.Now(), Again: true})
	target.Recompute(tx, 0, s.Now())
	tx.SelectFlagItem(r.item.TargetID, &r.item)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.respond(ctx, *r.item)
}

// requireResolve returns an error if another moderator has claimed or resolved the item, over whom the caller has no
// authority.
func (r *itemRequest) requireResolve(ctx context.Context) error {
	switch {
	case r.item.HasClaim(r.Deps.Now()):
		return r.requireOver(ctx, r.item.ClaimedBy)
	case r.item.ResolvedBy != "":
		return r.requireOver(ctx, r.item.ResolvedBy)
	}
	return nil
}
