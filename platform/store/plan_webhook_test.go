package store_test

import (
	"encoding/json"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/network"
)

// Home us has ten webhooks with 6,000 deliveries each, of 2,000 objects; some objects wait, with others behind them.
var _ = planned((*collector).collectWebhooks,
	`INSERT INTO webhooks (home, id, name, url, events, secret, is_managed, is_enabled, is_deleted, created_at, changed_at, origin)
		SELECT HOME(n), ID(w, n, 3), 'hook', 'https://example.com', '{}', '\x', false, true, n > 30, AT(n, 3), AT(n, 3), 'us' FROM
		generate_series(1, 3000) AS n`,
	`INSERT INTO webhook_cursors (home, webhook_id, last_seq, lost, owner, leased_until)
		SELECT HOME(n), ID(w, n, 3), 60000, 0, 'server', AT(n, 3) FROM generate_series(1, 3000) AS n`,
	`INSERT INTO webhook_deliveries (home, webhook_id, seq, id, name, object_id, sender_id, payload, sent_at, state, attempts, at, expires_at,
		status, error, took_ms)
		SELECT 'us', ID(w, (3 + 3 * (n % 10)), 3), n, ID(e, n, 3), 'post.created', ID(p, (n % 2000), 3), '', '{}', AT(n, 5),
			CASE WHEN n % 20 < 10 THEN 'delivered' WHEN n % 20 < 12 THEN 'waiting' WHEN n % 20 < 15 THEN 'blocked' ELSE 'dead' END, 1, AT(n, 5),
			AT(n, 5), 200, '', 5
		FROM generate_series(1, 60000) AS n`,
)

func (c *collector) collectWebhooks() {
	var hooks []network.Webhook
	var cursors []network.WebhookCursor
	var cursor *network.WebhookCursor
	var rows []network.WebhookDelivery
	var count int64
	var oldest time.Time
	id := worldID("w", 6, 3)
	c.reads(func(r *store.ReadBatch) { r.Webhooks(region.US, &hooks) })
	c.reads(func(r *store.ReadBatch) { r.WebhookCursors(region.US, &cursors) })
	c.reads(func(r *store.ReadBatch) {
		r.DueWebhookDeliveries(region.US, id, worldStart.Add(-time.Hour), worldStart.Add(time.Hour), 64, &rows)
	})
	for _, n := range eachSizes {
		c.reads(func(r *store.ReadBatch) {
			r.BlockedWebhookDeliveries(region.US, id, repeated(n, worldID("p", 11, 3), worldID("p", 31, 3)), 20, &rows)
		})
	}
	c.reads(func(r *store.ReadBatch) { r.CountWebhookDeliveries(region.US, id, network.DeliveryDead, 100, &count) })
	c.reads(func(r *store.ReadBatch) { r.OldestWebhookDelivery(region.US, id, &oldest) })
	c.reads(func(r *store.ReadBatch) {
		r.ExpiredWebhookDeliveries(region.US, id, worldStart.Add(100_000*time.Hour), 500, &rows)
	})
	both(60_000, func(desc bool, at time.Time, after string) {
		l := network.WebhookDeliveryList{WebhookID: id, State: network.DeliveryDead, Desc: desc, After: at, ID: after, Limit: pageRows}
		c.reads(func(r *store.ReadBatch) { r.ListWebhookDeliveries(region.US, l, &rows) })
	})
	c.collectWebhookWrites(id, cursor)
}

func (c *collector) collectWebhookWrites(id string, cursor *network.WebhookCursor) {
	hook := network.Webhook{
		ID: worldID("w", 6, 3), Name: "hook", URL: "https://example.com", Secret: []byte{}, CreatedAt: worldStart,
		ChangedAt: worldStart, Origin: "us",
	}
	row := network.WebhookDelivery{
		Seq: 70_000, ID: region.NewID(region.US), Name: "post.created", ObjectID: worldID("p", 3, 3),
		Payload: json.RawMessage("{}"), SentAt: worldStart,
	}
	var hooks []network.Webhook
	var n int64
	c.write(func(w *store.Tx) {
		w.UpsertWebhooks([]network.Webhook{hook}, worldStart)
		w.GuardWebhooks(100_000, core.ErrConflict)
		w.SelectWebhooks(&hooks)
	})
	c.write(func(w *store.Tx) { w.LeaseWebhook(id, "other", worldStart.Add(24*time.Hour), worldStart, &cursor) })
	c.write(func(w *store.Tx) { w.ReleaseWebhook(id, "server", worldStart) })
	c.write(func(w *store.Tx) {
		w.OwnWebhook(id, "server", core.ErrConflict)
		w.InsertWebhookDeliveries(id, []network.WebhookDelivery{row}, worldStart, worldStart)
		w.AdvanceWebhook(id, 70_000, 0)
	})
	c.write(func(w *store.Tx) {
		row.Seq, row.State = 12, network.DeliveryDelivered
		w.UpdateWebhookDelivery(id, row)
		w.UnblockWebhookDelivery(id, worldID("p", 12, 3), worldStart)
	})
	c.write(func(w *store.Tx) { w.TrimWebhookDeliveries(id, network.DeliveryDelivered, 1000, &n) })
	c.write(func(w *store.Tx) { w.ExpireWebhookDeliveries(id, worldStart, &n) })
	c.write(func(w *store.Tx) { w.RemoveWebhookDeliveries(id, &n) })
	c.write(func(w *store.Tx) { w.ReplayWebhookDeliveries(id, []int64{15, 16}, worldStart, worldStart, &n) })
	c.write(func(w *store.Tx) { w.ReplayWebhookDeliveries(id, nil, worldStart, worldStart, &n) })
}
