package erasure_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/erasure"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store"
)

// posts is the number of posts of the erased user, more than two pages.
const posts = 1100

// world is the database of a user who is being erased.
type world struct {
	*servicetest.World
	t    *testing.T
	user string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{servicetest.NewWorld(t), t, region.NewID(region.EU)}
	w.fill()
	return w
}

// fill stores the posts of a user, and the erasure.
func (w *world) fill() {
	w.t.Helper()
	tx := w.Store.NewTx(region.EU)
	tx.InsertUser(store.User{ID: w.user, PublicID: "alice", DisplayName: "Alice"}, servicetest.Noon)
	for i := range posts {
		servicetest.InsertWallPost(tx, w.user, w.user, i)
	}
	tx.EraseUser(w.user, servicetest.Noon)
	tx.InsertErasure(store.Erasure{ID: w.user, PublicID: "alice"}, servicetest.Noon)
	require.NoError(w.t, tx.Commit(w.t.Context()))
}

func (w *world) erasure() store.Erasure {
	w.t.Helper()
	var e *store.Erasure
	reads := w.Store.NewReadBatch()
	reads.Erasure(w.user, &e)
	require.NoError(w.t, reads.Run(w.t.Context()))
	require.NotNil(w.t, e)
	return *e
}

// passed continues an erasure, if it must, until it has left a state. Each attempt waits for rows of the outbox, which are deleted a moment after
// they were delivered, so that the clock moves on after each.
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

// TestJob takes an erasure through both passes.
func TestJob(t *testing.T) {
	w := newWorld(t)
	s := erasure.New(w.Deps)
	more, err := s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.True(t, more)
	w.passed(s, store.ErasureRunning)
	e := w.erasure()
	require.Equal(t, store.ErasureVerifying, e.State)
	require.JSONEq(t, fmt.Sprintf(`{"posts":%d}`, posts), string(e.Erased))
	more, err = s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.False(t, more, "the second pass waits for requests in progress")
	w.passed(s, store.ErasureVerifying)
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
	s := erasure.New(w.Deps)
	w.FailAt(600) // each post takes a read and a transaction
	_, err := s.Continue(t.Context(), region.EU)
	require.ErrorIs(t, err, servicetest.ErrLost)
	e := w.erasure()
	require.Equal(t, "posts eu", e.Step)
	require.EqualValues(t, 1, e.Attempts)
	more, err := s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.False(t, more, "not before the delay")
	w.passed(s, store.ErasureRunning)
	e = w.erasure()
	require.Equal(t, store.ErasureVerifying, e.State)
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
	require.Equal(t, store.ErasureRunning, w.erasure().State)
	require.NoError(t, w.Store.DeleteOutboxRows(t.Context(), region.EU, []store.OutboxRow{row}))
	w.passed(s, store.ErasureRunning)
	require.Equal(t, store.ErasureVerifying, w.erasure().State)
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
	w.passed(erasure.New(w.Deps), store.ErasureRunning)
	e := w.erasure()
	require.Equal(t, store.ErasureVerifying, e.State)
	require.JSONEq(t, fmt.Sprintf(`{"posts":%d}`, posts), string(e.Erased))
}
