package erasure_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/erasure"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

var migrated = testdb.NewTemplate(func(ctx context.Context, url string) error {
	return db.Migrate(ctx, db.MigrateOptions{URL: url})
})

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// posts is the number of posts of the erased user, more than two pages.
const posts = 1100

var errLost = errors.New("connection lost")

// world is the database of a user who is being erased.
type world struct {
	t     *testing.T
	store *store.Store
	user  string
	deps  *service.Deps
	now   atomic.Pointer[time.Time]
	fails atomic.Int64 // number of transactions until one fails; negative for none
}

func newWorld(t *testing.T) *world {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	w := &world{t: t, user: region.NewID(region.EU)}
	w.fails.Store(-1)
	w.set(noon)
	st, err := store.Open(t.Context(), db.Config{
		URLs: map[region.Code]string{"": migrated.New(t)}, PoolSize: 4, StatementTimeout: 20 * time.Second, Log: quiet, Fault: w.fault,
	})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	now := func() time.Time { return *w.now.Load() }
	w.store = st
	w.deps = &service.Deps{
		Store: st, Region: region.EU, Now: now, NewID: region.NewID, Log: quiet,
		Directory: directory.New(st, region.EU, []byte("key"), now, quiet), Outbox: events.NewOutbox(st, now, quiet),
	}
	service.HandleOutbox(w.deps, store.TopicFileDeleted, func(context.Context, store.DeletedFile) error { return nil })
	w.fill()
	return w
}

func (w *world) set(now time.Time) { w.now.Store(&now) }

func (w *world) fault() error {
	if w.fails.Add(-1) == 0 {
		return errLost
	}
	return nil
}

// fill stores the posts of a user, and the erasure.
func (w *world) fill() {
	w.t.Helper()
	tx := w.store.NewTx(region.EU)
	tx.InsertUser(store.User{ID: w.user, PublicID: "alice", DisplayName: "Alice"}, noon)
	for i := range posts {
		tx.InsertPost(store.Post{
			ID: region.NewID(region.EU), TargetType: "user", TargetID: w.user, TargetPublicID: "alice", AuthorID: w.user, AuthorPublicID: "alice",
			IsParent: true, FeedType: "published", DataType: "text", StructureType: "text", Data: fmt.Appendf(nil, `{"text":"post %d"}`, i),
			Metadata: []byte(`{}`), Mentionees: []byte(`[]`), CreatedAt: noon,
		})
	}
	tx.EraseUser(w.user, noon)
	tx.InsertErasure(store.Erasure{ID: w.user, PublicID: "alice"}, noon)
	require.NoError(w.t, tx.Commit(w.t.Context()))
}

func (w *world) erasure() store.Erasure {
	w.t.Helper()
	var e *store.Erasure
	reads := w.store.NewReadBatch()
	reads.Erasure(w.user, &e)
	require.NoError(w.t, reads.Run(w.t.Context()))
	require.NotNil(w.t, e)
	return *e
}

// TestJob takes an erasure through both passes.
func TestJob(t *testing.T) {
	w := newWorld(t)
	s := erasure.New(w.deps)
	more, err := s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.True(t, more)
	e := w.erasure()
	require.Equal(t, store.ErasureVerifying, e.State)
	require.JSONEq(t, fmt.Sprintf(`{"posts":%d}`, posts), string(e.Erased))
	more, err = s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.False(t, more, "the second pass waits for requests in progress")
	w.set(noon.Add(10 * time.Minute))
	_, err = s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	e = w.erasure()
	require.Equal(t, store.ErasureDone, e.State)
	require.Empty(t, e.PublicID)
	require.NotNil(t, e.FinishedAt)
	more, err = s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.False(t, more)
}

// TestJobResumes fails in the middle of the posts. The next attempt continues behind the last page, after a delay.
func TestJobResumes(t *testing.T) {
	w := newWorld(t)
	s := erasure.New(w.deps)
	w.fails.Store(600) // each post takes a read and a transaction
	_, err := s.Continue(t.Context(), region.EU)
	require.ErrorIs(t, err, errLost)
	e := w.erasure()
	require.Equal(t, "posts eu", e.Step)
	require.EqualValues(t, 1, e.Attempts)
	more, err := s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.False(t, more, "not before the delay")
	w.set(noon.Add(time.Minute))
	_, err = s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	e = w.erasure()
	require.Equal(t, store.ErasureVerifying, e.State)
	require.Zero(t, e.Attempts)
}

// TestJobWaitsForOutboxes does not end while an outbox contains something about the user.
func TestJobWaitsForOutboxes(t *testing.T) {
	w := newWorld(t)
	s := erasure.New(w.deps)
	tx := w.store.NewTx(region.EU)
	row := tx.Emit("test", map[string]string{"userId": w.user}, noon, noon)
	require.NoError(t, tx.Commit(t.Context()))
	_, err := s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.Equal(t, store.ErasureRunning, w.erasure().State)
	require.NoError(t, w.store.DeleteOutboxRows(t.Context(), region.EU, row.Lane, []string{row.ID}))
	w.set(noon.Add(time.Minute))
	_, err = s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.Equal(t, store.ErasureVerifying, w.erasure().State)
}

// TestJobOnSeveralServers runs the job four times concurrently: one server gets the lease, the others leave the erasure.
func TestJobOnSeveralServers(t *testing.T) {
	w := newWorld(t)
	var g sync.WaitGroup
	var errs [4]error
	for i := range errs {
		g.Go(func() {
			_, errs[i] = erasure.New(w.deps).Continue(t.Context(), region.EU)
		})
	}
	g.Wait()
	require.NoError(t, errors.Join(errs[:]...))
	e := w.erasure()
	require.Equal(t, store.ErasureVerifying, e.State)
	require.JSONEq(t, fmt.Sprintf(`{"posts":%d}`, posts), string(e.Erased))
}
