package store_test

import (
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
)

// The user 3 has archived one channel less than possible; every other user has archived one.
var _ = planned((*collector).collectArchivedChannels,
	`INSERT INTO archived_channels (home, user_id, channel_id, created_at)
		SELECT HOME(n), ID(u, n, n), ID(x, n, n), AT(n, 3) FROM generate_series(1, 20000) AS n`,
	`INSERT INTO archived_channels (home, user_id, channel_id, created_at)
		SELECT HOME(3), ID(u, 3, 3), ID(x, n, n), AT(n, 3) FROM generate_series(4, 101) AS n`,
)

func (c *collector) collectArchivedChannels() {
	c.reads(func(r *store.ReadBatch) { r.ArchivedChannels(userID(3), new([]string)) })
	c.write(func(w *store.Tx) { w.ArchiveChannel(userID(3), channelID(200), core.ErrConflict, worldStart) })
	c.write(func(w *store.Tx) { w.UnarchiveChannel(userID(3), channelID(4)) })
}
