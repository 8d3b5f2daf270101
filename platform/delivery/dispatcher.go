// Package delivery posts events to the addresses that administrators register, and asks the pre-hook before changes. README.md
// describes both.
package delivery

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/seal"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
)

// Max is the number of webhooks that a network can have.
const Max = 10

// RetryFor is how long the delivery of an event is retried.
const RetryFor = 24 * time.Hour

// Options configures a Dispatcher. All fields except Prehook, Networks, Resolver and Registerer are required.
type Options struct {
	Store     *store.Store
	Region    region.Code // of this server
	NetworkID string
	Now       func() time.Time
	Log       *slog.Logger
	Source    Source
	Sealer    *seal.Sealer
	// Prehook gets the settings that the dispatcher reads; it may be nil.
	Prehook *Prehook
	// Networks are networks that receivers may be in although their addresses are not public.
	Networks   []netip.Prefix
	Resolver   *net.Resolver
	Registerer prometheus.Registerer

	limit func(context.Context) (context.Context, context.CancelFunc) // of an attempt; nil except in tests
}

// Dispatcher sends the events of the homes that this server works on to the webhooks.
type Dispatcher struct {
	Options
	owner   string // of leases
	client  *http.Client
	metrics *metrics
	states  sync.Map // State by queueKey

	mu     sync.Mutex
	hooks  map[region.Code]*hooks
	queues map[queueKey]*queue
}

type queueKey struct {
	home region.Code
	id   string
}

// New returns a dispatcher.
func New(o Options) *Dispatcher {
	if o.limit == nil {
		o.limit = o.limitAttempt
	}
	return &Dispatcher{
		Options: o, owner: region.NewID(o.Region), client: o.newClient(concurrency), metrics: newMetrics(o.Registerer),
		hooks: map[region.Code]*hooks{}, queues: map[queueKey]*queue{},
	}
}

// pollEvery is the interval at which a webhook reads the log.
const pollEvery = 250 * time.Millisecond

// Job returns the job that sends events. Each webhook has a lane, so that a slow receiver delays no other.
func (d *Dispatcher) Job() jobs.Job {
	return jobs.Job{Name: "webhooks", Lanes: Max, Every: pollEvery, Log: d.Log, Drain: d.Drain}
}

// Drain sends what is due to one of the webhooks.
func (d *Dispatcher) Drain(ctx context.Context, home region.Code, lane int64) (more bool, err error) {
	known, err := d.hooksOf(ctx, home)
	if err != nil || lane >= int64(len(known.list)) {
		return false, err
	}
	q := d.queue(home, known.list[lane].ID)
	if !q.mu.TryLock() {
		return false, nil // another lane had the webhook until the list changed
	}
	defer q.mu.Unlock()
	return q.round(ctx, known.list[lane], known.enabled)
}

// hooks are the webhooks of a home.
type hooks struct {
	mu      sync.Mutex
	readAt  time.Time
	list    []network.Webhook // the oldest first, at most Max
	enabled bool
}

// hooksEvery is how long the webhooks of a home are kept.
const hooksEvery = time.Second

// hooksOf returns the webhooks of a home.
func (d *Dispatcher) hooksOf(ctx context.Context, home region.Code) (*hooks, error) {
	d.mu.Lock()
	h := d.hooks[home]
	if h == nil {
		h = &hooks{}
		d.hooks[home] = h
	}
	d.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); now.Sub(h.readAt) >= hooksEvery {
		if err := d.readHooks(ctx, home, h); err != nil {
			return nil, err
		}
		h.readAt = now
	}
	return &hooks{list: h.list, enabled: h.enabled}, nil
}

func (d *Dispatcher) readHooks(ctx context.Context, home region.Code, h *hooks) error {
	var settings network.Settings
	var list []network.Webhook
	reads := d.Store.NewReadBatch()
	reads.Webhooks(home, &list)
	reads.Settings(home, &settings)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	h.list, h.enabled = Ordered(list), settings.IsWebhookEnabled
	h.list = h.list[:min(len(h.list), Max)]
	if d.Prehook != nil && home == d.Region {
		return d.Prehook.Use(settings.Prehook)
	}
	return nil
}

// Ordered returns webhooks in the order of their creation. Events are sent to the first Max.
func Ordered(list []network.Webhook) []network.Webhook {
	return slices.SortedFunc(slices.Values(list), func(a, b network.Webhook) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
}

func (d *Dispatcher) queue(home region.Code, id string) *queue {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := queueKey{home, id}
	if d.queues[key] == nil {
		d.queues[key] = &queue{Dispatcher: d, home: home, id: id, ended: map[string]int{}}
	}
	return d.queues[key]
}

// Release gives the leases of this server up, so that other servers continue at once.
func (d *Dispatcher) Release(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.queues {
		q.release(ctx)
	}
}

// sweepEvery is the interval at which the rows of deleted webhooks and old dead letters are removed.
const sweepEvery = 10 * time.Second

// SweepJob returns the job that removes rows that are not needed any more.
func (d *Dispatcher) SweepJob() jobs.Job {
	return jobs.New("webhook sweep", sweepEvery, d.Log, d.Sweep)
}

// keepDead is how long dead letters are kept.
const keepDead = 30 * 24 * time.Hour

// Sweep removes up to 1,000 rows of each webhook of a home.
func (d *Dispatcher) Sweep(ctx context.Context, home region.Code) (more bool, err error) {
	var list []network.Webhook
	var cursors []network.WebhookCursor
	reads := d.Store.NewReadBatch()
	reads.Webhooks(home, &list)
	reads.WebhookCursors(home, &cursors)
	if err := reads.Run(ctx); err != nil {
		return false, err
	}
	for _, c := range cursors {
		removed, err := d.sweepWebhook(ctx, home, c.WebhookID,
			slices.ContainsFunc(list, func(h network.Webhook) bool { return h.ID == c.WebhookID }))
		if err != nil {
			return false, err
		}
		more = more || removed > 0
	}
	return more, nil
}

func (d *Dispatcher) sweepWebhook(ctx context.Context, home region.Code, id string, exists bool) (removed int64, err error) {
	tx := d.Store.NewTx(home)
	if exists {
		tx.ExpireWebhookDeliveries(id, d.Now().Add(-keepDead), &removed)
	} else {
		tx.RemoveWebhookDeliveries(id, &removed)
		d.forget(queueKey{home, id})
	}
	return removed, tx.Commit(ctx)
}

// forget removes the state of a deleted webhook.
func (d *Dispatcher) forget(key queueKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.queues[key] != nil {
		delete(d.queues, key)
		d.metrics.forget(key)
		d.states.Delete(key)
	}
}
