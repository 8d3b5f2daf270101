package realtime

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/subscription"
)

const (
	// maxMQTTPacket is the maximum size of a packet of a client, in bytes.
	maxMQTTPacket = 64 << 10
	// maxSubscriptions is the maximum number of subscriptions of a connection.
	maxSubscriptions = 1000
	// maxClientID is the maximum length of a client id.
	maxClientID = 256
	// mqttBuffer is the size of the buffers of a connection.
	mqttBuffer = 1 << 10
)

// broker serves the MQTT connections of users and publishes events to them. Clients only subscribe. All messages have
// QoS 0, and no session outlives its connection: clients subscribe again when they reconnect, and then read what they
// missed through the API. The sessions and the matching of topics are those of the library; who may subscribe and who
// receives an event is decided here.
type broker struct {
	mqtt.HookBase
	hub      *Hub
	server   *mqtt.Server
	resolver *subscription.Resolver
	count    atomic.Int64 // subscribers

	mu      sync.Mutex
	clients map[net.Conn]*subscriber
	watches map[string]*subscriber // by the name of their subscriptions

	publishing sync.Mutex
	current    atomic.Pointer[publication]
}

// publication is a message that is being published, and its recipients.
type publication struct {
	topic      string
	recipients map[*mqtt.Client]bool
}

func newBroker(h *Hub) *broker {
	b := &broker{hub: h, resolver: subscription.New(h.Deps), clients: map[net.Conn]*subscriber{}, watches: map[string]*subscriber{}}
	limits := mqtt.NewDefaultServerCapabilities()
	limits.MaximumClientWritesPending = narrow.To[int32](min(h.QueueLength, math.MaxInt16))
	limits.MaximumSessionExpiryInterval, limits.MaximumPacketSize, limits.MaximumQos = 0, maxMQTTPacket, 0
	limits.RetainAvailable, limits.SharedSubAvailable, limits.TopicAliasMaximum, limits.SubIDAvailable = 0, 0, 0, 0
	b.server = mqtt.New(&mqtt.Options{
		Capabilities: limits, InlineClient: true, ClientNetWriteBufferSize: mqttBuffer, ClientNetReadBufferSize: mqttBuffer,
		Logger: slog.New(slog.DiscardHandler), // its lines contain packets, and thus tokens
		// The statistics of the library are not published.
		SysTopicResendInterval: int64(math.MaxInt64 / time.Second),
	})
	if err := b.server.AddHook(b, nil); err != nil {
		panic("realtime: " + err.Error()) // Init of HookBase returns no error
	}
	return b
}

// ID returns the name of the hook.
func (b *broker) ID() string { return "plaza" }

// Provides reports which methods of the hook the library calls.
func (b *broker) Provides(method byte) bool {
	return slices.Contains([]byte{
		mqtt.OnConnect, mqtt.OnConnectAuthenticate, mqtt.OnACLCheck, mqtt.OnSubscribe, mqtt.OnSubscribed, mqtt.OnUnsubscribed,
		mqtt.OnPublishDropped,
	}, method)
}

// ServeMQTT answers a request for a connection by MQTT over WebSocket. The connection outlives the request, whose memory an
// idle connection does not need.
func (h *Hub) ServeMQTT(w http.ResponseWriter, r *http.Request) {
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	ws.SetReadLimit(maxMQTTPacket)
	c := &socket{Conn: ws, address: h.Limits.AddressOf(r.Context()), timeout: h.limits().WriteStream}
	_ = c.SetDeadline(time.Now().Add(h.limits().Admission)) // until the first packet has set that of the keep-alive
	go h.broker.serve(c)
}

// serve serves a connection until it ends.
func (b *broker) serve(c *socket) {
	defer b.remove(c)
	_ = b.server.EstablishConnection("websocket", c)
}

// errRefused ends a connection whose refusal was sent.
var errRefused = errors.New("connection refused")

// OnConnect authenticates a client and registers its connection.
func (b *broker) OnConnect(cl *mqtt.Client, pk packets.Packet) error {
	cl.Properties.Will = mqtt.Will{} // clients do not publish
	cl.Properties.Clean, cl.Properties.Props.SessionExpiryInterval = true, 0
	code := packets.CodeSuccess
	if len(cl.ID) > maxClientID {
		code = packets.ErrClientIdentifierNotValid
	} else {
		apart(func() { code = b.admit(cl, string(pk.Connect.Username), string(pk.Connect.Password)) })
	}
	if code == packets.CodeSuccess {
		return nil
	}
	_ = b.server.SendConnack(cl, code, false, nil)
	return errRefused
}

// apart calls f in a goroutine of its own, whose stack grows: that of a connection stays small.
func apart(f func()) {
	var g sync.WaitGroup
	g.Go(f)
	g.Wait()
}

// admit registers the connection of a client with the access token of a user.
func (b *broker) admit(cl *mqtt.Client, userID, token string) packets.Code {
	ctx, cancel := context.WithTimeout(context.Background(), b.hub.limits().Admission)
	defer cancel()
	claims, err := b.hub.Issuer.Verify(token)
	if err != nil || claims.Admin || claims.Guest != auth.NoGuest || userID != claims.UserID {
		return b.refuseCredential(ctx, cl, err)
	}
	caller := auth.CallerOf(claims)
	ctx = auth.WithCaller(ctx, caller)
	if err := b.hub.Limits.AdmitUser(ctx, caller); err != nil {
		return refusal(cl, err)
	}
	request := b.hub.NewUserRequest(ctx)
	if err := request.Run(ctx); err != nil {
		return refusal(cl, err)
	}
	if b.hub.enter(claims.UserID) != nil {
		return packets.ErrServerUnavailable
	}
	b.count.Add(1)
	b.hub.position(ctx, region.All())
	cl.ID = claims.UserID + " " + cl.ID // two users may choose the same
	b.register(cl, claims)
	return packets.CodeSuccess
}

// refuseCredential returns the code for a client without a valid token, and counts the token unless it was valid once.
func (b *broker) refuseCredential(ctx context.Context, cl *mqtt.Client, err error) packets.Code {
	s, isSocket := cl.Net.Conn.(*socket)
	if isSocket && !errors.Is(err, auth.ErrTokenExpired) {
		if err := b.hub.Limits.CountWrongCredential(ctx, s.address); err != nil {
			return refusal(cl, err)
		}
	}
	return packets.ErrBadUsernameOrPassword
}

// refusal returns the code for a user whom the database or a rate limit does not admit. The public clients reconnect, except after the
// codes for users who are banned or deleted.
func refusal(cl *mqtt.Client, err error) packets.Code {
	switch refused := fail.From(err); {
	case refused.Code == fail.CodeUnexpected || refused.Code == fail.CodeRateLimited:
		return packets.ErrServerUnavailable
	case refused.Code == fail.CodeUnauthorized:
		return packets.ErrBadUsernameOrPassword
	case cl.Properties.ProtocolVersion < 5:
		return packets.ErrClientIdentifierNotValid
	}
	return packets.ErrNotAuthorized
}

func (b *broker) register(cl *mqtt.Client, claims auth.Claims) {
	c := newMQTTSubscriber(b.hub, cl, claims)
	b.mu.Lock()
	b.clients[cl.Net.Conn] = c
	b.mu.Unlock()
	b.hub.tails[c.home].attach(c.conn)
	b.hub.metrics.connections.Inc()
}

// addWatch registers a stream.
func (b *broker) addWatch(c *subscriber, topics []string) {
	id := c.subscriptions()
	b.mu.Lock()
	b.watches[id] = c
	b.mu.Unlock()
	b.count.Add(1)
	for _, topic := range topics {
		b.server.Topics.Subscribe(id, packets.Subscription{Filter: topic})
		b.watchSmartFeed(c, topic, true)
	}
	b.hub.tails[c.home].attach(c.conn)
}

// removeWatch ends the registration of a stream.
func (b *broker) removeWatch(c *subscriber, topics []string) {
	id := c.subscriptions()
	for _, topic := range topics {
		b.server.Topics.Unsubscribe(topic, id)
	}
	b.mu.Lock()
	delete(b.watches, id)
	b.mu.Unlock()
	c.expiry.Stop()
	b.hub.tails[c.home].detach(c.conn)
	b.count.Add(-1)
}

// advance records that the streams have all events of a home up to seq.
func (b *broker) advance(home region.Code, seq int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.watches {
		c.watch.advance(home, seq)
	}
}

// OnConnectAuthenticate reports that OnConnect has admitted the client.
func (b *broker) OnConnectAuthenticate(cl *mqtt.Client, _ packets.Packet) bool {
	return b.find(cl) != nil
}

// remove ends the registration of a connection that was closed.
func (b *broker) remove(socket net.Conn) {
	b.mu.Lock()
	c := b.clients[socket]
	delete(b.clients, socket)
	b.mu.Unlock()
	if c == nil {
		return
	}
	if current, ok := b.server.Clients.Get(c.client.ID); ok && current == c.client { // the library keeps clients that closed early
		b.server.UnsubscribeClient(c.client)
		b.server.Clients.Delete(c.client.ID)
	}
	c.expiry.Stop()
	b.hub.tails[c.home].detach(c.conn)
	b.hub.exit(c.userID)
	b.count.Add(-1)
	b.hub.metrics.connections.Dec()
}

func (b *broker) find(cl *mqtt.Client) *subscriber {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clients[cl.Net.Conn]
}

// all returns the current subscribers.
func (b *broker) all() []*subscriber {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.AppendSeq(slices.Collect(maps.Values(b.clients)), maps.Values(b.watches))
}

// OnSubscribe replaces the filters that the client may not subscribe to by an invalid one, which the library refuses.
func (b *broker) OnSubscribe(cl *mqtt.Client, pk packets.Packet) packets.Packet {
	c := b.find(cl)
	apart(func() {
		permitted := make([]bool, len(pk.Filters))
		if c != nil {
			filters := make([]string, 0, len(pk.Filters))
			for _, f := range pk.Filters[:min(len(pk.Filters), maxSubscriptions-min(cl.State.Subscriptions.Len(), maxSubscriptions))] {
				filters = append(filters, f.Filter)
			}
			some, _ := b.permits(context.Background(), c, filters)
			copy(permitted, some)
		}
		for i := range pk.Filters {
			if !permitted[i] {
				pk.Filters[i].Filter = ""
			}
		}
	})
	return pk
}

// filtersPerRequest is the number of topic filters that count as one request of the rate limit of users.
const filtersPerRequest = 10

// permits reports for each of the filters whether a client may subscribe to it, as the rate limit of the user allows. If it cannot decide
// on all in time, it returns those that it has decided on, and an error.
func (b *broker) permits(ctx context.Context, c *subscriber, filters []string) ([]bool, error) {
	permitted := make([]bool, 0, len(filters))
	ctx, stop := b.hub.asUserUntil(ctx, c.conn.ending, c.UserID())
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, b.hub.limits().Subscribe)
	defer cancel()
	for some := range slices.Chunk(filters, filtersPerRequest) {
		if err := b.admitSubscriptions(ctx, c); err != nil {
			return permitted, err
		}
		permitted = append(permitted, b.permitsSome(ctx, c, some)...)
	}
	return permitted, nil
}

// admitSubscriptions waits until the rate limit of the user allows the filters that count as one request.
func (b *broker) admitSubscriptions(ctx context.Context, c *subscriber) error {
	if defence.Off(defence.SubscriptionRate) {
		return nil
	}
	return b.hub.Limits.AwaitSpare(ctx, c.caller)
}

// permitsSome is permits for the filters that count as one request.
func (b *broker) permitsSome(ctx context.Context, c *subscriber, filters []string) []bool {
	permitted := make([]bool, len(filters))
	var places []events.Place
	var at []int // the indexes of the filters of places
	for i, filter := range filters {
		rule, ok := parseFilter(b.hub.NetworkID, filter)
		switch {
		case !ok:
		case len(rule.own) > 0:
			permitted[i] = slices.Contains(rule.own, c.UserID())
		default:
			places, at = append(places, rule.place), append(at, i)
		}
	}
	access, err := b.resolver.ResolvePlaces(ctx, c.Reader, places)
	if err != nil {
		return permitted
	}
	for n, i := range at {
		permitted[i] = access[n].Sees()
	}
	return permitted
}

// OnSubscribed notes which smart feeds a client subscribed to.
func (b *broker) OnSubscribed(cl *mqtt.Client, pk packets.Packet, reasons []byte) {
	for i, s := range pk.Filters {
		b.watchSmartFeed(b.find(cl), s.Filter, reasons[i] == packets.CodeGrantedQos0.Code)
	}
}

// OnUnsubscribed notes which smart feeds a client unsubscribed from.
func (b *broker) OnUnsubscribed(cl *mqtt.Client, pk packets.Packet) {
	for _, s := range pk.Filters {
		b.watchSmartFeed(b.find(cl), s.Filter, false)
	}
}

func (b *broker) watchSmartFeed(c *subscriber, filter string, subscribed bool) {
	if c == nil {
		return
	}
	for _, name := range smartFeeds {
		if filter == b.smartFeedTopic(c.UserID(), name) {
			c.watchSmartFeed(name, subscribed)
		}
	}
}

func (b *broker) smartFeedTopic(userID, name string) string {
	return b.hub.NetworkID + "/smartfeed/" + userID + "/" + name
}

// OnACLCheck refuses what clients publish, and limits each publication to its recipients. Subscriptions were checked by
// OnSubscribe.
func (b *broker) OnACLCheck(cl *mqtt.Client, topic string, write bool) bool {
	if write {
		return false
	}
	p := b.current.Load()
	return p == nil || p.topic != topic || p.recipients[cl]
}

// publish sends a message to those of the recipients that have subscribed to the topic.
func (b *broker) publish(topic string, payload []byte, recipients map[*mqtt.Client]bool) error {
	b.publishing.Lock()
	defer b.publishing.Unlock()
	b.current.Store(&publication{topic, recipients})
	defer b.current.Store(nil)
	return b.server.Publish(topic, payload, false, 0)
}

// OnPublishDropped ends the connection of a client that does not read: it reconnects and reads what it missed.
func (b *broker) OnPublishDropped(cl *mqtt.Client, _ packets.Packet) {
	if c := b.find(cl); c != nil {
		c.end(endSlow)
	}
}

// subscribers returns those with a subscription to the topic.
func (b *broker) subscribers(topic string) []*subscriber {
	var found []*subscriber
	for id := range b.server.Topics.Subscribers(topic).Subscriptions {
		if c := b.subscriber(id); c != nil {
			found = append(found, c)
		}
	}
	return found
}

// subscriber returns the subscriber with the id of a subscription, or nil.
func (b *broker) subscriber(id string) *subscriber {
	if cl, ok := b.server.Clients.Get(id); ok {
		return b.find(cl)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.watches[id]
}

// close ends all connections.
func (b *broker) close() {
	for _, c := range b.all() {
		c.end(endShutdown)
	}
}
