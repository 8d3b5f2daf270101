package channel

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/marker"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// TestDeleteManyFeeds deletes more subchannels of a channel than are read at a time. Another request deletes one of them first.
func TestDeleteManyFeeds(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	marker.Register(w.Deps)
	s, id := New(w.Deps, marker.New(w.Deps)), region.NewID(region.EU)
	feed := func(channelID string) messaging.MessageFeed {
		return messaging.MessageFeed{
			ID: region.NewID(region.EU), EntityID: channelID, ChannelPublicID: channelID,
			ChannelType: messaging.ChannelCommunity, CreatedAt: now,
		}
	}
	tx := w.Store.NewTx(region.EU)
	for range 2*feedsPerBatch + 1 {
		tx.InsertMessageFeed(feed(id))
	}
	tx.InsertMessageFeed(feed(region.NewID(region.EU)))
	require.NoError(t, tx.Commit(t.Context()))
	w.Before("messageFeeds.delete", func() { // the first one, in either order
		w.Exec(t, `UPDATE message_feeds SET deleted_at = now() WHERE id IN (SELECT min(id) FROM message_feeds WHERE entity_id = '`+id+`'
			UNION SELECT max(id) FROM message_feeds WHERE entity_id = '`+id+`')`)
	})
	for range 2 {
		require.NoError(t, s.deleteFeeds(t.Context(), id))
		require.Equal(t, "1", w.Text(t, "SELECT count(*)::text FROM message_feeds WHERE deleted_at IS NULL"), "that of another channel")
	}
	require.False(t, w.Pending())
}
