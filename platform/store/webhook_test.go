package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// aWebhook returns a webhook that was created and changed at some seconds after now.
func aWebhook(id string, seconds int) store.Webhook {
	return store.Webhook{ID: id, Name: "hook", URL: "https://example.com", Secret: []byte{1}, IsEnabled: true, CreatedAt: later(seconds), ChangedAt: later(seconds), Origin: "eu"}
}

func putWebhooks(t *testing.T, s *store.Store, purgeBefore time.Time, hooks ...store.Webhook) {
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
		var found []store.Webhook
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
	live, gone, old, restored := aWebhook(region.NewID(region.EU), 0), aWebhook(region.NewID(region.EU), 10), aWebhook(region.NewID(region.EU), 0), aWebhook(region.NewID(region.EU), 0)
	gone.IsDeleted, old.IsDeleted = true, true
	old.ChangedAt, restored.ChangedAt = later(9), later(10)
	putWebhooks(t, s, now.Add(-time.Hour), live, gone, old, restored)
	deleted := restored
	deleted.IsDeleted = true
	putWebhooks(t, s, later(10), deleted)
	older := func(h store.Webhook) store.Webhook {
		h.IsDeleted, h.ChangedAt = false, later(1)
		return h
	}
	putWebhooks(t, s, now.Add(-time.Hour), older(gone), older(old), older(deleted))
	var found []store.Webhook
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
	lease := func(owner string, seconds int) *store.WebhookCursor {
		t.Helper()
		var cursor *store.WebhookCursor
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
