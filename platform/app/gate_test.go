package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGate(t *testing.T) {
	var asked atomic.Int32
	answer := errors.New("schema version is 1, required is 2")
	g := newGate(http.NotFoundHandler(), time.Minute, func(context.Context) error { asked.Add(1); return answer })
	status := func() int {
		w := httptest.NewRecorder()
		g.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		return w.Code
	}
	ctx, stop := context.WithCancel(t.Context())
	worked := make(chan struct{})
	w := g.afterOpening(worker{name: "outbox", run: func(context.Context) error { close(worked); return nil }})
	go func() { _ = w.run(ctx) }()

	require.ErrorIs(t, g.check(ctx), answer)
	require.Equal(t, http.StatusServiceUnavailable, status())
	select {
	case <-worked:
		require.Fail(t, "the worker did not wait")
	default:
	}

	answer = nil
	require.NoError(t, g.check(ctx))
	require.Equal(t, http.StatusNotFound, status())
	<-worked
	before := asked.Load()
	require.NoError(t, g.check(ctx))
	require.Equal(t, before, asked.Load(), "an open gate does not check again")
	stop()
}

func TestGateThatNeverOpens(t *testing.T) {
	g := newGate(http.NotFoundHandler(), time.Minute, func(context.Context) error { return errors.New("no") })
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.NoError(t, g.watch(ctx))
	require.NoError(t, g.afterOpening(worker{run: func(context.Context) error { return errors.New("ran") }}).run(ctx))
}
