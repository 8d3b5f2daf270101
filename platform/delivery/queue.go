package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/network"
)

const (
	// leaseTime is how long other servers leave a webhook to the server that sends its events. A round takes less than the time
	// that remains when it begins.
	leaseTime  = 30 * time.Second
	leaseRenew = 20 * time.Second
	// leaseRetry is the interval at which a server looks whether the lease of another one has ended.
	leaseRetry = 2 * time.Second

	// feedLimit is the number of events that are read from the log at a time.
	feedLimit = 500
	// maxUndelivered is the number of deliveries of a webhook that wait at a home. The log keeps later events.
	maxUndelivered = 100_000
	// measureEvery is the interval of the gauges.
	measureEvery = 10 * time.Second
)

// queue sends the events of one home to one webhook. One server at a time does it.
type queue struct {
	*Dispatcher
	mu   sync.Mutex // held during a round
	home region.Code
	id   string

	hook        network.Webhook
	secret      string
	leasedUntil time.Time // zero without the lease
	nextLease   time.Time
	polls       jobs.Position
	last        int64 // the number of the last event that was read from the log
	undelivered int64 // about
	measured    time.Time
	failed      string // why the latest attempt failed
	breaker     breaker
	ended       map[string]int // rows by their state, since the oldest ones were deleted; see trim
}

// errNotOwner means that another server has the lease.
var errNotOwner = errors.New("another server has the lease")

// round reads the log and sends what is due. It reports whether there may be more to do at once.
func (q *queue) round(ctx context.Context, hook network.Webhook, enabled bool) (more bool, err error) {
	if own, err := q.lease(ctx); err != nil || !own {
		return false, err
	}
	defer func() {
		if err != nil {
			q.leasedUntil = time.Time{} // what the database has is unknown: the next round reads it
		}
		if errors.Is(err, errNotOwner) {
			err = nil
		}
	}()
	if !enabled || !hook.IsEnabled {
		return false, q.skip(ctx)
	}
	if err := q.use(hook); err != nil {
		return false, err
	}
	fed, err := q.feed(ctx)
	if err != nil {
		return false, err
	}
	sent, err := q.send(ctx)
	if err != nil {
		return false, err
	}
	return fed || sent, q.measure(ctx)
}

// lease gets or renews the lease, and reports whether this server has it.
func (q *queue) lease(ctx context.Context) (bool, error) {
	now := q.Now()
	if q.leasedUntil.Sub(now) >= leaseRenew {
		return true, nil
	}
	if now.Before(q.nextLease) && q.leasedUntil.IsZero() {
		return false, nil
	}
	held := !q.leasedUntil.IsZero()
	var cursor *network.WebhookCursor
	tx := q.Store.NewTx(q.home)
	tx.LeaseWebhook(q.id, q.owner, now, now.Add(leaseTime), &cursor)
	if err := tx.Commit(ctx); err != nil {
		q.leasedUntil = time.Time{}
		return false, err
	}
	if cursor == nil {
		q.leasedUntil, q.nextLease = time.Time{}, now.Add(leaseRetry)
		q.metrics.forget(queueKey{q.home, q.id})
		q.states.Delete(queueKey{q.home, q.id})
		return false, nil
	}
	q.leasedUntil = now.Add(leaseTime)
	if held {
		return true, nil
	}
	q.last = cursor.LastSeq
	q.polls.Ended(now, false) // the next poll finds what another server left
	q.metrics.begin(q.id)
	return true, q.count(ctx)
}

// count counts the deliveries that have not ended.
func (q *queue) count(ctx context.Context) error {
	var waiting, blocked int64
	reads := q.Store.NewReadBatch()
	reads.CountWebhookDeliveries(q.home, q.id, network.DeliveryWaiting, maxUndelivered, &waiting)
	reads.CountWebhookDeliveries(q.home, q.id, network.DeliveryBlocked, maxUndelivered, &blocked)
	err := reads.Run(ctx)
	q.undelivered = waiting + blocked
	return err
}

// release gives the lease up.
func (q *queue) release(ctx context.Context) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.leasedUntil.IsZero() {
		return
	}
	q.leasedUntil = time.Time{}
	tx := q.Store.NewTx(q.home)
	tx.ReleaseWebhook(q.id, q.owner, q.Now())
	if err := tx.Commit(ctx); err != nil {
		q.Log.WarnContext(ctx, "the lease of a webhook was not released", "home", q.home, "webhook", q.id, "error", err)
	}
}

// use makes the queue use the current properties of the webhook.
func (q *queue) use(hook network.Webhook) error {
	if q.secret != "" && hook.ChangedAt.Equal(q.hook.ChangedAt) {
		return nil
	}
	secret, err := q.Sealer.Open(hook.ID, hook.Secret)
	if err != nil {
		return err
	}
	if hook.URL != q.hook.URL {
		q.breaker = breaker{}
	}
	q.hook, q.secret = hook, secret
	return nil
}

// skip passes over the events that happen while the webhook is disabled.
func (q *queue) skip(ctx context.Context) error {
	var head eventlog.EventHead
	reads := q.Store.NewReadBatch()
	reads.EventHead(q.home, &head)
	if err := reads.Run(ctx); err != nil || head.Last == q.last {
		return err
	}
	return q.advance(ctx, nil, head.Last, 0)
}

// feed copies events of the log to the table of deliveries, and reports whether there may be more.
func (q *queue) feed(ctx context.Context) (more bool, err error) {
	if q.undelivered >= maxUndelivered {
		return false, nil
	}
	var head eventlog.EventHead
	var found []eventlog.LoggedEvent
	reads := q.Store.NewReadBatch()
	reads.EventHead(q.home, &head)
	reads.Events(eventlog.EventSpan{Home: q.home, After: q.last, To: maxSeq, Limit: feedLimit}, &found)
	if err := reads.Run(ctx); err != nil {
		return false, err
	}
	lost := max(0, head.Trimmed-q.last)
	if len(found) == 0 && lost == 0 {
		return false, nil
	}
	last := max(q.last, head.Trimmed)
	if len(found) > 0 {
		last = found[len(found)-1].Seq
	}
	if lost > 0 {
		q.metrics.lost.WithLabelValues(q.id).Add(float64(lost))
		q.Log.WarnContext(ctx, "events were removed before the webhook read them", "home", q.home, "webhook", q.id, "events", lost)
	}
	return len(found) == feedLimit, q.advance(ctx, q.wanted(ctx, found), last, lost)
}

// maxSeq is greater than the number of every event.
const maxSeq = 1<<63 - 1

// wanted returns the deliveries of those events that the webhook asks for.
func (q *queue) wanted(ctx context.Context, found []eventlog.LoggedEvent) []network.WebhookDelivery {
	var all []network.WebhookDelivery
	for _, e := range found {
		name, change, err := q.Source.ChangeOf(q.home, e)
		if err != nil {
			q.Log.WarnContext(ctx, "event skipped by webhooks", "event", e.Name, "id", e.ID, "error", err)
		}
		if err != nil || change == nil || nameFor(name, q.hook.Events) == "" {
			continue
		}
		payload, err := json.Marshal(change)
		if err != nil {
			panic(err) // impossible: a plain struct
		}
		all = append(all, network.WebhookDelivery{
			Seq: e.Seq, ID: e.ID, Name: name, ObjectID: e.Topic, SenderID: e.SenderID, Payload: payload, SentAt: e.SentAt, Trace: e.Trace,
		})
	}
	return all
}

// advance stores deliveries, and how far the log was read.
func (q *queue) advance(ctx context.Context, all []network.WebhookDelivery, last, lost int64) error {
	now := q.Now()
	tx := q.Store.NewTx(q.home)
	tx.OwnWebhook(q.id, q.owner, errNotOwner)
	if len(all) > 0 {
		tx.InsertWebhookDeliveries(q.id, all, now, now.Add(RetryFor))
	}
	tx.AdvanceWebhook(q.id, last, lost)
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	q.last, q.undelivered = last, q.undelivered+int64(len(all))
	return nil
}

// measure sets the gauges of the webhook, and counts what waits.
func (q *queue) measure(ctx context.Context) error {
	now := q.Now()
	if now.Sub(q.measured) < measureEvery {
		return nil
	}
	q.measured = now
	var oldest time.Time
	var dead int64
	reads := q.Store.NewReadBatch()
	reads.OldestWebhookDelivery(q.home, q.id, &oldest)
	reads.CountWebhookDeliveries(q.home, q.id, network.DeliveryDead, keepDeadRows, &dead)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	q.metrics.set(queueKey{q.home, q.id}, oldest, dead, now)
	q.states.Store(queueKey{q.home, q.id}, State{Home: q.home, WebhookID: q.id, Oldest: oldest.UTC(), Dead: dead, Failed: q.failed})
	if err := q.expire(ctx, now); err != nil {
		return err
	}
	return q.count(ctx)
}

// expireLimit is the number of deliveries without time left that end in one transaction.
const expireLimit = 500

// expire ends deliveries without time left while the receiver fails. Otherwise their last attempt does it.
func (q *queue) expire(ctx context.Context, now time.Time) error {
	if q.breaker.failures == 0 {
		return nil
	}
	var expired []network.WebhookDelivery
	reads := q.Store.NewReadBatch()
	reads.ExpiredWebhookDeliveries(q.home, q.id, now, expireLimit, &expired)
	if err := reads.Run(ctx); err != nil || len(expired) == 0 {
		return err
	}
	ended := make([]chain, len(expired))
	for i, row := range expired {
		row.State, row.At, row.Error = network.DeliveryDead, now, failedExpired
		ended[i] = chain{row}
		q.metrics.deliveries.WithLabelValues(q.id, resultOf(row.State)).Inc()
	}
	if err := q.store(ctx, ended); err != nil {
		return err
	}
	return q.trim(ctx)
}
