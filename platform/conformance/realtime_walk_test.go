package conformance

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/edge/realtime"
	eventlog "github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
)

// eventWalk makes every event happen, in public and in private places, and compares who receives it with who may read what it is about.
// All clients use the server of one region: what a listener receives then depends on the acts before it only.
type eventWalk struct {
	n       *apptest.Network
	conn    *pgx.Conn // to count what is logged
	users   map[principal]*apptest.Client
	beacons map[region.Code]beacon
	emitted map[string]bool // names of events with a row
	topics  map[string]bool // kinds of topics with a row
	present []*listener     // at the current place
}

func newEventWalk(t *testing.T) *eventWalk {
	t.Helper()
	n := apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) {
		cfg.MediaKey = mediaSecret
		cfg.MediaIngestURL, cfg.MediaPlaybackURL = "rtmp://ingest.test:1935/live/in", "https://play.test/live"
	}))
	w := &eventWalk{
		n: n, users: map[principal]*apptest.Client{}, beacons: map[region.Code]beacon{},
		emitted: map[string]bool{}, topics: map[string]bool{},
	}
	for i, who := range listenerPrincipals {
		w.users[who] = n.NewUser(t, region.All()[i%3], "listener").At(region.EU)
	}
	for _, code := range region.All() {
		w.beacons[code] = beacon{n.NewUser(t, code, "beacon").At(region.EU)}
	}
	block(t, w.users[author], w.users[blockedUser])
	n.Admin(region.EU).Do(t, http.MethodPut, settingsPath, object{"flagHideLimit": 2}).OK(t)
	w.conn = connectTo(t, n)
	return w
}

// all returns the clients of some principals, or of all listeners if none are named.
func (w *eventWalk) all(who ...principal) []*apptest.Client {
	if len(who) == 0 {
		who = listenerPrincipals
	}
	clients := make([]*apptest.Client, len(who))
	for i, p := range who {
		clients[i] = w.users[p]
	}
	return clients
}

// call calls an operation, which must succeed.
func (w *eventWalk) call(t *testing.T, by *apptest.Client, procedure string, body object) {
	t.Helper()
	by.Do(t, http.MethodPost, "/plaza.v1."+procedure, body).OK(t)
}

// audience reports who receives an event.
type audience func(*listener) bool

// only are events for some principals, even if others may read their objects. Each use says why.
func only(who ...principal) audience {
	return func(l *listener) bool { return slices.Contains(who, l.who) }
}

// and adds an audience, such as the user whom a change concerns.
func (a audience) and(other audience) audience {
	return func(l *listener) bool { return a(l) || other(l) }
}

// readers are those who may read what is at a path, whose end is known once the event has happened.
func readers(t *testing.T, prefix string, id *string) audience {
	t.Helper()
	return func(l *listener) bool {
		r := l.by.Do(t, http.MethodGet, prefix+*id, nil)
		require.Contains(t, []int{http.StatusOK, http.StatusForbidden, http.StatusNotFound}, r.Status, r.Short())
		return r.Status == http.StatusOK
	}
}

// readersOf is readers for a path that is known.
func readersOf(t *testing.T, path string) audience {
	t.Helper()
	return readers(t, path, new(string))
}

// event is an event of an act and its audience.
type event struct {
	name string
	to   audience
}

// logNames are the names in the log of events that clients know by another one.
var logNames = map[string]string{"community.joined": eventlog.CommunityUserAdded}

// logged returns how many events with a name are in the logs, or -1 if the test has ended.
func (w *eventWalk) logged(t *testing.T, name string) (rows int) {
	t.Helper()
	name = cmp.Or(logNames[name], name)
	if err := w.conn.QueryRow(t.Context(), `SELECT count(*) FROM realtime_events WHERE name = $1`, name).Scan(&rows); err != nil {
		return -1
	}
	return rows
}

// copies is in how many logs an event is.
func copies(name string) int {
	if name == eventlog.CommunityUserAdded || logNames[name] == eventlog.CommunityUserAdded {
		return len(region.All())
	}
	return 1
}

// happens makes an act and checks who receives its events, by MQTT and by streams, and that nothing else arrives.
func (w *eventWalk) happens(t *testing.T, act func(), all ...event) {
	t.Helper()
	before, want := map[string]int{}, map[principal]received{}
	for _, e := range all {
		w.emitted[e.name] = true
		before[e.name] = w.logged(t, e.name)
	}
	expect := func(deleted bool) {
		for _, e := range all {
			if strings.HasSuffix(e.name, ".deleted") != deleted {
				continue
			}
			for _, l := range w.present {
				if want[l.who] == nil {
					want[l.who] = received{}
				}
				if e.to(l) {
					want[l.who][e.name] = true
				}
			}
		}
	}
	expect(true) // who may read what is deleted, before it is
	act()
	for _, e := range all {
		require.Eventually(t, func() bool { return w.logged(t, e.name) >= before[e.name]+copies(e.name) }, apptest.Patience, 2*time.Millisecond,
			e.name)
	}
	lights := w.light(t)
	expect(false)
	for _, l := range w.present {
		byMQTT, byStream := l.heard(t, lights...)
		for transport, got := range map[string]received{"MQTT": byMQTT, "the stream": byStream} {
			if !want[l.who][eventlog.MarkerUserSync] {
				delete(got, eventlog.MarkerUserSync) // of earlier acts, which follow in the background
			}
			require.Equal(t, want[l.who].sorted(), got.sorted(), "what %s received by %s of %s", l.who, transport, all[0].name)
		}
	}
}

// light marks a position in the log of each home, after which nothing of earlier acts arrives.
func (w *eventWalk) light(t *testing.T) (lights []string) {
	t.Helper()
	for _, code := range region.All() {
		lights = append(lights, w.beacons[code].light(t))
	}
	return lights
}

// settle makes acts whose events are not looked at, and waits until they are in the log.
func (w *eventWalk) settle(t *testing.T, act func(), names ...string) {
	t.Helper()
	before := map[string]int{}
	for _, name := range names {
		before[name] = w.logged(t, name)
	}
	act()
	for _, name := range names {
		require.Eventually(t, func() bool { return w.logged(t, name) >= before[name]+copies(name) }, apptest.Patience, 2*time.Millisecond, name)
	}
}

// place is where events happen.
type place struct {
	topics  map[string]audience // who may subscribe to which topic
	settles func()              // ends the access of those who may not read, after they subscribed; nil for none
}

// enter connects all principals while they may read the place, ends the access of some, and checks who may subscribe from then on.
func (w *eventWalk) enter(t *testing.T, p place) {
	t.Helper()
	var filters []string
	for topic := range p.topics {
		filters = append(filters, topic)
		w.addTopic(topic)
	}
	w.present = nil
	for _, who := range listenerPrincipals {
		l := w.listen(t, who, filters)
		for _, topic := range ownTopics(l.by) {
			w.addTopic(topic)
		}
		w.present = append(w.present, l)
	}
	if p.settles != nil {
		p.settles()
	}
	lights := w.light(t)
	for _, l := range w.present {
		l.heard(t, lights...)
		w.requireSubscriptions(t, l, p.topics)
	}
}

// addTopic notes the kind of a topic, its second level, which that of the network has not.
func (w *eventWalk) addTopic(topic string) {
	if levels := strings.Split(topic, "/"); len(levels) > 1 {
		w.topics[levels[1]] = true
	}
}

// requireSubscriptions checks what a principal may subscribe to with a new connection and with a new stream. They are at another server,
// because a new connection ends that of the same client.
func (w *eventWalk) requireSubscriptions(t *testing.T, l *listener, filters map[string]audience) {
	t.Helper()
	by := l.by.At(region.US)
	connection := by.ConnectMQTT(t)
	for topic, to := range filters {
		permitted := to(l)
		require.Equal(t, permitted, connection.Subscribe(t, topic), "%s subscribes by MQTT to %s", l.who, topic)
		if permitted {
			by.Listen(t, severalStream+topics(topic), "").Close()
			continue
		}
		requireFailure(t, failure{status: http.StatusForbidden, code: 400300}, by.Do(t, http.MethodGet, severalStream+topics(topic), nil))
	}
}

// unemitted are the names of events that no operation emits today, with the reason.
var unemitted = map[string]string{
	"community.userChanged": "no operation replaces as many roles of a member as it adds",
}

// TestEventsReachThoseWhoMayRead fails for an event and for a kind of topic without a row, and for an event that reaches a user who may
// not read what it is about.
func TestEventsReachThoseWhoMayRead(t *testing.T) {
	t.Parallel()
	w := newEventWalk(t)
	for _, visit := range eventPlaces() {
		if !t.Run(visit.name, func(t *testing.T) { visit.walk(t, w, visit.public) }) {
			return // the places share users
		}
	}
	for _, name := range eventlog.Names() {
		require.True(t, w.emitted[name] || unemitted[name] != "", "%s has no row: say who receives it", name)
	}
	for name := range w.emitted {
		require.True(t, eventlog.Known(name), "a row for the unknown event %s", name)
		require.Empty(t, unemitted[name], name)
	}
	for _, kind := range realtime.TopicKinds() {
		require.True(t, w.topics[kind], "the topics of %s have no row: say who may subscribe to them", kind)
	}
}
