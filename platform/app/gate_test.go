package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
)

func TestGate(t *testing.T) {
	var schema, routes error
	errOld, errAway := errors.New("schema version is 1, required is 2"), fail.Unavailable("", errors.New("no answer"))
	g := newGate(http.NotFoundHandler(), func(context.Context) error { return routes })
	check := func() error { return g.check(t.Context(), func(context.Context) error { return schema }) }
	status := func() int {
		w := httptest.NewRecorder()
		g.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		return w.Code
	}
	worked := make(chan struct{})
	w := g.afterOpening(worker{name: "outbox", run: func(context.Context) error { close(worked); return nil }})
	go func() { _ = w.run(t.Context()) }()

	for _, c := range []struct{ schema, routes, want error }{
		{errOld, nil, errOld},
		{errAway, nil, errAway},
		{nil, errRoutesUnknown, errRoutesUnknown},
		{errOld, errRoutesUnknown, errOld},
	} {
		schema, routes = c.schema, c.routes
		require.ErrorIs(t, check(), c.want)
		require.Equal(t, http.StatusServiceUnavailable, status())
		select {
		case <-worked:
			require.Fail(t, "the worker did not wait")
		default:
		}
	}

	schema, routes = nil, nil
	require.NoError(t, check())
	require.Equal(t, http.StatusNotFound, status())
	<-worked

	schema = errAway
	require.NoError(t, check(), "no answer says nothing about the schema")
	schema = errOld
	require.ErrorIs(t, check(), errOld, "the database was replaced")
	require.Equal(t, http.StatusNotFound, status(), "the gate stays open")
}

func TestGateWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(http.NotFoundHandler(), func(context.Context) error { return nil })
		asked := 0
		require.NoError(t, g.watch(t.Context(), func(ctx context.Context) {
			if asked++; asked == 3 {
				require.NoError(t, g.check(ctx, func(context.Context) error { return nil }))
			}
		}))
		require.Equal(t, 3, asked)
	})
}

func TestGateThatNeverOpens(t *testing.T) {
	g := newGate(http.NotFoundHandler(), func(context.Context) error { return nil })
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.NoError(t, g.watch(ctx, func(context.Context) {}))
	require.NoError(t, g.afterOpening(worker{run: func(context.Context) error { return errors.New("ran") }}).run(ctx))
}
