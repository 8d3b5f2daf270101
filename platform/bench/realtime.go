package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/eclipse/paho.mqtt.golang/packets"
	"golang.org/x/sync/errgroup"

	"github.com/plaza-social/plaza/platform/loopback"
)

// Goals for realtime events.
const (
	maxConnectionMemory = 25 << 10 // bytes of an idle connection by MQTT
	maxEventDelay       = time.Second
)

const (
	realtimeName          = "realtime"
	realtimeConnections   = 5000
	connectionsPerWatcher = 16
	connectionsPerAddress = 1000 // fewer than servers accept
	realtimeSubscribers   = 1000
	realtimeEvents        = 50
	dialing               = 64 // connections opened at a time
)

// realtimeResult is the measurement of connections by MQTT.
type realtimeResult struct {
	perConnection float64 // bytes
	delays        load    // from the request that creates a post to the arrival at each subscriber
}

// realtime opens connections, the first of which subscribe to a community, and creates posts there. It returns nil if it
// is not selected.
func (b *bench) realtime(ctx context.Context) (*realtimeResult, error) {
	if !strings.Contains(realtimeName, b.only) {
		return nil, nil // nothing was measured
	}
	before, err := b.environment.plaza().metrics(ctx)
	if err != nil {
		return nil, err
	}
	w := &watching{arrived: make(chan time.Time, realtimeSubscribers*2)}
	defer w.close()
	b.progress.sayf("realtime: opening %d connections", realtimeConnections)
	if err := w.open(ctx, b.environment); err != nil {
		return nil, err
	}
	if err := pause(ctx, idleFor); err != nil {
		return nil, err
	}
	after, err := b.environment.plaza().metrics(ctx)
	if err != nil {
		return nil, err
	}
	r := &realtimeResult{perConnection: (after.sum(resident) - before.sum(resident)) / realtimeConnections}
	b.progress.sayf("realtime: %d events to %d subscribers", realtimeEvents, realtimeSubscribers)
	return r, w.measure(ctx, b.environment, &r.delays)
}

// watching are open connections.
type watching struct {
	mu      sync.Mutex
	sockets []net.Conn
	arrived chan time.Time
}

func (w *watching) open(ctx context.Context, e *environment) error {
	var g errgroup.Group
	g.SetLimit(dialing)
	for i := range realtimeConnections {
		g.Go(func() error {
			p := e.data.watchers[i/connectionsPerWatcher]
			topic := networkID + "/user/" + p.id
			if i < realtimeSubscribers {
				topic = networkID + "/social/community/" + e.data.circles[0] + "/post/+"
			}
			return w.connect(ctx, e.plaza().api, p, i, topic)
		})
	}
	return g.Wait()
}

// connect opens a connection with one subscription, whose events it counts.
func (w *watching) connect(ctx context.Context, address string, p person, n int, topic string) error {
	options := &websocket.DialOptions{Subprotocols: []string{"mqtt"}, HTTPClient: loopback.Client(n / connectionsPerAddress)}
	socket, _, err := websocket.Dial(ctx, "ws://"+address+"/mqtt", options) //nolint:bodyclose // there is none
	if err != nil {
		return err
	}
	socket.SetReadLimit(1 << 20)
	c := websocket.NetConn(context.WithoutCancel(ctx), socket, websocket.MessageBinary)
	w.mu.Lock()
	w.sockets = append(w.sockets, c)
	w.mu.Unlock()
	hello := packets.NewControlPacket(packets.Connect).(*packets.ConnectPacket) // by its kind
	hello.ProtocolName, hello.ProtocolVersion, hello.ClientIdentifier, hello.CleanSession = "MQTT", 4, fmt.Sprint("bench", n), true
	hello.UsernameFlag, hello.PasswordFlag, hello.Username, hello.Password = true, true, p.id, []byte(p.token)
	subscribe := packets.NewControlPacket(packets.Subscribe).(*packets.SubscribePacket) // by its kind
	subscribe.MessageID, subscribe.Topics, subscribe.Qoss = 1, []string{topic}, []byte{0}
	for _, packet := range []packets.ControlPacket{hello, subscribe} {
		if err := exchange(c, packet); err != nil {
			return err
		}
	}
	go w.read(c)
	return nil
}

// exchange sends a packet and checks the answer.
func exchange(c io.ReadWriter, packet packets.ControlPacket) error {
	if err := packet.Write(c); err != nil {
		return err
	}
	answer, err := packets.ReadPacket(c)
	switch a := answer.(type) {
	case *packets.ConnackPacket:
		if a.ReturnCode != packets.Accepted {
			return fmt.Errorf("the server refuses a connection with code %d", a.ReturnCode)
		}
	case *packets.SubackPacket:
		if slices.ContainsFunc(a.ReturnCodes, func(code byte) bool { return code != 0 }) {
			return errors.New("the server refuses a subscription")
		}
	}
	return err
}

func (w *watching) read(c net.Conn) {
	for {
		packet, err := packets.ReadPacket(c)
		if err != nil {
			return
		}
		if _, ok := packet.(*packets.PublishPacket); ok {
			w.arrived <- time.Now()
		}
	}
}

func (w *watching) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.sockets {
		_ = c.Close()
	}
}

// measure creates posts one after another and records when they arrive.
func (w *watching) measure(ctx context.Context, e *environment, into *load) error {
	c, err := dial(ctx, e.plaza().api)
	if err != nil {
		return err
	}
	defer c.close()
	body := fmt.Sprintf(`{"targetType":"community","targetId":%q,"dataType":"text","data":{"text":"Live"}}`, e.data.circles[0])
	request := httpRequest("POST", "/api/v4/posts", e.data.people[1].token, body)
	for range realtimeEvents {
		began := time.Now()
		if _, err := c.json(request); err != nil {
			return err
		}
		for range realtimeSubscribers {
			select {
			case at := <-w.arrived:
				into.latencies = append(into.latencies, at.Sub(began))
			case <-time.After(time.Minute):
				return errors.New("an event did not arrive within a minute")
			}
		}
	}
	return nil
}

// printRealtime prints the measurement of connections by MQTT.
func (r *report) printRealtime(out io.Writer) error {
	if r.realtime == nil {
		return nil
	}
	fmt.Fprintf(out, "\n%d connections by MQTT, %d events to %d of them\n\n", realtimeConnections, realtimeEvents, realtimeSubscribers)
	return printTable(out, 0, goalHeader, func(t io.Writer) {
		memory, tail := r.realtime.perConnection, r.realtime.delays.percentile(0.99)
		goal(t, "memory of an idle connection", fmt.Sprintf("at most %d KiB", maxConnectionMemory>>10), fmt.Sprintf("%.1f KiB", memory/(1<<10)),
			memory <= maxConnectionMemory)
		goal(t, "p50 from a request to the arrival of its event", "", milliseconds(r.realtime.delays.percentile(0.5)), true)
		goal(t, "p99 from a request to the arrival of its event", "at most "+maxEventDelay.String(), milliseconds(tail), tail <= maxEventDelay)
	})
}
