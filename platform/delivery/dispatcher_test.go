package delivery_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/delivery"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/network"
)

// TestSignatures verifies deliveries without the code that signs them.
func TestSignatures(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newReceiver(t, nil)
	w.add(r.URL)
	w.log([2]string{"post.created", "a"})
	w.drain(0)
	require.Len(t, r.received, 1)
	got := r.received[0]
	sign := func(key []byte, text string) string {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		return base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	id, at := got.header.Get("webhook-id"), got.header.Get("webhook-timestamp")
	require.Equal(t, "1795435200", at)
	require.True(t, region.ValidID(id))
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	require.NoError(t, err)
	require.Equal(t, "v1,"+sign(key, id+"."+at+"."+string(got.raw)), got.header.Get("webhook-signature"))
	require.Equal(t, sign([]byte(secret), string(got.raw)), got.header.Get("x-amity-signature"))
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.JSONEq(t, `{"event": "v3.post.didCreate", "eventType": "post.created", "id": "`+id+
		`", "networkId": "0123456789abcdef01234567", "path": "network/post/a",
		"senderId": "", "sentTime": "2026-11-23T12:00:00.000Z", "version": 1, "data": {"posts": [{"postId": "a"}]}}`, string(got.raw))
}

// TestNames checks that a webhook gets the events that it names, by the name that it uses.
func TestNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all, some := newReceiver(t, nil), newReceiver(t, nil)
	w.add(all.URL)
	w.add(some.URL, "post.didCreate", "comment.updated")
	w.log([2]string{"post.created", "a"}, [2]string{"post.updated", "a"}, [2]string{"comment.updated", "b"}, [2]string{"story.created", "c"})
	w.drain(0)
	w.drain(1)
	require.ElementsMatch(t, []string{"v3.post.didCreate a", "v3.post.didUpdate a", "v3.comment.didUpdate b", "story.created c"}, all.take())
	require.ElementsMatch(t, []string{"post.didCreate a", "comment.updated b"}, some.take())
	require.Empty(t, delivery.UnknownName([]string{"v3.post.didCreate", "post.created", "room.didUpdate"}))
	require.Equal(t, "post.invented", delivery.UnknownName([]string{"post.created", "post.invented"}))
}

// TestOrderOfObjects lets the deliveries of one object fail. Its later events wait, those of others do not, and afterwards all arrive
// in order.
func TestOrderOfObjects(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	w, r := newWorld(t), newReceiver(t, func(got received) int {
		if broken.Load() && got.post == "a" {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	id := w.add(r.URL)
	broken.Store(true)
	w.log([2]string{"post.created", "a"}, [2]string{"post.updated", "a"}, [2]string{"post.created", "b"}, [2]string{"post.updated", "b"})
	w.drain(0)
	w.log([2]string{"post.deleted", "a"}, [2]string{"post.deleted", "b"})
	w.drain(0)
	arrived := r.take()
	require.ElementsMatch(t, []string{"v3.post.didCreate a", "v3.post.didCreate b", "v3.post.didUpdate b", "v3.post.didDelete b"}, arrived)
	require.Equal(t, []string{"v3.post.didCreate b", "v3.post.didUpdate b", "v3.post.didDelete b"}, of("b", arrived))
	require.Len(t, w.deliveries(id, network.DeliveryBlocked), 2)
	broken.Store(false)
	w.advance(time.Second)
	w.drain(0)
	require.Empty(t, r.take(), "before the next attempt is due")
	w.advance(time.Second)
	w.drain(0)
	require.Equal(t, []string{"v3.post.didCreate a", "v3.post.didUpdate a", "v3.post.didDelete a"}, r.take())
	require.Len(t, w.deliveries(id, network.DeliveryDelivered), 6)
}

func of(post string, arrived []string) []string {
	var found []string
	for _, text := range arrived {
		if strings.HasSuffix(text, " "+post) {
			found = append(found, text)
		}
	}
	return found
}

// TestManyEventsOfAnObject checks that the order also holds for more events than a round sends.
func TestManyEventsOfAnObject(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newReceiver(t, nil)
	w.add(r.URL)
	names := []string{"post.created", "post.updated", "post.flagged", "post.unflagged"}
	var want []string
	public := map[string]string{
		"post.created": "v3.post.didCreate", "post.updated": "v3.post.didUpdate", "post.flagged": "v3.post.didFlag",
		"post.unflagged": "v3.post.didUnflag",
	}
	for i := range 101 {
		name := names[i*i%len(names)]
		w.log([2]string{name, "a"})
		want = append(want, public[name]+" a")
	}
	w.drain(0)
	require.Equal(t, want, r.take())
}

// TestRetriesAndDeadLetters follows the attempts of an event for 24 hours, and sends it again after that.
func TestRetriesAndDeadLetters(t *testing.T) {
	t.Parallel()
	var works atomic.Bool
	w, r := newWorld(t), newReceiver(t, func(received) int {
		if works.Load() {
			return http.StatusNoContent
		}
		return http.StatusServiceUnavailable
	})
	id := w.add(r.URL)
	w.log([2]string{"post.created", "a"}, [2]string{"post.updated", "a"})
	w.drain(0)
	require.Len(t, r.take(), 1)
	var waits []time.Duration
	for len(w.deliveries(id, network.DeliveryDead)) == 0 {
		rows := w.deliveries(id, network.DeliveryWaiting)
		require.Len(t, rows, 1)
		wait := rows[0].At.Sub(w.deps.Now())
		waits = append(waits, wait)
		w.advance(wait - time.Millisecond)
		w.drain(0)
		require.Empty(t, r.take(), "early")
		w.advance(time.Millisecond)
		w.drain(0)
		require.NotEmpty(t, r.take(), "late")
	}
	require.Equal(t, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}, waits[:4])
	require.Equal(t, 30*time.Minute, waits[20])
	require.Equal(t, start.Add(24*time.Hour), w.deps.Now(), "the last attempt")
	dead := w.deliveries(id, network.DeliveryDead)
	require.Len(t, dead, 2, "the second event ended at the same time")
	require.Equal(t, []any{"status", int64(503)}, []any{dead[0].Error, dead[0].Status})
	works.Store(true)
	w.advance(time.Hour)
	w.drain(0)
	require.Empty(t, r.take())
	require.EqualValues(t, 2, w.replay(id))
	w.drain(0)
	require.Equal(t, []string{"v3.post.didCreate a", "v3.post.didUpdate a"}, r.take())
	require.Zero(t, w.replay(id))
	for _, row := range w.deliveries(id, network.DeliveryDelivered) {
		require.Zero(t, w.replay(id, row.Seq), "an event that was delivered")
	}
}

// TestEventsThatCannotBeSent logs events that are too large, or whose objects cannot be read any more: each is a dead letter at once, and
// later events do not wait for it.
func TestEventsThatCannotBeSent(t *testing.T) {
	t.Parallel()
	for object, reason := range map[string]string{"large": "size", "gone": "gone"} {
		t.Run(object, func(t *testing.T) {
			t.Parallel()
			w, r := newWorld(t), newReceiver(t, nil)
			id := w.add(r.URL)
			w.log([2]string{"post.created", object}, [2]string{"post.created", "a"})
			w.drain(0)
			require.Equal(t, []string{"v3.post.didCreate a"}, r.take())
			dead := w.deliveries(id, network.DeliveryDead)
			require.Len(t, dead, 1)
			require.Equal(t, []any{object, reason, int64(1)}, []any{dead[0].ObjectID, dead[0].Error, dead[0].Attempts})
		})
	}
}

// TestObjectIsNotRead has an object not be read for now: the event is sent later.
func TestObjectIsNotRead(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newReceiver(t, nil)
	id := w.add(r.URL)
	w.log([2]string{"post.created", "unread"})
	w.drain(0)
	waiting := w.deliveries(id, network.DeliveryWaiting)
	require.Len(t, waiting, 1)
	require.Equal(t, []any{"read", int64(1)}, []any{waiting[0].Error, waiting[0].Attempts})
	require.Empty(t, r.take())
}

// TestReplayComesFirst checks that an object's later events wait for one that is sent again and fails.
func TestReplayComesFirst(t *testing.T) {
	t.Parallel()
	var works atomic.Bool
	w, r := newWorld(t), newReceiver(t, func(received) int {
		if works.Load() {
			return http.StatusOK
		}
		return http.StatusServiceUnavailable
	})
	id := w.add(r.URL)
	w.log([2]string{"post.created", "a"})
	w.drain(0)
	w.advance(delivery.RetryFor)
	w.drain(0)
	require.Len(t, w.deliveries(id, network.DeliveryDead), 1)
	w.log([2]string{"post.updated", "a"})
	w.drain(0)
	w.advance(time.Second)
	w.replay(id)
	w.drain(0) // fails again
	w.advance(time.Second)
	r.take()
	w.drain(0)
	require.Empty(t, r.take(), "the update is due, but waits")
	works.Store(true)
	w.advance(time.Minute)
	w.drain(0)
	require.Equal(t, []string{"v3.post.didCreate a", "v3.post.didUpdate a"}, r.take())
}

// TestSlowReceiver checks that a webhook whose receiver does not answer keeps no other one from its events.
func TestSlowReceiver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var clock manualClock
	w.options = w.options.WithLimit(clock.limit)
	hang, arrived := make(chan struct{}), make(chan struct{}, 1)
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(hang) })
	quick := newReceiver(t, nil)
	id := w.add(slow.URL)
	w.add(quick.URL)
	w.log([2]string{"post.created", "a"})
	stuck := make(chan error, 1)
	go func() {
		_, err := w.dispatcher.Drain(t.Context(), region.EU, 0)
		stuck <- err
	}()
	<-arrived
	w.drain(1)
	require.Equal(t, []string{"v3.post.didCreate a"}, quick.take())
	require.Empty(t, stuck, "the slow one still waits")
	clock.expire()
	require.NoError(t, <-stuck)
	waiting := w.deliveries(id, network.DeliveryWaiting)
	require.Len(t, waiting, 1)
	require.Equal(t, "timeout", waiting[0].Error)
}

// manualClock ends the time of all attempts when the test says so.
type manualClock struct {
	mu       sync.Mutex
	attempts []context.CancelCauseFunc
}

// limit returns a context for an attempt.
func (m *manualClock) limit(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.attempts = append(m.attempts, cancel)
	return ctx, func() { cancel(nil) }
}

// expire ends the time of the attempts.
func (m *manualClock) expire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, cancel := range m.attempts {
		cancel(context.DeadlineExceeded)
	}
}

// TestBrokenReceiver checks that a receiver that answers nothing gets few attempts, and all events once it does.
func TestBrokenReceiver(t *testing.T) {
	t.Parallel()
	var works atomic.Bool
	w, r := newWorld(t), newReceiver(t, func(received) int {
		if works.Load() {
			return http.StatusOK
		}
		return http.StatusInternalServerError
	})
	w.add(r.URL)
	for i := range 200 {
		w.log([2]string{"post.created", string(rune('a'+i%26)) + string(rune('a'+i/26))})
	}
	w.drain(0)
	require.LessOrEqual(t, len(r.take()), 64)
	for range 10 {
		w.drain(0)
	}
	require.Empty(t, r.take(), "until the pause ends")
	for range 20 {
		w.advance(time.Minute)
		w.drain(0)
		require.LessOrEqual(t, len(r.take()), 2)
	}
	works.Store(true)
	w.advance(30 * time.Minute)
	w.drain(0)
	require.Len(t, r.take(), 200)
}

// TestBreaker checks that the failures of one object's events stop no others, and those of two objects do.
func TestBreaker(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fail []string
		want []string
	}{
		"one object":  {[]string{"a"}, []string{"v3.post.didCreate later"}},
		"two objects": {[]string{"a", "b"}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r := newWorld(t), newReceiver(t, func(received) int { return http.StatusInternalServerError })
			w.add(r.URL)
			for _, object := range tc.fail {
				w.log([2]string{"post.created", object})
			}
			w.drain(0)
			require.Len(t, r.take(), len(tc.fail))
			w.log([2]string{"post.created", "later"})
			w.drain(0)
			require.Equal(t, tc.want, r.take())
		})
	}
}

// TestRedirects checks that redirects are failures.
func TestRedirects(t *testing.T) {
	t.Parallel()
	w, inner := newWorld(t), newReceiver(t, nil)
	outer := httptest.NewServer(http.RedirectHandler(inner.URL, http.StatusTemporaryRedirect))
	t.Cleanup(outer.Close)
	id := w.add(outer.URL)
	w.log([2]string{"post.created", "a"})
	w.drain(0)
	require.Empty(t, inner.take())
	row := w.deliveries(id, network.DeliveryWaiting)[0]
	require.Equal(t, []any{"status", int64(307)}, []any{row.Error, row.Status})
}

// TestPrivateAddresses checks that no connection is made to an address that is not public, by number or by name.
func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newReceiver(t, nil)
	w.options.Networks = nil
	for i, url := range []string{
		r.URL, strings.Replace(r.URL, "127.0.0.1", "localhost", 1), "http://[::ffff:127.0.0.1]/",
		"http://169.254.169.254/",
	} {
		id := w.add(url)
		w.log([2]string{"post.created", "a"})
		w.drain(int64(i))
		waiting := w.deliveries(id, network.DeliveryWaiting)
		require.Len(t, waiting, 1, url)
		require.Equal(t, "address", waiting[0].Error, url)
	}
	require.Empty(t, r.take())
}

// TestLeases checks that one server at a time sends the events of a webhook, and that another one continues.
func TestLeases(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newReceiver(t, nil)
	w.add(r.URL)
	first := w.dispatcher
	w.log([2]string{"post.created", "a"})
	w.drain(0)
	second := delivery.New(w.options.WithoutMetrics())
	w.log([2]string{"post.updated", "a"})
	w.dispatcher = second
	w.drain(0)
	require.Equal(t, []string{"v3.post.didCreate a"}, r.take(), "the first server has the lease")
	first.Release(t.Context())
	w.advance(2*time.Second - time.Millisecond)
	w.drain(0)
	require.Empty(t, r.take(), "it looks for the lease every two seconds")
	w.advance(time.Millisecond)
	w.drain(0)
	require.Equal(t, []string{"v3.post.didUpdate a"}, r.take())
	w.dispatcher = first
	w.log([2]string{"post.deleted", "a"})
	w.drain(0)
	require.Empty(t, r.take())
	w.advance(time.Minute) // the second server does not renew the lease
	w.drain(0)
	require.Equal(t, []string{"v3.post.didDelete a"}, r.take())
}

// TestLeaseIsLost has another server take a webhook over after its owner has read what is due: the owner stores neither new
// deliveries nor the results of attempts.
func TestLeaseIsLost(t *testing.T) {
	t.Parallel()
	for statement, state := range map[string]string{"webhookCursors.advance": "", "webhookDeliveries.update": network.DeliveryWaiting} {
		t.Run(statement, func(t *testing.T) {
			t.Parallel()
			w, r := newWorld(t), newReceiver(t, nil)
			id := w.add(r.URL)
			w.drain(0)
			w.log([2]string{"post.created", "a"})
			w.Before(statement, func() { w.exec(`UPDATE webhook_cursors SET owner = 'another server'`) })
			for w.Pending() {
				_, err := w.dispatcher.Drain(t.Context(), region.EU, 0)
				require.NoError(t, err)
			}
			require.Empty(t, w.deliveries(id, network.DeliveryDelivered))
			require.Equal(t, state != "", len(w.deliveries(id, network.DeliveryWaiting)) == 1)
		})
	}
}

// TestDisabledWebhook checks that what happens while a webhook is disabled is not sent later.
func TestDisabledWebhook(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newReceiver(t, nil)
	id := w.add(r.URL)
	set := func(enabled bool) {
		w.advance(time.Second)
		hook := network.Webhook{
			ID: id, URL: r.URL, IsEnabled: enabled, Secret: w.sealer.Seal(id, secret), CreatedAt: start,
			ChangedAt: w.deps.Now(),
		}
		tx := w.deps.Store.NewTx(region.EU)
		tx.UpsertWebhooks([]network.Webhook{hook}, start.Add(-time.Hour))
		require.NoError(t, tx.Commit(t.Context()))
		w.dispatcher.Release(t.Context())
		w.dispatcher = delivery.New(w.options.WithoutMetrics())
		w.advance(time.Second)
	}
	set(false)
	w.log([2]string{"post.created", "a"})
	w.drain(0)
	set(true)
	w.log([2]string{"post.created", "b"})
	w.drain(0)
	require.Equal(t, []string{"v3.post.didCreate b"}, r.take())
}

// TestDeletedWebhook checks that the rows of a deleted webhook are removed.
func TestDeletedWebhook(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newReceiver(t, nil)
	id := w.add(r.URL)
	w.log([2]string{"post.created", "a"})
	w.drain(0)
	tx := w.deps.Store.NewTx(region.EU)
	tx.UpsertWebhooks([]network.Webhook{{ID: id, IsDeleted: true, Secret: []byte{}, CreatedAt: start, ChangedAt: start.Add(time.Minute)}},
		start.Add(-time.Hour))
	require.NoError(t, tx.Commit(t.Context()))
	for more := true; more; {
		var err error
		more, err = w.dispatcher.Sweep(t.Context(), region.EU)
		require.NoError(t, err)
	}
	require.Empty(t, w.deliveries(id, network.DeliveryDelivered))
	var cursors []network.WebhookCursor
	reads := w.deps.Store.NewReadBatch()
	reads.WebhookCursors(region.EU, &cursors)
	require.NoError(t, reads.Run(t.Context()))
	require.Empty(t, cursors)
}

// TestStates reports what waits, why it failed and what could not be delivered, until the webhook is deleted or another server
// sends its events.
func TestStates(t *testing.T) {
	t.Parallel()
	var works atomic.Bool
	w, r := newWorld(t), newReceiver(t, func(received) int {
		if works.Load() {
			return http.StatusOK
		}
		return http.StatusServiceUnavailable
	})
	id := w.add(r.URL)
	state := func() delivery.State {
		t.Helper()
		w.advance(10 * time.Second)
		w.drain(0)
		require.Len(t, w.dispatcher.States(), 1)
		return w.dispatcher.States()[0]
	}
	w.drain(0)
	require.Equal(t, delivery.State{Home: region.EU, WebhookID: id}, state())
	at := w.deps.Now()
	w.log([2]string{"post.created", "a"}, [2]string{"post.created", "b"})
	w.drain(0)
	require.Equal(t, delivery.State{Home: region.EU, WebhookID: id, Oldest: at, Failed: "status"}, state())
	w.advance(delivery.RetryFor)
	require.Equal(t, delivery.State{Home: region.EU, WebhookID: id, Dead: 2, Failed: "status"}, state())
	works.Store(true)
	w.replay(id)
	require.Eventually(t, func() bool { return state() == delivery.State{Home: region.EU, WebhookID: id} }, patience, time.Millisecond)
	w.dispatcher.Release(t.Context())
	other := delivery.New(w.options.WithoutMetrics())
	_, err := other.Drain(t.Context(), region.EU, 0)
	require.NoError(t, err)
	w.drain(0)
	require.Empty(t, w.dispatcher.States())
}

// metric returns the value of a metric of a webhook with labels, and false if there is none.
func (w *world) metric(name string, labels ...string) (float64, bool) {
	w.t.Helper()
	families, err := w.registry.Gather()
	require.NoError(w.t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var values []string
			for _, l := range m.GetLabel() {
				values = append(values, l.GetValue())
			}
			if f.GetName() == name && slices.Equal(values, labels) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue(), true
			}
		}
	}
	return 0, false
}

// measured makes the dispatcher of a world have metrics, as a server does.
func (w *world) measured() {
	w.registry = prometheus.NewRegistry()
	w.options.Registerer = w.registry
	w.dispatcher = delivery.New(w.options)
}

// TestMetrics counts attempts by result, and reports the age of the oldest event that waits and the number of dead letters, until another
// server sends the events.
func TestMetrics(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newReceiver(t, func(got received) int {
		if got.post == "works" {
			return http.StatusOK
		}
		return http.StatusInternalServerError
	})
	id := w.add(r.URL)
	w.measured()
	requireMetric := func(want float64, name string, labels ...string) {
		t.Helper()
		value, ok := w.metric("plaza_webhook_"+name, labels...)
		require.True(t, ok, name)
		require.InDelta(t, want, value, 0, name)
	}
	w.drain(0)
	for _, result := range []string{"delivered", "failed", "dead"} {
		requireMetric(0, "deliveries_total", result, id)
	}
	w.log([2]string{"post.created", "works"}, [2]string{"post.created", "broken"}, [2]string{"post.created", "large"})
	w.advance(10 * time.Second)
	w.drain(0)
	requireMetric(1, "deliveries_total", "delivered", id)
	requireMetric(1, "deliveries_total", "failed", id)
	requireMetric(1, "deliveries_total", "dead", id)
	requireMetric(10, "oldest_delivery_seconds", "eu", id)
	requireMetric(1, "dead_letters", "eu", id)
	w.advance(delivery.RetryFor)
	w.drain(0)
	requireMetric(2, "deliveries_total", "dead", id)
	requireMetric(0, "oldest_delivery_seconds", "eu", id)
	requireMetric(2, "dead_letters", "eu", id)

	first := w.dispatcher
	first.Release(t.Context())
	other := delivery.New(w.options.WithoutMetrics())
	_, err := other.Drain(t.Context(), region.EU, 0)
	require.NoError(t, err)
	w.drain(0)
	_, ok := w.metric("plaza_webhook_dead_letters", "eu", id)
	require.False(t, ok, "the other server reports it")
}

// TestLostEvents removes events from the log before a webhook has read them.
func TestLostEvents(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newReceiver(t, nil)
	id := w.add(r.URL)
	w.measured()
	w.log([2]string{"post.created", "a"}, [2]string{"post.created", "b"}, [2]string{"post.created", "c"})
	w.advance(time.Minute)
	tx := w.deps.Store.NewTx(region.EU)
	tx.SweepEvents(w.deps.Now(), new(int64))
	require.NoError(t, tx.Commit(t.Context()))
	w.log([2]string{"post.created", "d"})
	w.drain(0)
	require.Equal(t, []string{"v3.post.didCreate d"}, r.take())
	lost, ok := w.metric("plaza_webhook_events_lost_total", id)
	require.True(t, ok)
	require.InDelta(t, 3, lost, 0)
	var cursors []network.WebhookCursor
	reads := w.deps.Store.NewReadBatch()
	reads.WebhookCursors(region.EU, &cursors)
	require.NoError(t, reads.Run(t.Context()))
	require.Equal(t, []int64{4, 3}, []int64{cursors[0].LastSeq, cursors[0].Lost})
}
