package follow

import (
	"context"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// Register makes the outbox deliver follows to the homes of those who are followed, and blocks to the homes of those who
// are blocked. Both may arrive twice and in any order: the newest version stands.
func Register(d *service.Deps) {
	d.Outbox.Handle(store.TopicFollow, func(ctx context.Context, row store.OutboxRow) error {
		f, err := store.ParseFollow(row.Payload)
		if err != nil {
			return err
		}
		home, err := region.HomeOf(f.FolloweeID)
		if err != nil {
			return err
		}
		tx := d.Store.NewTx(home)
		tx.MirrorFollow(f)
		return tx.Commit(ctx)
	})
	d.Outbox.Handle(store.TopicBlock, func(ctx context.Context, row store.OutboxRow) error {
		b, err := store.ParseBlock(row.Payload)
		if err != nil {
			return err
		}
		return store.UntilUnchanged(func() error { return applyBlock(ctx, d, b) })
	})
}

// applyBlock keeps a block at the blocked user's home, and ends the blocked user's follow, which lives there: the two in
// one transaction, so that no follow outlives a block that this home knows of.
func applyBlock(ctx context.Context, d *service.Deps, b store.MirroredBlock) error {
	home, err := region.HomeOf(b.BlockedID)
	if err != nil {
		return err
	}
	var known *store.MirroredBlock
	var follow *store.Follow
	reads := d.Store.NewReadBatch()
	reads.BlockedBy(b.BlockedID, b.BlockerID, &known)
	reads.Follow(b.BlockedID, b.BlockerID, &follow)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	if known == nil {
		known = &store.MirroredBlock{}
	}
	if known.Version > b.Version {
		return nil
	}
	// An end that overtook its block speaks for both: the block itself comes too late to end anything.
	ends := b.Status == store.BlockBlocked || b.Version > known.Version+1
	now := d.Now()
	tx := d.Store.NewTx(home)
	tx.MirrorBlock(b)
	var outboxRows []store.OutboxRow
	if ends && follow.Active() {
		ended := *follow
		ended.Status, ended.UpdatedAt = store.FollowNone, now
		outboxRows = tx.ChangeFollow(store.FollowChange{Old: follow, New: ended}, now, now.Add(events.Grace))
	}
	if ends {
		tx.GuardNoFollow(b.BlockedID, b.BlockerID)
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	d.Outbox.Deliver(ctx, home, outboxRows...)
	return nil
}
