package realtime_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/edge/realtime"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/people"
)

// serveMQTT returns the address at which the hub serves MQTT.
func (w *world) serveMQTT() string {
	server := httptest.NewServer(http.HandlerFunc(w.hub.ServeMQTT))
	w.t.Cleanup(server.Close)
	w.t.Cleanup(w.hub.Close)
	return "ws" + strings.TrimPrefix(server.URL, "http")
}

// options returns the options of a client of the user.
func (w *world) options(address, clientID string) *mqtt.ClientOptions {
	return mqtt.NewClientOptions().AddBroker(address).SetClientID(clientID).SetUsername(w.user.ID).SetPassword(w.token).
		SetProtocolVersion(4).SetAutoReconnect(false).SetConnectTimeout(patience)
}

// connect connects a client; lost is closed when the server has ended the connection.
func connect(t *testing.T, o *mqtt.ClientOptions) (c mqtt.Client, lost chan struct{}) {
	t.Helper()
	lost = make(chan struct{})
	c = mqtt.NewClient(o.SetConnectionLostHandler(func(mqtt.Client, error) { close(lost) }))
	token := c.Connect()
	require.True(t, token.WaitTimeout(patience))
	require.NoError(t, token.Error())
	t.Cleanup(func() { c.Disconnect(0) })
	return c, lost
}

func refused(t *testing.T, o *mqtt.ClientOptions) {
	t.Helper()
	token := mqtt.NewClient(o).Connect()
	require.True(t, token.WaitTimeout(patience))
	require.Error(t, token.Error())
}

func (w *world) emitUserUpdated(n int) {
	w.t.Helper()
	for range n {
		tx := w.deps.Store.NewTx(region.EU)
		row := events.EmitChange(tx, "user.updated", w.deps.UserChange(w.user.ID), w.user.ID, w.deps.Now())
		require.NoError(w.t, tx.Commit(w.t.Context()))
		w.deps.Outbox.Deliver(w.t.Context(), region.EU, row)
	}
}

func TestMQTTClientIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*realtime.Options) {})
	address := w.serveMQTT()
	_, longest := connect(t, w.options(address, strings.Repeat("x", 256)))
	refused(t, w.options(address, strings.Repeat("x", 257)))
	_, first := connect(t, w.options(address, "phone"))
	connect(t, w.options(address, "phone"))
	<-first // the same client has connected again
	require.Empty(t, longest)
}

func TestMQTTConnectionsPerUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *realtime.Options) { o.StreamsPerUser = 2 })
	address := w.serveMQTT()
	first, _ := connect(t, w.options(address, "1"))
	connect(t, w.options(address, "2"))
	refused(t, w.options(address, "3"))
	first.Disconnect(0)
	require.Eventually(t, func() bool {
		token := mqtt.NewClient(w.options(address, "3")).Connect()
		return token.WaitTimeout(patience) && token.Error() == nil
	}, patience, 10*time.Millisecond)
}

func TestMQTTSubscriptionLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*realtime.Options) {})
	c, _ := connect(t, w.options(w.serveMQTT(), "phone"))
	for i := range 11 {
		filters := map[string]byte{}
		for j := range 100 {
			filters[fmt.Sprintf("%s/user/%s/%d", networkID, w.user.ID, 100*i+j)] = 0
		}
		token, ok := c.SubscribeMultiple(filters, nil).(*mqtt.SubscribeToken)
		require.True(t, ok)
		require.True(t, token.WaitTimeout(patience))
		for filter, code := range token.Result() {
			require.Equal(t, i == 10, code == 0x80, filter)
		}
	}
}

// waitingLimits lets no subscription be checked before the context of the wait ends.
type waitingLimits struct {
	*edge.RateLimits
	waits, ended chan struct{}
}

func (l waitingLimits) AwaitSpare(ctx context.Context, _ *auth.Caller) error {
	l.waits <- struct{}{}
	<-ctx.Done()
	close(l.ended)
	return ctx.Err()
}

// TestMQTTWaitEndsWithServer stops a server while a subscription waits for the rate limit.
func TestMQTTWaitEndsWithServer(t *testing.T) {
	t.Parallel()
	limits := waitingLimits{waits: make(chan struct{}), ended: make(chan struct{})}
	w := newWorld(t, func(o *realtime.Options) { o.Limits = limits })
	c, lost := connect(t, w.options(w.serveMQTT(), "phone"))
	c.Subscribe(networkID, 0, nil)
	<-limits.waits
	w.hub.Close()
	<-limits.ended
	<-lost
}

func TestMQTTPacketLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*realtime.Options) {})
	address := w.serveMQTT()
	const header = 4 + len("x") + 2 // of a PUBLISH packet with the topic x
	c, lost := connect(t, w.options(address, "1"))
	c.Publish("x", 0, false, make([]byte, 64<<10-header-1))
	token := c.Subscribe(networkID, 0, nil)
	require.True(t, token.WaitTimeout(patience))
	require.NoError(t, token.Error())
	require.Empty(t, lost)
	c.Publish("x", 0, false, make([]byte, 64<<10))
	<-lost
}

// TestMQTTSlowClient has one client that does not read, and one that does.
func TestMQTTSlowClient(t *testing.T) {
	t.Parallel()
	const queue = 8
	w := newWorld(t, func(o *realtime.Options) { o.QueueLength = queue })
	tx, user := w.deps.Store.NewTx(region.EU), new(people.User)
	tx.UpdateUser(w.user.ID, people.UserChange{Metadata: []byte(`{"x":"` + strings.Repeat("x", 9000) + `"}`)}, w.deps.Now(), &user)
	require.NoError(t, tx.Commit(t.Context()))
	address := w.serveMQTT()
	topic := networkID + "/user/" + w.user.ID
	slow := w.rawMQTT(address, topic)
	received := make(chan mqtt.Message, queue)
	quick, lost := connect(t, w.options(address, "quick"))
	token := quick.Subscribe(topic, 0, func(_ mqtt.Client, m mqtt.Message) { received <- m })
	require.True(t, token.WaitTimeout(patience))
	for sent := 0; w.hub.Streams() == 2; sent += queue {
		require.Less(t, sent, 20_000, "the slow client is not disconnected")
		w.emitUserUpdated(queue)
		for range queue { // no more than its queue takes
			select {
			case <-received:
			case <-lost:
				require.FailNow(t, "the quick client was disconnected")
			}
		}
	}
	require.Equal(t, 1, w.hub.Streams())
	_ = slow.CloseNow()
}

// rawMQTT returns a connection that has subscribed to a topic and then does not read.
func (w *world) rawMQTT(address, topic string) *websocket.Conn {
	w.t.Helper()
	socket, _, err := websocket.Dial( //nolint:bodyclose // there is none after an upgrade
		w.t.Context(), address, &websocket.DialOptions{Subprotocols: []string{"mqtt"}})
	require.NoError(w.t, err)
	c := websocket.NetConn(w.t.Context(), socket, websocket.MessageBinary)
	hello, ok := packets.NewControlPacket(packets.Connect).(*packets.ConnectPacket)
	require.True(w.t, ok)
	hello.ProtocolName, hello.ProtocolVersion, hello.ClientIdentifier, hello.CleanSession = "MQTT", 4, "slow", true
	hello.UsernameFlag, hello.PasswordFlag, hello.Username, hello.Password = true, true, w.user.ID, []byte(w.token)
	subscribe, ok := packets.NewControlPacket(packets.Subscribe).(*packets.SubscribePacket)
	require.True(w.t, ok)
	subscribe.MessageID, subscribe.Topics, subscribe.Qoss = 1, []string{topic}, []byte{0}
	for _, p := range []packets.ControlPacket{hello, subscribe} {
		require.NoError(w.t, p.Write(c))
		_, err := packets.ReadPacket(c)
		require.NoError(w.t, err)
	}
	return socket
}

// TestMQTTLastEvent bans a user, and holds the event about it back while the sessions are checked. The connection ends once the client
// has the event.
func TestMQTTLastEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*realtime.Options) {})
	c, lost := connect(t, w.options(w.serveMQTT(), "phone"))
	received := make(chan mqtt.Message, 1)
	token := c.Subscribe(networkID+"/user/"+w.user.ID, 0, func(_ mqtt.Client, m mqtt.Message) { received <- m })
	require.True(t, token.WaitTimeout(patience))
	require.NoError(t, token.Error())
	tx := w.deps.Store.NewTx(region.EU)
	var banned *people.User
	tx.BanUser(w.user.ID, true, w.deps.Now(), &banned)
	row := events.EmitChange(tx, "user.didGlobalBan", w.deps.UserChange(w.user.ID), "", w.deps.Now())
	require.NoError(t, tx.Commit(t.Context()))
	for range 3 {
		w.hub.CheckSessions(t.Context(), region.EU)
	}
	w.deps.Outbox.Deliver(t.Context(), region.EU, row)
	require.Contains(t, string((<-received).Payload()), "user.didGlobalBan")
	<-lost
}

// TestMQTTLastEventIsNotAwaitedForever bans a user, and holds the event about it back for longer than the server waits.
func TestMQTTLastEventIsNotAwaitedForever(t *testing.T) {
	t.Parallel()
	short := limits.Lift()
	short.LastEvent = time.Nanosecond
	w := newWorldWith(t, short, func(*realtime.Options) {})
	_, lost := connect(t, w.options(w.serveMQTT(), "phone"))
	tx := w.deps.Store.NewTx(region.EU)
	var banned *people.User
	tx.BanUser(w.user.ID, true, w.deps.Now(), &banned)
	events.EmitChange(tx, "user.didGlobalBan", w.deps.UserChange(w.user.ID), "", w.deps.Now())
	require.NoError(t, tx.Commit(t.Context()))
	for range 2 { // the first check begins to wait
		w.hub.CheckSessions(t.Context(), region.EU)
	}
	<-lost
}

// TestEventsOfWhatIsGone logs an event about an object that does not exist any more: the events after it are delivered.
func TestEventsOfWhatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*realtime.Options) {})
	gone := region.NewID(region.EU)
	c, _ := connect(t, w.options(w.serveMQTT(), "phone"))
	received := make(chan mqtt.Message, 2)
	for _, id := range []string{gone, w.user.ID} {
		token := c.Subscribe(networkID+"/user/"+id, 0, func(_ mqtt.Client, m mqtt.Message) { received <- m })
		require.True(t, token.WaitTimeout(patience))
		require.NoError(t, token.Error())
	}
	tx := w.deps.Store.NewTx(region.EU)
	row := events.EmitChange(tx, "user.updated", w.deps.UserChange(gone), gone, w.deps.Now())
	require.NoError(t, tx.Commit(t.Context()))
	w.deps.Outbox.Deliver(t.Context(), region.EU, row)
	w.emitUserUpdated(1)
	require.Equal(t, networkID+"/user/"+w.user.ID, (<-received).Topic())
	require.Empty(t, received)
}

// TestMQTTMessagesAreBinary sends a text to the server, which ends the connection.
func TestMQTTMessagesAreBinary(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*realtime.Options) {})
	socket := w.rawMQTT(w.serveMQTT(), networkID+"/user/"+w.user.ID)
	require.Equal(t, 1, w.hub.Streams())
	require.NoError(t, socket.Write(t.Context(), websocket.MessageText, []byte("text")))
	require.Eventually(t, func() bool { return w.hub.Streams() == 0 }, patience, time.Millisecond)
}

// TestNothingIsHeldOfWhatEnded ends a stream, a stream of topics and a connection by MQTT: the hub holds as much as before.
func TestNothingIsHeldOfWhatEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*realtime.Options) {})
	address, topic := w.serveMQTT(), networkID+"/user/"+w.user.ID
	before := w.hub.Held(topic)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	ended := make(chan error, 2)
	for _, name := range []string{"marker.marker.user-sync", "user.updated"} {
		c, r := newClient(), w.request("").WithContext(ctx)
		close(c.open)
		r.URL.RawQuery = url.Values{"topic": {topic}}.Encode()
		w.running.Go(func() { ended <- w.hub.Serve(c, r, name) })
	}
	client, _ := connect(t, w.options(address, "phone"))
	token := client.Subscribe(topic, 0, nil)
	require.True(t, token.WaitTimeout(patience))
	require.NoError(t, token.Error())
	during := map[string]int{
		"users": 1, "streams of users": 3, "watched sessions": 3, "subscriptions": 2, "clients of the library": 1,
		"subscribers": 3, "connections": 1, "clients": 1, "watches": 2, "streams in the metrics": 2,
	}
	for name := range during {
		during[name] += before[name]
	}
	require.Eventually(t, func() bool { return maps.Equal(during, w.hub.Held(topic)) }, patience, time.Millisecond)
	running := w.hub.Expiries()
	leave()
	for range 2 {
		require.NoError(t, <-ended)
	}
	client.Disconnect(0)
	require.Eventually(t, func() bool { return maps.Equal(before, w.hub.Held(topic)) }, patience, time.Millisecond)
	require.Zero(t, running())
}
