package store_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
)

// aWebhook returns a webhook that was created and changed at some seconds after now.
func aWebhook(id string, seconds int) network.Webhook {
	return network.Webhook{
		ID: id, Name: "hook", URL: "https://example.com", Secret: []byte{1}, IsEnabled: true, CreatedAt: later(seconds),
		ChangedAt: later(seconds), Origin: "eu",
	}
}

func putWebhooks(t *testing.T, s *store.Store, purgeBefore time.Time, hooks ...network.Webhook) {
	t.Helper()
	w := s.NewTx(region.EU)
	w.UpsertWebhooks(hooks, purgeBefore)
	commit(t, w)
}

// TestNewestWebhookWins stores changes of a webhook in any order: the newest one remains, of two at the same time that of the greater
// origin.
func TestNewestWebhookWins(t *testing.T) {
	s := openNew(t)
	id := region.NewID(region.EU)
	for _, tc := range []struct {
		seconds      int
		origin, want string
	}{
		{5, "eu", "5 eu"}, {4, "us", "5 eu"}, {5, "sg", "5 sg"}, {5, "eu", "5 sg"}, {6, "eu", "6 eu"},
	} {
		h := aWebhook(id, tc.seconds)
		h.Name, h.Origin = later(tc.seconds).Format("5")+" "+tc.origin, tc.origin
		putWebhooks(t, s, now.Add(-time.Hour), h)
		var found []network.Webhook
		r := s.NewReadBatch()
		r.Webhooks(region.EU, &found)
		run(t, r)
		require.Len(t, found, 1)
		require.Equal(t, tc.want, found[0].Name)
	}
}

// TestDeletedWebhooks keeps the rows of deleted webhooks for a time, so that older changes do not restore them. They do not count.
func TestDeletedWebhooks(t *testing.T) {
	s := openNew(t)
	live, gone, old, restored := aWebhook(region.NewID(region.EU), 0), aWebhook(region.NewID(region.EU), 10),
		aWebhook(region.NewID(region.EU), 0), aWebhook(region.NewID(region.EU), 0)
	gone.IsDeleted, old.IsDeleted = true, true
	old.ChangedAt, restored.ChangedAt = later(9), later(10)
	putWebhooks(t, s, now.Add(-time.Hour), live, gone, old, restored)
	deleted := restored
	deleted.IsDeleted = true
	putWebhooks(t, s, later(10), deleted)
	older := func(h network.Webhook) network.Webhook {
		h.IsDeleted, h.ChangedAt = false, later(1)
		return h
	}
	putWebhooks(t, s, now.Add(-time.Hour), older(gone), older(old), older(deleted))
	var found []network.Webhook
	r := s.NewReadBatch()
	r.Webhooks(region.EU, &found)
	run(t, r)
	var ids []string
	for _, h := range found {
		ids = append(ids, h.ID)
	}
	require.ElementsMatch(t, []string{live.ID, old.ID}, ids, "only what was deleted before the time is forgotten")
	for limit, want := range map[int]error{1: refused, 2: nil} {
		w := s.NewTx(region.EU)
		w.GuardWebhooks(limit, refused)
		require.ErrorIs(t, w.Commit(t.Context()), want, limit)
	}
}

// TestWebhookCursors begins a webhook at the end of the log, leases it to one server at a time, and stores how far it has read.
func TestWebhookCursors(t *testing.T) {
	s := openNew(t)
	id := region.NewID(region.EU)
	logEvents(t, s, region.EU, anEvent("a"), anEvent("b"))
	putWebhooks(t, s, now, aWebhook(id, 0))
	logEvents(t, s, region.EU, anEvent("c"))
	putWebhooks(t, s, now, aWebhook(id, 1)) // a change
	lease := func(owner string, seconds int) *network.WebhookCursor {
		t.Helper()
		var cursor *network.WebhookCursor
		w := s.NewTx(region.EU)
		w.LeaseWebhook(id, owner, later(seconds), later(seconds+10), &cursor)
		commit(t, w)
		return cursor
	}
	require.EqualValues(t, 2, lease("one", 0).LastSeq, "the events before are not sent")
	require.Nil(t, lease("two", 9))
	require.NotNil(t, lease("one", 9), "renewed until 19")
	require.Nil(t, lease("two", 18))
	own := func(owner string) error {
		w := s.NewTx(region.EU)
		w.OwnWebhook(id, owner, refused)
		w.AdvanceWebhook(id, 7, 3)
		return w.Commit(t.Context())
	}
	require.ErrorIs(t, own("two"), refused)
	require.NoError(t, own("one"))
	require.NoError(t, own("one"))
	release := func(owner string, seconds int) {
		t.Helper()
		w := s.NewTx(region.EU)
		w.ReleaseWebhook(id, owner, later(seconds))
		commit(t, w)
	}
	release("two", 11)
	require.Nil(t, lease("two", 11), "it was not its lease")
	cursor := lease("two", 19)
	require.NotNil(t, cursor, "the lease has ended")
	require.Equal(t, []int64{7, 6}, []int64{cursor.LastSeq, cursor.Lost})
	release("two", 20)
	require.NotNil(t, lease("one", 20))
}

// TestBlockedDeliveries sends the events of an object in their order: the first one, then the others one by one.
func TestBlockedDeliveries(t *testing.T) {
	s := openNew(t)
	hook, otherHook := region.NewID(region.EU), region.NewID(region.EU)
	object, other := region.NewID(region.EU), region.NewID(region.EU)
	change := func(fill func(*store.Tx)) {
		t.Helper()
		w := s.NewTx(region.EU)
		fill(w)
		commit(t, w)
	}
	delivery := func(seq int64, objectID string) network.WebhookDelivery {
		return network.WebhookDelivery{Seq: seq, ID: region.NewID(region.EU), ObjectID: objectID, Payload: []byte(`{}`), SentAt: now}
	}
	insert := func(webhookID string, all ...network.WebhookDelivery) {
		t.Helper()
		change(func(w *store.Tx) { w.InsertWebhookDeliveries(webhookID, all, now, later(1000)) })
	}
	states := func(webhookID string) map[int64]string {
		t.Helper()
		found := map[int64]string{}
		for _, state := range []string{network.DeliveryWaiting, network.DeliveryBlocked, network.DeliveryDelivered, network.DeliveryDead} {
			var rows []network.WebhookDelivery
			r := s.NewReadBatch()
			r.ListWebhookDeliveries(region.EU, network.WebhookDeliveryList{WebhookID: webhookID, State: state, Limit: 99}, &rows)
			run(t, r)
			for _, d := range rows {
				found[d.Seq] = state[:1] + strconv.Itoa(int(d.At.Sub(now).Seconds()))
			}
		}
		return found
	}
	insert(otherHook, delivery(1, object), delivery(2, object))
	insert(hook, delivery(1, other), delivery(2, other), delivery(3, object), delivery(4, object), delivery(5, object))
	insert(hook, delivery(6, object), delivery(7, region.NewID(region.EU)))
	others := map[int64]string{1: "w0", 2: "b0"}
	require.Equal(t, map[int64]string{1: "w0", 2: "b0", 3: "w0", 4: "b0", 5: "b0", 6: "b0", 7: "w0"}, states(hook))
	blocked := func(limit int, objects ...string) (seqs []int64) {
		t.Helper()
		var rows []network.WebhookDelivery
		r := s.NewReadBatch()
		r.BlockedWebhookDeliveries(region.EU, hook, objects, limit, &rows)
		run(t, r)
		for _, d := range rows {
			seqs = append(seqs, d.Seq)
		}
		return seqs
	}
	require.Equal(t, []int64{4, 5}, blocked(2, object))
	require.ElementsMatch(t, []int64{2, 4, 5, 6}, blocked(9, object, other))
	finish := func(d network.WebhookDelivery, state string) {
		t.Helper()
		d.State, d.At = state, later(5)
		change(func(w *store.Tx) {
			w.UpdateWebhookDelivery(hook, d)
			w.UnblockWebhookDelivery(hook, object, later(6))
		})
	}
	finish(network.WebhookDelivery{Seq: 3}, network.DeliveryDelivered)
	require.Equal(t, map[int64]string{1: "w0", 2: "b0", 3: "d5", 4: "w6", 5: "b0", 6: "b0", 7: "w0"}, states(hook))
	finish(network.WebhookDelivery{Seq: 4}, network.DeliveryDead)
	require.Equal(t, map[int64]string{1: "w0", 2: "b0", 3: "d5", 4: "d5", 5: "w6", 6: "b0", 7: "w0"}, states(hook))
	require.Equal(t, others, states(otherHook))
}
