package conformance

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// zeros is an endless source of zero bytes.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// sendFile uploads a file of size bytes without holding it in memory.
func sendFile(t *testing.T, c *apptest.Client, size int64) (status int, answer string) {
	t.Helper()
	const head = "--B\r\nContent-Disposition: form-data; name=\"files\"; filename=\"big\"\r\n\r\n"
	body := io.MultiReader(strings.NewReader(head), io.LimitReader(zeros{}, size), strings.NewReader("\r\n--B--\r\n"))
	request := c.With("Content-Type", "multipart/form-data; boundary=B").Request(t, http.MethodPost, "/api/v4/files", nil)
	request.Body, request.ContentLength = io.NopCloser(body), -1
	client := *c.Network.HTTP()
	client.Timeout = 0 // a gigabyte takes minutes on a slow disk
	response, err := client.Do(request)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

// TestLargestFile uploads a file of the largest allowed size and one that is a byte larger.
func TestLargestFile(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	uploader := n.NewUser(t, region.EU, "uploader")
	status, answer := sendFile(t, uploader, 1<<30+1)
	require.Equal(t, http.StatusRequestEntityTooLarge, status)
	require.JSONEq(t,
		`{"status":"error","code":500000,"message":"Payload Too Large","data":{"detail":["a file may have at most 1073741824 bytes"]}}`, answer)
	requireNothingStored(t, n)
	status, answer = sendFile(t, uploader, 1<<30)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, answer, `"size":1073741824,`)
}

// requireNothingStored waits until the network has no file and no part of one. The client of an interrupted upload
// finishes before the server does.
func requireNothingStored(t *testing.T, n *apptest.Network) {
	t.Helper()
	db := connectTo(t, n)
	require.Eventually(t, func() bool {
		var rows int
		require.NoError(t, db.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM files) + (SELECT count(*) FROM uploads)").Scan(&rows))
		return rows == 0 && len(stored(t, n, "-")) == 0
	}, apptest.Patience, 20*time.Millisecond)
}

// TestBrokenUpload closes connections in the middle of a file and between two files.
func TestBrokenUpload(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	uploader := n.NewUser(t, region.EU, "uploader")
	const part = "--B\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a\"\r\n\r\n"
	for name, body := range map[string]string{
		"in the first file":  part + strings.Repeat("x", 300_000),
		"in the second file": part + "x\r\n" + part + strings.Repeat("x", 300_000),
		"between two files":  part + "x\r\n--B\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(n.BaseURL(region.EU), "http://"))
			require.NoError(t, err)
			_,
				err = fmt.Fprintf(conn,
				"POST /api/v4/files HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=B\r\n"+
					"Content-Length: 1000000\r\n\r\n%s", uploader.Token, body)
			require.NoError(t, err)
			require.Eventually(t, func() bool { return len(stored(t, n, "-")) > 0 }, apptest.Patience, 10*time.Millisecond)
			require.NoError(t, conn.Close())
			requireNothingStored(t, n)
		})
	}
}
