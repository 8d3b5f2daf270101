package realtime

import (
	"maps"
	"slices"

	"github.com/plaza-social/plaza/platform/region"
)

// watchFrame is an encoded event of the log of a home.
type watchFrame struct {
	home region.Code
	seq  int64
	name string
	data []byte
}

// watch is a stream with its queue. The queue holds the frames that the client has not received. As the events may come from the logs of
// all homes, the position of the stream is one number for each home.
type watch struct {
	*conn
	names map[string]bool // of its events; nil for all
	limit int
	// contract is the name of the only event of a stream that the contract defines, which comes from the log of the user's home; empty for
	// the events of topics.
	contract string

	queue  []watchFrame
	seen   positions // events up to these were delivered, those for this client into the queue
	behind positions // of homes that did not answer when the stream began; negative if the client has had no event of the home
}

// positions are positions in the logs of homes.
type positions map[region.Code]int64

func newWatch(names map[string]bool, limit int) *watch {
	return &watch{conn: newConn(), names: names, limit: limit, seen: positions{}, behind: positions{}}
}

// wants reports whether an event in the log of a home belongs into the stream. It is true for the nil watch, that of a connection by MQTT.
func (w *watch) wants(home region.Code, name string) bool {
	return w == nil || (w.names == nil || w.names[name]) && (w.contract == "" || w.home == home)
}

// join makes the watch accept the events of a home after a position. What was pushed before is ignored.
func (w *watch) join(home region.Code, at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[home] = at
}

// joinLater records that a home does not answer, and the client's last position there; negative if it has none.
func (w *watch) joinLater(home region.Code, at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.seen, home)
	w.behind[home] = at
}

// missing returns the homes that did not answer when the stream began.
func (w *watch) missing() []region.Code {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.behind.homes()
}

// push adds an event unless the stream has it or is ending. Nothing is added to a full queue: the stream ends after sending it, and
// the client resumes there. So it does if earlier events of the home are missing.
func (w *watch) push(f watchFrame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen, joined := w.seen[f.home]
	_, missing := w.behind[f.home]
	switch {
	case w.reason != "":
		return
	case missing:
		w.reason = endUnavailable
	case !joined || f.seq <= seen:
		return
	case len(w.queue) >= w.limit:
		w.reason = endSlow
	default:
		w.queue = append(w.queue, f)
		w.seen[f.home] = f.seq
	}
	w.signal()
}

// advance records that all events of a home up to seq were delivered.
func (w *watch) advance(home region.Code, seq int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if seen, joined := w.seen[home]; w.reason == "" && joined {
		w.seen[home] = max(seen, seq)
	}
}

// take empties the queue. After receiving the frames, the client has all its events up to seen. A non-empty reason means that the
// stream ends after them.
func (w *watch) take() (frames []watchFrame, seen positions, reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	frames, w.queue = w.queue, nil
	return frames, w.position(), w.reason
}

// position returns the position of the stream. The caller must hold the lock.
func (w *watch) position() positions {
	at := maps.Clone(w.seen)
	for home, seq := range w.behind {
		if seq >= 0 {
			at[home] = seq
		}
	}
	return at
}

// homes returns the homes with a position, sorted.
func (p positions) homes() []region.Code { return slices.Sorted(maps.Keys(p)) }
