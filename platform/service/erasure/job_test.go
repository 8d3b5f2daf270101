package erasure_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/erasure"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
)

// posts is the number of posts of the erased user, more than two pages.
const posts = 1100

// world is the database of a user who is being erased.
type world struct {
	*servicetest.World
	t    *testing.T
	user string
	rows int // that insert has inserted
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOf(t, posts)
}

func newWorldOf(t *testing.T, posts int) *world {
	t.Helper()
	w := &world{World: servicetest.NewWorld(t), t: t, user: region.NewID(region.EU)}
	w.fill(posts)
	return w
}

// fill stores posts of a user, and the erasure.
func (w *world) fill(posts int) {
	w.t.Helper()
	tx := w.Store.NewTx(region.EU)
	tx.InsertUser(people.User{ID: w.user, PublicID: "alice", DisplayName: "Alice"}, servicetest.Noon)
	for i := range posts {
		servicetest.InsertWallPost(tx, w.user, w.user, i)
	}
	tx.EraseUser(w.user, servicetest.Noon)
	tx.InsertErasure(lifecycle.Erasure{ID: w.user, PublicID: "alice"}, servicetest.Noon)
	require.NoError(w.t, tx.Commit(w.t.Context()))
}

func (w *world) erasure() lifecycle.Erasure {
	w.t.Helper()
	var e *lifecycle.Erasure
	reads := w.Store.NewReadBatch()
	reads.Erasure(w.user, &e)
	require.NoError(w.t, reads.Run(w.t.Context()))
	require.NotNil(w.t, e)
	return *e
}

// passed continues an erasure, if it must, until it has left a state. Each attempt waits for rows of the outbox, which are deleted a moment
// after they were delivered, so that the clock moves on after each.
func (w *world) passed(s *erasure.Service, state string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		if w.erasure().State != state {
			return true
		}
		w.Set(w.Deps.Now().Add(time.Minute))
		_, err := s.Continue(w.t.Context(), region.EU)
		require.NoError(w.t, err)
		return false
	}, 2*time.Minute, time.Millisecond)
}

// announce announces a running server.
func (w *world) announce(server network.Server) {
	w.t.Helper()
	tx := w.Store.NewTx(region.US)
	tx.AnnounceServer(server)
	require.NoError(w.t, tx.Commit(w.t.Context()))
}

// TestJob takes an erasure through both passes. A server is running that does not follow erasures.
func TestJob(t *testing.T) {
	w := newWorld(t)
	w.announce(network.Server{ID: "old", Capabilities: []string{network.CapabilityMoves, network.CapabilityMoveRoutes}})
	w.Exec(t, fmt.Sprintf(`INSERT INTO user_exports (home, id, public_id, requested_by, state, due_at, requested_at, updated_at)
		VALUES ('eu', '%s', 'alice', '', 'ready', now() + INTERVAL '7 days', now() - INTERVAL '1 hour', now())`, w.user))
	s := erasure.New(w.Deps)
	more, err := s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.True(t, more)
	w.passed(s, lifecycle.ErasureRunning)
	require.Equal(t, "0", w.Text(t, `SELECT count(*)::text FROM user_exports`))
	e := w.erasure()
	require.Equal(t, lifecycle.ErasureVerifying, e.State)
	require.JSONEq(t, fmt.Sprintf(`{"posts":%d}`, posts), string(e.Erased))
	more, err = s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.False(t, more, "the second pass waits for requests in progress")
	w.passed(s, lifecycle.ErasureVerifying)
	e = w.erasure()
	require.Equal(t, lifecycle.ErasureDone, e.State)
	require.Empty(t, e.PublicID)
	require.NotNil(t, e.FinishedAt)
	more, err = s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.False(t, more)
}

// TestServersFollow has a server that follows the erasure after a while. The second pass begins at once, not earlier, and the server
// learns about the end.
func TestServersFollow(t *testing.T) {
	w := newWorldOf(t, 3)
	w.Deps.Store = w.OpenWith(t, limits.Lift())
	ofServer := w.Open(t)
	reader := lifecycle.NewRouteReader(ofServer.Store, region.US)
	server := network.Server{ID: "running", Capabilities: []string{network.CapabilityErasures}}
	w.announce(server)
	read := func() { w.t.Helper(); require.NoError(t, reader.Read(t.Context())) }
	read()
	endRequest := ofServer.Routes().BeginRequest()
	ended := make(chan error, 1)
	go func() {
		_, err := erasure.New(w.Deps).Continue(t.Context(), region.EU)
		ended <- err
	}()
	require.Eventually(t, func() bool { return slices.Equal(region.All(), w.done()) }, time.Minute, time.Millisecond)
	require.Equal(t, lifecycle.ErasureRunning, w.erasure().State)
	require.False(t, ofServer.Routes().Erased(w.user))
	read()
	require.True(t, ofServer.Routes().Erased(w.user))
	require.Empty(t, ofServer.Routes().Followed(), "a request is in progress")
	endRequest()
	server.MoveRoutes = network.FollowedRoutes(ofServer.Routes().Followed())
	require.Len(t, server.MoveRoutes, 1)
	w.announce(server)
	require.NoError(t, <-ended)
	now := w.Deps.Now()
	for w.erasure().State != lifecycle.ErasureDone { // some attempts wait for the outbox
		w.Set(w.erasure().DueAt)
		_, err := erasure.New(w.Deps).Continue(t.Context(), region.EU)
		require.NoError(t, err)
	}
	require.Less(t, w.Deps.Now().Sub(now), time.Minute, "the time between the passes if servers do not follow")
	read()
	require.True(t, ofServer.Routes().Erased(w.user), "a while longer")
	require.False(t, ofServer.Routes().Unfinished())
}

// TestServerDoesNotFollow has a server that is running and does not follow the erasure: the second pass waits for as long as all
// requests take.
func TestServerDoesNotFollow(t *testing.T) {
	w := newWorldOf(t, 0)
	w.announce(network.Server{ID: "behind", Capabilities: []string{network.CapabilityErasures}})
	short := limits.Lift()
	short.FollowErasure = time.Millisecond
	w.Deps.Store = w.OpenWith(t, short)
	w.passed(erasure.New(w.Deps), lifecycle.ErasureRunning)
	require.Equal(t, 90*time.Second, w.erasure().DueAt.Sub(w.Deps.Now()))
}

// TestReleasesTheID erases a user whose public id was not released by the deletion, because a home did not answer.
func TestReleasesTheID(t *testing.T) {
	w := newWorldOf(t, 1)
	_, err := w.Deps.Directory.Claim(t.Context(), "alice", w.user)
	require.NoError(t, err)
	entries := "SELECT count(*)::text FROM directory"
	require.NotEqual(t, "0", w.Text(t, entries))
	s := erasure.New(w.Deps)
	w.passed(s, lifecycle.ErasureRunning)
	w.passed(s, lifecycle.ErasureVerifying)
	require.Equal(t, "0", w.Text(t, entries))
}

// TestJobResumes fails in the middle of the posts. The other homes are done, and the next attempt continues behind the last page, after
// a delay.
func TestJobResumes(t *testing.T) {
	w := newWorld(t)
	s := erasure.New(w.Deps)
	w.FailAt(600) // each post takes a read and a transaction
	_, err := s.Continue(t.Context(), region.EU)
	require.ErrorIs(t, err, servicetest.ErrLost)
	e := w.erasure()
	require.Equal(t, "tables eu", e.Step)
	require.EqualValues(t, 1, e.Attempts)
	more, err := s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.False(t, more, "not before the delay")
	w.passed(s, lifecycle.ErasureRunning)
	e = w.erasure()
	require.Equal(t, lifecycle.ErasureVerifying, e.State)
	require.Zero(t, e.Attempts)
}

// TestJobWaitsForOutboxes does not end while an outbox contains something about the user.
func TestJobWaitsForOutboxes(t *testing.T) {
	w := newWorld(t)
	s := erasure.New(w.Deps)
	tx := w.Store.NewTx(region.EU)
	row := tx.Emit("test", map[string]string{"userId": w.user}, servicetest.Noon, servicetest.Noon)
	require.NoError(t, tx.Commit(t.Context()))
	_, err := s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.Equal(t, lifecycle.ErasureRunning, w.erasure().State)
	require.Equal(t, servicetest.Noon.Add(time.Second), w.erasure().DueAt.UTC())
	require.NoError(t, w.Store.DeleteOutboxRows(t.Context(), region.EU, []core.OutboxRow{row}))
	w.passed(s, lifecycle.ErasureRunning)
	require.Equal(t, lifecycle.ErasureVerifying, w.erasure().State)
}

// TestJobOnSeveralServers runs the job four times concurrently: one server gets the lease, the others leave the erasure.
func TestJobOnSeveralServers(t *testing.T) {
	w := newWorld(t)
	var g sync.WaitGroup
	var errs [4]error
	for i := range errs {
		g.Go(func() {
			_, errs[i] = erasure.New(w.Deps).Continue(t.Context(), region.EU)
		})
	}
	g.Wait()
	require.NoError(t, errors.Join(errs[:]...))
	w.passed(erasure.New(w.Deps), lifecycle.ErasureRunning)
	e := w.erasure()
	require.Equal(t, lifecycle.ErasureVerifying, e.State)
	require.JSONEq(t, fmt.Sprintf(`{"posts":%d}`, posts), string(e.Erased))
}

// maxTrips bounds the round trips of an erasure of a user without content. Each pass reads and writes a few times in each of three
// homes: the lease, all tables and the progress; the events and the account, and the progress; the end. Each pass then looks into
// the outboxes, twice if the deletion of the user's archive was not delivered yet.
const maxTrips = 70

// TestRoundTrips bounds the round trips of an erasure of a user without content.
func TestRoundTrips(t *testing.T) {
	w := newWorldOf(t, 0)
	s := erasure.New(w.Deps)
	ctx, trips := db.CountRoundTrips(t.Context())
	for w.erasure().State != lifecycle.ErasureDone {
		require.Eventually(t, func() bool { return w.Text(t, `SELECT count(*)::text FROM outbox`) == "0" }, 2*time.Minute, time.Millisecond)
		w.Set(w.Deps.Now().Add(2 * time.Minute))
		_, err := s.Continue(ctx, region.EU)
		require.NoError(t, err)
	}
	require.LessOrEqual(t, trips.Load(), int64(maxTrips))
}

// done returns the homes in which the pass is done.
func (w *world) done() (homes []region.Code) {
	w.t.Helper()
	var progress map[region.Code]struct{ Done bool }
	require.NoError(w.t, json.Unmarshal(w.erasure().Homes, &progress))
	for _, home := range region.All() {
		if progress[home].Done {
			homes = append(homes, home)
		}
	}
	return homes
}

// TestHomesDoNotWait blocks one home with a lock, whichever it is. The others are done before the lock ends.
func TestHomesDoNotWait(t *testing.T) {
	for i, blocked := range region.All() {
		w := newWorldOf(t, 3)
		w.Exec(t,
			fmt.Sprintf(`INSERT INTO story_targets (home, target_type, target_id, target_public_id, last_expires_at, updated_at) VALUES ('%s', 'user', '%s', 'alice', now(), now())`, blocked, w.user))
		unlock := w.Lock(t, fmt.Sprintf(`SELECT 1 FROM story_targets WHERE home = '%s' AND target_id = '%s' FOR UPDATE`, blocked, w.user))
		others := slices.Delete(region.All(), i, i+1)
		ended := make(chan error, 1)
		go func() {
			_, err := erasure.New(w.Deps).Continue(t.Context(), region.EU)
			ended <- err
		}()
		require.Eventually(t, func() bool { return slices.Equal(others, w.done()) }, time.Minute, time.Millisecond)
		unlock()
		if err := <-ended; err != nil {
			t.Log(err) // the machine is so slow that the statement has given up
		}
		w.passed(erasure.New(w.Deps), lifecycle.ErasureRunning)
		require.Equal(t, lifecycle.ErasureVerifying, w.erasure().State)
	}
}

// TestHomeAway erases in two homes while the third one is away, which continues later. Nothing is done twice.
func TestHomeAway(t *testing.T) {
	w := newWorldOf(t, 3)
	away := erasure.New(w.Without(t, region.SG))
	for range 3 {
		_, err := away.Continue(t.Context(), region.EU)
		require.Error(t, err)
		e := w.erasure()
		require.Equal(t, []region.Code{region.US, region.EU}, w.done())
		require.Equal(t, lifecycle.ErasureRunning, e.State)
		require.Equal(t, "tables sg", e.Step)
		require.JSONEq(t, `{"posts":3}`, string(e.Erased))
		more, err := away.Continue(t.Context(), region.EU)
		require.NoError(t, err)
		require.False(t, more, "not before the delay")
		w.Set(e.DueAt)
	}
	require.EqualValues(t, 3, w.erasure().Attempts)
	w.passed(erasure.New(w.Deps), lifecycle.ErasureRunning)
	e := w.erasure()
	require.Equal(t, lifecycle.ErasureVerifying, e.State)
	require.JSONEq(t, `{"posts":3}`, string(e.Erased))
	require.Zero(t, e.Attempts)
}

// TestSecondPassRepeats inserts a follow after the first pass, as a request that began before the erasure does. The second pass ends it
// when it was at the home of the followed user already, and is repeated, because the copy of the follow there has changed since.
func TestSecondPassRepeats(t *testing.T) {
	w := newWorldOf(t, 0)
	other := region.NewID(region.SG)
	service.HandleOutbox(w.Deps, people.TopicFollow, func(ctx context.Context, f people.Follow) error {
		tx := w.Store.NewTx(region.SG)
		tx.MirrorFollow(f)
		return tx.Commit(ctx)
	})
	s := erasure.New(w.Deps)
	w.passed(s, lifecycle.ErasureRunning)
	tx := w.Store.NewTx(region.EU)
	follow := people.Follow{
		FollowerID: w.user, FolloweeID: other, Status: people.FollowAccepted, CreatedAt: servicetest.Noon,
		UpdatedAt: servicetest.Noon,
	}
	tx.ChangeFollow(people.FollowChange{New: follow}, servicetest.Noon, servicetest.Noon)
	require.NoError(t, tx.Commit(t.Context()))
	w.Exec(t, `DELETE FROM outbox`)
	w.Exec(t, `UPDATE erasures SET homes = '{"sg": {"done": true, "pass": "verifying", "dueAt": "2026-01-01T00:00:00Z"}}'`)
	w.passed(s, lifecycle.ErasureVerifying)
	require.Equal(t, lifecycle.ErasureDone, w.erasure().State)
	require.Equal(t, "0 0", w.Text(t, `SELECT (SELECT count(*) FROM follows) || ' ' || (SELECT count(*) FROM followers)`))
}

// TestOthersDoNotWait has an erasure that is done in all homes find that one of them is away, so that it cannot ask its outbox. It is
// postponed, and the next erasure is taken.
func TestOthersDoNotWait(t *testing.T) {
	w := newWorldOf(t, 0)
	other := region.NewID(region.EU)
	tx := w.Store.NewTx(region.EU)
	tx.InsertErasure(lifecycle.Erasure{ID: other, PublicID: "bob"}, servicetest.Noon.Add(time.Second))
	require.NoError(t, tx.Commit(t.Context()))
	done := `{"done": true, "pass": "running", "dueAt": "2026-01-01T00:00:00Z"}`
	w.Exec(t, fmt.Sprintf(`UPDATE erasures SET homes = '{"sg": %s, "eu": %s, "us": %s}' WHERE id = '%s'`, done, done, done, w.user))
	w.Set(servicetest.Noon.Add(time.Hour))
	away := erasure.New(w.Without(t, region.SG))
	_, err := away.Continue(t.Context(), region.EU)
	require.Error(t, err)
	e := w.erasure()
	require.EqualValues(t, 1, e.Attempts)
	require.True(t, e.DueAt.After(w.Deps.Now()))
	_, err = away.Continue(t.Context(), region.EU)
	require.Error(t, err, "sg is away")
	require.Equal(t, "eu true, us true", w.Text(t,
		`SELECT 'eu ' || (homes->'eu'->>'done') || ', us ' || (homes->'us'->>'done') FROM erasures WHERE id = '`+other+`'`))
	w.Exec(t, `DELETE FROM erasures WHERE id = '`+other+`'`)
	w.Set(e.DueAt)
	_, err = away.Continue(t.Context(), region.EU)
	require.Error(t, err)
	require.EqualValues(t, 2, w.erasure().Attempts, "each attempt waits for longer")
}

// TestPagesKeepTheirLease processes a page that takes longer than the lease, on a clock that every reading advances. No other server
// may take over.
func TestPagesKeepTheirLease(t *testing.T) {
	w := newWorldOf(t, 100)
	var mu sync.Mutex
	var leased, lost bool
	clock := w.Deps.Now
	w.Deps.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now := clock().Add(time.Second)
		w.Set(now)
		free := now.After(w.erasure().DueAt)
		leased, lost = leased || !free, lost || leased && free
		return now
	}
	_, err := erasure.New(w.Deps).Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.Greater(t, clock().Sub(servicetest.Noon), 2*time.Minute, "the page takes longer than the lease of a minute")
	require.True(t, leased)
	require.False(t, lost)
}

// TestTablesShareAPage has rows of two tables that are together more than a page: those of the second table are erased afterwards.
func TestTablesShareAPage(t *testing.T) {
	w := newWorldOf(t, 0)
	const rows = 300
	for _, table := range []string{"flags", "cleared_flags"} {
		w.Exec(t, fmt.Sprintf(`INSERT INTO %s (home, target_id, user_id, target_type, reason, detail, created_at, id)
			SELECT 'eu', n::text, '%s', 'post', 'Others', 'secret', now(), '01' || lpad(n::text, 22, '0') FROM generate_series(1, %d) AS n`, table,
			w.user, rows))
	}
	w.passed(erasure.New(w.Deps), lifecycle.ErasureRunning)
	require.JSONEq(t, fmt.Sprintf(`{"flags":%d,"cleared_flags":%d}`, rows, rows), string(w.erasure().Erased))
	require.Equal(t, "0",
		w.Text(t, `SELECT ((SELECT count(*) FROM flags WHERE detail <> '') + (SELECT count(*) FROM cleared_flags WHERE detail <> ''))::text`))
}

// TestEventsAreErased logs more events about the user than are deleted at a time, with the user in each of the columns, among others.
// The event about the erasure stays until the second pass, because servers may not have read it yet.
func TestEventsAreErased(t *testing.T) {
	w := newWorldOf(t, 0)
	other := region.NewID(region.US)
	var logged []eventlog.Event
	for i := range 1200 {
		e := eventlog.Event{
			ID: region.NewID(region.SG), Name: "post.created", Topic: other, SenderID: other, Payload: json.RawMessage(`{}`),
			SentAt: servicetest.Noon,
		}
		switch i % 4 {
		case 0:
			e.Topic = w.user
		case 1:
			e.SenderID = w.user
		case 2:
			e.Payload = json.RawMessage(`{"users":["` + w.user + `"]}`)
		}
		logged = append(logged, e)
	}
	logged = append(logged, eventlog.Event{
		ID: region.NewID(region.SG), Name: events.UserDeleted, Topic: w.user, Payload: json.RawMessage(`{}`), SentAt: servicetest.Noon,
	})
	tx := w.Store.NewTx(region.SG)
	tx.InsertEvents(logged, servicetest.Noon)
	require.NoError(t, tx.Commit(t.Context()))
	left := func() string {
		t.Helper()
		return w.Text(t,
			`SELECT string_agg(n, ' ' ORDER BY n) FROM (SELECT name || ' ' || count(*) AS n FROM realtime_events GROUP BY name) AS counts`)
	}
	s := erasure.New(w.Deps)
	w.passed(s, lifecycle.ErasureRunning)
	require.Equal(t, "post.created 300 "+events.UserDeleted+" 1", left())
	w.passed(s, lifecycle.ErasureVerifying)
	require.Equal(t, "post.created 300", left())
}

// TestDueWithTheFirstHome has two homes wait for different times: the erasure is due when the first of them is.
func TestDueWithTheFirstHome(t *testing.T) {
	w := newWorldOf(t, 0)
	wait := func(hours int) string {
		return fmt.Sprintf(`{"pass": "running", "attempts": %d, "dueAt": %q}`, hours,
			servicetest.Noon.Add(time.Duration(hours)*time.Hour).Format(time.RFC3339))
	}
	w.Exec(t,
		fmt.Sprintf(`UPDATE erasures SET homes = '{"eu": {"done": true, "pass": "running", "dueAt": "2026-01-01T00:00:00Z"}, "us": %s, "sg": %s}'`, wait(2), wait(1)))
	_, err := erasure.New(w.Deps).Continue(t.Context(), region.EU)
	require.NoError(t, err)
	e := w.erasure()
	require.Equal(t, servicetest.Noon.Add(time.Hour), e.DueAt.UTC())
	require.EqualValues(t, 2, e.Attempts)
	require.Equal(t, "tables us, tables sg", e.Step)
}
