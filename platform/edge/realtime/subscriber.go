package realtime

import (
	"fmt"
	"sync"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service/subscription"
)

// subscriber is a user's connection by MQTT, or a stream of a user or an administrator.
type subscriber struct {
	*subscription.Reader
	*conn
	caller *auth.Caller
	client *mqtt.Client // nil for a stream
	watch  *watch       // nil for a connection by MQTT
	expiry *time.Timer

	mu         sync.Mutex
	smartFeeds map[string]bool // the last levels of the subscribed topics, and the name of a stream that the contract defines
}

func newSubscriber(h *Hub, claims auth.Claims, c *conn) *subscriber {
	s := &subscriber{Reader: subscription.NewReader(claims), conn: c, caller: auth.CallerOf(claims), smartFeeds: map[string]bool{}}
	c.home, c.userID, c.sessionID, c.admin = h.HomeOf(claims.UserID), claims.UserID, claims.SessionID, claims.Admin
	if c.admin {
		c.home = h.Region
	}
	s.expiry = time.AfterFunc(claims.ExpiresAt.Sub(h.Now()), func() { c.end(endToken) })
	return s
}

// newMQTTSubscriber returns the subscriber of a connection by MQTT.
func newMQTTSubscriber(h *Hub, cl *mqtt.Client, claims auth.Claims) *subscriber {
	c := newConn()
	c.awaitsLast = true
	c.ended = func(reason string) {
		h.metrics.ended.WithLabelValues(reason).Inc()
		cl.Stop(nil)
	}
	s := newSubscriber(h, claims, c)
	s.client = cl
	return s
}

// newWatchSubscriber returns the subscriber of a stream.
func newWatchSubscriber(h *Hub, claims auth.Claims, w *watch) *subscriber {
	w.awaitsLast = w.contract == "" // the others have no events about bans
	s := newSubscriber(h, claims, w.conn)
	s.watch = w
	s.smartFeeds[w.contract] = true
	return s
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
