package room

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
)

// Register registers the outbox handler that ends the rooms and streams of users in a community that banned them.
func Register(d *service.Deps) {
	service.HandleOutbox(d, communities.TopicCommunityBan, func(ctx context.Context, ban communities.CommunityBan) error {
		for home, ids := range d.Store.ByHome(ban.UserIDs) { // users may have moved since
			part := ban
			part.UserIDs = ids
			if err := endBroadcasts(ctx, d, home, part); err != nil {
				return err
			}
		}
		return nil
	})
}

// endBroadcasts ends those of users of one home.
func endBroadcasts(ctx context.Context, d *service.Deps, home region.Code, ban communities.CommunityBan) error {
	var open []communities.OpenBroadcast
	r := d.Store.NewReadBatch()
	r.OpenBroadcasts(home, ban.UserIDs, &open)
	if err := r.Run(ctx); err != nil {
		return err
	}
	open = slices.DeleteFunc(open, func(b communities.OpenBroadcast) bool { return b.PostID == "" })
	if len(open) == 0 {
		return nil
	}
	posts, err := service.Read(ctx, d, (*store.ReadBatch).PostHeads, service.Map(open,
		func(b communities.OpenBroadcast) string { return b.PostID }))
	if err != nil {
		return err
	}
	postIDs := postsBefore(ban, posts)
	if len(postIDs) == 0 {
		return nil
	}
	tx := d.Store.NewTx(home)
	for _, id := range ban.UserIDs {
		tx.EndBroadcastsIn(id, postIDs, d.Now())
	}
	open = slices.DeleteFunc(open, func(b communities.OpenBroadcast) bool { return !slices.Contains(postIDs, b.PostID) })
	return d.CommitSoon(ctx, tx, live.EmitEnds(ctx, d, tx, open)...)
}

// postsBefore returns the ids of the posts in the community that were created before its ban, or at the same time: a user
// can be admitted again before the ban is handled.
func postsBefore(ban communities.CommunityBan, posts []content.Post) []string {
	var ids []string
	for _, p := range posts {
		if p.TargetType == "community" && p.TargetID == ban.CommunityID && !p.CreatedAt.After(ban.At) {
			ids = append(ids, p.ID)
		}
	}
	return ids
}
