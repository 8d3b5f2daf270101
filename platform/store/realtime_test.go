package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/people"
)

func anEvent(topic string) eventlog.Event {
	return eventlog.Event{ID: region.NewID(region.US), Name: "test", Topic: topic, Payload: json.RawMessage(`{}`), SentAt: now}
}

func logEvents(t testing.TB, s *store.Store, home region.Code, list ...eventlog.Event) {
	t.Helper()
	w := s.NewTx(home)
	w.InsertEvents(list, now)
	require.NoError(t, w.Commit(context.WithoutCancel(t.Context())))
}

func eventsAfter(t testing.TB, s *store.Store, home region.Code, after int64) []eventlog.LoggedEvent {
	t.Helper()
	var found []eventlog.LoggedEvent
	reads := s.NewReadBatch()
	reads.Events(eventlog.EventSpan{Home: home, After: after, To: math.MaxInt64, Limit: 1000}, &found)
	require.NoError(t, reads.Run(t.Context()))
	return found
}

func headOf(t testing.TB, s *store.Store, home region.Code) eventlog.EventHead {
	t.Helper()
	var head eventlog.EventHead
	reads := s.NewReadBatch()
	reads.EventHead(home, &head)
	require.NoError(t, reads.Run(t.Context()))
	return head
}

func idsOf(found []eventlog.LoggedEvent) []string {
	ids := make([]string, len(found))
	for i, e := range found {
		ids[i] = e.ID
	}
	return ids
}

// TestNoEventIsPassedOver follows a log while many write to it: a reader that continues after the last number it saw
// sees every event, once, whatever the order in which transactions began.
func TestNoEventIsPassedOver(t *testing.T) {
	s := open(t, dbtest.New(t))
	const writers, batches = 6, 25
	var written sync.Map
	var ended atomic.Bool
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for b := range batches {
				var batch []eventlog.Event
				for range 1 + (w+b)%4 {
					batch = append(batch, anEvent("topic"))
				}
				logEvents(t, s, region.EU, batch...)
				for _, e := range batch {
					written.Store(e.ID, true)
				}
			}
		})
	}
	go func() { all.Wait(); ended.Store(true) }()
	var last int64
	seen := map[string]bool{}
	for over := false; !over; {
		over = ended.Load() // one look more after the end
		for _, e := range eventsAfter(t, s, region.EU, last) {
			require.Greater(t, e.Seq, last)
			require.False(t, seen[e.ID], "seen twice")
			seen[e.ID], last = true, e.Seq
		}
	}
	written.Range(func(id, _ any) bool {
		require.True(t, seen[id.(string)], "passed over")
		delete(seen, id.(string))
		return true
	})
	require.Empty(t, seen)
	require.Equal(t, last, headOf(t, s, region.EU).Last)
}

// TestASlowTransactionIsNotPassedOver: one that began first and ends last does not get a number that readers are past.
func TestASlowTransactionIsNotPassedOver(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	logEvents(t, s, region.SG, anEvent("before"))
	slow, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = slow.Exec(t.Context(), statement(t, "realtime.advance"), "sg", 1)
	require.NoError(t, err)
	_, err = slow.Exec(t.Context(), statement(t, "realtime.insert"), "sg", []int64{0}, []string{region.NewID(region.SG)}, []string{"test"},
		[]string{"slow"}, []string{""}, []string{"{}"}, []time.Time{now}, now, []string{""})
	require.NoError(t, err)
	quick := make(chan error, 1)
	go func() {
		w := s.NewTx(region.SG)
		w.InsertEvents([]eventlog.Event{anEvent("quick")}, now)
		quick <- w.Commit(context.WithoutCancel(t.Context()))
	}()
	if !testdb.Cockroach(t) { // there, readers wait for the slow one too
		require.Len(t, eventsAfter(t, s, region.SG, 0), 1, "the quick one waits for the slow one")
	}
	require.NoError(t, slow.Commit(t.Context()))
	require.NoError(t, <-quick)
	found := eventsAfter(t, s, region.SG, 1)
	require.Len(t, found, 2)
	require.Equal(t, []string{"slow", "quick"}, []string{found[0].Topic, found[1].Topic})
	require.Equal(t, []int64{2, 3}, []int64{found[0].Seq, found[1].Seq})
}

func statement(t *testing.T, name string) string {
	t.Helper()
	all := store.Statements()
	i := slices.IndexFunc(all, func(st db.Statement) bool { return st.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return all[i].SQL
}

func TestEventsOfTopics(t *testing.T) {
	s := open(t, dbtest.New(t))
	var ids []string
	for i := range 9 {
		e := anEvent(fmt.Sprint("topic", i%3))
		logEvents(t, s, region.US, e)
		ids = append(ids, e.ID)
	}
	again := anEvent("topic0")
	again.ID = ids[0]
	w := s.NewTx(region.US)
	w.InsertEvents([]eventlog.Event{again, anEvent("topic0")}, now)
	require.ErrorIs(t, w.Commit(t.Context()), eventlog.ErrEventExists)
	w = s.NewTx(region.US)
	w.InsertMissingEvents([]eventlog.Event{again}, now)
	require.NoError(t, w.Commit(t.Context()))
	read := func(after, to int64, limit int, topics ...string) []string {
		var found []eventlog.LoggedEvent
		reads := s.NewReadBatch()
		reads.EventsOfTopics(eventlog.EventSpan{Home: region.US, After: after, To: to, Limit: limit}, topics, &found)
		require.NoError(t, reads.Run(t.Context()))
		return idsOf(found)
	}
	require.Equal(t, []string{ids[0], ids[1], ids[3], ids[4], ids[6], ids[7]}, read(0, 100, 100, "topic1", "topic0"))
	require.Equal(t, []string{ids[1], ids[3]}, read(1, 6, 2, "topic0", "topic1", "nothing"))
	require.Empty(t, read(0, 100, 100))
	require.Equal(t, ids, idsOf(eventsAfter(t, s, region.US, 0)), "the same event again is the same event")
	require.Empty(t, eventsAfter(t, s, region.EU, 0))
}

// TestMembershipsComeWithTheirEvent: a log gets the mirrors of its own users with the event, and no newer one is lost.
func TestMembershipsComeWithTheirEvent(t *testing.T) {
	s := open(t, dbtest.New(t))
	community, here, gone, elsewhere := region.NewID(region.SG), region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.US)
	w := s.NewTx(region.EU)
	w.MirrorMembers([]communities.MirroredMember{{
		UserID: gone, CommunityID: community, State: communities.StateLeft, Version: 2,
		ChangedAt: now,
	}})
	commit(t, w)
	e := anEvent(community)
	for _, id := range []string{here, gone, elsewhere} {
		e.Mirrors = append(e.Mirrors, communities.MirroredMember{
			UserID: id, CommunityID: community, State: communities.StateMember, Version: 1,
			ChangedAt: now,
		})
	}
	logEvents(t, s, region.EU, e)
	for home, want := range map[region.Code][]string{region.EU: {here}, region.US: nil} {
		var members, none []string
		reads := s.NewReadBatch()
		reads.MembersAmong(home, community, []string{here, gone, elsewhere}, &members)
		reads.MembersAmong(home, "x", []string{here, gone, elsewhere}, &none)
		require.NoError(t, reads.Run(t.Context()))
		require.Equal(t, want, members, home)
		require.Empty(t, none, home)
	}
}

func TestLiveSessions(t *testing.T) {
	url := dbtest.New(t)
	s := open(t, url)
	var users, sessions []string
	for _, name := range []string{"here", "revoked", "banned", "unknown"} {
		u := newUser(t, s, region.US, name)
		id := region.NewID(region.US)
		w := s.NewTx(region.US)
		if name != "unknown" {
			w.InsertSession(people.Session{ID: id, UserID: u.ID, DeviceHash: []byte{1}, CreatedAt: now, ExpiresAt: later(60)})
		}
		if name == "revoked" {
			w.RevokeSession(u.ID, id, now)
		}
		w.SelectUser(u.ID, new([]people.User))
		commit(t, w)
		users, sessions = append(users, u.ID), append(sessions, id)
	}
	_, err := connect(t, url).Exec(t.Context(), `UPDATE users SET is_global_ban = true WHERE home = 'us' AND id = $1`, users[2])
	require.NoError(t, err)
	var live []string
	reads := s.NewReadBatch()
	reads.LiveSessions(region.US, users, sessions, &live)
	require.NoError(t, reads.Run(t.Context()))
	require.Equal(t, sessions[:1], live)
}

func TestSweepEvents(t *testing.T) {
	s := open(t, dbtest.New(t))
	for range 3 {
		logEvents(t, s, region.US, anEvent("old"))
	}
	w := s.NewTx(region.US)
	w.InsertEvents([]eventlog.Event{anEvent("new")}, now.Add(time.Hour))
	commit(t, w)
	sweep := func(before time.Time) (removed int64) {
		w := s.NewTx(region.US)
		w.SweepEvents(before, &removed)
		commit(t, w)
		return removed
	}
	require.Zero(t, sweep(now))
	require.Equal(t, eventlog.EventHead{Last: 4}, headOf(t, s, region.US))
	require.EqualValues(t, 3, sweep(now.Add(time.Minute)))
	require.Zero(t, sweep(now.Add(time.Minute)))
	require.Equal(t, eventlog.EventHead{Last: 4, Trimmed: 3}, headOf(t, s, region.US))
	require.Len(t, eventsAfter(t, s, region.US, 0), 1)
	logEvents(t, s, region.US, anEvent("next"))
	require.Equal(t, eventlog.EventHead{Last: 5, Trimmed: 3}, headOf(t, s, region.US))
}
