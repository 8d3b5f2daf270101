package move_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/move"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// world is the database of a user who is moved from eu to sg, with a storage for each home.
type world struct {
	*servicetest.World
	t       *testing.T
	user    string
	file    string
	storage *storage.Storage
	routes  *lifecycle.RouteReader
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
	w := &world{servicetest.NewWorld(t), t, region.NewID(region.EU), "", objects, nil}
	w.routes = lifecycle.NewRouteReader(w.Store.Store, region.EU)
	objects.SetHomeOf(w.Store.HomeOf)
	w.follow()
	w.fill()
	return w
}

// allowInterruption lets the move refuse requests until its rows have moved a page at a time.
func (w *world) allowInterruption() {
	w.t.Helper()
	w.Exec(w.t, `UPDATE user_moves SET allow_interruption = true`)
}

// follow reads the routes, as a server does every second.
func (w *world) follow() {
	w.t.Helper()
	require.NoError(w.t, w.routes.Read(w.t.Context()))
}

func (w *world) fill() {
	w.t.Helper()
	tx := w.Store.NewTx(region.EU)
	tx.InsertUser(people.User{ID: w.user, PublicID: "alice", DisplayName: "Alice"}, servicetest.Noon)
	for i := range posts {
		servicetest.InsertWallPost(tx, w.user, w.user, i)
	}
	require.NoError(w.t, tx.Commit(w.t.Context()))
	w.file = w.addFile()
	var m *lifecycle.UserMove
	tx = w.Store.NewTx(lifecycle.MoveHome(w.user))
	tx.StartUserMove(lifecycle.UserMove{ID: w.user, FromHome: region.EU, ToHome: region.SG}, servicetest.Noon, &m)
	require.NoError(w.t, tx.Commit(w.t.Context()))
}

// addFile adds a file of the user.
func (w *world) addFile() (id string) {
	w.t.Helper()
	id = region.NewID(region.EU)
	require.NoError(w.t, w.insertFile(id))
	return id
}

func (w *world) insertFile(id string) error {
	if _, err := w.storage.Write(w.t.Context(), id, storage.PartFull, strings.NewReader("content")); err != nil {
		return err
	}
	tx := w.Store.NewTx(region.EU)
	tx.InsertUpload(id, servicetest.Noon.Add(time.Hour), servicetest.Noon)
	tx.InsertFile(media.File{
		ID: id, OwnerID: w.user, OwnerPublicID: "alice", Type: "file", AccessType: "public", Exif: []byte("{}"), GPS: []byte("{}"),
		CreatedAt: servicetest.Noon, UpdatedAt: servicetest.Noon,
	}, nil)
	return tx.Commit(w.t.Context())
}

func (w *world) service(maxIDs int64) *move.Service {
	w.t.Helper()
	return w.serviceWithin(maxIDs, limits.Lift())
}

func (w *world) serviceWithin(maxIDs int64, within limits.Limits) *move.Service {
	w.t.Helper()
	return move.New(w.Deps, move.Options{Storage: w.storage, Settle: settle, Limits: within, MaxIDs: maxIDs})
}

func (w *world) move() lifecycle.UserMove {
	w.t.Helper()
	var m *lifecycle.UserMove
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
	var users []people.User
	var rows []lifecycle.MoveRow
	n := 0
	for _, source := range lifecycle.MoveSources {
		var page []lifecycle.MoveRow
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
	var users []people.User
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
	tx.AnnounceServer(network.Server{ID: id, Version: "old", Capabilities: capabilities})
	require.NoError(w.t, tx.Commit(w.t.Context()))
}

// run runs a server with capabilities, which follows the routes and announces what it follows as a server does. The result stops it.
func (w *world) run(capabilities ...string) (stop func()) {
	w.t.Helper()
	return w.runWith(func(db.Followed, *db.Routes) {}, capabilities...)
}

// runWith is run for a server that calls beforeAnnouncing with what it follows.
func (w *world) runWith(beforeAnnouncing func(db.Followed, *db.Routes), capabilities ...string) (stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	st := w.Open(w.t)
	reader, id := lifecycle.NewRouteReader(st.Store, region.SG), region.NewID(region.SG)
	announce := func() {
		followed := st.Routes().Followed()
		beforeAnnouncing(followed, st.Routes())
		tx := st.NewTx(region.SG)
		tx.AnnounceServer(network.Server{ID: id, Capabilities: capabilities, MoveRoutes: network.FollowedRoutes(followed)})
		_ = tx.Commit(ctx) // fails only when the test ends
	}
	announce()
	var g sync.WaitGroup
	g.Go(func() {
		for ctx.Err() == nil {
			_ = reader.Read(ctx)
			announce()
		}
	})
	return func() { cancel(); g.Wait() }
}

// addIDs makes n more ids move with the user.
func (w *world) addIDs(n int) {
	w.t.Helper()
	for _, home := range region.All() {
		w.Exec(w.t, fmt.Sprintf(`INSERT INTO moved_ids (home, user_id, id, kind)
			SELECT '%s', '%s', '%s' || lpad(n::text, 22, '0'), 'post' FROM generate_series(1, %d) AS n`, home, w.user, region.NewID(region.EU)[:2],
			n))
	}
}

// requestForBob returns an administrator's request to move another user from eu to sg.
func (w *world) requestForBob() (context.Context, *plazav1.MoveUserRequest) {
	w.t.Helper()
	id := region.NewID(region.EU)
	tx := w.Store.NewTx(region.EU)
	tx.InsertUser(people.User{ID: id, PublicID: "bob", DisplayName: "Bob"}, servicetest.Noon)
	require.NoError(w.t, tx.Commit(w.t.Context()))
	_, err := w.Deps.Directory.ClaimAll(w.t.Context(), map[string]string{"bob": id})
	require.NoError(w.t, err)
	admin := auth.WithCaller(w.t.Context(), &auth.Caller{Kind: auth.Admin, Home: region.EU})
	return admin, &plazav1.MoveUserRequest{UserId: "bob", Region: "sg"}
}
