package realtime_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/edge/realtime"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
)

// patience is how long tests wait for what must happen. Only a test that fails waits that long.
const patience = 2 * time.Minute

const networkID = "0123456789abcdef01234567"

// world is a hub with a database and a user.
type world struct {
	t       testing.TB
	hub     *realtime.Hub
	deps    *service.Deps
	user    people.User
	token   string
	running sync.WaitGroup
}

func newWorld(t testing.TB, change func(*realtime.Options)) *world {
	t.Helper()
	return newWorldWith(t, limits.Limits{}, change)
}

// newWorldWith is newWorld with time limits; those of production when zero.
func newWorldWith(t testing.TB, l limits.Limits, change func(*realtime.Options)) *world {
	t.Helper()
	url := dbtest.New(t)
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": url}, StatementTimeout: patience, Limits: l})
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	w := &world{t: t, deps: &service.Deps{
		Store: st, View: &view.Builder{NetworkID: networkID, Now: service.Millis}, Outbox: events.NewOutbox(st, service.Millis, log),
		Region: region.EU, NetworkID: networkID, Now: service.Millis, NewID: region.NewID, Log: log,
	}}
	keys := filepath.Join(t.TempDir(), "keys.json")
	require.NoError(t, auth.GenerateKeyring(keys))
	ring, err := auth.OpenKeyring(keys)
	require.NoError(t, err)
	o := realtime.Options{Deps: w.deps, Issuer: auth.NewIssuer(networkID, ring), Marshal: edge.MarshalJSON, Limits: (*edge.RateLimits)(nil)}
	change(&o)
	w.hub = realtime.New(o)
	w.signIn(o.Issuer)
	ctx, stop := context.WithCancel(t.Context())
	w.running.Go(func() { w.hub.Run(ctx) })
	t.Cleanup(func() {
		stop()
		w.running.Wait()
		st.Close()
	})
	return w
}

// signIn creates the user and a session.
func (w *world) signIn(issuer *auth.Issuer) {
	w.t.Helper()
	now := w.deps.Now()
	w.user = people.User{ID: region.NewID(region.EU), PublicID: "ann", DisplayName: "Ann"}
	sessionID := region.NewID(region.EU)
	tx := w.deps.Store.NewTx(region.EU)
	tx.InsertUser(w.user, now)
	tx.InsertSession(people.Session{
		ID: sessionID, UserID: w.user.ID, DeviceHash: []byte{1}, CreatedAt: now, ExpiresAt: now.Add(time.Hour),
		Authenticated: true,
	})
	require.NoError(w.t, tx.Commit(w.t.Context()))
	var err error
	w.token, _, _, err = issuer.MintAccess(auth.AccessSubject{UserID: w.user.ID, PublicID: "ann", SessionID: sessionID})
	require.NoError(w.t, err)
}

// emit emits n events for the user, through the outbox.
func (w *world) emit(n int) {
	w.t.Helper()
	for range n {
		tx := w.deps.Store.NewTx(region.EU)
		row := events.EmitChange(tx, events.MarkerUserSync, w.deps.MarkersChange(w.user.ID, nil, nil), w.user.ID, w.deps.Now())
		require.NoError(w.t, tx.Commit(w.t.Context()))
		w.deps.Outbox.Deliver(w.t.Context(), region.EU, row)
	}
}

// request returns a request for the user's stream.
func (w *world) request(lastID string) *http.Request {
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, "/realtime/marker.marker.user-sync", nil)
	r.Header.Set("Authorization", "Bearer "+w.token)
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	return r
}

// client is the client's end of a stream. While it is shut it does not read, and writes to it block.
type client struct {
	mu      sync.Mutex
	text    strings.Builder
	header  http.Header
	open    chan struct{}
	writing chan struct{} // receives a value for each write that began
}

func newClient() *client {
	return &client{header: http.Header{}, open: make(chan struct{}), writing: make(chan struct{}, 10_000)}
}

func (c *client) Header() http.Header { return c.header }
func (c *client) WriteHeader(int)     {}
func (c *client) Flush()              {}

func (c *client) Write(p []byte) (int, error) {
	c.writing <- struct{}{}
	<-c.open
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(p)
}

func (c *client) read() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

var eventIDs = regexp.MustCompile(`(?m)^id: (eu-\d+)\nevent: marker`)

// ids returns the ids of the events that the client received.
func (c *client) ids() (ids []string) {
	for _, found := range eventIDs.FindAllStringSubmatch(c.read(), -1) {
		ids = append(ids, found[1])
	}
	return ids
}

// serve serves a client and returns a channel for the result.
func (w *world) serve(c *client, lastID string) <-chan error {
	ended := make(chan error, 1)
	w.running.Go(func() { ended <- w.hub.Serve(c, w.request(lastID), "marker.marker.user-sync") })
	return ended
}

// TestSlowClient checks that a client that does not read is disconnected when its queue is full: it receives the queue
// and the reason, and resumes without loss. Another client receives everything in the meantime.
func TestSlowClient(t *testing.T) {
	const queue, emitted = 8, 40
	w := newWorld(t, func(o *realtime.Options) { o.QueueLength = queue })
	slow, quick := newClient(), newClient()
	close(quick.open)
	ended := w.serve(slow, "")
	<-slow.writing // of the first event
	w.serve(quick, "")
	require.Eventually(t, func() bool { return strings.HasPrefix(quick.read(), "retry:") && w.hub.Streams() == 2 }, patience, time.Millisecond)
	for i := range emitted {
		w.emit(1)
		require.Eventually(t, func() bool { return len(quick.ids()) == i+1 }, patience, time.Millisecond)
	}
	close(slow.open)
	require.NoError(t, <-ended)
	require.Equal(t, quick.ids()[:queue], slow.ids())
	require.True(t, strings.HasSuffix(slow.read(), "event: end\ndata: {\"reason\":\"slow\"}\n\n"), slow.read())

	resumed := newClient()
	close(resumed.open)
	w.serve(resumed, slow.ids()[queue-1])
	require.Eventually(t, func() bool { return len(resumed.ids()) == emitted-queue }, patience, time.Millisecond)
	require.Equal(t, quick.ids()[queue:], resumed.ids())
	w.hub.Close()
}

func TestClose(t *testing.T) {
	w := newWorld(t, func(*realtime.Options) {})
	c := newClient()
	close(c.open)
	ended := w.serve(c, "")
	require.Eventually(t, func() bool { return strings.HasPrefix(c.read(), "retry:") }, patience, time.Millisecond)
	w.hub.Close()
	w.hub.Close()
	require.NoError(t, <-ended)
	require.True(t, strings.HasSuffix(c.read(), "event: end\ndata: {\"reason\":\"shutdown\"}\n\n"), c.read())
	require.ErrorIs(t, <-w.serve(newClient(), ""), fail.Unavailable("", nil))
	require.Zero(t, w.hub.Streams())
}

// TestStreamEndsWithItsToken serves a client at a hub by whose clock the client's token has expired since it was verified.
func TestStreamEndsWithItsToken(t *testing.T) {
	w := newWorld(t, func(o *realtime.Options) {
		o.Now = func() time.Time { return service.Millis().Add(auth.DefaultAccessLifetime) }
	})
	c := newClient()
	close(c.open)
	require.NoError(t, <-w.serve(c, ""))
	require.True(t, strings.HasSuffix(c.read(), "event: end\ndata: {\"reason\":\"tokenExpired\"}\n\n"), c.read())
	c = newClient()
	close(c.open)
	require.NoError(t, w.hub.Serve(c, w.request(""), "post.created"))
	require.True(t, strings.HasSuffix(c.read(), "event: end\ndata: {\"reason\":\"tokenExpired\"}\n\n"), c.read())
}

// TestConcurrentEvents checks that concurrent events are delivered once each, in the order of their numbers.
func TestConcurrentEvents(t *testing.T) {
	w := newWorld(t, func(o *realtime.Options) { o.QueueLength = 10_000 })
	c := newClient()
	close(c.open)
	w.serve(c, "")
	require.Eventually(t, func() bool { return strings.HasPrefix(c.read(), "retry:") }, patience, time.Millisecond)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { w.emit(25) })
	}
	all.Wait()
	require.Eventually(t, func() bool {
		require.NoError(t, w.deps.Outbox.Job().Once(t.Context(), region.EU))
		due, err := w.deps.Store.DueOutboxRows(t.Context(), region.EU, []int64{0, 1, 2, 3}, time.Time{}, time.Now().Add(time.Hour))
		require.NoError(t, err)
		return len(due) == 0
	}, patience, 10*time.Millisecond)
	require.Eventually(t, func() bool { return len(c.ids()) >= 200 }, patience, time.Millisecond)
	ids := c.ids()
	require.Len(t, ids, 200)
	last := 0
	for _, id := range ids {
		var n int
		_, err := fmt.Sscanf(id, "eu-%d", &n)
		require.NoError(t, err)
		require.Greater(t, n, last)
		last = n
	}
	w.hub.Close()
}

// TestOldEventsAreNotLogged delivers events that are older than the log keeps, alone and together, and those that are not.
func TestOldEventsAreNotLogged(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Millisecond)
	w := newWorldWith(t, limits.Lift(), func(o *realtime.Options) { o.Now = func() time.Time { return now } })
	logged := func() int { // numbers are not counted: a row of the outbox that is delivered again uses another one
		t.Helper()
		var list []eventlog.LoggedEvent
		reads := w.deps.Store.NewReadBatch()
		reads.Events(eventlog.EventSpan{Home: region.EU, To: 100, Limit: 100}, &list)
		require.NoError(t, reads.Run(t.Context()))
		return len(list)
	}
	for age, want := range map[time.Duration]int{events.Retention: 2, events.Retention + time.Millisecond: 0} {
		before := logged()
		for _, senders := range [][]string{{w.user.ID}, nil} {
			tx := w.deps.Store.NewTx(region.EU)
			c, at := w.deps.UserChange(w.user.ID), now.Add(-age)
			var row core.OutboxRow
			if senders == nil {
				row = events.EmitChange(tx, "user.updated", c, w.user.ID, at)
			} else {
				row = events.EmitChanges(tx, "user.updated", []events.Change{c}, senders, at)[0]
			}
			require.NoError(t, tx.Commit(t.Context()))
			w.deps.Outbox.Deliver(t.Context(), region.EU, row)
		}
		require.Equal(t, want, logged()-before, age)
	}
}

// TestEventsOfSeveralHomes logs an event for several homes in each of them, and one for a single home in that of its topic.
func TestEventsOfSeveralHomes(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, limits.Lift(), func(*realtime.Options) {})
	logged := func() map[region.Code]int {
		t.Helper()
		count := map[region.Code]int{}
		for _, home := range region.All() {
			var list []eventlog.LoggedEvent
			reads := w.deps.Store.NewReadBatch()
			reads.Events(eventlog.EventSpan{Home: home, To: 100, Limit: 100}, &list)
			require.NoError(t, reads.Run(t.Context()))
			if len(list) > 0 {
				count[home] = len(list)
			}
		}
		return count
	}
	emit := func(topic string, homes ...region.Code) {
		t.Helper()
		now := w.deps.Now()
		tx := w.deps.Store.NewTx(region.EU)
		e := eventlog.Event{Name: "user.updated", Topic: topic, Payload: []byte(`{}`), SentAt: now, Homes: homes}
		row := tx.EmitEvents("", []eventlog.Event{e}, now, now.Add(events.Grace))
		require.NoError(t, tx.Commit(t.Context()))
		w.deps.Outbox.Deliver(t.Context(), region.EU, row)
	}
	emit(region.NewID(region.EU), region.All()...)
	require.Equal(t, map[region.Code]int{region.US: 1, region.EU: 1, region.SG: 1}, logged())
	emit(region.NewID(region.SG), region.US, region.SG)
	require.Equal(t, map[region.Code]int{region.US: 2, region.EU: 1, region.SG: 2}, logged())
	emit(region.NewID(region.SG), region.EU)
	require.Equal(t, map[region.Code]int{region.US: 2, region.EU: 1, region.SG: 3}, logged(), "the home of the topic has changed since")
}
