package edge_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/fail"
)

// pages are some pages below /docs.
type pages struct{ http.Handler }

func (pages) Handles(path string) bool { return path == "/docs" }

// TestPages checks that pages are only read.
func TestPages(t *testing.T) {
	w := start(t, func(o *edge.Options) {
		o.Pages = pages{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a page") })}
	})
	require.Equal(t, "a page", w.call(t, http.MethodGet, "/docs", "").body)
	require.Equal(t, http.StatusOK, w.call(t, http.MethodHead, "/docs", "").status)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		got := w.call(t, method, "/docs", "")
		require.Equal(t, http.StatusMethodNotAllowed, got.status)
		require.Equal(t, "GET, HEAD", got.header.Get("Allow"))
	}
	require.Equal(t, http.StatusNotFound, w.call(t, http.MethodGet, "/docs/other", "").status)
}

// TestStreams checks a stream that fails before it has answered, and after it has written a part of the answer.
func TestStreams(t *testing.T) {
	stream := edge.Stream{
		Procedure: "/plaza.v1.FileService/Stream", Method: http.MethodGet, Path: "/stream/{how}",
		Serve: func(w http.ResponseWriter, request *http.Request) error {
			switch request.PathValue("how") {
			case "early":
				return fail.NotFound()
			case "late":
				_, _ = io.WriteString(w, "half")
				_ = http.NewResponseController(w).Flush()
				return io.ErrUnexpectedEOF
			}
			_, err := io.WriteString(w, "whole")
			return err
		},
	}
	w := start(t, func(o *edge.Options) { o.Streams = []edge.Stream{stream} })
	require.Equal(t, "whole", w.call(t, http.MethodGet, "/stream/well", "").body)
	require.Equal(t, http.StatusNotFound, w.call(t, http.MethodGet, "/stream/early", "").status)

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/stream/late", http.NoBody)
	require.NoError(t, err)
	response, err := w.client.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	_, err = io.ReadAll(response.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the client notices that the rest is missing")

	for _, s := range []edge.Stream{
		{Procedure: "", Path: "/other", Method: http.MethodGet, Serve: stream.Serve},
		{Procedure: "/a.B/C", Path: "/other", Method: http.MethodGet},
	} {
		_, err := edge.New(edge.Options{Services: w.services(), Streams: []edge.Stream{s}})
		require.ErrorContains(t, err, "Procedure and Serve are required")
	}
}
