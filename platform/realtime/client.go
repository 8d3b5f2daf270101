package realtime

import (
	"sync"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service/subscription"
)

// mqttClient is the connection of a user by MQTT.
type mqttClient struct {
	*subscription.Reader
	*conn
	client *mqtt.Client
	expiry *time.Timer

	mu         sync.Mutex
	smartFeeds map[string]bool // the last levels of the subscribed topics
}

func newMQTTClient(h *Hub, cl *mqtt.Client, claims auth.Claims) *mqttClient {
	c := &mqttClient{
		Reader: subscription.NewReader(claims), conn: newConn("", h.HomeOf(claims.UserID), 1), client: cl, smartFeeds: map[string]bool{},
	}
	c.conn.userID, c.conn.sessionID = claims.UserID, claims.SessionID
	c.conn.ended = func(reason string) {
		h.metrics.ended.WithLabelValues(reason).Inc()
		cl.Stop(nil)
	}
	c.expiry = time.AfterFunc(time.Until(claims.ExpiresAt), func() { c.conn.end(endToken) })
	return c
}

// watchSmartFeed records whether the client has subscribed to one of its smart feeds.
func (c *mqttClient) watchSmartFeed(name string, subscribed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.smartFeeds[name] = subscribed
}

// watches reports whether the client has subscribed to one of its smart feeds.
func (c *mqttClient) watches(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.smartFeeds[name]
}
