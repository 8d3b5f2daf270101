package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
)

// The queue of the big community has 8,000 items, most of them resolved.
var _ = planned((*collector).collectFlagItems,
	`INSERT INTO flag_items (home, target_id, target_type, place_id, state, reason, flag_count, opened_at, flagged_at, is_hidden, shard)
		SELECT 'us', ID(p, (4 * n), 3), CASE WHEN n % 5 = 0 THEN 'comment' ELSE 'post' END, ID(c, 3, 3),
			CASE WHEN n % 4 = 0 THEN 'open' WHEN n % 100 = 1 THEN 'claimed' ELSE 'resolved' END, 'Reason ' || (n % 9)::text, 1, AT(n, 28), AT(n,
			28), n % 10 = 0, n % 16
		FROM generate_series(1, 8000) AS n`,
	`INSERT INTO flag_items (home, target_id, target_type, place_id, state, reason, flag_count, opened_at, flagged_at, escalated_at, shard)
		SELECT HOME(n), ID(u, n, n), 'user', '', 'open', 'Others', 1, AT(n, 28), AT(n, 28), CASE WHEN n % 50 <> 0 THEN AT(n, 28) END, 0
		FROM generate_series(1, 4000) AS n`,
	`INSERT INTO cleared_flags (home, target_id, user_id, target_type, reason, detail, created_at, id)
		SELECT 'us', ID(p, (4 * n), 3), ID(u, 1, 1), 'post', 'Reason ' || (n % 9)::text, '', AT(n, 28), ID(f, n, 3) FROM generate_series(1,
		20000) AS n`,
	`INSERT INTO flag_notes (home, target_id, id, author_id, text, created_at)
		SELECT 'us', ID(p, (4 * (n / 20)), 3), ID(f, n, 3), ID(u, 1, 1), 'note', AT(n, 28) FROM generate_series(20, 20000) AS n`,
)

func (c *collector) collectFlagItems() {
	var item *content.FlagItem
	var items []content.FlagItem
	var flags []content.Flag
	var notes []content.FlagNote
	targets := []string{postID(40), postID(flaggedPost)}
	c.reads(func(r *store.ReadBatch) { r.FlagItem(postID(40), &item) })
	for _, n := range eachSizes {
		c.reads(func(r *store.ReadBatch) { r.FlagsOf(repeated(n, targets...), 10, &flags) })
	}
	c.reads(func(r *store.ReadBatch) { r.ClearedFlags(postID(40), &flags) })
	c.reads(func(r *store.ReadBatch) { r.FlagNotes(postID(40), &notes) })
	both(8000*28, func(desc bool, at time.Time, after string) {
		for _, state := range []content.FlagState{content.FlagsOpen, content.FlagsClaimed, content.FlagsResolved} {
			for _, l := range []content.FlagItemList{
				{},
				{TargetType: content.FlagComment},
				{Reason: "Reason 3"},
				{Reason: "Reason 3", TargetType: content.FlagComment},
				{PlaceID: communityID(bigCommunity)},
				{PlaceID: communityID(bigCommunity), TargetType: content.FlagPost},
				{Escalated: true},
			} {
				l.Homes, l.State, l.Desc, l.After, l.AfterID, l.Limit = []region.Code{region.US}, state, desc, at, after, pageRows
				c.reads(func(r *store.ReadBatch) { r.ListFlagItems(l, &items) })
			}
		}
	})
	c.collectFlagItemChanges()
}

func (c *collector) collectFlagItemChanges() {
	var item *content.FlagItem
	row := content.FlagItem{
		TargetID: postID(40), TargetType: content.FlagPost, PlaceID: communityID(bigCommunity), OpenedAt: worldStart,
		Version: 1,
	}
	post := content.Post{ID: postID(40), IsParent: true, TargetType: "community", TargetID: communityID(bigCommunity)}
	c.write(func(w *store.Tx) {
		w.GuardFlagItem(row)
		w.UpdateFlagItem(content.FlagItem{TargetID: row.TargetID, Version: 1, State: content.FlagsClaimed})
		w.SelectFlagItem(row.TargetID, &item)
		w.InsertFlagNote(content.FlagNote{ID: region.NewID(region.US), TargetID: row.TargetID, CreatedAt: worldStart}, core.ErrConflict,
			core.ErrConflict)
		w.ApplyFlagsToPost(post, 1, worldStart)
		w.ApplyFlagsToComment(content.Comment{ID: commentID(flaggedComment), ReferenceID: postID(bigPost)}, 1, worldStart)
		w.ApplyFlagsToStory(content.Story{ID: storyID(3), TargetType: "community", TargetID: communityID(bigCommunity)}, 1, worldStart)
		w.ApplyFlagsToMessage(messageID(3), 1, worldStart)
		w.EscalateUser(userID(3), 1)
	})
	c.write(func(w *store.Tx) { w.PurgeFlags([]string{postID(40), postID(80)}) })
	c.write(func(w *store.Tx) { w.DeletePost(post, worldStart) })
}
