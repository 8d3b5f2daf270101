package clusters

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// requestTimeout limits every request but watches.
const requestTimeout = 5 * time.Second

// UnreachableError means that the API server of a member cluster did not respond.
type UnreachableError struct{ Err error }

func (e *UnreachableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// IsUnreachable reports whether an error means that the API server of a member cluster did not respond.
func IsUnreachable(err error) bool {
	_, ok := errors.AsType[*UnreachableError](err)
	return ok
}

// transport limits the time of requests and reports the first that received no response, so that a lost connection is
// noticed before the next probe.
type transport struct{ lost chan error }

func (t *transport) wrap(config *rest.Config) *rest.Config {
	wrapped := rest.CopyConfig(config)
	wrapped.QPS, wrapped.Burst = 50, 100
	wrapped.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &roundTripper{next, t.lost}
	})
	return wrapped
}

type roundTripper struct {
	next http.RoundTripper
	lost chan<- error
}

// WrappedRoundTripper lets utilnet.CloseIdleConnectionsFor find the connections.
func (r *roundTripper) WrappedRoundTripper() http.RoundTripper { return r.next }

// RoundTrip sends a request.
func (r *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Query().Get("watch") != "" {
		return r.next.RoundTrip(req)
	}
	ctx, cancel := context.WithTimeout(req.Context(), requestTimeout)
	resp, err := r.next.RoundTrip(req.WithContext(ctx))
	if err == nil {
		resp.Body = &body{resp.Body, cancel}
		return resp, nil
	}
	cancel()
	if req.Context().Err() != nil {
		return nil, err // the caller gave up
	}
	select {
	case r.lost <- err:
	default:
	}
	return nil, &UnreachableError{err}
}

// body ends the request's time limit when it is closed.
type body struct {
	io.ReadCloser

	cancel context.CancelFunc
}

// Close closes the body.
func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
