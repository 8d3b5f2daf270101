package idempotency

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestFailedAttempts has a request with an Idempotency-Key fail. If it has changed something before, the key remains that of the
// request, whose next attempt can begin at once. Otherwise any request can use the key.
func TestFailedAttempts(t *testing.T) {
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": dbtest.New(t)}, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	e := &Executor{
		Deps:    &service.Deps{Store: st, Now: time.Now, NewID: region.NewID, Log: slog.New(slog.DiscardHandler)},
		Options: Options{Secret: []byte("secret"), Lock: time.Minute},
	}
	caller := &auth.Caller{Kind: auth.User, UserID: region.NewID(region.EU), Home: region.EU}
	ctx := auth.WithCaller(t.Context(), caller)
	for key, tc := range map[string]struct {
		changes bool
		other   error // of another request
	}{
		"after-a-change":   {true, errReuse},
		"without-a-change": {false, fail.NotFound()},
	} {
		t.Run(key, func(t *testing.T) {
			calls := 0
			fails := func(ctx context.Context) (connect.AnyResponse, error) {
				calls++
				if tc.changes {
					tx := st.NewTx(region.EU)
					tx.Count(caller.UserID, core.CountReactions("like"), 1)
					require.NoError(t, tx.Commit(ctx))
				}
				return nil, fail.NotFound()
			}
			send := func(title string) error {
				_, err := e.answer(ctx, key, call{message: &plazav1.CreatePollRequest{Title: title}, execute: fails})
				return err
			}
			require.ErrorIs(t, send("first"), fail.NotFound())
			require.ErrorIs(t, send("first"), fail.NotFound(), "the second attempt")
			require.Equal(t, 2, calls)
			require.ErrorIs(t, send("other"), tc.other)
		})
	}
}
