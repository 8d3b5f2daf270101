package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// newMessageFeed stores a subchannel of a channel that was created at some seconds after now.
func newMessageFeed(t *testing.T, s *store.Store, id, channelID string, seconds int) {
	t.Helper()
	w := s.NewTx(homeOf(id))
	w.InsertMessageFeed(messaging.MessageFeed{
		ID: id, EntityID: channelID, Name: "general", ChannelType: "community",
		CreatedAt: later(seconds),
	})
	commit(t, w)
}

// newMessage stores a message of a subchannel that was created at some seconds after now.
func newMessage(t *testing.T, s *store.Store, id, feedID, channelID string, seconds int) {
	t.Helper()
	w := s.NewTx(homeOf(id))
	var stored []messaging.Message
	w.InsertMessages([]messaging.Message{{
		ID: id, FeedID: feedID, ChannelID: channelID, ChannelType: "community", CreatorID: region.NewID(region.EU), ReferenceID: id,
		DataType: "text", Data: []byte(`{}`),
		Metadata: []byte(`{}`), Mentions: []byte(`[]`), CreatedAt: later(seconds),
	}}, refused, refused, &stored)
	commit(t, w)
	require.Len(t, stored, 1)
}

// TestLastMessages reads the last message of subchannels that is neither hidden nor deleted, of two at the same time that with the greater
// id. Only the last 20 messages are looked at.
func TestLastMessages(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	channel := region.NewID(region.EU)
	var feeds []string
	last, withDeleted := map[string]string{}, map[string]string{}
	for _, hidden := range []int{0, 18, 19, 0, 1} {
		feed, ids := region.NewID(region.EU), listIDs(region.EU)
		newMessageFeed(t, s, feed, channel, 0)
		feeds = append(feeds, feed)
		for j, id := range []string{region.NewID(region.EU), ids[3], ids[0], ids[2], ids[1]} {
			newMessage(t, s, id, feed, channel, []int{1, 2, 2, 3, 4}[j])
		}
		_, err := conn.Exec(t.Context(), `UPDATE messages SET deleted_at = now() WHERE id = $1`, ids[2])
		require.NoError(t, err)
		hide(t, conn, "messages", ids[1])
		for range hidden {
			id := region.NewID(region.EU)
			newMessage(t, s, id, feed, channel, 5)
			hide(t, conn, "messages", id)
		}
		if hidden < 19 {
			last[feed], withDeleted[feed] = ids[3], ids[2]
		}
	}
	empty := region.NewID(region.EU)
	newMessageFeed(t, s, empty, channel, 0)
	feeds = append(feeds, empty)
	for _, asked := range rotations(feeds) {
		for i, read := range []func(*store.ReadBatch, []string, *[]messaging.Message){
			(*store.ReadBatch).LastMessages,
			(*store.ReadBatch).LastMessagesWithDeleted,
		} {
			var rows []messaging.Message
			r := s.NewReadBatch()
			read(r, asked, &rows)
			run(t, r)
			got, want := map[string]string{}, map[string]string{}
			for _, m := range rows {
				got[m.FeedID] = m.ID
			}
			for _, feed := range asked {
				if id := []map[string]string{last, withDeleted}[i][feed]; id != "" {
					want[feed] = id
				}
			}
			require.Equal(t, want, got)
			require.Len(t, rows, len(want))
		}
	}
}

// TestPagesOfSubchannels lists the subchannels of a channel by their last messages, with or without the deleted ones and the default one.
func TestPagesOfSubchannels(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	channel, other, ids := region.NewID(region.EU), region.NewID(region.EU), listIDs(region.EU)
	for i, id := range ids {
		newMessageFeed(t, s, id, channel, -i)
		newMessage(t, s, region.NewID(region.EU), id, channel, listSeconds[i])
	}
	deleted, external := region.NewID(region.EU), region.NewID(region.EU)
	newMessageFeed(t, s, channel, channel, 2)
	newMessageFeed(t, s, deleted, channel, 2)
	newMessageFeed(t, s, other, other, 2)
	_, err := conn.Exec(t.Context(), `UPDATE message_feeds SET deleted_at = now() WHERE id = $1`, deleted)
	require.NoError(t, err)
	_,
		err = conn.Exec(t.Context(),
		`INSERT INTO message_feeds (home, id, entity_id, last_segment, created_at, updated_at) VALUES ('eu', $1, $2, 1, $3, $3)`, external,
		channel, now)
	require.NoError(t, err)
	list := func(l messaging.MessageFeedList) (rows []messaging.MessageFeed) {
		t.Helper()
		l.ChannelID = channel
		r := s.NewReadBatch()
		r.ListMessageFeeds(l, &rows)
		run(t, r)
		return rows
	}
	requirePages(t, ids, func(after core.Position, desc bool) []core.Position {
		rows := list(messaging.MessageFeedList{
			Deleted: core.DeletedNone, WithoutDefault: true, Desc: desc, After: after.Time, AfterID: after.ID,
			Limit: 2,
		})
		return positions(rows, func(f messaging.MessageFeed) (time.Time, string) { return f.LastMessageAt, f.ID })
	})
	for deletedOnes, want := range map[core.Deleted][2]int{core.DeletedNone: {4, 5}, core.DeletedOnly: {1, 1}, core.DeletedAny: {5, 6}} {
		require.Len(t, list(messaging.MessageFeedList{Deleted: deletedOnes, WithoutDefault: true, Limit: 9}), want[0], "%s", deletedOnes)
		require.Len(t, list(messaging.MessageFeedList{Deleted: deletedOnes, Limit: 9}), want[1], "%s, with the default one", deletedOnes)
	}
}
