package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// movingWorld is a server that has a user whose rows are moving.
type movingWorld struct {
	*moving
	t       *testing.T
	user    string
	version int64
}

func newMovingWorld(t *testing.T, hold time.Duration) *movingWorld {
	t.Helper()
	within := limits.Lift()
	within.HoldMoving = hold
	st,
		err := store.Open(t.Context(), db.Config{
		URLs: map[region.Code]string{"": dbtest.New(t)}, PoolSize: 2, StatementTimeout: time.Minute,
		Limits: within, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	w := &movingWorld{moving: newMoving(st), t: t, user: region.NewID(region.EU)}
	w.enter(lifecycle.MoveMoving)
	return w
}

func (w *movingWorld) enter(state lifecycle.MoveState) {
	w.version++
	w.store.Routes().Put(lifecycle.Route{UserID: w.user, Home: region.EU, To: region.SG, State: state, Version: w.version}, nil)
}

// call calls an operation without a user.
func (w *movingWorld) call(operation func(context.Context) error) error {
	return w.callIn(w.t.Context(), operation)
}

// callIn calls an operation in a context.
func (w *movingWorld) callIn(ctx context.Context, operation func(context.Context) error) error {
	request := connect.NewRequest(&plazav1.MoveUserRequest{UserId: "as sent"})
	_, err := w.intercept(func(ctx context.Context, _ connect.AnyRequest) (connect.AnyResponse, error) {
		require.Equal(w.t, "as sent", request.Msg.GetUserId())
		request.Msg.UserId = "changed by the operation"
		return nil, operation(ctx)
	})(ctx, request)
	return err
}

func (w *movingWorld) write(ctx context.Context, userID string) error {
	home, err := w.store.HomeOf(userID)
	require.NoError(w.t, err)
	tx := w.store.NewTx(home)
	tx.HidePresence(userID, true, time.Time{}, new(*people.User))
	return tx.Commit(ctx)
}

// TestRequestsWait checks that a request that was refused because of a move runs again when the move has ended, at the new home,
// unless it has changed something before.
func TestRequestsWait(t *testing.T) {
	t.Parallel()
	w := newMovingWorld(t, limits.Lifted)
	var attempts int
	require.NoError(t, w.call(func(ctx context.Context) error {
		attempts++
		err := w.write(ctx, w.user)
		if attempts == 1 {
			go w.enter(lifecycle.MoveDone)
		}
		return err
	}))
	require.Equal(t, 2, attempts)

	w.enter(lifecycle.MoveMoving)
	err := w.call(func(ctx context.Context) error {
		attempts++
		require.NoError(t, w.write(ctx, region.NewID(region.US)))
		return w.write(ctx, w.user)
	})
	require.ErrorIs(t, err, fail.Unavailable("the user is being moved to another home region", nil))
	require.Equal(t, 3, attempts, "a request that has changed something does not run again")
}

// TestRequestsDoNotWaitForever checks that a request is refused at the end of its time, and that more requests than may wait are
// refused at once.
func TestRequestsDoNotWaitForever(t *testing.T) {
	t.Parallel()
	refused := fail.Unavailable("the user is being moved to another home region", nil)
	w := newMovingWorld(t, time.Millisecond)
	read := func(ctx context.Context) error {
		reads := w.store.NewReadBatch()
		reads.Users([]string{w.user}, new([]people.User))
		return reads.Run(ctx)
	}
	require.ErrorIs(t, w.call(read), refused)

	w = newMovingWorld(t, limits.Lifted)
	var waiting errgroup.Group
	for range maxHeldRequests {
		waiting.Go(func() error { return w.call(read) })
	}
	require.Eventually(t, func() bool { return len(w.held) == maxHeldRequests }, limits.Lifted, time.Millisecond)
	require.ErrorIs(t, w.call(read), refused)
	w.enter(lifecycle.MoveDone)
	require.NoError(t, waiting.Wait())
	require.Empty(t, w.held)
}

// TestMovingUsersWait checks that a request of a user whose rows are moving does not begin before the move has ended.
func TestMovingUsersWait(t *testing.T) {
	t.Parallel()
	w := newMovingWorld(t, limits.Lifted)
	var begun atomic.Bool
	ended := make(chan error, 1)
	go func() {
		ctx := auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.User, UserID: w.user, Home: region.EU})
		ended <- w.callIn(ctx, func(context.Context) error { begun.Store(true); return nil })
	}()
	require.Eventually(t, func() bool { return len(w.held) == 1 || begun.Load() }, limits.Lifted, time.Millisecond)
	require.False(t, begun.Load())
	require.NoError(t, w.callIn(auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.User, UserID: region.NewID(region.EU), Home: region.EU}),
		func(context.Context) error { return nil }), "another user does not wait")
	w.enter(lifecycle.MoveDone)
	require.NoError(t, <-ended)
	require.True(t, begun.Load())
}
