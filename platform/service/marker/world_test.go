package marker

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// counted returns the number of markers of a feed that satisfy a condition.
func counted(t *testing.T, w *servicetest.World, feedID, condition string) string {
	t.Helper()
	return w.Text(t, fmt.Sprintf(`SELECT count(*)::text FROM user_feed_markers WHERE feed_id = '%s' AND %s`, feedID, condition))
}

// TestPushToManyUsers pushes a message of an external store to more users of two homes than one outbox row names, and deletes its feed.
func TestPushToManyUsers(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	Register(w.Deps)
	s, feed := New(w.Deps), region.NewID(region.SG)
	var users []string
	for i := range 2*maxRowUsers + 20 {
		users = append(users, region.NewID([]region.Code{region.EU, region.US}[min(i/(maxRowUsers+10), 1)]))
	}
	message := Message{
		FeedSegment: messaging.FeedSegment{FeedID: feed, EntityID: "channel", MessageID: "m", Segment: 5, CreatorID: users[0]},
		Recipients:  append(users, users[3]), Mentioned: users[1:3],
	}
	for range 2 {
		_, err := s.Push(t.Context(), message)
		require.NoError(t, err)
		require.Equal(t, "220", counted(t, w, feed, "last_segment = 5 AND NOT is_deleted AND entity_id = 'channel'"))
		require.Equal(t, "219", counted(t, w, feed, "read_to = 4 AND delivered_to = 4"), "earlier messages count as read")
		require.Equal(t, "1", counted(t, w, feed, "read_to = 5 AND user_id = '"+users[0]+"'"), "that of the author")
		require.Equal(t, "2", counted(t, w, feed, "last_mention = 5"))
	}
	_, err := s.DeleteFeed(t.Context(), feed)
	require.NoError(t, err)
	require.Equal(t, "220", counted(t, w, feed, "is_deleted"))
}

// TestFollowManyFeeds lets users join and leave a channel with more subchannels than are read at a time.
func TestFollowManyFeeds(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	s, channel, now := New(w.Deps), region.NewID(region.EU), servicetest.Noon
	member, left := region.NewID(region.EU), region.NewID(region.US)
	tx := w.Store.NewTx(region.EU)
	tx.InsertChannel(messaging.Channel{
		ID: channel, PublicID: channel, Type: messaging.ChannelCommunity, Metadata: []byte(`{}`),
		NotificationMode: "default",
	}, nil, now)
	for range feedsPerBatch + 2 {
		tx.InsertMessageFeed(messaging.MessageFeed{
			ID: region.NewID(region.EU), EntityID: channel, ChannelPublicID: channel,
			ChannelType: messaging.ChannelCommunity, CreatedAt: now,
		})
	}
	join := func(id, membership string) messaging.ChannelUserChange {
		return messaging.ChannelUserChange{New: messaging.ChannelUser{ChannelID: channel, UserID: id, Membership: membership, JoinedAt: now}}
	}
	tx.ChangeChannelUsers(channel, []messaging.ChannelUserChange{join(member, messaging.ChannelMember), join(left, messaging.ChannelMember)},
		now)
	require.NoError(t, tx.Commit(t.Context()))
	w.Exec(t, `UPDATE message_feeds SET last_segment = 7 WHERE id <> (SELECT min(id) FROM message_feeds)`)
	follow := func(want string) {
		t.Helper()
		require.NoError(t, s.followMembers(t.Context(), events.MembershipChanged{ChannelID: channel, UserIDs: []string{member, left}}))
		require.Equal(t, want, w.Text(t, `SELECT string_agg(n::text, ' ' ORDER BY n) FROM (SELECT count(*) AS n FROM user_feed_markers
			WHERE last_segment = 7 AND NOT is_deleted GROUP BY user_id) AS counts`))
	}
	follow("101 101") // the subchannel without messages has no markers
	var users []messaging.ChannelUser
	reads := w.Store.NewReadBatch()
	reads.ChannelUsers(channel, []string{left}, &users)
	require.NoError(t, reads.Run(t.Context()))
	ended := users[0]
	ended.Membership = messaging.ChannelNone
	tx = w.Store.NewTx(region.EU)
	tx.ChangeChannelUsers(channel, []messaging.ChannelUserChange{{Old: &users[0], New: ended}}, now)
	require.NoError(t, tx.Commit(t.Context()))
	follow("101")
}

// TestFanOutWithoutAHome delivers a message while a home does not answer: the markers of the others move, and an outbox row for those of
// the home remains. With no home but that one, the delivery fails.
func TestFanOutWithoutAHome(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	d, channel, now := w.Without(t, region.US), region.NewID(region.EU), servicetest.Noon
	s := New(d)
	users := []string{region.NewID(region.EU), region.NewID(region.SG), region.NewID(region.US)}
	tx := w.Store.NewTx(region.EU)
	tx.InsertChannel(messaging.Channel{
		ID: channel, PublicID: channel, Type: messaging.ChannelCommunity, Metadata: []byte(`{}`),
		NotificationMode: "default",
	}, nil, now)
	tx.InsertMessageFeed(messaging.MessageFeed{
		ID: channel, EntityID: channel, ChannelPublicID: channel, ChannelType: messaging.ChannelCommunity,
		CreatedAt: now,
	})
	tx.ChangeChannelUsers(channel, service.Map(users, func(id string) messaging.ChannelUserChange {
		return messaging.ChannelUserChange{New: messaging.ChannelUser{
			ChannelID: channel, UserID: id, Membership: messaging.ChannelMember,
			JoinedAt: now,
		}}
	}), now)
	require.NoError(t, tx.Commit(t.Context()))
	w.Exec(t, `UPDATE message_feeds SET last_segment = 1`)
	f := newFanOuts(s.fanOut)
	message := events.MessagesCreated{ChannelID: channel, FeedID: channel, MessageIDs: []string{region.NewID(region.EU)}}
	require.NoError(t, s.deliver(t.Context(), f, message))
	require.Equal(t, "2", counted(t, w, channel, "last_segment = 1"))
	left := func() string {
		t.Helper()
		return w.Text(t, `SELECT COALESCE(string_agg((payload->'homes')::text, ' '), '') FROM outbox WHERE topic = '`+events.TopicMessages+`'`)
	}
	require.Equal(t, `["us"]`, left())
	message.Homes = []region.Code{region.US}
	require.Error(t, s.deliver(t.Context(), f, message))
	require.Equal(t, `["us"]`, left(), "the row that is delivered stays")
}

// TestCatchUp updates the markers of a user from the feeds of the channels that the user is a member of, but not from deleted ones and
// those of live channels.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	s, now, user := New(w.Deps), servicetest.Noon, region.NewID(region.US)
	feed := func(kind, membership string) string {
		channel, id := region.NewID(region.EU), region.NewID(region.EU)
		w.Commit(t, func(tx *store.Tx) {
			tx.InsertChannel(messaging.Channel{ID: channel, PublicID: channel, Type: kind, Metadata: []byte(`{}`), NotificationMode: "default"}, nil,
				now)
			tx.InsertMessageFeed(messaging.MessageFeed{ID: id, EntityID: channel, ChannelPublicID: channel, ChannelType: kind, CreatedAt: now})
			tx.ChangeChannelUsers(channel, []messaging.ChannelUserChange{{
				New: messaging.ChannelUser{ChannelID: channel, UserID: user, Membership: membership, JoinedAt: now},
			}}, now)
		})
		return id
	}
	joined, deleted := feed(messaging.ChannelCommunity, messaging.ChannelMember), feed(messaging.ChannelCommunity, messaging.ChannelMember)
	left, live := feed(messaging.ChannelCommunity, messaging.ChannelNone), feed(messaging.ChannelLive, messaging.ChannelMember)
	w.Exec(t, `UPDATE message_feeds SET last_segment = 3`)
	w.Exec(t, `UPDATE message_feeds SET deleted_at = now() WHERE id = '`+deleted+`'`)
	marked := func() string {
		t.Helper()
		return w.Text(t, `SELECT COALESCE(string_agg(feed_id || ' ' || last_segment::text, ', '), '') FROM user_feed_markers WHERE user_id = '`+
			user+`'`)
	}
	moved, err := s.updateFromFeeds(t.Context(), user, []string{deleted, left, live, region.NewID(region.EU)})
	require.NoError(t, err)
	require.False(t, moved)
	require.Empty(t, marked())
	moved, err = s.updateFromFeeds(t.Context(), user, []string{deleted, left, live, region.NewID(region.EU), joined})
	require.NoError(t, err)
	require.True(t, moved)
	require.Equal(t, joined+" 3", marked())
}
