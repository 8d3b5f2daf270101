// Package realtime sends events to connected users, by MQTT and as server-sent events. proto/plaza/v1/realtime.proto documents the
// streams.
//
// A transaction writes its events to the outbox of its home. The outbox appends them to the log of the home of their object, many in
// one transaction; the log numbers them in commit order. A server with streams or connections polls the logs, with one query per quarter
// second regardless of their number, and immediately after its own writes. Thus an event's number is the position from which a stream
// resumes, and no message broker is needed.
//
// Recipients are determined on delivery.
package realtime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fairqueue"
	"github.com/plaza-social/plaza/platform/groupcommit"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/eventlog"
)

// RateLimits are the limits under which connections and streams are, together with the requests of their users.
type RateLimits interface {
	// AddressOf returns the address of the client of the request that ctx belongs to.
	AddressOf(ctx context.Context) string
	// CountWrongCredential counts a wrong token from an address. It returns an error with fail.CodeRateLimited once there were too many.
	CountWrongCredential(ctx context.Context, address string) error
	// AdmitUser counts a request of a user. It returns an error with fail.CodeRateLimited if there were too many.
	AdmitUser(ctx context.Context, caller *auth.Caller) error
	// AwaitSpare waits until half of the requests of a user are left, and counts one. The error is that of ctx.
	AwaitSpare(ctx context.Context, caller *auth.Caller) error
}

// Options configures a Hub. All fields except the last three are required.
type Options struct {
	*service.Deps
	Issuer *auth.Issuer
	Limits RateLimits
	// Marshal encodes a message as JSON of the API, on one line.
	Marshal func(proto.Message) ([]byte, error)
	// Registerer receives the metrics plaza_realtime_…; nil registers none.
	Registerer prometheus.Registerer
	// QueueLength is the maximum number of events queued for a slow client; 0 means 256.
	QueueLength int
	// StreamsPerUser is the maximum number of streams of one user at this server; 0 means 16.
	StreamsPerUser int
}

// Hub serves all streams of a server.
type Hub struct {
	Options
	tails   map[region.Code]*tail
	logs    *groupcommit.Queue[region.Code, []eventlog.Event]
	metrics *metrics
	broker  *broker

	mu      sync.Mutex
	streams map[string]int // by user; those of administrators by name
	closed  bool
	closing chan struct{} // closed when the hub is closed
}

// New returns a hub and registers its outbox handler.
func New(o Options) *Hub {
	o.QueueLength, o.StreamsPerUser = cmp.Or(o.QueueLength, 256), cmp.Or(o.StreamsPerUser, 16)
	h := &Hub{
		Options: o, metrics: newMetrics(o.Registerer), tails: map[region.Code]*tail{},
		streams: map[string]int{}, closing: make(chan struct{}),
	}
	h.broker, h.logs = newBroker(h), newLogs(h)
	for _, home := range region.All() {
		h.tails[home] = newTail(h, home)
	}
	o.Outbox.HandleRuns(eventlog.TopicRealtime, h.deliverRows)
	return h
}

// limits returns the time limits of the server.
func (h *Hub) limits() limits.Limits { return h.Store.Limits() }

// Run polls the logs until ctx is done.
func (h *Hub) Run(ctx context.Context) {
	var g sync.WaitGroup
	for _, t := range h.tails {
		g.Go(func() { t.run(ctx) })
		g.Go(func() { t.watchSessions(ctx) })
	}
	g.Wait()
}

// Close ends every stream with a last event and rejects new ones.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		close(h.closing)
		h.broker.close()
	}
}

// asUserUntil returns a context in which reads count as those of a user, and which ends when the server stops or the stream or connection
// ends.
func (h *Hub) asUserUntil(ctx context.Context, ending <-chan struct{}, userID string) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(fairqueue.WithUser(ctx, userID))
	go func() {
		defer stop()
		select {
		case <-ctx.Done():
		case <-h.closing:
		case <-ending:
		}
	}()
	return ctx, stop
}

// position makes the tails of some homes read. A home that does not answer is tried again by its tail.
func (h *Hub) position(ctx context.Context, homes []region.Code) {
	var g sync.WaitGroup
	for _, home := range homes {
		g.Go(func() {
			t := h.tails[home]
			if err := t.position(ctx); err != nil {
				t.logError(ctx, err)
			}
		})
	}
	g.Wait()
}

// deliverRows appends the events of outbox rows to the logs of their homes.
func (h *Hub) deliverRows(ctx context.Context, rows []core.OutboxRow) error {
	var all []eventlog.Event
	for _, row := range rows {
		var some []eventlog.Event
		if err := json.Unmarshal(row.Payload, &some); err != nil {
			return err
		}
		for _, e := range some {
			e.Trace = traceOf(ctx, row)
			all = append(all, e)
		}
	}
	return h.deliverToLogs(ctx, all...)
}

// deliverToLogs appends events to the logs of their homes. Events older than the logs' retention are dropped: no client
// could resume there, and a log that has already removed the event would add it again.
func (h *Hub) deliverToLogs(ctx context.Context, all ...eventlog.Event) error {
	byHome := map[region.Code][]eventlog.Event{}
	for _, e := range all {
		if h.Now().Sub(e.SentAt) > events.Retention {
			continue
		}
		if home, err := h.Store.HomeOf(e.Topic); err == nil && len(e.Homes) == 1 {
			e.Homes = []region.Code{home} // the user whom the event concerns may have moved since
		}
		for _, home := range e.Homes {
			byHome[home] = append(byHome[home], e)
		}
	}
	var g errgroup.Group
	for home, list := range byHome {
		if h.tails[home] == nil {
			return errors.New("unknown home region")
		}
		g.Go(func() error { return h.logs.Add(ctx, home, list) })
	}
	return g.Wait()
}
