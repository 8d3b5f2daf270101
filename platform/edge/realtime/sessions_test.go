package realtime

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
)

// newCheckedTail returns the tail of the EU, whose sessions are checked by nothing but the test.
func newCheckedTail(t *testing.T, l limits.Limits) *tail {
	t.Helper()
	s, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": dbtest.New(t)}, StatementTimeout: time.Minute, Limits: l})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	h := &Hub{Options: Options{Deps: &service.Deps{
		Store: s, View: &view.Builder{NetworkID: "n", Now: service.Millis}, NetworkID: "n", Log: slog.New(slog.DiscardHandler),
	}}}
	return newTail(h, region.EU)
}

// session is a stream, or a connection by MQTT, of a user.
type session struct {
	*conn
	ends chan string // the reasons for which a connection by MQTT is ended
}

// openSession adds a stream or a connection of a user to a tail. valid is whether its session is in the database.
func (t *tail) openSession(tb testing.TB, userID string, valid, byMQTT bool) session {
	tb.Helper()
	s := session{newConn(), make(chan string, 2)}
	s.home, s.userID, s.sessionID = region.EU, userID, region.NewID(region.EU)
	if valid {
		now := service.Millis()
		tx := t.hub.Store.NewTx(region.EU)
		tx.InsertUser(people.User{ID: userID, PublicID: userID}, now)
		tx.InsertSession(people.Session{
			ID: s.sessionID, UserID: userID, DeviceHash: []byte{1}, CreatedAt: now, ExpiresAt: now.Add(time.Hour), Authenticated: true,
		})
		require.NoError(tb, tx.Commit(tb.Context()))
	}
	if byMQTT {
		s.ended, s.awaitsLast = func(reason string) { s.ends <- reason }, true
	}
	t.attach(s.conn)
	return s
}

// why returns the reason for which a session was ended; empty if it was not.
func (s session) why() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason
}

// TestCheckedSessions checks which streams and connections are ended: those whose session is not in the database, unless the rows of the
// user may be at another home, and those of users who have moved there. A user who is moving changes nothing for others.
func TestCheckedSessions(t *testing.T) {
	t.Parallel()
	tail := newCheckedTail(t, limits.Lift())
	type user struct {
		state lifecycle.MoveState // empty without a move
		valid bool
		want  string
	}
	users := map[string]user{
		"a valid session":                  {"", true, ""},
		"an ended session":                 {"", false, endSession},
		"a move that is prepared":          {db.MoveCollecting, false, endSession},
		"a move that is announced":         {db.MoveAnnounced, true, ""},
		"a move that is announced, ended":  {db.MoveAnnounced, false, endSession},
		"a user whose rows are frozen":     {db.MoveFrozen, true, ""},
		"frozen rows, ended":               {db.MoveFrozen, false, endSession},
		"a user who is moving":             {db.MoveMoving, false, ""},
		"a user who is moving, still here": {db.MoveMoving, true, ""},
		"a user who has moved":             {db.MoveDone, false, endMoved},
		"a user who has moved, still here": {db.MoveDone, true, endMoved},
		"a move that was cancelled":        {db.MoveCancelled, true, ""},
		"a move that was cancelled, ended": {db.MoveCancelled, false, endSession},
	}
	opened := map[string][]session{}
	version := int64(0)
	for name, u := range users {
		id := region.NewID(region.EU)
		opened[name] = []session{tail.openSession(t, id, u.valid, false)}
		if !u.valid { // a user has one row
			opened[name] = append(opened[name], tail.openSession(t, id, false, true))
		}
		if u.state != "" {
			version++
			tail.hub.Store.Routes().Put(lifecycle.Route{UserID: id, Home: region.EU, To: region.SG, State: u.state, Version: version}, nil)
		}
	}
	admin := tail.openSession(t, "", false, false)
	admin.admin = true
	for range 2 { // the first one learns which events a client by MQTT must have
		tail.checkSessions(t.Context(), tail.open())
	}
	for name, u := range users {
		for i, s := range opened[name] {
			require.Equal(t, u.want, s.why(), "%s, %d", name, i)
			if s.ended != nil && u.want != "" {
				require.Equal(t, u.want, <-s.ends, name)
			}
		}
	}
	require.Empty(t, admin.why(), "an administrator has no session")
}

// TestSessionsOfAHomeThatDoesNotAnswer ends no stream while it is not known whether its session is valid.
func TestSessionsOfAHomeThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	tail := newCheckedTail(t, limits.Lift())
	s := tail.openSession(t, region.NewID(region.EU), false, false)
	tail.hub.Store.Close()
	tail.checkSessions(t.Context(), tail.open())
	require.Empty(t, s.why())
}

// TestLastEventsOfMQTT checks when a connection by MQTT ends whose session has ended: once all events about its user are in the log, and
// those in the log were delivered.
func TestLastEventsOfMQTT(t *testing.T) {
	t.Parallel()
	tail := newCheckedTail(t, limits.Lift())
	h := tail.hub
	waits := tail.openSession(t, region.NewID(region.EU), false, true)
	other := tail.openSession(t, region.NewID(region.EU), false, true)
	check := func() { tail.checkSessions(t.Context(), []*conn{waits.conn, other.conn}) }

	tx, at := h.Store.NewTx(region.EU), service.Millis()
	row := events.EmitChange(tx, "user.didGlobalBan", h.UserChange(waits.userID), "", at)
	require.NoError(t, tx.Commit(t.Context()))
	for range 3 {
		check()
	}
	require.Empty(t, waits.why(), "an event is in the outbox")
	require.Equal(t, endSession, <-other.ends, "another user has none")

	tx = h.Store.NewTx(region.EU)
	tx.InsertEvents([]eventlog.Event{{
		ID: region.NewID(region.EU), Name: "user.updated", Topic: waits.userID, Payload: []byte("{}"),
		SentAt: at,
	}}, at)
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, h.Store.DeleteOutboxRows(t.Context(), region.EU, []core.OutboxRow{row}))
	var head eventlog.EventHead
	reads := h.Store.NewReadBatch()
	reads.EventHead(region.EU, &head)
	require.NoError(t, reads.Run(t.Context()))
	require.Positive(t, head.Last)
	for range 3 {
		check()
	}
	require.Empty(t, waits.why(), "the event is in the log, and was not delivered")
	tail.done = head.Last - 1
	check()
	require.Empty(t, waits.why(), "the one before it was delivered")
	tail.done = head.Last
	check()
	require.Equal(t, endSession, <-waits.ends)
}
