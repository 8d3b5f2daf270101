package move_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/move"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

const (
	// posts is the number of posts on the wall of the user who moves.
	posts  = 930
	settle = 10 * time.Second
)

// TestServersThatDoNotFollow checks that a move waits until every running server follows moves, and that one which starts while
// the user cannot write ends the move. Servers that stopped do not count.
func TestServersThatDoNotFollow(t *testing.T) {
	w := newWorld(t)
	w.allowInterruption()
	s := w.service(0)
	w.announce(region.SG, "current", "other", network.CapabilityMoves)
	w.announce(region.US, "stopped")
	w.Exec(t, `UPDATE servers SET seen_at = now() - INTERVAL '61 seconds'`)
	w.announce(region.SG, "current", network.CapabilityMoves)
	w.announce(region.US, "running")
	w.Set(w.now().Add(settle))
	_, err := s.Continue(t.Context(), region.EU)
	require.ErrorIs(t, err, fail.Conflict())
	require.Contains(t, fail.From(err).Details[0], "the server running of version \"old\"")
	require.Equal(t, db.MoveCollecting, w.move().State)

	tx := w.Store.NewTx(region.US)
	tx.WithdrawServer("running")
	require.NoError(t, tx.Commit(t.Context()))
	require.Equal(t, db.MoveAnnounced, w.advance(s))
	require.Equal(t, db.MoveFrozen, w.advance(s))
	require.Error(t, w.write(w.user))
	w.announce(region.US, "running")
	require.Equal(t, db.MoveCancelled, w.advance(s))
	require.NoError(t, w.write(w.user))
	require.Equal(t, posts+3, w.rowsAt(region.EU))
	require.Zero(t, w.rowsAt(region.SG))

	tx = w.Store.NewTx(region.US)
	tx.WithdrawServer("running")
	require.NoError(t, tx.Commit(t.Context()))
	_, err = w.Deps.Directory.ClaimAll(t.Context(), map[string]string{"alice": w.user})
	require.NoError(t, err)
	request := &plazav1.MoveUserRequest{UserId: "alice", Region: "sg"}
	_, err = s.MoveUser(auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.Admin, Home: region.EU}), request)
	require.NoError(t, err, "a user whose move was cancelled can be moved")
	m := w.move()
	require.Equal(t, []any{db.MoveCollecting, "", "", "{}", int64(0), false},
		[]any{m.State, m.Reason, m.Step, string(m.Moved), m.IDs, m.AllowInterruption})
	require.Nil(t, m.FinishedAt)
	require.Equal(t, w.now(), m.RequestedAt.UTC())
}

// TestStates takes a move through its states, and checks what a server refuses in each of them: nothing if all rows move at once,
// although there is a server that is only allowed to write while it is announced.
func TestStates(t *testing.T) {
	type state struct {
		name        db.MoveState
		read, write bool // refused
	}
	for name, tc := range map[string]struct {
		capabilities []string
		states       []state
	}{
		"at once": {
			[]string{network.CapabilityMoves, network.CapabilityMoveRoutes},
			[]state{{db.MoveAnnounced, false, false}, {lifecycle.MoveCleaning, false, false}, {db.MoveDone, false, false}},
		},
		"while a server of an earlier version runs": {[]string{network.CapabilityMoves}, []state{
			{db.MoveAnnounced, false, false},
			{db.MoveFrozen, false, true},
			{db.MoveMoving, true, true},
			{lifecycle.MoveCleaning, false, false},
			{db.MoveDone, false, false},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.allowInterruption()
			defer w.run(tc.capabilities...)()
			s := w.service(0)
			requireRefused(t, w.read(w.user), false)
			for _, state := range tc.states {
				require.Equal(t, state.name, w.advance(s))
				requireRefused(t, w.read(w.user), state.read)
				requireRefused(t, w.read(w.user, region.NewID(region.EU)), state.read)
				if state.write {
					requireRefused(t, w.write(w.user), true)
				}
				requireRefused(t, w.write(region.NewID(region.EU)), false)
			}
			w.requireMoved()
			require.Contains(t, string(w.move().Moved), `"posts": 930`)
			more, err := s.Continue(t.Context(), region.EU)
			require.NoError(t, err)
			require.False(t, more)
		})
	}
}

func requireRefused(t *testing.T, err error, refused bool) {
	t.Helper()
	if !refused {
		require.NoError(t, err)
		return
	}
	failed, ok := errors.AsType[*fail.Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, fail.Unavailable("", nil).Kind, failed.Kind)
	require.Positive(t, failed.RetryAfter)
	require.True(t, failed.Planned, "not a fault for the log")
}

// TestServerBehind checks that users can write again after an attempt for which a server did not follow in time, that the job
// tries again, and that the rows then move as they do without its help.
func TestServerBehind(t *testing.T) {
	w := newWorld(t)
	w.allowInterruption()
	within := limits.Lift()
	within.FollowMove = 50 * time.Millisecond // whatever ends then, the server is still behind
	s := w.serviceWithin(0, within)
	w.announce(region.US, "behind", network.CapabilityMoves, network.CapabilityMoveRoutes)
	require.Equal(t, db.MoveAnnounced, w.advance(s))
	written := 0
	for w.move().State == db.MoveAnnounced {
		require.NoError(t, w.write(w.user))
		written++
		w.Set(w.now().Add(10 * time.Minute))
		_, _ = s.Continue(t.Context(), region.EU) // fails because of the server, or of the database if that is slow
		w.follow()
	}
	require.GreaterOrEqual(t, written, 6, "five attempts, and the one that gives up")
	require.Equal(t, db.MoveFrozen, w.move().State)
	require.Equal(t, db.MoveMoving, w.advance(s))
	require.Equal(t, lifecycle.MoveCleaning, w.advance(s))
	require.Equal(t, posts+2+written, w.rowsAt(region.SG))
	require.Zero(t, w.rowsAt(region.EU))
}

// TestRowsThatDoNotMoveAtOnce checks that the rows move a page at a time if they do not move within the limit.
func TestRowsThatDoNotMoveAtOnce(t *testing.T) {
	w := newWorld(t)
	within := limits.Lift()
	within.MoveAtOnce = time.Nanosecond
	s := w.serviceWithin(0, within)
	require.Equal(t, db.MoveAnnounced, w.advance(s))
	require.Equal(t, db.MoveMoving, w.advance(s))
	requireRefused(t, w.read(w.user), true)
	require.Equal(t, lifecycle.MoveCleaning, w.advance(s))
	w.requireMoved()
}

// TestMoveWithoutInterruption checks that a move which allows no interruption is cancelled if its rows cannot move at once, and that the
// user can write after every attempt.
func TestMoveWithoutInterruption(t *testing.T) {
	behind := limits.Lift()
	behind.FollowMove = 50 * time.Millisecond
	for name, tc := range map[string]struct {
		within   limits.Limits
		prepare  func(*world)
		attempts int // that end before the one which gives up
		reason   string
	}{
		"a server behind": {behind, func(w *world) {
			w.announce(region.US, "behind", network.CapabilityMoves, network.CapabilityMoveRoutes)
		}, 5, "5 attempts failed, because a server or a region did not answer in time"},
		"an earlier version": {limits.Lift(), func(w *world) {
			w.announce(region.US, "earlier", network.CapabilityMoves)
		}, 0, "a server of an earlier version is running"},
		"too many ids": {limits.Lift(), func(w *world) { w.addIDs(3001 - (posts + 2)) }, 0, "more than 3000 ids move with the user"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.serviceWithin(0, tc.within)
			require.Equal(t, db.MoveAnnounced, w.advance(s))
			tc.prepare(w)
			for range tc.attempts {
				w.Set(w.now().Add(10 * time.Minute))
				_, err := s.Continue(t.Context(), region.EU)
				require.ErrorIs(t, err, fail.Unavailable("", nil))
				w.follow()
				require.Equal(t, db.MoveAnnounced, w.move().State)
				require.NoError(t, w.write(w.user))
			}
			w.Set(w.now().Add(10 * time.Minute))
			require.Equal(t, db.MoveCancelled, w.advance(s))
			require.Contains(t, w.move().Reason, "the rows cannot move at once: "+tc.reason+"; a move with allowInterruption")
			require.NoError(t, w.write(w.user))
			require.Equal(t, posts+3+tc.attempts, w.rowsAt(region.EU))
			require.Zero(t, w.rowsAt(region.SG))
		})
	}
}

// TestMaxIDsAtOnce moves a user with as many ids as move at once. With one more, the rows move a page at a time if the move allows an
// interruption. Otherwise it is cancelled before servers learn the ids.
func TestMaxIDsAtOnce(t *testing.T) {
	for _, tc := range []struct {
		ids          int
		interruption bool
		states       []db.MoveState
	}{
		{3000, false, []db.MoveState{db.MoveAnnounced, lifecycle.MoveCleaning}},
		{3001, false, []db.MoveState{db.MoveCancelled}},
		{3001, true, []db.MoveState{db.MoveAnnounced, db.MoveMoving, lifecycle.MoveCleaning}},
	} {
		w := newWorld(t)
		if tc.interruption {
			w.allowInterruption()
		}
		w.addIDs(tc.ids - (posts + 2))
		s := w.service(0)
		for _, state := range tc.states {
			require.Equal(t, state, w.advance(s))
		}
		require.NoError(t, w.write(w.user))
	}
}

// TestStatesOfEarlierVersions continues moves that servers of earlier versions have begun: they moved the rows of one table after
// the other.
func TestStatesOfEarlierVersions(t *testing.T) {
	for _, step := range []string{"posts eu", "counters eu"} {
		w := newWorld(t)
		w.allowInterruption()
		stop := w.run(network.CapabilityMoves)
		s := w.service(0)
		for _, state := range []db.MoveState{db.MoveAnnounced, db.MoveFrozen, db.MoveMoving} {
			require.Equal(t, state, w.advance(s))
		}
		stop()
		w.Exec(t, `UPDATE user_moves SET position = '{f}', step = '`+step+`'`)
		require.Equal(t, lifecycle.MoveCleaning, w.advance(s))
		w.requireMoved()
	}
}

// TestServerStopsWhileRequestsWait checks that the next server lets users write before it prepares another attempt.
func TestServerStopsWhileRequestsWait(t *testing.T) {
	w := newWorld(t)
	s := w.service(0)
	require.Equal(t, db.MoveAnnounced, w.advance(s))
	for _, home := range region.All() {
		tx := w.Store.NewTx(home)
		tx.SetRoute(db.Route{UserID: w.user, Home: region.EU, To: region.SG, State: db.MoveMoving, Version: w.move().Version}, posts+2)
		require.NoError(t, tx.Commit(t.Context()))
	}
	w.follow()
	requireRefused(t, w.read(w.user), true)
	require.Equal(t, lifecycle.MoveCleaning, w.advance(s))
	w.requireMoved()
}

// TestFilesBeforeTheMove adds files while the move is prepared: none moves before its bytes were copied.
func TestFilesBeforeTheMove(t *testing.T) {
	w := newWorld(t)
	s := w.service(0)
	require.Equal(t, db.MoveAnnounced, w.advance(s))
	added := w.addFile()
	require.Equal(t, lifecycle.MoveCleaning, w.advance(s))
	for _, id := range []string{w.file, added} {
		content, err := w.storage.Open(t.Context(), id, storage.PartFull)
		require.NoError(t, err)
		require.NoError(t, content.Close())
	}
}

// TestFileOfAStatementInProgress inserts a file while the servers follow the move: the attempt ends, and the next one copies its bytes.
func TestFileOfAStatementInProgress(t *testing.T) {
	w := newWorld(t)
	s := w.service(0)
	require.Equal(t, db.MoveAnnounced, w.advance(s))
	file, inserted := region.NewID(region.EU), make(chan error, 1)
	insert := sync.OnceFunc(func() { inserted <- w.insertFile(file) }) // by a server that does not know of the move yet
	defer w.runWith(func(followed db.Followed, routes *db.Routes) {
		if route, _ := routes.Route(w.user); route.State == db.MoveMoving && len(followed) > 0 {
			insert()
		}
	}, network.CapabilityMoves, network.CapabilityMoveRoutes)()
	w.Set(w.now().Add(settle))
	_, err := s.Continue(t.Context(), region.EU)
	require.ErrorIs(t, err, fail.Unavailable("the user cannot be moved at once", nil))
	require.NoError(t, <-inserted)
	require.Equal(t, db.MoveAnnounced, w.move().State)
	require.Equal(t, lifecycle.MoveCleaning, w.advance(s))
	for w.move().State != db.MoveDone {
		w.advance(s)
	}
	content, err := w.storage.Open(t.Context(), file, storage.PartFull)
	require.NoError(t, err)
	require.NoError(t, content.Close())
}

// TestWaits checks that no state is processed before servers know it.
func TestWaits(t *testing.T) {
	w := newWorld(t)
	w.allowInterruption()
	defer w.run(network.CapabilityMoves)()
	s := w.service(0)
	require.Equal(t, db.MoveAnnounced, w.advance(s))
	require.Equal(t, w.now().Add(2*time.Second), w.move().DueAt.UTC(), "nothing is refused yet")
	for _, state := range []db.MoveState{db.MoveFrozen, db.MoveMoving, lifecycle.MoveCleaning} {
		require.Equal(t, state, w.advance(s))
		w.Set(w.now().Add(settle - time.Millisecond))
		more, err := s.Continue(t.Context(), region.EU)
		require.NoError(t, err)
		require.False(t, more)
	}
}

// TestNewIDs inserts posts after the ids were collected, but before a server knew that it must not.
func TestNewIDs(t *testing.T) {
	w := newWorld(t)
	w.allowInterruption()
	defer w.run(network.CapabilityMoves)()
	s := w.service(0)
	w.Set(w.now().Add(settle))
	_, err := s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.NoError(t, w.write(w.user))
	require.Equal(t, db.MoveAnnounced, w.move().State)
	w.Set(w.now().Add(settle))
	_, err = s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.NoError(t, w.write(w.user))
	require.Equal(t, db.MoveFrozen, w.advance(s), "servers must learn the new id first")
	require.Equal(t, db.MoveMoving, w.advance(s))
	for w.move().State != db.MoveDone {
		w.advance(s)
	}
	require.Zero(t, w.rowsAt(region.EU))
	require.Equal(t, posts+4, w.rowsAt(region.SG))
}

// TestNewIDsAtOnce inserts a post that no server knows when it begins to refuse statements: the move waits until they do.
func TestNewIDsAtOnce(t *testing.T) {
	w := newWorld(t)
	s := w.service(0)
	require.Equal(t, db.MoveAnnounced, w.advance(s))
	require.NoError(t, w.write(w.user))
	require.Equal(t, lifecycle.MoveCleaning, w.advance(s))
	require.Zero(t, w.rowsAt(region.EU))
	require.Equal(t, posts+3, w.rowsAt(region.SG))
	require.EqualValues(t, posts+3, w.move().IDs)
}

// TestManyRowsOfOneID moves more rows of one id than a statement does, at once and a page at a time, and the marks of more readers of the
// user's stories than are read at a time. A mark that is newer at the new home stays.
func TestManyRowsOfOneID(t *testing.T) {
	for name, within := range map[string]time.Duration{"at once": limits.Lift().MoveAtOnce, "a page at a time": time.Nanosecond} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Exec(t, `INSERT INTO reactions (home, reference_id, user_id, name, id, reference_type, user_public_id, created_at)
				SELECT home, id, n::text, 'like', n::text, 'post', n::text, now() FROM (SELECT home, id FROM posts ORDER BY id LIMIT 1) AS p, generate_series(1, 1001) AS n`)
			w.Exec(t,
				fmt.Sprintf(`INSERT INTO blocks (home, blocker_id, blocked_id, blocker_public_id, blocked_public_id, status, version, created_at, updated_at)
				SELECT 'eu', '%s', n::text, 'alice', n::text, 'blocked', 1, now(), now() FROM generate_series(1, 101) AS n`, w.user))
			w.Exec(t, fmt.Sprintf(`INSERT INTO story_seen (home, user_id, target_id, seen_expires_at)
				SELECT 'eu', lpad(n::text, 6, '0'), CASE WHEN n %% 2 = 0 THEN '%s' ELSE 'another' END, '2026-11-20 12:00:00Z' FROM generate_series(1, 1202) AS n`, w.user))
			w.Exec(t, fmt.Sprintf(`INSERT INTO story_seen (home, user_id, target_id, seen_expires_at) VALUES
				('sg', '000002', '%[1]s', '2026-11-20 13:00:00Z'), ('sg', '000004', '%[1]s', '2026-11-20 11:00:00Z')`, w.user))
			bounds := limits.Lift()
			bounds.MoveAtOnce = within
			s := w.serviceWithin(0, bounds)
			for w.move().State != db.MoveDone {
				w.advance(s)
			}
			w.requireMoved()
			for table, want := range map[string]string{"reactions": "sg 1001", "blocks": "sg 101", "story_seen": "eu 601, sg 601"} {
				require.Equal(t, want, w.Text(t, `SELECT string_agg(home || ' ' || n, ', ' ORDER BY home) FROM (SELECT home, count(*) AS n FROM `+
					table+` GROUP BY home) AS counts`), table)
			}
			require.Equal(t, "13 12 12",
				w.Text(t, `SELECT string_agg(extract(hour FROM seen_expires_at AT TIME ZONE 'UTC')::text, ' ' ORDER BY user_id)
				FROM story_seen WHERE user_id IN ('000002', '000004', '000006')`))
			for _, moved := range []string{`"posts": 930`, `"reactions": 1001`, `"blocks": 101`, `"story_seen": 601`} {
				require.Contains(t, string(w.move().Moved), moved)
			}
			require.NotEqual(t, "0", w.Text(t, fmt.Sprintf(`SELECT count(*)::text FROM directory WHERE home = 'sg' AND user_id = '%s'`, w.user)),
				"the new home knows the public id")
		})
	}
}

// TestLostConnections loses the connection in every attempt, at the first transaction, the second one, up to the nth one. Only a move
// that allows no interruption can end without a result.
func TestLostConnections(t *testing.T) {
	for _, n := range []int64{9, 13, 53} {
		for _, interruption := range []bool{true, false} {
			w := newWorld(t)
			if interruption {
				w.allowInterruption()
			}
			s := w.service(0)
			for attempt := range int64(1000) {
				w.FailAt(1 + attempt%n)
				_, _ = s.Continue(t.Context(), region.EU)
				w.FailAt(-1)
				w.follow()
				if w.move().State == db.MoveDone || w.move().State == db.MoveCancelled {
					break
				}
				w.Set(w.now().Add(10 * time.Minute))
			}
			if m := w.move(); m.State == db.MoveDone || interruption {
				require.Equal(t, db.MoveDone, m.State, "%s: connections lost at up to %d transactions", m.Step, n)
				w.requireMoved()
				continue
			}
			require.Contains(t, w.move().Reason, "5 attempts failed, because a server or a region did not answer in time")
			require.Equal(t, posts+2, w.rowsAt(region.EU))
			require.NoError(t, w.write(w.user))
		}
	}
}

// TestServersKilled stops the server in the middle of each state, again and again; another one continues.
func TestServersKilled(t *testing.T) {
	w := newWorld(t)
	for i := range 500 {
		ctx, kill := context.WithTimeout(t.Context(), time.Duration(5+i)*time.Millisecond)
		_, _ = w.service(0).Continue(ctx, region.EU)
		kill()
		w.follow()
		if w.move().State == db.MoveDone {
			break
		}
		w.Set(w.now().Add(10 * time.Minute))
	}
	require.Equal(t, db.MoveDone, w.move().State)
	w.requireMoved()
}

// TestSeveralServers runs the job on four servers concurrently.
func TestSeveralServers(t *testing.T) {
	w := newWorld(t)
	for w.move().State != db.MoveDone {
		var g sync.WaitGroup
		var errs [4]error
		for i := range errs {
			g.Go(func() { _, errs[i] = w.service(0).Continue(t.Context(), region.EU) })
		}
		g.Wait()
		require.NoError(t, errors.Join(errs[:]...))
		w.follow()
		w.Set(w.now().Add(settle))
	}
	w.requireMoved()
}

// TestTooManyIDs checks the limit of moved ids, and one past it. Those of others count, and at the limit no move begins.
func TestTooManyIDs(t *testing.T) {
	w := newWorld(t)
	w.Exec(t, fmt.Sprintf(`INSERT INTO user_homes (home, user_id, from_home, to_home, state, ids, version, seq)
		SELECT home, '%s', 'us', 'sg', 'done', 10, 1, 1 FROM (VALUES ('us'), ('eu'), ('sg')) AS homes (home)`, region.NewID(region.US)))
	admin, request := w.requestForBob()
	_, err := w.service(10).MoveUser(admin, request)
	require.ErrorIs(t, err, fail.Conflict())
	_, err = w.service(11).MoveUser(admin, request)
	require.NoError(t, err)
	w.Exec(t, `DELETE FROM user_moves WHERE id = (SELECT id FROM users WHERE public_id = 'bob')`)
	require.Equal(t, db.MoveCancelled, w.advance(w.service(posts+11)))
	require.Equal(t, "the network would have too many moved ids", w.move().Reason)
	for limit, want := range map[int64]db.MoveState{posts + 2: db.MoveAnnounced, posts + 1: db.MoveCancelled} {
		w = newWorld(t)
		require.Equal(t, want, w.advance(w.service(limit)))
		require.NoError(t, w.read(w.user))
	}
}

// TestMoveWithoutStorage moves a user of a network without storage, which needs none at the new home either.
func TestMoveWithoutStorage(t *testing.T) {
	w := newWorld(t)
	admin, request := w.requestForBob()
	atOldHome, err := storage.Open(t.Context(), map[region.Code]string{region.EU: "file://" + t.TempDir()})
	require.NoError(t, err)
	for _, c := range []struct {
		files *storage.Storage
		want  error
	}{{atOldHome, fail.Conflict()}, {&storage.Storage{}, nil}} {
		s := move.New(w.Deps, move.Options{Storage: c.files, Settle: settle, Limits: limits.Lift()})
		_, err = s.MoveUser(admin, request)
		require.ErrorIs(t, err, c.want)
	}
}

// TestUserDeleted cancels the move of a user who is erased while the ids are collected. The rows can be written again.
func TestUserDeleted(t *testing.T) {
	w := newWorld(t)
	s := w.service(0)
	tx := w.Store.NewTx(region.EU)
	tx.EraseUser(w.user, servicetest.Noon)
	require.NoError(t, tx.Commit(t.Context()))
	require.Equal(t, db.MoveAnnounced, w.advance(s))
	require.Equal(t, db.MoveCancelled, w.advance(s))
	require.NoError(t, w.write(w.user))
	home, err := w.Store.HomeOf(w.user)
	require.NoError(t, err)
	require.Equal(t, region.EU, home)
}

// TestObjectsRemoved checks that no copy of a file remains in the old storage.
func TestObjectsRemoved(t *testing.T) {
	w := newWorld(t)
	s := w.service(0)
	for w.move().State != db.MoveDone {
		w.advance(s)
	}
	w.storage.SetHomeOf(func(string) (region.Code, error) { return region.EU, nil })
	_, err := w.storage.Open(t.Context(), w.file, storage.PartFull)
	require.ErrorIs(t, err, storage.ErrNotFound)
}
