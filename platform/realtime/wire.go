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

// reconnectAfter is what clients are told to wait before they connect again.
const reconnectAfter = 2 * time.Second

// lineID is the id of an event's line: the home whose log it is in, and its number there.
func lineID(home region.Code, seq int64) string {
	return string(home) + "-" + strconv.FormatInt(seq, 10)
}

// parseLineID reads a Last-Event-ID; nil where there is none.
func parseLineID(text string) (*position, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // none is no error
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

// writer writes a stream. After a failure it writes nothing more: the client is gone.
type writer struct {
	w   http.ResponseWriter
	ctl *http.ResponseController
	err error
}

func newWriter(w http.ResponseWriter) *writer {
	return &writer{w: w, ctl: http.NewResponseController(w)}
}

// begin writes the header and what every stream starts with.
func (w *writer) begin(id string, reset bool) {
	header := w.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // proxies that would wait for the end
	w.w.WriteHeader(http.StatusOK)
	text := fmt.Appendf(nil, "retry: %d\nid: %s\n\n", reconnectAfter.Milliseconds(), id)
	if reset {
		text = fmt.Appendf(text, "id: %s\nevent: reset\ndata: {}\n\n", id)
	}
	w.send(text)
}

func (w *writer) frame(text []byte) { w.send(text) }

// heartbeat also moves the client's last id on, so that it stays good while nothing happens to the user.
func (w *writer) heartbeat(id string) { w.send(fmt.Appendf(nil, ": heartbeat\nid: %s\n\n", id)) }

func (w *writer) end(reason string) {
	w.send(fmt.Appendf(nil, "event: end\ndata: {\"reason\":%q}\n\n", reason))
}

// send writes and flushes within writeTimeout. A ResponseWriter that knows no deadline has none.
func (w *writer) send(text []byte) {
	if w.err != nil {
		return
	}
	_ = w.ctl.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, w.err = w.w.Write(text); w.err == nil {
		w.err = w.ctl.Flush()
	}
}
