package messaging

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/db"
)

// MaxArchivedChannels is the maximum number of channels that a user has archived.
const MaxArchivedChannels = 100

var (
	sqlArchivedChannels      = db.Register("archivedChannels.ofUser", `SELECT channel_id FROM archived_channels WHERE home = $1 AND user_id = $2`)
	sqlArchivedChannelInsert = db.Register("archivedChannels.insert", `INSERT INTO archived_channels (home, user_id, channel_id, created_at)
		VALUES ($1, $2, $3, $4) ON CONFLICT (home, user_id, channel_id) DO NOTHING`)
	sqlArchivedChannelGuardMax = db.Register("archivedChannels.guardMax", `SELECT 1 / CASE WHEN count(*) > $3::bigint THEN 0 ELSE 1 END
		FROM archived_channels WHERE home = $1 AND user_id = $2`)
	sqlArchivedChannelDelete = db.Register("archivedChannels.delete", `DELETE FROM archived_channels WHERE home = $1 AND user_id = $2 AND channel_id
		= $3`)
)

// ArchivedChannels reads the ids of the channels that a user has archived, in no particular order.
func (r ReadBatch) ArchivedChannels(userID string, into *[]string) {
	r.AddAt(userID, sqlArchivedChannels, db.Values(into), userID)
}

// ArchiveChannel archives a channel for a user. The transaction fails with full if the user then has more than
// MaxArchivedChannels.
func (w Tx) ArchiveChannel(userID, channelID string, full error, now time.Time) {
	w.Exec(sqlArchivedChannelInsert, userID, channelID, now)
	w.Guard(sqlArchivedChannelGuardMax, full, userID, MaxArchivedChannels)
}

// UnarchiveChannel removes a channel from those that a user has archived.
func (w Tx) UnarchiveChannel(userID, channelID string) {
	w.Exec(sqlArchivedChannelDelete, userID, channelID)
}
