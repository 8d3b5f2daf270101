package follow

import (
	"context"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
)

// Register registers the outbox handlers that copy follows to the homes of followed users, and blocks to the homes of
// blocked users. Events may arrive repeatedly and in any order: the newest version wins.
func Register(d *service.Deps) {
	service.HandleOutbox(d, people.TopicFollow, func(ctx context.Context, f people.Follow) error {
		home, err := d.Store.HomeOf(f.FolloweeID)
		if err != nil {
			return err
		}
		tx := d.Store.NewTx(home)
		tx.MirrorFollow(f)
		return tx.Commit(ctx)
	})
	service.HandleOutbox(d, people.TopicBlock, func(ctx context.Context, b people.MirroredBlock) error {
		_, err := service.RetryOnConflict(ctx, func() (struct{}, error) { return struct{}{}, applyBlock(ctx, d, b) })
		return err
	})
}

// applyBlock copies a block to the blocked user's home and ends the blocked user's follow, which is stored there. It
// does so in one transaction, so that no follow outlives a block that this home knows of.
func applyBlock(ctx context.Context, d *service.Deps, b people.MirroredBlock) error {
	home, err := d.Store.HomeOf(b.BlockedID)
	if err != nil {
		return err
	}
	var known *people.MirroredBlock
	var follow *people.Follow
	reads := d.Store.NewReadBatch()
	reads.BlockedBy(b.BlockedID, b.BlockerID, &known)
	reads.Follow(b.BlockedID, b.BlockerID, &follow)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	if known == nil {
		known = &people.MirroredBlock{}
	}
	if known.Version > b.Version {
		return nil
	}
	// If the end of a block arrives before the block itself, it also ends the follow: the block is then out of date.
	ends := b.Status == people.BlockBlocked || b.Version > known.Version+1
	now := d.Now()
	tx := d.Store.NewTx(home)
	tx.MirrorBlock(b)
	var outboxRows []core.OutboxRow
	if ends && follow.Active() {
		ended := *follow
		ended.Status, ended.UpdatedAt = people.FollowNone, now
		outboxRows = tx.ChangeFollow(people.FollowChange{Old: follow, New: ended}, now, now.Add(events.Grace))
	}
	if ends {
		tx.GuardNoFollow(b.BlockedID, b.BlockerID)
	}
	return d.Commit(ctx, tx, outboxRows...)
}
