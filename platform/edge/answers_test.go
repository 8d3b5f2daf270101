package edge_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/limits"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

const largeBytes = 24 << 20 // more than the buffers of a connection hold

// largeList is a response that no connection can buffer.
func largeList(t *testing.T) *plazav1.ListPostsResponse {
	t.Helper()
	data, err := structpb.NewStruct(map[string]any{"text": strings.Repeat("x", largeBytes)})
	require.NoError(t, err)
	return &plazav1.ListPostsResponse{Posts: []*plazav1.Post{{Data: data}}}
}

// unread sends a request for a list on a new connection and does not read the response.
func unread(t *testing.T, w *world) net.Conn {
	t.Helper()
	conn, err := w.dial(t.Context(), "tcp", "")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "GET /api/v5/posts?targetId=t HTTP/1.1\r\nHost: plaza\r\n\r\n")
	require.NoError(t, err)
	return conn
}

// ended waits for longer than a client may take to read, and checks that n requests have ended with a status then.
func ended(t *testing.T, w *world, n, status int) {
	t.Helper()
	time.Sleep(2 * limits.Production().WriteResponse) // of a bubble
	require.Equal(t, n, strings.Count(w.log.String(), fmt.Sprintf(`"status":%d`, status)))
}

// readAll reads a response to the end of its body.
func readAll(conn net.Conn) (status int, n int64, err error) {
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = response.Body.Close() }()
	n, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, n, err
}

func TestClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startPiped(t)
		w.post = largeList(t)
		conn := unread(t, w)
		ended(t, w, 1, 200)
		_, n, err := readAll(conn)
		require.Error(t, err, "the connection was closed")
		require.Less(t, n, int64(largeBytes))

		client := plazav1connect.NewPostServiceClient(http2ClientOf(t, w.dial), w.url, connect.WithGRPC())
		_, err = client.ListPosts(t.Context(), &plazav1.ListPostsRequest{TargetId: "t", TargetType: "community"})
		require.NoError(t, err, "a client that reads gets the whole response in time")
	})
}

func TestStreamThatIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startPiped(t)
		w.post = largeList(t)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/api/v5/posts?targetId=t", nil)
		require.NoError(t, err)
		request.Header.Set("Accept-Encoding", "identity")
		response, err := http2ClientOf(t, w.dial).Do(request)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		ended(t, w, 1, 200)
		_, err = io.Copy(io.Discard, response.Body)
		require.Error(t, err, "the stream was reset")
	})
}

// TestDeadlinesEndWithTheResponse sends requests on one connection that is older than the write timeout.
func TestDeadlinesEndWithTheResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startPiped(t)
		conn := unread(t, w) // of an empty list
		status, _, err := readAll(conn)
		require.NoError(t, err)
		require.Equal(t, 200, status)
		w.do = func(context.Context) error {
			time.Sleep(2 * limits.Production().WriteResponse) // of a bubble
			return nil
		}
		_, err = fmt.Fprintf(conn, "POST /api/v3/comments/c/flag HTTP/1.1\r\nHost: plaza\r\nContent-Length: 2\r\n\r\n{}")
		require.NoError(t, err)
		status, _, err = readAll(conn)
		require.NoError(t, err)
		require.Equal(t, 200, status)
	})
}

func TestResponseMemory(t *testing.T) {
	w := start(t, func(o *edge.Options) {
		o.ResponseMemory, o.WriteTimeout, o.RequestTimeout = largeBytes*3/2, 5*time.Minute, 5*time.Minute
	})
	w.post = largeList(t)
	first := unread(t, w)
	_, err := first.Read(make([]byte, 1))
	require.NoError(t, err, "the first response has begun")
	answers := make(chan reply, 2)
	for range 2 { // one of them waits, and there is no place for the other
		conn := unread(t, w)
		go func() { answers <- replyFrom(conn) }()
	}
	refused := <-answers
	requireError(t, refused, 503, 500000, "Unexpected error", "the server has too many responses that were not read")
	client := plazav1connect.NewPostServiceClient(w.client, w.url, connect.WithAcceptCompression("gzip", nil, nil))
	_, err = client.ListPosts(t.Context(), &plazav1.ListPostsRequest{TargetId: "t", TargetType: "community"})
	require.Equal(t, connect.CodeUnavailable, connect.CodeOf(err))
	require.Equal(t, 200, w.call(t, http.MethodGet, "/api/v3/comments/c", "").status, "small responses do not wait")

	_, err = io.CopyN(io.Discard, first, largeBytes)
	require.NoError(t, err)
	waited := <-answers
	require.Equal(t, 200, waited.status)
	require.Greater(t, len(waited.body), largeBytes)
}

// replyFrom reads the whole response on a connection; it returns the zero reply if that fails.
func replyFrom(conn net.Conn) reply {
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return reply{}
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return reply{}
	}
	return reply{status: response.StatusCode, header: response.Header, body: string(body)}
}

// TestResponseMemoryTimeout waits for response memory as long as a request may take.
func TestResponseMemoryTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startPiped(t, func(o *edge.Options) { o.ResponseMemory, o.WriteTimeout = largeBytes, 2*edge.DefaultRequestTimeout })
		w.post = largeList(t)
		first := unread(t, w)
		_, err := first.Read(make([]byte, 1))
		require.NoError(t, err)
		requireError(t, w.call(t, http.MethodGet, "/api/v5/posts?targetId=t", "", "Accept-Encoding", "identity"), 503, 500000, "Unexpected error",
			"the server has too many responses that were not read")
	})
}
