package events_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// newTx returns a transaction that is not sent.
func newTx(t *testing.T) *store.Tx {
	t.Helper()
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": "postgresql://plaza@127.0.0.1:1/plaza"}, Log: quiet})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	return st.NewTx(region.SG)
}

// payloadOf decodes the payload of a row, which may be tried after the grace period.
func payloadOf[T any](t *testing.T, row core.OutboxRow) (payload T) {
	t.Helper()
	require.Equal(t, start.Add(events.Grace), row.NotBefore)
	require.NoError(t, json.Unmarshal(row.Payload, &payload))
	return payload
}

// TestOrderOfChanges checks by which key the events about objects are ordered, and that those with the same key are one row.
func TestOrderOfChanges(t *testing.T) {
	t.Parallel()
	tx := newTx(t)
	post := events.Change{Kind: events.KindPost, ID: "p"}
	live := events.Change{Kind: events.KindLive, ID: "p"}
	first, second := events.Change{Kind: events.KindMessage, ID: "m1", Sequence: "feed"},
		events.Change{Kind: events.KindMessage, ID: "m2", Sequence: "feed"}
	for key, c := range map[string]events.Change{"p": post, "": live, "feed": first} {
		row := events.EmitChange(tx, "name", c, "sender", start)
		require.Equal(t, key, row.OrderKey)
		emitted := payloadOf[[]eventlog.Event](t, row)
		require.Len(t, emitted, 1)
		e := emitted[0]
		require.Equal(t, []any{"name", c.ID, "sender", start, []region.Code{region.SG}}, []any{e.Name, e.Topic, e.SenderID, e.SentAt, e.Homes})
		require.NotEmpty(t, e.ID)
		var payload events.Change
		require.NoError(t, json.Unmarshal(e.Payload, &payload))
		require.Equal(t, c.Kind, payload.Kind)
	}
	rows := events.EmitChanges(tx, "name", []events.Change{first, post, second}, []string{"a", "b", "c"}, start)
	require.Len(t, rows, 2)
	require.Equal(t, []string{"feed", "p"}, []string{rows[0].OrderKey, rows[1].OrderKey})
	both := payloadOf[[]eventlog.Event](t, rows[0])
	require.Len(t, both, 2)
	require.Equal(t, []string{"m1", "a", "m2", "c"}, []string{both[0].Topic, both[0].SenderID, both[1].Topic, both[1].SenderID})
	require.NotEqual(t, both[0].ID, both[1].ID)
	one := payloadOf[[]eventlog.Event](t, rows[1])
	require.Len(t, one, 1)
	require.Equal(t, []string{"p", "b"}, []string{one[0].Topic, one[0].SenderID})
}

// TestRowsOfMarkers checks that each home gets a row about its users.
func TestRowsOfMarkers(t *testing.T) {
	t.Parallel()
	tx, users := newTx(t), map[region.Code][]string{}
	for _, home := range []region.Code{region.US, region.SG, region.US} {
		users[home] = append(users[home], region.NewID(home))
	}
	rows := events.EmitMembershipChanged(tx, "c", []string{users[region.US][0], "malformed", users[region.SG][0], users[region.US][1]}, start)
	require.Len(t, rows, 2)
	for i, home := range []region.Code{region.US, region.SG} {
		require.Equal(t, events.TopicChannelMembers, rows[i].Topic)
		require.Equal(t, events.MembershipChanged{Home: home, ChannelID: "c", UserIDs: users[home]},
			payloadOf[events.MembershipChanged](t, rows[i]))
	}
	rows = events.EmitFeedDeleted(tx, "f", start)
	require.Len(t, rows, len(region.All()))
	for i, home := range region.All() {
		require.Equal(t, events.TopicFeedMarkers, rows[i].Topic)
		want := events.FeedUpdate{Home: home, Segment: messaging.FeedSegment{FeedID: "f"}, Deleted: true, At: start}
		require.Equal(t, want, payloadOf[events.FeedUpdate](t, rows[i]))
	}
}
