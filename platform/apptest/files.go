package apptest

import (
	"bytes"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

// fileCache are the files that the tests of a network share.
type fileCache struct {
	mu  sync.Mutex
	ids map[string]string
}

// File returns the id of a file of type image, video or file, which an administrator uploads at the first call.
// Different numbers give different files.
func (n *Network) File(t testing.TB, kind string, number int) string {
	t.Helper()
	n.files.mu.Lock()
	defer n.files.mu.Unlock()
	key := kind + strconv.Itoa(number)
	if n.files.ids == nil {
		n.files.ids = map[string]string{}
	}
	if n.files.ids[key] == "" {
		n.files.ids[key] = n.Admin(region.EU).Upload(t, kind, key, sample(t, kind)).OK(t).String(t, "0.fileId")
	}
	return n.files.ids[key]
}

// sample returns a small file of a type.
func sample(t testing.TB, kind string) []byte {
	t.Helper()
	switch kind {
	case "image":
		var buffer bytes.Buffer
		require.NoError(t, png.Encode(&buffer, image.NewRGBA(image.Rect(0, 0, 8, 6))))
		return buffer.Bytes()
	case "video", "clip":
		return []byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2")
	case "audio":
		return []byte("ID3\x03\x00\x00\x00\x00\x00\x00")
	default:
		return []byte("a file of a test")
	}
}

// Upload uploads one file with the operation for its type. fields are the names and values of other form fields in
// turn.
func (c *Client) Upload(t testing.TB, kind, name string, content []byte, fields ...string) *Response {
	t.Helper()
	return c.UploadTo(t, "/api/v4/"+kind+"s", name, content, fields...)
}

// UploadTo is Upload to a given path.
func (c *Client) UploadTo(t testing.TB, path, name string, content []byte, fields ...string) *Response {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("files", name)
	require.NoError(t, err)
	_, err = part.Write(content)
	require.NoError(t, err)
	for i := 0; i+1 < len(fields); i += 2 { // after the file, as a browser's form may have it
		require.NoError(t, form.WriteField(fields[i], fields[i+1]))
	}
	require.NoError(t, form.Close())
	return c.With("Content-Type", form.FormDataContentType()).Do(t, http.MethodPost, path, body.Bytes())
}
