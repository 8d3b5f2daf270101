package realtime

import (
	"cmp"
	"net/http"

	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

// names maps the last segment of the path of a stream that the contract defines to the name of its events. Such a stream is another view of
// what the others have: it depends on the home of its user only, has a payload of its own, and resumes after any number of events.
var names = map[string]string{
	"community.userAdded":     events.CommunityUserAdded,
	"marker.marker.user-sync": events.MarkerUserSync,
}

// Label returns the name by which metrics count a stream; empty if there is no stream called name.
func (h *Hub) Label(name string) string {
	switch {
	case names[name] != "":
		return name
	case name == severalEvents || events.Known(name):
		return severalEvents
	}
	return ""
}

// Serve responds with a stream until the client disconnects or the server ends it. If it returns an error, nothing was
// written.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, name string) error {
	s := &stream{
		hub: h, request: r, name: name, contract: names[name], homes: region.All(), out: newWriter(w, h.limits().WriteStream), at: positions{},
		upTo: positions{},
	}
	release, err := s.admit(r.Context())
	if err != nil {
		return err
	}
	defer release()
	open := h.metrics.streams.WithLabelValues(cmp.Or(s.contract, severalEvents))
	open.Inc()
	defer open.Dec()
	s.run(r.Context())
	return nil
}

// enter counts a new stream of a user, or rejects it.
func (h *Hub) enter(owner string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return fail.Unavailable("the server is shutting down", nil)
	case h.streams[owner] >= h.StreamsPerUser && !defence.Off(defence.StreamsPerUser):
		return fail.New(fail.CodeRateLimited, "Too many streams")
	}
	h.streams[owner]++
	return nil
}

func (h *Hub) exit(owner string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.streams[owner]--; h.streams[owner] == 0 {
		delete(h.streams, owner)
	}
}
