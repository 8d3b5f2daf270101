package move_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/move"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

const (
	// posts is the number of posts on the wall of the user who moves.
	posts  = 230
	settle = 10 * time.Second
)

// world is the database of a user who is moved from eu to sg, with a storage for each home.
type world struct {
	*servicetest.World
	t       *testing.T
	user    string
	file    string
	storage *storage.Storage
	routes  *store.RouteReader
}

func newWorld(t *testing.T) *world {
	t.Helper()
	urls := map[region.Code]string{}
	for _, home := range region.All() {
		urls[home] = "file://" + t.TempDir()
	}
	objects, err := storage.Open(t.Context(), urls)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, objects.Close()) })
	w := &world{servicetest.NewWorld(t), t, region.NewID(region.EU), region.NewID(region.EU), objects, nil}
	w.routes = w.Store.NewRouteReader(region.EU)
	objects.SetHomeOf(w.Store.HomeOf)
	w.follow()
	w.fill()
	return w
}

// follow reads the routes, as a server does every second.
func (w *world) follow() {
	w.t.Helper()
	require.NoError(w.t, w.routes.Read(w.t.Context()))
}

func (w *world) fill() {
	w.t.Helper()
	_, err := w.storage.Write(w.t.Context(), w.file, storage.PartFull, strings.NewReader("content"))
	require.NoError(w.t, err)
	tx := w.Store.NewTx(region.EU)
	tx.InsertUser(store.User{ID: w.user, PublicID: "alice", DisplayName: "Alice"}, servicetest.Noon)
	for i := range posts {
		servicetest.InsertWallPost(tx, w.user, w.user, i)
	}
	tx.InsertUpload(w.file, servicetest.Noon.Add(time.Hour), servicetest.Noon)
	tx.InsertFile(store.File{
		ID: w.file, OwnerID: w.user, OwnerPublicID: "alice", Type: "file", AccessType: "public", Exif: []byte("{}"), GPS: []byte("{}"),
		CreatedAt: servicetest.Noon, UpdatedAt: servicetest.Noon,
	}, nil)
	require.NoError(w.t, tx.Commit(w.t.Context()))
	var m *store.UserMove
	tx = w.Store.NewMoveTx(w.user)
	tx.StartUserMove(store.UserMove{ID: w.user, FromHome: region.EU, ToHome: region.SG}, servicetest.Noon, &m)
	require.NoError(w.t, tx.Commit(w.t.Context()))
}

func (w *world) service(maxIDs int64) *move.Service {
	w.t.Helper()
	s, err := move.New(w.Deps, move.Options{Storage: w.storage, Settle: settle, MaxIDs: maxIDs})
	require.NoError(w.t, err)
	return s
}

func (w *world) move() store.UserMove {
	w.t.Helper()
	var m *store.UserMove
	reads := w.Store.NewReadBatch()
	reads.UserMove(w.user, &m)
	require.NoError(w.t, reads.Run(db.WithMover(w.t.Context())))
	require.NotNil(w.t, m)
	return *m
}

// now returns the time of the world.
func (w *world) now() time.Time { return w.Deps.Now() }

// advance continues the move until its state changes, and lets a server follow it.
func (w *world) advance(s *move.Service) db.MoveState {
	w.t.Helper()
	w.Set(w.now().Add(settle))
	_, err := s.Continue(w.t.Context(), region.EU)
	require.NoError(w.t, err)
	w.follow()
	return w.move().State
}

// rowsAt returns the number of rows of the user at a home: the user, the posts and the files.
func (w *world) rowsAt(home region.Code) int {
	w.t.Helper()
	var users []store.User
	var rows []store.MoveRow
	n := 0
	for _, source := range store.MoveSources {
		var page []store.MoveRow
		reads := w.Store.NewReadBatch()
		reads.MoveRows(source, home, w.user, nil, 1000, &page)
		require.NoError(w.t, reads.Run(db.WithMover(w.t.Context())))
		rows = append(rows, page...)
	}
	for _, row := range rows {
		n += len(row.IDs)
	}
	tx := w.Store.NewTx(home)
	tx.SelectUser(w.user, &users)
	require.NoError(w.t, tx.Commit(db.WithMover(w.t.Context())))
	return n + len(users)
}

// requireMoved checks that everything is at the new home, once.
func (w *world) requireMoved() {
	w.t.Helper()
	w.follow()
	require.Zero(w.t, w.rowsAt(region.EU))
	require.Equal(w.t, posts+2, w.rowsAt(region.SG))
	home, err := w.Store.HomeOf(w.user)
	require.NoError(w.t, err)
	require.Equal(w.t, region.SG, home)
	content, err := w.storage.Open(w.t.Context(), w.file, storage.PartFull)
	require.NoError(w.t, err)
	defer func() { _ = content.Close() }()
	var got bytes.Buffer
	_, err = io.Copy(&got, content)
	require.NoError(w.t, err)
	require.Equal(w.t, "content", got.String())
}

func (w *world) read(ids ...string) error {
	var users []store.User
	reads := w.Store.NewReadBatch()
	reads.Users(ids, &users)
	return reads.Run(w.t.Context())
}

func (w *world) write(id string) error {
	tx := w.Store.NewTx(region.EU)
	servicetest.InsertWallPost(tx, id, region.NewID(region.US), posts)
	return tx.Commit(w.t.Context())
}

// announce records at a home that a server is running.
func (w *world) announce(home region.Code, id string, capabilities ...string) {
	w.t.Helper()
	tx := w.Store.NewTx(home)
	tx.AnnounceServer(store.Server{ID: id, Version: "old", Capabilities: capabilities})
	require.NoError(w.t, tx.Commit(w.t.Context()))
}

// TestServersThatDoNotFollow checks that a move waits until every running server follows moves, and that one which starts while
// the user cannot write ends the move. Servers that stopped do not count.
func TestServersThatDoNotFollow(t *testing.T) {
	w := newWorld(t)
	s := w.service(0)
	w.announce(region.SG, "current", "other", store.CapabilityMoves)
	w.announce(region.US, "stopped")
	w.Exec(t, `UPDATE servers SET seen_at = now() - INTERVAL '61 seconds'`)
	w.announce(region.SG, "current", store.CapabilityMoves)
	w.announce(region.US, "running")
	w.Set(w.now().Add(settle))
	_, err := s.Continue(t.Context(), region.EU)
	require.ErrorIs(t, err, fail.Conflict())
	require.Contains(t, fail.From(err).Details[0], "the server running of version \"old\"")
	require.Equal(t, db.MoveCollecting, w.move().State)

	tx := w.Store.NewTx(region.US)
	tx.WithdrawServer("running")
	require.NoError(t, tx.Commit(t.Context()))
	require.Equal(t, db.MoveFrozen, w.advance(s))
	require.Error(t, w.write(w.user))
	w.announce(region.US, "running")
	require.Equal(t, db.MoveCancelled, w.advance(s))
	require.NoError(t, w.write(w.user))
	require.Equal(t, posts+3, w.rowsAt(region.EU))
	require.Zero(t, w.rowsAt(region.SG))
}

// TestStates takes a move through its states, and checks what a server refuses in each of them.
func TestStates(t *testing.T) {
	w := newWorld(t)
	s := w.service(0)
	unavailable := fail.Unavailable("", nil).Kind
	requireRefused := func(err error, refused bool) {
		t.Helper()
		if !refused {
			require.NoError(t, err)
			return
		}
		failed, ok := errors.AsType[*fail.Error](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, unavailable, failed.Kind)
		require.Positive(t, failed.RetryAfter)
	}
	requireRefused(w.read(w.user), false)
	for _, tc := range []struct {
		state       db.MoveState
		read, write bool // refused
	}{
		{db.MoveFrozen, false, true}, {db.MoveMoving, true, true}, {store.MoveCleaning, false, false}, {db.MoveDone, false, false},
	} {
		require.Equal(t, tc.state, w.advance(s))
		requireRefused(w.read(w.user), tc.read)
		requireRefused(w.read(w.user, region.NewID(region.EU)), tc.read)
		if tc.write {
			requireRefused(w.write(w.user), true)
		}
		requireRefused(w.write(region.NewID(region.EU)), false)
	}
	w.requireMoved()
	require.Contains(t, string(w.move().Moved), `"posts": 230`)
	more, err := s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.False(t, more)
}

// TestWaits checks that no state is processed before servers know it.
func TestWaits(t *testing.T) {
	w := newWorld(t)
	s := w.service(0)
	for _, state := range []db.MoveState{db.MoveFrozen, db.MoveMoving, store.MoveCleaning} {
		require.Equal(t, state, w.advance(s))
		w.Set(w.now().Add(settle - time.Millisecond))
		more, err := s.Continue(t.Context(), region.EU)
		require.NoError(t, err)
		require.False(t, more)
	}
}

// TestNewIDs inserts a post after the ids were collected, but before a server knew that it must not.
func TestNewIDs(t *testing.T) {
	w := newWorld(t)
	s := w.service(0)
	w.Set(w.now().Add(settle))
	_, err := s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.NoError(t, w.write(w.user))
	require.Equal(t, db.MoveFrozen, w.advance(s), "servers must learn the new id first")
	require.Equal(t, db.MoveMoving, w.advance(s))
	for w.move().State != db.MoveDone {
		w.advance(s)
	}
	require.Zero(t, w.rowsAt(region.EU))
	require.Equal(t, posts+3, w.rowsAt(region.SG))
}

// TestLostConnections loses the connection in every attempt, at the first transaction, the second one, up to the nth one.
func TestLostConnections(t *testing.T) {
	for _, n := range []int64{9, 13, 53} {
		w := newWorld(t)
		s := w.service(0)
		for attempt := range int64(1000) {
			w.FailAt(1 + attempt%n)
			_, _ = s.Continue(t.Context(), region.EU)
			w.FailAt(-1)
			w.follow()
			if w.move().State == db.MoveDone {
				break
			}
			w.Set(w.now().Add(10 * time.Minute))
		}
		require.Equal(t, db.MoveDone, w.move().State, "%s: connections lost at up to %d transactions", w.move().Step, n)
		w.requireMoved()
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

// TestTooManyIDs checks the limit of moved ids, and one past it.
func TestTooManyIDs(t *testing.T) {
	for limit, want := range map[int64]db.MoveState{posts + 2: db.MoveFrozen, posts + 1: db.MoveCancelled} {
		w := newWorld(t)
		require.Equal(t, want, w.advance(w.service(limit)))
		require.NoError(t, w.read(w.user))
	}
}

// TestUserDeleted cancels the move of a user who is erased while the ids are collected. The rows can be written again.
func TestUserDeleted(t *testing.T) {
	w := newWorld(t)
	s := w.service(0)
	tx := w.Store.NewTx(region.EU)
	tx.EraseUser(w.user, servicetest.Noon)
	require.NoError(t, tx.Commit(t.Context()))
	require.Equal(t, db.MoveFrozen, w.advance(s))
	require.Equal(t, db.MoveCancelled, w.advance(s))
	require.NoError(t, w.write(w.user))
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
