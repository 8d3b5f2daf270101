package edge

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/fail"
)

// DefaultResponseMemory is the default of Options.ResponseMemory.
const DefaultResponseMemory = 256 << 20

// largeResponse is the size in bytes from which a response counts. The number of connections limits smaller ones.
const largeResponse = 16 << 10

// responseMemory limits the bytes of large responses that are being written. As many may wait for it; when these are
// exhausted too, a response is refused at once.
type responseMemory struct {
	size    int64
	writing *semaphore.Weighted
	waiting *semaphore.Weighted
	timeout time.Duration // from the start of the request
}

func newResponseMemory(size int64, timeout time.Duration) *responseMemory {
	return &responseMemory{size: size, writing: semaphore.NewWeighted(size), waiting: semaphore.NewWeighted(size), timeout: timeout}
}

var errResponseMemory = errors.New("the responses that clients have not read yet use the whole response memory")

// acquire waits until a response of n bytes may be written, and returns how much to release afterwards. A response that
// is larger than the whole memory is written alone.
func (m *responseMemory) acquire(ctx context.Context, start time.Time, n int) (int64, *fail.Error) {
	weight := min(int64(n), m.size)
	if m.writing.TryAcquire(weight) {
		return weight, nil
	}
	if !m.waiting.TryAcquire(weight) {
		return 0, busy()
	}
	defer m.waiting.Release(weight)
	ctx, cancel := context.WithDeadline(ctx, start.Add(m.timeout))
	defer cancel()
	if m.writing.Acquire(ctx, weight) != nil {
		return 0, busy()
	}
	return weight, nil
}

func busy() *fail.Error {
	return fail.Unavailable("the server has too many responses that were not read", errResponseMemory)
}

// reserve waits for the response memory, if the response is large and counts. It returns an error if there is none.
func (w *responseWriter) reserve(n int) *fail.Error {
	if w.memory == nil || n < largeResponse {
		return nil
	}
	weight, failed := w.memory.acquire(w.ctx, w.start, n)
	w.reserved += weight
	return failed
}

// release returns what reserve has taken.
func (w *responseWriter) release() {
	if w.reserved > 0 {
		w.memory.writing.Release(w.reserved)
		w.reserved = 0
	}
}

// writeChunk is the progress in bytes that a client must make in Options.WriteTimeout while it reads a response: by default 6.4 kB/s.
const writeChunk = 64 << 10

// writeInTime writes data in chunks, each of which must be written within the timeout.
func (w *responseWriter) writeInTime(data []byte) (n int, err error) {
	for err == nil && len(data) > 0 {
		chunk := data[:min(len(data), writeChunk)]
		w.extendDeadline()
		var written int
		written, err = w.ResponseWriter.Write(chunk)
		n, data = n+written, data[written:]
	}
	return n, err
}

// extendDeadline gives the connection, or the stream of an HTTP/2 connection, the timeout for what is written next. A stream that
// the client has reset gets none: net/http would not release its memory until then.
func (w *responseWriter) extendDeadline() {
	if w.writeTimeout > 0 && (!w.http2 || w.ctx.Err() == nil) && !defence.Off(defence.WriteDeadline) {
		// Not supported by httptest.ResponseRecorder.
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.writeTimeout))
	}
}

// clearDeadline removes the deadline that the previous request on the connection has left for its last bytes.
func (w *responseWriter) clearDeadline() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Time{})
}
