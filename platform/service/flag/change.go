package flag

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/flags"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// claimLease is how long only the moderator who claimed an item, and superiors, can change it. An item that is claimed
// for longer remains claimed, so that the counts by state do not change with time, and can be claimed by others.
const claimLease = time.Hour

// flagsOfItem is the maximum number of flags in a response about one item.
const flagsOfItem = 100

var (
	errResolved = fail.New(fail.CodeBadRequest, "The item is resolved")
	errGone     = fail.NotFound()
	errFull     = fail.New(fail.CodeBadRequest, fmt.Sprintf("An item can have at most %d notes", content.MaxFlagNotes))
)

// GetFlagItem returns an item with everything that belongs to it.
func (s *Service) GetFlagItem(ctx context.Context, req *plazav1.GetFlagItemRequest) (*plazav1.FlagItemResponse, error) {
	r := s.newItemRequest(ctx, req.GetTargetId())
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	return s.respond(ctx, *r.item)
}

// ClaimFlagItem claims an item for the caller.
func (s *Service) ClaimFlagItem(ctx context.Context, req *plazav1.ClaimFlagItemRequest) (*plazav1.FlagItemResponse, error) {
	return s.update(ctx, req.GetTargetId(), func(r *itemRequest) {
		r.Check(r.RequireUser)
		r.checkOpen(s.Now())
	}, func(i *content.FlagItem, r *itemRequest) {
		until := s.Now().Add(claimLease)
		i.State, i.ClaimedBy, i.ClaimedUntil = content.FlagsClaimed, r.Caller.UserID, &until
	})
}

// ReleaseFlagItem ends the claim of an item. An open item does not change.
func (s *Service) ReleaseFlagItem(ctx context.Context, req *plazav1.ReleaseFlagItemRequest) (*plazav1.FlagItemResponse, error) {
	return s.update(ctx, req.GetTargetId(), func(r *itemRequest) {
		r.checkOpen(s.Now())
	}, func(i *content.FlagItem, _ *itemRequest) {
		i.State, i.ClaimedBy, i.ClaimedUntil = content.FlagsOpen, "", nil
	})
}

// checkOpen adds the checks that the item is not resolved and that no other moderator's claim prevents a change.
func (r *itemRequest) checkOpen(now time.Time) {
	r.AfterRun(func(ctx context.Context) error {
		switch {
		case r.item.State == content.FlagsResolved:
			return errResolved
		case r.item.HasClaim(now):
			return r.requireOver(ctx, r.item.ClaimedBy)
		}
		return nil
	})
}

// update changes the state of an item as change does after the checks.
func (s *Service) update(ctx context.Context, id string, check func(*itemRequest),
	change func(*content.FlagItem, *itemRequest),
) (*plazav1.FlagItemResponse, error) {
	return service.RetryOnConflict(ctx, func() (*plazav1.FlagItemResponse, error) {
		r := s.newItemRequest(ctx, id)
		r.checkChange()
		check(r)
		if err := r.Run(ctx); err != nil {
			return nil, err
		}
		change(r.item, r)
		tx := s.Store.NewTx(s.HomeOf(id))
		tx.UpdateFlagItem(*r.item)
		tx.SelectFlagItem(id, &r.item)
		if err := tx.Commit(ctx); err != nil {
			return nil, err
		}
		return s.respond(ctx, *r.item)
	})
}

// AddFlagNote adds a note to an item.
func (s *Service) AddFlagNote(ctx context.Context, req *plazav1.AddFlagNoteRequest) (*plazav1.FlagItemResponse, error) {
	r := s.newItemRequest(ctx, req.GetTargetId())
	r.checkChange()
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	home := s.HomeOf(r.item.TargetID)
	note := content.FlagNote{
		ID: s.NewID(home), TargetID: r.item.TargetID, AuthorID: flags.ModeratorID(r.Caller), Text: req.GetText(), CreatedAt: s.Now(),
	}
	tx := s.Store.NewTx(home)
	tx.InsertFlagNote(note, errGone, errFull)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.respond(ctx, *r.item)
}

// respond returns an item with its flags and notes.
func (s *Service) respond(ctx context.Context, item content.FlagItem) (*plazav1.FlagItemResponse, error) {
	items := []content.FlagItem{item}
	current, err := s.flagsOf(ctx, items, flagsOfItem)
	if err != nil {
		return nil, err
	}
	var cleared []content.Flag
	var notes []content.FlagNote
	reads := s.Store.NewReadBatch()
	reads.ClearedFlags(item.TargetID, &cleared)
	reads.FlagNotes(item.TargetID, &notes)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	users, err := s.ReadUsers(ctx, usersOf(items, slices.Concat(current, cleared), notes))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(notes, func(a, b content.FlagNote) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return &plazav1.FlagItemResponse{
		Items:        s.items(items, current, users),
		ClearedFlags: service.Map(cleared, func(f content.Flag) *plazav1.Flag { return view.Flag(f, s.HomeOf(f.TargetID), users) }),
		Notes:        service.Map(notes, func(n content.FlagNote) *plazav1.FlagNote { return view.FlagNote(n, users) }),
		Users:        s.View.Users(ctx, users),
	}, nil
}
