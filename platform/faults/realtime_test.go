//go:build faults

package faults

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/devdb"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/eventlog"
)

const addedStream = "/realtime/community.userAdded"

// addMember adds a user to a community as a moderator does, and reports whether that was acknowledged.
func addMember(t *testing.T, by *apptest.Client, communityID, userID string) bool {
	t.Helper()
	r := by.Do(t, http.MethodPost, "/api/v3/communities/"+communityID+"/users", object{"userIds": []string{userID}})
	return r.Status == http.StatusOK
}

// receivedEvents collects the events that a client receives over streams that end and are resumed, by their ids.
type receivedEvents struct {
	mu    sync.Mutex
	times map[string]int // number of deliveries of each event id
	users map[string]int // number of events about each user
}

func (h *receivedEvents) add(t *testing.T, e apptest.StreamEvent) {
	t.Helper()
	r := e.Response()
	h.mu.Lock()
	defer h.mu.Unlock()
	id := r.String(t, "id")
	if h.times[id]++; h.times[id] > 1 {
		return
	}
	for _, user := range r.Strings(t, "data.communityUsers", "userId") {
		h.users[user]++
	}
}

func (h *receivedEvents) counts() (users map[string]int, times map[string]int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.users), maps.Clone(h.times)
}

// TestEventsOutliveServer writes through a server that stops between a transaction and the delivery of its event, as
// a killed server would. Another server of the region delivers the event once.
func TestEventsOutliveServer(t *testing.T) {
	t.Parallel()
	n := startAll(t)
	owner := n.NewUser(t, region.EU, "owner")
	community := owner.NewCommunity(t)
	s := owner.Listen(t, addedStream, "")
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": n.DatabaseURL}})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	for i := range 5 {
		user := n.NewUser(t, region.US, "left behind")
		now := time.Now().UTC()
		w := st.NewTx(region.EU)
		events.EmitChange(w, events.CommunityUserAdded, events.Change{
			Kind: events.KindCommunity, ID: community, Place: events.Place{Kind: events.PlaceCommunity, ID: community},
			Topics:  []string{n.NetworkID + "/social/community/" + community},
			UserIDs: []string{user.InternalID}, Members: []events.AddedMember{{UserID: user.InternalID, PublicID: user.UserID}},
		}, "", now.Add(-events.Grace))
		require.NoError(t, w.Commit(t.Context()))
		e := s.Next(t)
		require.Equal(t, user.UserID, e.Response().String(t, "data.communityUsers.0.userId"), i)
	}
	require.True(t, addMember(t, owner, community, n.NewUser(t, region.EU, "last").UserID))
	require.Contains(t, s.Next(t).Response().String(t, "data.communityUsers.0.userId"), "last", "nothing came twice before")
}

// TestRolledBackTransactionEmitsNoEvent checks that an event is delivered if and only if its transaction committed.
func TestRolledBackTransactionEmitsNoEvent(t *testing.T) {
	t.Parallel()
	n := startAll(t)
	owner := n.NewUser(t, region.SG, "owner")
	community := owner.NewCommunity(t)
	s := owner.Listen(t, addedStream, "")
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": n.DatabaseURL}})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	now := time.Now().UTC()
	w := st.NewTx(region.SG)
	e := eventlog.Event{Name: "community.userAdded", Topic: community, SentAt: now, Homes: region.All(), Payload: []byte(`{}`)}
	w.EmitEvents("", []eventlog.Event{e}, now, now)
	w.DeleteMessageFeed(region.NewID(region.SG), now, core.ErrConflict) // the feed does not exist: the guard aborts the transaction
	require.ErrorIs(t, w.Commit(t.Context()), core.ErrConflict)
	user := n.NewUser(t, region.EU, "user")
	require.True(t, addMember(t, owner, community, user.UserID))
	require.Equal(t, user.UserID, s.Next(t).Response().String(t, "data.communityUsers.0.userId"))
	require.Empty(t, rows(t, connect(t, n), `SELECT id FROM realtime_events WHERE payload = '{}'`))
}

// TestEventsSurviveRestarts kills the database and restarts the server of each region while members are added and a
// client listens and resumes. Every acknowledged addition is delivered in one event, once. No other test runs in the meantime, because the
// time limits are those of production.
func TestEventsSurviveRestarts(t *testing.T) {
	d := startDatabase(t)
	if d.db.Engine() != devdb.PostgreSQL {
		t.Log("only a PostgreSQL server that was started here can be killed")
		return
	}
	require.NoError(t, migrate(t.Context(), d.db.URL()))
	p := proxy.New(t, d.db.URL())
	through := func(string) string { return p.Through(d.db.URL()) }
	urls := apptest.WithDatabaseURLs(map[region.Code]func(string) string{region.US: through, region.EU: through, region.SG: through})
	n := startAll(t, apptest.WithProductionLimits(), urls)
	owner := n.NewUser(t, region.EU, "owner")
	community := owner.NewCommunity(t)
	told := &receivedEvents{times: map[string]int{}, users: map[string]int{}}
	ctx, stop := context.WithCancel(t.Context())
	listening := make(chan struct{})
	first := owner.At(region.US).Listen(t, addedStream, "")
	go func() {
		defer close(listening)
		listen(ctx, t, owner, first, told)
	}()
	var acked []string
	write := func(count int) {
		t.Helper()
		for goal := len(acked) + count; len(acked) < goal; {
			user := apptest.UserID("newcomer")
			answer := signIn(t, n, region.SG, user)
			if answer.Status == http.StatusOK && addMember(t, owner.At(region.SG), community, user) {
				acked = append(acked, user)
			} else {
				n.AwaitReady(t)
			}
		}
	}
	write(10)
	d.kill()
	d.start()
	p.Aim(t, d.db.URL())
	write(10)
	for _, code := range region.All() {
		n.Restart(t, code)
		write(5)
	}
	require.Eventually(t, func() bool {
		users, _ := told.counts()
		for _, user := range acked {
			if users[user] == 0 {
				return false
			}
		}
		return true
	}, apptest.Patience, 50*time.Millisecond, "an acknowledged addition was not delivered")
	stop()
	<-listening
	users, times := told.counts()
	for _, user := range acked {
		require.Equal(t, 1, users[user], "events about %s", user)
	}
	for id, n := range times {
		require.Equal(t, 1, n, "event %s was delivered again after the client resumed after it", id)
	}
}

// listen follows a stream until ctx is done. After every few events it disconnects and resumes in another region.
func listen(ctx context.Context, t *testing.T, owner *apptest.Client, s *apptest.Stream, told *receivedEvents) {
	t.Helper()
	for i := 0; ; i++ {
		for range 3 {
			e, ok := s.Poll(ctx)
			if !ok {
				break
			}
			if e.Name == "community.userAdded" {
				told.add(t, e)
			}
		}
		if ctx.Err() != nil {
			return
		}
		s.Close()
		s = owner.At(region.All()[i%3]).ListenAgain(ctx, t, addedStream, s.LastID)
		if s == nil {
			return
		}
	}
}
