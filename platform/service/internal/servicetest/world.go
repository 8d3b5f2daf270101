package servicetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/media"
)

// Noon is the time at which a World begins.
var Noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// ErrLost is the error of a transaction that fails.
var ErrLost = errors.New("connection lost")

// World is a database of its own for tests of background jobs, with a clock that the test sets and transactions that fail
// when the test says so. Deleted files are not deleted from any storage.
type World struct {
	dbtest.Interruption
	Store *store.Store
	Deps  *service.Deps
	url   string
	now   atomic.Pointer[time.Time]
	fails atomic.Int64 // number of transactions until one fails; negative for none
}

// NewWorld returns an empty world.
func NewWorld(t *testing.T) *World {
	t.Helper()
	w := &World{url: dbtest.New(t)}
	w.FailAt(-1)
	w.Set(Noon)
	w.Store = w.open(t, map[region.Code]string{"": w.url}, limits.Limits{})
	w.Deps = w.deps(w.Store)
	return w
}

var quiet = slog.New(slog.DiscardHandler)

// open opens the store of a server with time limits; those of production when zero. The test fails if a transaction violates the order of
// locks.
func (w *World) open(t *testing.T, urls map[region.Code]string, l limits.Limits) *store.Store {
	t.Helper()
	sent := func(queued []db.Queued) {
		if err := db.CheckLocks(queued); err != nil {
			t.Error(err)
		}
		w.Sent(queued)
	}
	st,
		err := store.Open(t.Context(), db.Config{
		URLs: urls, PoolSize: 4, StatementTimeout: 20 * time.Second, Limits: l, Log: quiet,
		Fault: w.fault, Sent: sent,
	})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	return st
}

// Open returns the store of another server.
func (w *World) Open(t *testing.T) *store.Store {
	t.Helper()
	return w.OpenWith(t, limits.Limits{})
}

// OpenWith returns the store of another server with time limits.
func (w *World) OpenWith(t *testing.T, l limits.Limits) *store.Store {
	t.Helper()
	return w.open(t, map[region.Code]string{"": w.url}, l)
}

// deps returns the dependencies of a server with a store.
func (w *World) deps(st *store.Store) *service.Deps {
	now := func() time.Time { return *w.now.Load() }
	d := &service.Deps{
		Store: st, Region: region.EU, Now: now, NewID: region.NewID, Log: quiet,
		Directory: directory.New(st, region.EU, []byte("key"), now, quiet), Outbox: events.NewOutbox(st, now, quiet),
	}
	service.HandleOutbox(d, service.TopicNotice, func(context.Context, service.Notice) error { return nil })
	service.HandleOutbox(d, media.TopicFileDeleted, func(context.Context, media.DeletedFile) error { return nil })
	return d
}

// Set sets the clock.
func (w *World) Set(now time.Time) { w.now.Store(&now) }

// Exec runs a statement directly on the database, such as one that makes rows as earlier versions wrote them.
func (w *World) Exec(t *testing.T, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.url)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, errors.Join(err, conn.Close(t.Context())))
}

// Text returns the only value of a query.
func (w *World) Text(t *testing.T, sql string) (text string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.url)
	require.NoError(t, err)
	err = conn.QueryRow(t.Context(), sql).Scan(&text)
	require.NoError(t, errors.Join(err, conn.Close(t.Context())))
	return text
}

// Lock runs a statement that takes locks, and returns a function that releases them.
func (w *World) Lock(t *testing.T, sql string) (unlock func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.url)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "BEGIN; "+sql)
	require.NoError(t, err)
	return func() { require.NoError(t, conn.Close(t.Context())) }
}

// Without returns the dependencies of a server that cannot reach a home.
func (w *World) Without(t *testing.T, home region.Code) *service.Deps {
	t.Helper()
	st := w.open(t, map[region.Code]string{"": w.url, home: "postgresql://plaza@127.0.0.1:1/plaza?connect_timeout=1"}, limits.Limits{})
	return w.deps(st)
}

// FailAt makes the nth transaction from now on fail; a negative number makes none fail.
func (w *World) FailAt(n int64) { w.fails.Store(n) }

func (w *World) fault() error {
	if w.fails.Add(-1) == 0 {
		return ErrLost
	}
	return nil
}

// InsertWallPost inserts the nth post of an author on a user's wall.
func InsertWallPost(tx *store.Tx, userID, authorID string, n int) {
	tx.InsertPost(content.Post{
		ID: region.NewID(region.EU), TargetType: "user", TargetID: userID, TargetPublicID: "alice", AuthorID: authorID, AuthorPublicID: "alice",
		IsParent: true, FeedType: "published", DataType: "text", StructureType: "text", Data: fmt.Appendf(nil, `{"text":"post %d"}`, n),
		Metadata: []byte(`{}`), Mentionees: []byte(`[]`), CreatedAt: Noon,
	})
}
