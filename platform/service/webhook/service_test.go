package webhook_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	sending "github.com/plaza-social/plaza/platform/seal"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/webhook"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// world is a network whose webhooks an administrator manages.
type world struct {
	*servicetest.World
	*webhook.Service
	t   *testing.T
	ctx context.Context // of the administrator
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := servicetest.NewWorld(t)
	sealer, err := sending.New([]byte("the key of the directory"))
	require.NoError(t, err)
	return &world{w, webhook.New(w.Deps, sealer, nil), t, auth.WithCaller(t.Context(), servicetest.Admin())}
}

// create creates a webhook and returns it.
func (w *world) create(name string) *plazav1.Webhook {
	w.t.Helper()
	r, err := w.CreateWebhook(w.ctx, &plazav1.CreateWebhookRequest{Url: "https://hooks.example.com", Name: name})
	require.NoError(w.t, err)
	return r.GetWebhook()
}

// ids returns the ids of the deliveries of a webhook in a state.
func (w *world) ids(webhookID, state string) []string {
	w.t.Helper()
	r, err := w.ListWebhookDeliveries(w.ctx, &plazav1.ListWebhookDeliveriesRequest{WebhookId: webhookID, State: state})
	require.NoError(w.t, err)
	var ids []string
	for _, d := range r.GetDeliveries() {
		ids = append(ids, d.GetDeliveryId())
	}
	return ids
}

// TestReplay sends dead letters of two homes again: some, and then all others.
func TestReplay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, other := w.create("a").GetWebhookId(), w.create("b").GetWebhookId()
	for i, home := range []region.Code{region.EU, region.SG} {
		for seq := 1; seq <= 3; seq++ {
			hook, state := id, network.DeliveryDead
			if seq == 3 {
				hook = other
			}
			w.Exec(t, fmt.Sprintf(`INSERT INTO webhook_deliveries (home, webhook_id, seq, id, name, object_id, sender_id, payload, sent_at, state,
				attempts, at, expires_at, status, error, took_ms) VALUES ('%s', '%s', %d, '%s', 'post.created', 'x', '', '{}', now(), '%s',
				1, timestamptz '2026-11-20 10:00:00Z' + interval '%d minutes', now(), 500, 'status', 1)`, home, hook, seq, region.NewID(home), state,
				2*seq+i))
		}
	}
	require.Equal(t, []string{"sg-2", "eu-2", "sg-1", "eu-1"}, w.ids(id, ""), "dead letters, the latest first")
	require.Empty(t, w.ids(id, network.DeliveryWaiting))
	replay := func(webhookID string, ids ...string) (int32, error) {
		r, err := w.ReplayWebhookDeliveries(w.ctx, &plazav1.ReplayWebhookDeliveriesRequest{WebhookId: webhookID, DeliveryIds: ids})
		return r.GetReplayed(), err
	}
	n, err := replay(id, "eu-1", "sg-1", "eu-1", "eu-3")
	require.NoError(t, err)
	require.Equal(t, int32(2), n, "each once, and none of another webhook")
	require.Equal(t, []string{"sg-2", "eu-2"}, w.ids(id, ""))
	require.Equal(t, []string{"sg-1", "eu-1"}, w.ids(id, network.DeliveryWaiting))
	n, err = replay(id)
	require.NoError(t, err)
	require.Equal(t, int32(2), n)
	require.Len(t, w.ids(id, network.DeliveryWaiting), 4)
	expires := w.Text(t, `SELECT count(*)::text FROM webhook_deliveries WHERE expires_at = '2026-11-21 12:00:00Z'`)
	require.Equal(t, "4", expires, "a day to deliver them")
	require.Len(t, w.ids(other, ""), 2)
	for _, wrong := range []string{"eu", "xx-1", "1-eu"} {
		_, err = replay(id, wrong)
		require.ErrorIs(t, err, fail.Validation(), wrong)
	}
	_, err = replay(region.NewID(region.EU))
	require.ErrorIs(t, err, fail.NotFound())
	_, err = w.ListWebhookDeliveries(w.ctx, &plazav1.ListWebhookDeliveriesRequest{WebhookId: region.NewID(region.EU)})
	require.ErrorIs(t, err, fail.NotFound())
}

// TestUpdateWebhook checks what a change keeps, replaces and refuses.
func TestUpdateWebhook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	created := w.create("a")
	require.True(t, created.GetIsEnabled())
	update := func(change *plazav1.UpdateWebhookRequest) (*plazav1.Webhook, error) {
		change.WebhookId = created.GetWebhookId()
		r, err := w.UpdateWebhook(w.ctx, change)
		require.Equal(t, change.GetRegenerateSecret(), r.GetSecret() != "")
		return r.GetWebhook(), err
	}
	changed, err := update(&plazav1.UpdateWebhookRequest{Events: []string{"post.created", "post.created"}})
	require.NoError(t, err)
	require.Equal(t, []string{"post.created"}, changed.GetEvents())
	require.Equal(t, created.GetUrl(), changed.GetUrl())
	require.Equal(t, created.GetCreatedAt().AsTime(), changed.GetCreatedAt().AsTime())
	require.NotEqual(t, created.GetUpdatedAt().AsTime(), changed.GetUpdatedAt().AsTime())
	for name, wrong := range map[string]*plazav1.UpdateWebhookRequest{
		"events and all events": {Events: []string{"post.created"}, AllEvents: true},
		"an unknown event":      {Events: []string{"post.invented"}},
		"an address":            {Url: new("http://10.0.0.1")},
	} {
		_, err := update(wrong)
		require.ErrorIs(t, err, fail.Validation(), name)
	}
	changed, err = update(&plazav1.UpdateWebhookRequest{IsEnabled: new(false), Url: new("https://other.example.com"), RegenerateSecret: true})
	require.NoError(t, err)
	require.False(t, changed.GetIsEnabled())
	require.Equal(t, "https://other.example.com", changed.GetUrl())
	require.Equal(t, []string{"post.created"}, changed.GetEvents())
	changed, err = update(&plazav1.UpdateWebhookRequest{AllEvents: true})
	require.NoError(t, err)
	require.Empty(t, changed.GetEvents())
}

// TestManagedNames checks that names identify the webhooks of the operator only, and that every change of one is stored.
func TestManagedNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.create("f")
	replace := func(hooks ...*plazav1.ManagedWebhook) *plazav1.ReplaceManagedWebhooksResponse {
		r, err := w.ReplaceManagedWebhooks(w.ctx, &plazav1.ReplaceManagedWebhooksRequest{Webhooks: hooks})
		require.NoError(t, err)
		return r
	}
	managed := func(name string) *plazav1.ManagedWebhook {
		return &plazav1.ManagedWebhook{Name: name, Url: "https://" + name + ".example.com", Secret: "a secret of some length and more"}
	}
	names := []string{"f", "d", "b", "a", "c", "e"}
	var all []*plazav1.ManagedWebhook
	for _, name := range names {
		all = append(all, managed(name))
	}
	r := replace(append(slices.Clone(all), managed("b"))...)
	require.Len(t, r.GetRefused(), 1)
	require.Equal(t, "another webhook has the name b", r.GetRefused()[0].GetReason())
	require.Len(t, r.GetWebhooks(), len(names))
	for i, h := range r.GetWebhooks() {
		require.Equal(t, names[i], h.GetName(), "in the order of the request")
		require.NotEqual(t, own.GetWebhookId(), h.GetWebhookId(), "which is not the operator's")
	}
	secret := func() string {
		return w.Text(t, `SELECT encode(secret, 'hex') FROM webhooks WHERE home = 'eu' AND name = 'f' AND is_managed`)
	}
	before := secret()
	require.Equal(t, r.GetWebhooks()[0].GetWebhookId(), replace(all...).GetWebhooks()[0].GetWebhookId())
	require.Equal(t, before, secret(), "nothing changed")
	all[0].Events = []string{"post.created"}
	require.Equal(t, all[0].GetEvents(), replace(all...).GetWebhooks()[0].GetEvents())
	before = secret()
	all[0].Secret = "another secret of some length"
	replace(all...)
	require.NotEqual(t, before, secret())
	all[0].IsEnabled = new(false)
	require.False(t, replace(all...).GetWebhooks()[0].GetIsEnabled())
	require.Empty(t, replace().GetWebhooks())
	kept, err := w.GetWebhook(w.ctx, &plazav1.GetWebhookRequest{WebhookId: own.GetWebhookId()})
	require.NoError(t, err)
	require.Equal(t, own.GetUrl(), kept.GetWebhook().GetUrl())
}
