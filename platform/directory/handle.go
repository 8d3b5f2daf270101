package directory

import (
	"context"
	"time"

	"go.mau.fi/util/confusable"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/people"
)

// A profile handle has one holder in the network. The authoritative row is at the home determined by the keyed hash of
// the handle, like that of a user id. A claim is stored before the user's row, at another home, contains the handle. If
// the server dies in between, or cannot release the claim of a former handle, the claim is stale: its user does not have
// the handle. The next user who claims the handle takes it over.

// claimGrace is the minimum age of a stale claim. Within it, a request may be about to store the handle in the row of
// the user. It is longer than any request.
const claimGrace = time.Minute

// handleKey returns the same text for handles that people cannot tell apart: it folds case, width and characters that
// look alike, such as those of different scripts. The table of look-alikes contains characters that must be folded again.
func handleKey(handle string) string {
	for range maxFolds {
		folded := foldHandle(handle)
		if folded == handle {
			break
		}
		handle = folded
	}
	return handle
}

// maxFolds is more than any text needs.
const maxFolds = 8

func foldHandle(handle string) string {
	fold := cases.Fold()
	skeleton := confusable.Skeleton(fold.String(norm.NFKC.String(handle)))
	return norm.NFC.String(fold.String(skeleton))
}

func (d *Directory) handleHash(handle string) []byte { return d.named("handle", handleKey(handle)) }

// ClaimHandle gives a handle to a user, and returns the id of the claim, which the user's row must store. It returns
// fail.HandleTaken if another user has the handle. Of several concurrent claims in any regions one succeeds.
func (d *Directory) ClaimHandle(ctx context.Context, handle, userID string) (string, error) {
	hash := d.handleHash(handle)
	claim := people.Handle{UserID: userID, ClaimID: region.NewID(deciding(hash)), ClaimedAt: d.now()}
	var stored people.Handle
	tx := d.newTx(deciding(hash))
	tx.ClaimHandle(hash, claim, &stored)
	if err := tx.Commit(ctx); err != nil {
		return "", err
	}
	if stored.UserID != userID {
		return claim.ClaimID, d.takeOver(ctx, handle, stored, claim)
	}
	return claim.ClaimID, nil
}

// takeOver replaces a stale claim.
func (d *Directory) takeOver(ctx context.Context, handle string, old, claim people.Handle) error {
	stale, err := d.isStale(ctx, handle, old)
	if err != nil {
		return err
	}
	if !stale {
		return fail.HandleTaken()
	}
	hash := d.handleHash(handle)
	var stored people.Handle
	tx := d.newTx(deciding(hash))
	tx.TakeOverHandle(hash, old.ClaimID, claim, &stored)
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	if stored.ClaimID != claim.ClaimID {
		return fail.HandleTaken()
	}
	return nil
}

// isStale reports whether the user of a claim does not have the handle, and will not have it as the result of a request
// in progress.
func (d *Directory) isStale(ctx context.Context, handle string, claim people.Handle) (bool, error) {
	if d.now().Sub(claim.ClaimedAt) < claimGrace {
		return false, nil
	}
	var users []people.User
	reads := d.store.NewReadBatch()
	reads.Users([]string{claim.UserID}, &users)
	if err := reads.Run(ctx); err != nil {
		return false, err
	}
	return len(users) == 0 || users[0].DeletedAt != nil || handleKey(users[0].ProfileHandle) != handleKey(handle), nil
}

// ReleaseHandle ends a claim of a handle. Another user can claim the handle at once.
func (d *Directory) ReleaseHandle(ctx context.Context, handle, claimID string) error {
	hash := d.handleHash(handle)
	tx := d.newTx(deciding(hash))
	tx.ReleaseHandle(hash, claimID)
	return tx.Commit(ctx)
}
