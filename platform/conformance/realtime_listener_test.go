package conformance

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	eventlog "github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
)

// The principals of events in addition to those of the authorization matrix.
const (
	author      principal = "author"
	owner       principal = "owner" // of the communities and channels
	mutedUser   principal = "muted"
	blockedUser principal = "blocked by the author"
	newcomer    principal = "newcomer" // whom changes of members are about
)

// listenerPrincipals are the principals who may connect.
var listenerPrincipals = []principal{stranger, member, moderator, bannedMember, author, owner, mutedUser, blockedUser, newcomer}

// listener is a principal with a connection by MQTT and a stream.
type listener struct {
	who    principal
	by     *apptest.Client
	mqtt   *apptest.MQTTClient
	stream *apptest.Stream
}

// ownTopics returns the topics of what concerns a user.
func ownTopics(c *apptest.Client) []string {
	n, id := c.Network.NetworkID, c.InternalID
	return []string{
		n + "/user/" + id, n + "/membership/" + id + "/+/+", n + "/membership/+/" + id + "/+", n + "/marker/user/" + id,
		n + "/smartfeed/" + id + "/channels", n + "/smartfeed/" + id + "/messagefeeds", n + "/smartfeed/" + id + "/messages",
	}
}

// isSmartFeed reports whether a topic has the events of all channels of a user.
func isSmartFeed(topic string) bool { return strings.Contains(topic, "/smartfeed/") }

// listen connects a principal, who subscribes to those topics that the server permits.
func (w *eventWalk) listen(t *testing.T, who principal, topics []string) *listener {
	t.Helper()
	l := &listener{who: who, by: w.users[who]}
	l.mqtt = l.by.ConnectMQTT(t)
	permitted := ownTopics(l.by)
	for _, code := range region.All() {
		permitted = append(permitted, w.beacons[code].topic())
	}
	// Smart feeds are for the stream only: what they deliver must not stand for what the topics of channels do not.
	l.mqtt.RequireSubscribe(t, slices.DeleteFunc(slices.Clone(permitted), isSmartFeed)...)
	for _, topic := range topics {
		if l.mqtt.Subscribe(t, topic) {
			permitted = append(permitted, topic)
		}
	}
	l.stream = l.by.Listen(t, severalStream+"?"+url.Values{"topic": permitted}.Encode(), "")
	t.Cleanup(l.stream.Close)
	return l
}

// beacon is a user whose change of name marks a position in the log of the user's home.
type beacon struct{ *apptest.Client }

func (b beacon) topic() string { return b.Network.NetworkID + "/user/" + b.InternalID }

// light changes the name of the beacon and returns the name.
func (b beacon) light(t *testing.T) string {
	t.Helper()
	name := apptest.UserID("light")
	b.Do(t, http.MethodPut, "/api/v3/users", object{"userId": b.UserID, "displayName": name}).OK(t)
	return name
}

// received is a set of names of events.
type received map[string]bool

// heard returns what the listener received by MQTT and by the stream, up to the given names of beacons.
func (l *listener) heard(t *testing.T, lights ...string) (byMQTT, byStream received) {
	t.Helper()
	byMQTT = l.until(t, lights, func() (string, *apptest.Response) {
		e := l.mqtt.Next(t)
		return e.EventType, e.Response()
	})
	byStream = l.until(t, lights, func() (string, *apptest.Response) {
		e := l.stream.Next(t)
		return e.Name, e.Response()
	})
	return byMQTT, byStream
}

// until reads events up to the given names of beacons. Markers, which may arrive later than what changed them, must be the listener's own.
func (l *listener) until(t *testing.T, lights []string, next func() (string, *apptest.Response)) received {
	t.Helper()
	names, waiting := received{}, map[string]bool{}
	for _, light := range lights {
		waiting[light] = true
	}
	for len(waiting) > 0 {
		name, e := next()
		if name == "user.updated" && e.Has(t, "data.users.0.displayName") && waiting[e.String(t, "data.users.0.displayName")] {
			delete(waiting, e.String(t, "data.users.0.displayName"))
			continue
		}
		if name == eventlog.MarkerUserSync {
			require.Equal(t, l.by.Network.NetworkID+"/marker/user/"+l.by.InternalID, e.String(t, "path"))
		}
		names[name] = true
	}
	return names
}

// sorted returns the names in order.
func (r received) sorted() []string { return slices.Sorted(maps.Keys(r)) }
