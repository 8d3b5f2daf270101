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

// requestBodies are the buffers of REST request bodies; one that grew over maxPooledBody is left to the collector.
var requestBodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const maxPooledBody = 64 << 10

func releaseBody(buffer *bytes.Buffer) {
	if buffer.Cap() <= maxPooledBody {
		buffer.Reset()
		requestBodies.Put(buffer)
	}
}

// readBody reads the whole body of a REST request, decompressed, of at most limit bytes before and after, which has to
// arrive within the time.
//
// It reads no more than limit of a body that is longer, and nothing of one that says so in its Content-Length. REST
// bodies are whole messages, so nothing is lost by reading them here, and much is known early: whether there is a body
// at all, that it is not too large, that it is not cut off.
func readBody(w http.ResponseWriter, request *http.Request, limit int64, within time.Duration) (*bytes.Buffer, *refusal) {
	if request.ContentLength > limit {
		return nil, refused(fail.TooLarge(limit))
	}
	buffer, _ := requestBodies.Get().(*bytes.Buffer)
	if request.Body == nil || request.ContentLength == 0 {
		return buffer, nil
	}
	deadline := newBodyDeadline(w, within)
	// MaxBytesReader tells the server, through the writer, not to read on.
	if r := fill(buffer, http.MaxBytesReader(w, request.Body, limit), limit); r != nil {
		releaseBody(buffer)
		return nil, r
	}
	deadline.lift()
	plain, r := inflated(buffer, request.Header.Get("Content-Encoding"), limit)
	if plain != buffer {
		releaseBody(buffer)
	}
	return plain, r
}

// bodyDeadline is the time by which a body has to be there. It has to be lifted then: the server goes on reading, to see
// whether the client leaves, and would take the end of the time for that. But only then: the server
// also reads what is left of a body, so that the next request can follow.
type bodyDeadline struct{ conn *http.ResponseController }

func newBodyDeadline(w http.ResponseWriter, within time.Duration) bodyDeadline {
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Now().Add(within)) // the recorder of a test has no deadlines
	return bodyDeadline{conn}
}

func (d bodyDeadline) lift() { _ = d.conn.SetReadDeadline(time.Time{}) }

// inflated returns what body is before compression: itself for no compression, a new buffer for gzip.
func inflated(body *bytes.Buffer, encoding string, limit int64) (*bytes.Buffer, *refusal) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return body, nil
	case compressionGzip:
	default:
		return nil, &refusal{Error: fail.BadRequest().Because(errEncoding), status: http.StatusUnsupportedMediaType}
	}
	if body.Len() == 0 {
		return body, nil
	}
	reader := newGzipReader()
	defer gzipReaders.Put(reader)
	if err := reader.Reset(body); err != nil {
		return nil, refused(fail.BadRequest().Because(err))
	}
	plain, _ := requestBodies.Get().(*bytes.Buffer)
	if r := fill(plain, io.LimitReader(reader, limit+1), limit); r != nil {
		releaseBody(plain)
		return nil, r
	}
	return plain, nil
}

var errEncoding = errors.New("the body is compressed in a way that is not gzip")

// fill reads source to its end into buffer, which may hold at most limit bytes.
func fill(buffer *bytes.Buffer, source io.Reader, limit int64) *refusal {
	_, err := buffer.ReadFrom(source)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge), err == nil && int64(buffer.Len()) > limit:
		return refused(fail.TooLarge(limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &refusal{Error: fail.BadRequest().Because(err), status: http.StatusRequestTimeout}
	case err != nil:
		return refused(fail.BadRequest().Because(err))
	}
	return nil
}

func refused(e *fail.Error) *refusal {
	r := refuse(e)
	return &r
}
