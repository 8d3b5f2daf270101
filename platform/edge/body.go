package edge

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
)

// buffers are the buffers of REST request and response bodies. One that grew beyond maxPooledBuffer is not reused.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const maxPooledBuffer = 256 << 10

func newBuffer() *bytes.Buffer {
	buffer, _ := buffers.Get().(*bytes.Buffer)
	return buffer
}

func releaseBuffer(buffer *bytes.Buffer) {
	if buffer.Cap() <= maxPooledBuffer {
		buffer.Reset()
		buffers.Put(buffer)
	}
}

// readBody reads and decompresses the whole body of a REST request, of at most limit bytes before and after, which must
// arrive within the timeout. The caller must release the buffer.
//
// It does not read a body whose Content-Length exceeds the limit, and reads at most limit bytes of any other.
func readBody(w http.ResponseWriter, request *http.Request, limit int64, timeout time.Duration) (*bytes.Buffer, *httpError) {
	if request.ContentLength > limit {
		return nil, rejection(fail.TooLarge(limit))
	}
	buffer := newBuffer()
	if request.Body == nil || request.ContentLength == 0 {
		return buffer, nil
	}
	deadline := newReadDeadline(w, timeout)
	// MaxBytesReader also makes the server, through w, stop reading.
	if rejected := readAll(buffer, http.MaxBytesReader(w, request.Body, limit), limit); rejected != nil {
		releaseBuffer(buffer)
		return nil, rejected
	}
	deadline.clear()
	plain, rejected := decompress(buffer, request.Header.Get("Content-Encoding"), limit)
	if plain != buffer {
		releaseBuffer(buffer)
	}
	return plain, rejected
}

// readDeadline limits the time in which a body must arrive. It must be cleared when the body was read, because the
// server keeps reading in order to notice a disconnected client, and would mistake the deadline for one. It must not be
// cleared earlier, because the server also reads the rest of a rejected body.
type readDeadline struct{ conn *http.ResponseController }

func newReadDeadline(w http.ResponseWriter, timeout time.Duration) readDeadline {
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Now().Add(timeout)) // not supported by httptest.ResponseRecorder
	return readDeadline{conn}
}

func (d readDeadline) clear() { _ = d.conn.SetReadDeadline(time.Time{}) }

// decompress returns the decompressed body: body itself if it is not compressed, a new buffer for gzip.
func decompress(body *bytes.Buffer, encoding string, limit int64) (*bytes.Buffer, *httpError) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return body, nil
	case compressionGzip:
	default:
		return nil, &httpError{Error: fail.BadRequest().Because(errEncoding), status: http.StatusUnsupportedMediaType}
	}
	if body.Len() == 0 {
		return body, nil
	}
	reader := newGzipReader()
	defer gzipReaders.Put(reader)
	if err := reader.Reset(body); err != nil {
		return nil, rejection(fail.BadRequest().Because(err))
	}
	plain := newBuffer()
	if rejected := readAll(plain, io.LimitReader(reader, limit+1), limit); rejected != nil {
		releaseBuffer(plain)
		return nil, rejected
	}
	return plain, nil
}

var errEncoding = errors.New("the body's Content-Encoding is not gzip")

// readAll reads source into buffer, which may hold at most limit bytes.
func readAll(buffer *bytes.Buffer, source io.Reader, limit int64) *httpError {
	_, err := buffer.ReadFrom(source)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge), err == nil && int64(buffer.Len()) > limit:
		return rejection(fail.TooLarge(limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &httpError{Error: fail.BadRequest().Because(err), status: http.StatusRequestTimeout}
	case err != nil:
		return rejection(fail.BadRequest().Because(err))
	}
	return nil
}

func rejection(e *fail.Error) *httpError {
	rejected := newHTTPError(e)
	return &rejected
}
