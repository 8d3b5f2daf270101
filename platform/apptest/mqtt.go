package apptest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/stretchr/testify/require"
)

// MQTTEvent is an event as an MQTT client receives it.
type MQTTEvent struct {
	Topic     string          `json:"-"`
	EventType string          `json:"eventType"`
	Data      json.RawMessage `json:"data"`
	NetworkID string          `json:"networkId"`
	Path      string          `json:"path"`
	SenderID  string          `json:"senderId"`
	SentTime  time.Time       `json:"sentTime"`
	ID        string          `json:"id"`
	Text      string          `json:"-"`
}

// Response returns the event as an answer, so that it can be read by paths.
func (e MQTTEvent) Response() *Response {
	return &Response{Status: http.StatusOK, Body: []byte(e.Text), request: "event " + e.EventType}
}

// MQTTClient is a connection by MQTT.
type MQTTClient struct {
	// Lost is closed when the server has closed the connection.
	Lost   chan struct{}
	client mqtt.Client
	events chan MQTTEvent
	began  time.Time // when the first subscription, and the stream, had begun, in the precision of SentTime
	stream *Stream   // with the same topics; nil if Next does not compare
	last   string    // id of the last event of the stream
}

// MQTTOptions returns the options by which the public clients connect.
func (c *Client) MQTTOptions() *mqtt.ClientOptions {
	return mqtt.NewClientOptions().AddBroker("ws" + strings.TrimPrefix(c.Network.BaseURL(c.Region), "http") + "/mqtt").
		SetClientID("mqttjs_" + c.UserID).SetUsername(c.InternalID).SetPassword(c.Token).SetProtocolVersion(4).SetCleanSession(false).
		SetKeepAlive(time.Minute).SetAutoReconnect(false).SetConnectRetry(false).SetConnectTimeout(Patience)
}

// ConnectMQTT opens a connection as the caller.
func (c *Client) ConnectMQTT(t testing.TB) *MQTTClient {
	t.Helper()
	m := &MQTTClient{Lost: make(chan struct{}), events: make(chan MQTTEvent, 1000)}
	o := c.MQTTOptions().SetConnectionLostHandler(func(mqtt.Client, error) { close(m.Lost) })
	o.SetDefaultPublishHandler(func(_ mqtt.Client, message mqtt.Message) {
		e := MQTTEvent{Topic: message.Topic(), Text: string(message.Payload())}
		if json.Unmarshal(message.Payload(), &e) == nil {
			m.events <- e
		}
	})
	m.client = mqtt.NewClient(o)
	token := m.client.Connect()
	require.True(t, token.WaitTimeout(Patience))
	require.NoError(t, token.Error())
	t.Cleanup(func() { m.client.Disconnect(0) })
	return m
}

// Subscribe subscribes to a topic filter and reports whether the server permits it.
func (m *MQTTClient) Subscribe(t testing.TB, filter string) bool {
	t.Helper()
	return m.SubscribeTo(t, filter) == 1
}

// SubscribeTo subscribes to topic filters with one packet, and returns how many of them the server permits.
func (m *MQTTClient) SubscribeTo(t testing.TB, filters ...string) int {
	t.Helper()
	qos := map[string]byte{}
	for _, filter := range filters {
		qos[filter] = 0
	}
	token, ok := m.client.SubscribeMultiple(qos, nil).(*mqtt.SubscribeToken)
	require.True(t, ok)
	require.True(t, token.WaitTimeout(Patience))
	if m.began.IsZero() {
		m.began = now()
	}
	permitted := 0
	for _, code := range token.Result() {
		if code == 0 {
			permitted++
		}
	}
	return permitted
}

// now returns the time in the precision of SentTime.
func now() time.Time { return time.Now().Truncate(time.Millisecond) }

// RequireSubscribe subscribes to topic filters, which the server must permit.
func (m *MQTTClient) RequireSubscribe(t testing.TB, filters ...string) *MQTTClient {
	t.Helper()
	for _, filter := range filters {
		require.True(t, m.Subscribe(t, filter), "subscription to %s", filter)
	}
	return m
}

// Discard reads events until ctx ends.
func (m *MQTTClient) Discard(ctx context.Context) {
	for {
		select {
		case <-m.events:
		case <-ctx.Done():
			return
		}
	}
}

// Compare makes Next check that each event arrives by a stream of server-sent events with the same topics, too.
func (m *MQTTClient) Compare(t testing.TB, c *Client, topics ...string) *MQTTClient {
	t.Helper()
	m.stream = c.Listen(t, "/realtime/events?"+url.Values{"topic": topics}.Encode(), "")
	m.began = m.stream.began
	return m
}

// compare checks that the stream has an event, too. An event can arrive by several subscriptions.
func (m *MQTTClient) compare(t testing.TB, e MQTTEvent) {
	t.Helper()
	if m.stream == nil || e.ID == m.last {
		return
	}
	var other MQTTEvent
	received := m.stream.Next(t)
	require.NoError(t, json.Unmarshal([]byte(received.Data), &other))
	require.Equal(t, e.EventType, other.EventType, received.Data)
	require.Equal(t, e.ID, other.ID, e.EventType)
	require.Equal(t, received.Name, e.EventType)
	m.last = e.ID
}

// Next returns the next event that was sent after the client had subscribed: whether it receives those of what a test did before
// depends on how soon they are delivered.
func (m *MQTTClient) Next(t testing.TB) MQTTEvent {
	t.Helper()
	timeout := time.After(Patience)
	for {
		select {
		case e := <-m.events:
			if e.SentTime.Before(m.began) {
				continue
			}
			m.compare(t, e)
			return e
		case <-timeout:
			require.FailNow(t, "no event arrived")
		}
	}
}

// Until returns the first event called name; all earlier ones are skipped.
func (m *MQTTClient) Until(t testing.TB, name string) (e MQTTEvent, skipped []MQTTEvent) {
	t.Helper()
	for e = m.Next(t); e.EventType != name; e = m.Next(t) {
		skipped = append(skipped, e)
	}
	return e, skipped
}
