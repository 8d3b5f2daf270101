package realtime

import (
	"fmt"
	"sync"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service/subscription"
)

// subscriber is a user's connection by MQTT, or a user's stream of the events of topics.
type subscriber struct {
	*subscription.Reader
	*conn
	caller *auth.Caller
	client *mqtt.Client // nil for a stream
	watch  *watch       // nil for a connection by MQTT
	expiry *time.Timer

	mu         sync.Mutex
	smartFeeds map[string]bool // the last levels of the subscribed topics
}

// newSubscriber returns a subscriber that calls ended when it is ended.
func newSubscriber(h *Hub, claims auth.Claims, ended func(reason string)) *subscriber {
	c := &subscriber{Reader: subscription.NewReader(claims), conn: newConn("", h.HomeOf(claims.UserID), 1), smartFeeds: map[string]bool{}}
	c.caller = auth.CallerOf(claims)
	c.conn.userID, c.conn.sessionID = claims.UserID, claims.SessionID
	c.conn.ended = ended
	c.expiry = time.AfterFunc(claims.ExpiresAt.Sub(h.Now()), func() { c.conn.end(endToken) })
	return c
}

// newMQTTSubscriber returns the subscriber of a connection by MQTT.
func newMQTTSubscriber(h *Hub, cl *mqtt.Client, claims auth.Claims) *subscriber {
	c := newSubscriber(h, claims, func(reason string) {
		h.metrics.ended.WithLabelValues(reason).Inc()
		cl.Stop(nil)
	})
	c.client = cl
	return c
}

// newWatchSubscriber returns the subscriber of a stream.
func newWatchSubscriber(h *Hub, claims auth.Claims, w *watch) *subscriber {
	c := newSubscriber(h, claims, w.end)
	c.watch = w
	return c
}

// subscriptions returns the name of a stream's subscriptions. Those of connections by MQTT begin with the id of their user.
func (c *subscriber) subscriptions() string { return fmt.Sprintf("stream %p", c) }

// watchSmartFeed records whether the client has subscribed to one of its smart feeds.
func (c *subscriber) watchSmartFeed(name string, subscribed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.smartFeeds[name] = subscribed
}

// watches reports whether the client has subscribed to one of its smart feeds.
func (c *subscriber) watches(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.smartFeeds[name]
}
