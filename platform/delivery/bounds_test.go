package delivery_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/delivery"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/network"
)

// TestExpiry checks that the events that wait for a broken receiver expire, also those that are not tried again.
func TestExpiry(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newReceiver(t, func(received) int { return http.StatusInternalServerError })
	id := w.add(r.URL)
	for i := range 10 {
		w.log([2]string{"post.created", string(rune('a' + i))})
	}
	w.drain(0)
	w.advance(delivery.RetryFor)
	w.drain(0)
	require.Empty(t, w.deliveries(id, network.DeliveryWaiting))
	reasons := map[string]int{}
	for _, d := range w.deliveries(id, network.DeliveryDead) {
		reasons[d.Error]++
	}
	require.Equal(t, map[string]int{"status": 2, "expired": 8}, reasons)
}

// TestBounds holds how many rows of a webhook are kept.
func TestBounds(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newReceiver(t, nil)
	id := w.add(r.URL)
	list := make([][2]string, 500)
	for range 4 {
		for i := range list {
			list[i] = [2]string{"post.created", region.NewID(region.EU)}
		}
		w.log(list...)
		w.drain(0)
	}
	require.Len(t, r.take(), 2000)
	require.LessOrEqual(t, count(w, id, network.DeliveryDelivered), int64(1_200))
	require.GreaterOrEqual(t, count(w, id, network.DeliveryDelivered), int64(1_000))
	require.True(t, slices.ContainsFunc(w.deliveries(id, network.DeliveryDelivered),
		func(d network.WebhookDelivery) bool { return d.ObjectID == list[499][1] }), "the newest ones are kept")
}

// TestBoundOfDeadLetters has 120 events fail of a webhook with 10,050 dead letters: the oldest ones are deleted.
func TestBoundOfDeadLetters(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newReceiver(t, func(received) int { return http.StatusInternalServerError })
	id := w.add(r.URL)
	w.exec(`INSERT INTO webhook_deliveries (home, webhook_id, seq, id, name, object_id, sender_id, payload, sent_at, state, attempts, at, expires_at, status, error, took_ms)
		SELECT 'eu', '` + id +
		`', -n, n::text, 'post.created', n::text, '', '{}', now(), 'dead', 1, now(), now() + INTERVAL '1 day', 500, 'status', 1 FROM generate_series(1, 10050) AS n`)
	var all [][2]string
	for range 120 {
		all = append(all, [2]string{"post.created", region.NewID(region.EU)})
	}
	w.log(all...)
	w.drain(0)
	w.advance(delivery.RetryFor)
	w.drain(0)
	dead := count(w, id, network.DeliveryDead)
	require.GreaterOrEqual(t, dead, int64(10_000))
	require.Less(t, dead, int64(10_100))
}

// TestBoundOfWaitingDeliveries has as many deliveries wait as may, some of them for others of their object: the log keeps later events
// until one has ended.
func TestBoundOfWaitingDeliveries(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newReceiver(t, nil)
	id := w.add(r.URL)
	w.exec(`INSERT INTO webhook_deliveries (home, webhook_id, seq, id, name, object_id, sender_id, payload, sent_at, state, attempts, at, expires_at, status, error, took_ms)
		SELECT 'eu', '` + id +
		`', -n, n::text, 'post.created', n::text, '', '{}', now(), CASE WHEN n < 10 THEN 'blocked' ELSE 'waiting' END, 1, '2027-01-01', '2028-01-01', 500, 'status', 1
		FROM generate_series(1, 100000) AS n`)
	w.log([2]string{"post.created", "a"})
	w.drain(0)
	w.advance(10 * time.Second)
	w.drain(0)
	w.drain(0)
	require.Empty(t, r.take())
	w.exec(`DELETE FROM webhook_deliveries WHERE seq = -100000`)
	w.advance(10 * time.Second) // the deliveries are counted at that interval
	w.drain(0)
	w.drain(0)
	require.Equal(t, []string{"v3.post.didCreate a"}, r.take())
}

func count(w *world, id, state string) (n int64) {
	w.t.Helper()
	reads := w.deps.Store.NewReadBatch()
	reads.CountWebhookDeliveries(region.EU, id, state, 100_000, &n)
	require.NoError(w.t, reads.Run(w.t.Context()))
	return n
}

// TestOldDeadLetters deletes dead letters after 30 days.
func TestOldDeadLetters(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newReceiver(t, nil)
	id := w.add(r.URL)
	w.log([2]string{"post.created", "large"})
	w.drain(0)
	sweep := func() (more bool) {
		t.Helper()
		more, err := w.dispatcher.Sweep(t.Context(), region.EU)
		require.NoError(t, err)
		return more
	}
	w.advance(30 * 24 * time.Hour)
	require.False(t, sweep())
	require.Len(t, w.deliveries(id, network.DeliveryDead), 1)
	w.advance(time.Millisecond)
	require.True(t, sweep())
	require.Empty(t, w.deliveries(id, network.DeliveryDead))
}
