package app

import (
	"context"
	"log/slog"
	"testing"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// TestAwaited checks that a server does not follow an erasure while a request is in progress that began before, or a job works, from
// reading what is due to the end of the work.
func TestAwaited(t *testing.T) {
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": dbtest.New(t)}, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	version := int64(0)
	user := region.NewID(region.EU)
	follows := func() bool { return st.Routes().Followed()[user] == version }
	learn := func() {
		version++
		st.Routes().Put(db.Route{UserID: user, Home: region.EU, To: region.EU, State: db.RouteErasing, Version: version}, nil)
	}
	request := awaitedRequests(st.Routes())(func(context.Context, connect.AnyRequest) (connect.AnyResponse, error) {
		learn()
		require.False(t, follows())
		return nil, fail.NotFound()
	})
	_, err = request(t.Context(), nil)
	require.ErrorIs(t, err, fail.NotFound())
	require.True(t, follows(), "the request has ended")
	during := func() (bool, error) {
		learn()
		require.False(t, follows())
		return false, nil
	}
	for name, job := range map[string]jobs.Job{
		"drain": {Lanes: 1, Drain: func(context.Context, region.Code, int64) (bool, error) { return during() }},
		"poll": {Lanes: 2, Poll: func(context.Context, region.Code, []int64) (map[int64]jobs.Work, error) {
			_, err := during()
			return map[int64]jobs.Work{1: func(context.Context) (bool, error) { return false, nil }}, err
		}},
		"work": {Lanes: 2, Poll: func(context.Context, region.Code, []int64) (map[int64]jobs.Work, error) {
			return map[int64]jobs.Work{1: func(context.Context) (bool, error) { return during() }}, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			before := version
			require.NoError(t, awaited(st.Routes(), job).Once(t.Context(), region.EU))
			require.Equal(t, before+1, version)
			require.True(t, follows(), "the work has ended")
		})
	}
}
