package realtime

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

// reconnectAfter is how long clients are told to wait before reconnecting.
const reconnectAfter = 2 * time.Second

// position is a position in the log of a home.
type position struct {
	home region.Code
	seq  int64
}

// lineID returns the id of an event in a stream: the home of the log and the event's number.
func lineID(home region.Code, seq int64) string {
	return string(home) + "-" + strconv.FormatInt(seq, 10)
}

// parseLineID parses a Last-Event-ID header; it returns nil if the header is empty.
func parseLineID(text string) (*position, error) {
	if text == "" {
		return nil, nil // an absent header is not an error
	}
	home, number, _ := strings.Cut(text, "-")
	code, err := region.Parse(home)
	if err != nil {
		return nil, errBadID
	}
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil || seq < 0 {
		return nil, errBadID
	}
	return &position{code, seq}, nil
}

var errBadID = fail.Validation("Last-Event-ID: must be the id of an event of a stream")

// writer writes a stream. After an error, which means that the client disconnected, it writes nothing more.
type writer struct {
	w       http.ResponseWriter
	ctl     *http.ResponseController
	timeout time.Duration // of a write
	err     error
}

func newWriter(w http.ResponseWriter, timeout time.Duration) *writer {
	return &writer{w: w, ctl: http.NewResponseController(w), timeout: timeout}
}

// begin writes the response header and the first event.
func (w *writer) begin(id string, reset bool) {
	header := w.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // keeps proxies from buffering the response
	w.w.WriteHeader(http.StatusOK)
	text := fmt.Appendf(nil, "retry: %d\nid: %s\n\n", reconnectAfter.Milliseconds(), id)
	if reset {
		text = fmt.Appendf(text, "id: %s\nevent: reset\ndata: {}\n\n", id)
	}
	w.send(text)
}

// heartbeat also advances the client's last event id, so that it stays valid while the user receives no events.
func (w *writer) heartbeat(id string) { w.send(fmt.Appendf(nil, ": heartbeat\nid: %s\n\n", id)) }

func (w *writer) end(reason string) {
	w.send(fmt.Appendf(nil, "event: end\ndata: {\"reason\":%q}\n\n", reason))
}

// send writes and flushes within its timeout, if the ResponseWriter supports deadlines.
func (w *writer) send(text []byte) {
	if w.err != nil {
		return
	}
	_ = w.ctl.SetWriteDeadline(time.Now().Add(w.timeout))
	if _, w.err = w.w.Write(text); w.err == nil {
		w.err = w.ctl.Flush()
	}
}
