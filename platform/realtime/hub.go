// Package realtime tells connected users what happens to them: streams of server-sent events, as
// proto/plaza/v1/realtime.proto describes them.
//
// Events arrive in the outbox of a home with the transaction that they tell of (package events says which do). The outbox
// adds them to the log of each home whose users may hear of them, many in one transaction; the log numbers them in the
// order of its commits. A server follows the logs of the homes that its connected users live in, each with one query a
// quarter of a second however many are connected, and at once where it wrote to the log itself. So a stream needs its
// user's home and no other, the number of an event says where a stream resumes, and there is no broker.
//
// Who is told is decided when an event is told: the user it is about, or whoever is a member of its community then.
package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// Options is what a hub is made of. All fields but the last three are required.
type Options struct {
	*service.Deps
	Issuer *auth.Issuer
	// Marshal writes a message as the JSON of the interface, on one line.
	Marshal func(proto.Message) ([]byte, error)
	// Registerer gets the metrics plaza_realtime_…; nil registers nothing.
	Registerer prometheus.Registerer
	// QueueLength is how many events may wait for one slow client; 0 is 256.
	QueueLength int
	// StreamsPerUser bounds the streams of one user at this server; 0 is 16.
	StreamsPerUser int
}

// Hub is the server's end of all streams.
type Hub struct {
	Options
	tails   map[region.Code]*tail
	logs    map[region.Code]*batcher
	metrics *metrics

	mu      sync.Mutex
	streams map[string]int // by user; those of administrators by name
	closed  bool
	closing chan struct{} // closed with the hub
}

// New makes a hub, and makes the outbox deliver events to the logs.
func New(o Options) (*Hub, error) {
	if o.QueueLength == 0 {
		o.QueueLength = 256
	}
	if o.StreamsPerUser == 0 {
		o.StreamsPerUser = 16
	}
	measured, err := newMetrics(o.Registerer)
	if err != nil {
		return nil, err
	}
	h := &Hub{
		Options: o, metrics: measured, tails: map[region.Code]*tail{}, logs: map[region.Code]*batcher{},
		streams: map[string]int{}, closing: make(chan struct{}),
	}
	for _, home := range region.All() {
		t := newTail(h, home)
		h.tails[home] = t
		h.logs[home] = &batcher{hub: h, home: home, wake: t.nudge}
	}
	o.Outbox.Handle(store.TopicRealtime, h.deliverToLogs)
	return h, nil
}

// Run follows the logs until ctx is done.
func (h *Hub) Run(ctx context.Context) {
	var g sync.WaitGroup
	for _, t := range h.tails {
		g.Go(func() { t.run(ctx) })
		g.Go(func() { t.watchSessions(ctx) })
	}
	g.Wait()
}

// Close ends every stream, each with its last event, and refuses new ones.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		close(h.closing)
	}
}

// deliverToLogs adds an event of the outbox to the logs of its homes. One that is older than the logs go back is dropped:
// nobody could resume so far, and a log that forgot it would take it for a new one.
func (h *Hub) deliverToLogs(ctx context.Context, row store.OutboxRow) error {
	var e store.Event
	if err := json.Unmarshal(row.Payload, &e); err != nil {
		return err
	}
	if h.Now().Sub(e.SentAt) > events.Retention {
		return nil
	}
	var g errgroup.Group
	for _, home := range e.Homes {
		log := h.logs[home]
		if log == nil {
			return errors.New("an event for a home that there is not")
		}
		g.Go(func() error { return log.add(ctx, e) })
	}
	return g.Wait()
}
