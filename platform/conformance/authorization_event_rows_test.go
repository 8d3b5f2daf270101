package conformance

import (
	"testing"
)

func eventRows() []row {
	in := func(private bool) func(*testing.T, *fixture) object {
		return func(_ *testing.T, g *fixture) object {
			return eventIn(map[bool]string{false: g.open, true: g.private}[private])
		}
	}
	own := func(_ *testing.T, g *fixture) object {
		return with(eventIn(g.author.UserID), object{"originType": "user"})
	}
	made := func(private bool, more object) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			return with(object{"eventId": g.event(t, private)}, more)
		}
	}
	fresh := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"eventId": newEvent(t, g.boss, eventIn(g.open))}
	}
	going := object{"status": "going"}
	unanswered := codesFor(400400, 400400, 400400, 400400, 400300)
	return []row{
		{procedure: "EventService/CreateEvent", request: in(false), want: codesFor(400301, 400300, 0, 400304, 400300)},
		{procedure: "EventService/CreateEvent", name: "of another user", request: own, want: codesFor(400300, 400300, 400300, 400300, 400300)},
		{procedure: "EventService/GetEvent", request: made(false, nil), want: everyone},
		{procedure: "EventService/GetEvent", name: "private", request: made(true, nil), want: communityReaders},
		{procedure: "EventService/ListEvents", request: noFields, want: everyone},
		{procedure: "EventService/ListEvents", name: "private", request: aCommunity("originId", true), want: communityReaders},
		{procedure: "EventService/UpdateEvent", request: made(false, object{"title": "x"}), want: codesFor(400300, 400300, 400300, 400300, 0)},
		{procedure: "EventService/DeleteEvent", request: fresh, want: codesFor(400300, 400300, 400300, 400300, 0)},
		{procedure: "EventService/UpdateEventRsvp", request: made(false, going), want: codesFor(400301, 400400, 400400, 400304, 400300)},
		{procedure: "EventService/GetMyEventRsvp", request: made(false, nil), want: unanswered},
		// Answers the event.
		{procedure: "EventService/CreateEventRsvp", request: made(false, going), want: codesFor(400301, 0, 0, 400304, 400300)},
		{procedure: "EventService/ListEventRsvps", request: made(false, nil), want: everyone},
		{procedure: "EventService/ListEventRsvps", name: "private", request: made(true, nil), want: communityReaders},
		{procedure: "EventService/ListMyEventRsvps", request: noFields, want: usersOnly},
	}
}

// event returns an event of the open or the private community, which is the same for all calls.
func (g *fixture) event(t *testing.T, private bool) string {
	t.Helper()
	community := map[bool]string{false: g.open, true: g.private}[private]
	if g.events == nil {
		g.events = map[string]string{}
	}
	if g.events[community] == "" {
		g.events[community] = newEvent(t, g.boss, eventIn(community))
	}
	return g.events[community]
}
