package store_test

import (
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
)

var _ = planned((*collector).collectPins,
	`INSERT INTO pins (home, target_id, placement, post_id, community_id, pinned_by, pinned_by_id, pinned_at, post_created_at)
		SELECT HOME(c), ID(c, c, c), 'default', ID(p, n, c), ID(c, c, c), 'user-1', ID(u, 1, 1), AT(n, 7), AT(n, 7)
		FROM (SELECT n, CASE WHEN n = 4 THEN 3 ELSE 1 + n % 2999 END AS c FROM generate_series(1, 2999) AS n WHERE n % 4 > 0 OR n = 4) AS p`,
	`INSERT INTO pin_targets (home, target_id, changed_at)
		SELECT HOME(n), ID(c, n, n), AT(n, 7) FROM generate_series(1, 3000) AS n`,
)

func (c *collector) collectPins() {
	var pins content.Pins
	var rows []content.Pin
	for _, placement := range []string{"", content.PinDefault} {
		c.reads(func(r *store.ReadBatch) { r.Pins(region.US, communityID(3), placement, &pins) })
		c.reads(func(r *store.ReadBatch) { r.PinsAt(region.US, communityID(3), placement, &rows) })
	}
	pin := content.Pin{
		TargetID: communityID(3), Placement: content.PinDefault, PostID: postID(8), CommunityID: communityID(3),
		PinnedAt: worldStart, PostCreatedAt: worldStart,
	}
	c.write(func(w *store.Tx) {
		w.GuardPublicCommunity(communityID(3), core.ErrConflict)
		w.GuardPinLimit(pin, 50, core.ErrConflict)
		w.InsertPin(pin)
		w.SelectPins(communityID(3), "", &pins)
		w.DeletePin(pin, core.ErrConflict, worldStart)
		w.DeletePins(communityID(3), content.PinDefault, worldStart)
	})
}
