package delivery

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/span"
	"github.com/plaza-social/plaza/platform/store/network"
)

const (
	// concurrency is the number of objects whose events are sent to a webhook at a time.
	concurrency = 16
	// dueLimit is the number of objects of a round, and chainLimit that of the events of each.
	dueLimit   = 64
	chainLimit = 20
	// roundTime is how long a round begins attempts.
	roundTime = 5 * time.Second
)

// chain are the deliveries of one object, in order. The attempts end with the first failure.
type chain []network.WebhookDelivery

// send makes the attempts that are due, and reports whether there may be more.
func (q *queue) send(ctx context.Context) (more bool, err error) {
	limit := q.breaker.limit(q.Now())
	if limit == 0 {
		return false, nil
	}
	chains, err := q.due(ctx, limit)
	if err != nil || len(chains) == 0 {
		return false, err
	}
	attempted := q.attemptAll(ctx, chains)
	if ctx.Err() != nil {
		return false, ctx.Err() // attempts that were cut off are not failures of the receiver
	}
	q.breaker.observe(attempted, q.Now())
	if len(attempted) > 0 {
		q.failed = failureOf(attempted)
	}
	if err := q.store(ctx, attempted); err != nil {
		return false, err
	}
	return q.breaker.failures == 0, q.trim(ctx)
}

// due reads the deliveries that are due with those that they block.
func (q *queue) due(ctx context.Context, limit int) ([]chain, error) {
	var heads []network.WebhookDelivery
	now := q.Now()
	reads := q.Store.NewReadBatch()
	reads.DueWebhookDeliveries(q.home, q.id, q.polls.After(), now, limit, &heads)
	err := reads.Run(ctx)
	q.polls.Ended(now, err == nil && len(heads) == 0) // a delivery may wait for one that was found
	if err != nil || len(heads) == 0 {
		return nil, err
	}
	objects := make([]string, len(heads))
	for i, head := range heads {
		objects[i] = head.ObjectID
	}
	var blocked []network.WebhookDelivery
	reads = q.Store.NewReadBatch()
	reads.BlockedWebhookDeliveries(q.home, q.id, objects, chainLimit, &blocked)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	return chainsOf(heads, blocked), nil
}

// chainsOf returns the chain that each head begins. An event that was sent again can be before the others of its object.
func chainsOf(heads, blocked []network.WebhookDelivery) []chain {
	followers := map[string]chain{}
	for _, row := range blocked {
		followers[row.ObjectID] = append(followers[row.ObjectID], row)
	}
	chains := make([]chain, len(heads))
	for i, head := range heads {
		rest := followers[head.ObjectID]
		slices.SortFunc(rest, func(a, b network.WebhookDelivery) int { return int(a.Seq - b.Seq) })
		chains[i] = append(chain{head}, rest...)
	}
	return chains
}

// attemptAll makes attempts concurrently and returns those that were made.
func (q *queue) attemptAll(ctx context.Context, chains []chain) []chain {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	end := time.Now().Add(roundTime)
	free := make(chan struct{}, concurrency)
	var all sync.WaitGroup
	for i := range chains {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			chains[i] = q.attemptChain(ctx, chains[i], end)
		})
	}
	all.Wait()
	return slices.DeleteFunc(chains, func(c chain) bool { return len(c) == 0 })
}

// attemptChain makes attempts until one fails or the round ends, and returns the deliveries with their results.
func (q *queue) attemptChain(ctx context.Context, c chain, end time.Time) chain {
	for i := range c {
		if time.Now().After(end) || ctx.Err() != nil {
			return c[:i]
		}
		q.attempt(ctx, &c[i])
		if c[i].State == network.DeliveryWaiting {
			return c[:i+1]
		}
	}
	return c
}

// attempt makes one attempt and sets the result.
func (q *queue) attempt(ctx context.Context, row *network.WebhookDelivery) {
	ctx, cancel := q.limit(ctx)
	defer cancel()
	ctx, traced := span.Continue(ctx, row.Trace, "webhook "+row.Name, trace.SpanKindClient, func() []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("plaza.webhook", q.id), attribute.Int64("plaza.attempts", row.Attempts)}
	})
	defer traced.End()
	began := time.Now()
	outcome, err := q.try(ctx, *row)
	if outcome.failed != "" {
		traced.SetStatus(codes.Error, outcome.failed)
	}
	now := q.Now()
	row.Attempts, row.Status, row.Error, row.TookMS = row.Attempts+1, int64(outcome.status), outcome.failed, time.Since(began).Milliseconds()
	row.State, row.At = network.DeliveryDelivered, now
	switch {
	case outcome.failed == "":
	case err != nil && isFinal(err), !now.Before(row.ExpiresAt):
		row.State = network.DeliveryDead
	default:
		row.State, row.At = network.DeliveryWaiting, earlier(now.Add(backOff(row.Attempts)), row.ExpiresAt)
	}
	q.metrics.deliveries.WithLabelValues(q.id, resultOf(row.State)).Inc()
}

// limitAttempt limits an attempt to the time that the store's limits allow.
func (o Options) limitAttempt(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, o.Store.Limits().WebhookAttempt)
}

// try reads the object and posts the event. The error tells why nothing was sent.
func (q *queue) try(ctx context.Context, row network.WebhookDelivery) (result, error) {
	body, err := q.bodyOf(ctx, q.home, nameFor(row.Name, q.hook.Events), row)
	switch {
	case errors.Is(err, errTooLarge):
		return result{failed: failedSize}, err
	case errors.Is(err, events.ErrUndeliverable):
		return result{failed: failedGone}, err
	case err != nil:
		q.Log.WarnContext(ctx, "the object of a webhook's event was not read", "webhook", q.id, "event", row.Name, "error", err)
		return result{failed: failedRead}, err
	}
	header := http.Header{}
	if err := sign(header, q.secret, row.ID, q.Now(), body); err != nil {
		return result{failed: failedSecret}, err
	}
	outcome, _ := post(ctx, q.client, q.hook.URL, header, body)
	return outcome, nil
}

// isFinal reports whether an error means that an event can never be sent.
func isFinal(err error) bool {
	return errors.Is(err, errTooLarge) || errors.Is(err, events.ErrUndeliverable)
}

// maxBackOff is the longest interval between two attempts.
const maxBackOff = 30 * time.Minute

// backOff returns how long to wait after a number of failed attempts: 2, 4, 8 … seconds.
func backOff(attempts int64) time.Duration {
	return min(time.Second<<min(attempts, 20), maxBackOff)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// store stores the results of attempts, and makes the next event of each object due whose events have ended.
func (q *queue) store(ctx context.Context, attempted []chain) error {
	now, ended := q.Now(), int64(0)
	tx := q.Store.NewTx(q.home)
	tx.OwnWebhook(q.id, q.owner, errNotOwner)
	// The order in which rows are locked.
	slices.SortFunc(attempted, func(a, b chain) int { return strings.Compare(a[0].ObjectID, b[0].ObjectID) })
	for _, c := range attempted {
		for _, row := range c {
			tx.UpdateWebhookDelivery(q.id, row)
			if row.State != network.DeliveryWaiting {
				ended++
				q.ended[row.State]++
			}
		}
		if last := c[len(c)-1]; last.State != network.DeliveryWaiting {
			tx.UnblockWebhookDelivery(q.id, last.ObjectID, now)
		}
	}
	q.undelivered -= ended
	return tx.Commit(ctx)
}

// The number of deliveries that are kept of a webhook at a home.
const (
	keepDelivered = 1_000
	keepDeadRows  = 10_000
	// trimAfter is the number of new rows after which the oldest ones are deleted.
	trimAfter = 100
)

// trim deletes the oldest deliveries that have ended if there are more than are kept.
func (q *queue) trim(ctx context.Context) error {
	tx := q.Store.NewTx(q.home)
	tx.OwnWebhook(q.id, q.owner, errNotOwner)
	var removed int64
	full := false
	for _, kept := range []struct {
		state string
		rows  int
	}{{network.DeliveryDelivered, keepDelivered}, {network.DeliveryDead, keepDeadRows}} {
		if q.ended[kept.state] >= trimAfter {
			tx.TrimWebhookDeliveries(q.id, kept.state, kept.rows, &removed)
			full = true
		}
	}
	if !full {
		return nil
	}
	clear(q.ended)
	return tx.Commit(ctx)
}
