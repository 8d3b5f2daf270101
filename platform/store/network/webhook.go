package network

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Webhook is a row of webhooks, as stored in one home. The newest change wins; of two changes at the same time, the one with
// the greater origin.
type Webhook struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	URL       string    `json:"url"`
	Events    []string  `json:"events"` // names of the events to send; empty for all
	Secret    []byte    `json:"secret"` // encrypted
	IsManaged bool      `json:"isManaged"`
	IsEnabled bool      `json:"isEnabled"`
	IsDeleted bool      `json:"isDeleted"`
	CreatedAt time.Time `json:"createdAt"`
	ChangedAt time.Time `json:"changedAt"`
	Origin    string    `json:"origin"`
}

// WebhookCursor is a row of webhook_cursors: how far a webhook has read the log of a home.
type WebhookCursor struct {
	WebhookID   string
	LastSeq     int64
	Lost        int64 // events that the log removed before they were read
	Owner       string
	LeasedUntil time.Time
}

var (
	webhookColumns       = db.Columns[Webhook]()
	webhookCursorColumns = db.Columns[WebhookCursor]()
)

var (
	sqlWebhooks      = db.Register("webhooks.list", `SELECT `+webhookColumns+` FROM webhooks WHERE home = $1 AND NOT is_deleted`)
	sqlWebhookUpsert = db.Register("webhooks.put", `INSERT INTO webhooks (home, `+webhookColumns+`)
		VALUES ($1, $2, $3, $4, $5::text[], $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (home, id) DO UPDATE SET name = excluded.name, url = excluded.url, events = excluded.events, secret = excluded.secret,
			is_managed = excluded.is_managed, is_enabled = excluded.is_enabled, is_deleted = excluded.is_deleted, created_at = excluded.created_at,
			changed_at = excluded.changed_at, origin = excluded.origin
		WHERE (webhooks.changed_at, webhooks.origin) <= (excluded.changed_at, excluded.origin)`)
	sqlWebhooksSweep = db.Register("webhooks.sweep", `DELETE FROM webhooks WHERE home = $1 AND is_deleted AND created_at < $2::timestamptz
		AND changed_at < $2::timestamptz`)
	sqlWebhooksGuardLimit = db.Register("webhooks.guardLimit", `SELECT 1 / CASE WHEN (SELECT count(*) FROM webhooks WHERE home = $1
		AND NOT is_deleted) <= $2::bigint
		THEN 1 ELSE 0 END`)

	// A webhook begins with the events after its creation.
	sqlWebhookCursorBegin = db.Register("webhookCursors.begin", `INSERT INTO webhook_cursors (home, webhook_id, last_seq, lost, owner, leased_until)
		VALUES ($1, $2, COALESCE((SELECT last_seq FROM realtime_heads WHERE home = $1), 0), 0, '', $3::timestamptz)
		ON CONFLICT (home, webhook_id) DO NOTHING`)
	sqlWebhookCursors     = db.Register("webhookCursors.list", `SELECT `+webhookCursorColumns+` FROM webhook_cursors WHERE home = $1`)
	sqlWebhookCursorLease = db.Register("webhookCursors.lease", `UPDATE webhook_cursors SET owner = $3, leased_until = $5::timestamptz
		WHERE home = $1 AND webhook_id = $2 AND (owner = $3 OR leased_until <= $4::timestamptz) RETURNING `+webhookCursorColumns)
	sqlWebhookCursorRelease = db.Register("webhookCursors.release", `UPDATE webhook_cursors SET leased_until = $4::timestamptz
		WHERE home = $1 AND webhook_id = $2 AND owner = $3`)
	sqlWebhookCursorOwn = db.Register("webhookCursors.own", `SELECT 1 / count(*) FROM (SELECT webhook_id FROM webhook_cursors
		WHERE home = $1 AND webhook_id = $2 AND owner = $3 FOR UPDATE) AS mine`)
	sqlWebhookCursorAdvance = db.Register("webhookCursors.advance", `UPDATE webhook_cursors SET last_seq = $3::bigint, lost = lost + $4::bigint
		WHERE home = $1 AND webhook_id = $2`)
	sqlWebhookCursorDelete = db.Register("webhookCursors.delete", `DELETE FROM webhook_cursors WHERE home = $1 AND webhook_id = $2
		AND (SELECT seq FROM webhook_deliveries /*@{FORCE_INDEX=webhook_deliveries_pkey}*/ WHERE home = $1 AND webhook_id = $2 ORDER BY seq
		LIMIT 1) IS NULL`)
)

// Webhooks reads the webhooks of a home in no particular order.
func (r ReadBatch) Webhooks(home region.Code, into *[]Webhook) {
	r.Add(home, sqlWebhooks, db.Rows(into))
}

// SelectWebhooks reads the webhooks after the preceding statements.
func (w Tx) SelectWebhooks(into *[]Webhook) { w.Query(sqlWebhooks, db.Rows(into)) }

// UpsertWebhooks stores changed webhooks unless the stored ones are newer. New ones begin with the next event of the home. It
// deletes the rows of those that were marked as deleted before purgeBefore.
func (w Tx) UpsertWebhooks(hooks []Webhook, purgeBefore time.Time) {
	for _, h := range hooks {
		w.Exec(sqlWebhookUpsert, h.ID, h.Name, h.URL, core.EmptyIfNil(h.Events), h.Secret, h.IsManaged, h.IsEnabled, h.IsDeleted, h.CreatedAt,
			h.ChangedAt, h.Origin)
		if !h.IsDeleted {
			w.Exec(sqlWebhookCursorBegin, h.ID, time.Unix(0, 0))
		}
	}
	w.Exec(sqlWebhooksSweep, purgeBefore)
}

// GuardWebhooks makes the transaction fail with refusal if the home has more webhooks than allowed.
func (w Tx) GuardWebhooks(limit int, refusal error) { w.Guard(sqlWebhooksGuardLimit, refusal, limit) }

// WebhookCursors reads the cursors of a home, also of deleted webhooks, in no particular order.
func (r ReadBatch) WebhookCursors(home region.Code, into *[]WebhookCursor) {
	r.Add(home, sqlWebhookCursors, db.Rows(into))
}

// LeaseWebhook makes owner the one that sends the deliveries of a webhook from now until a time, unless another one is. into
// is nil then.
func (w Tx) LeaseWebhook(webhookID, owner string, now, until time.Time, into **WebhookCursor) {
	w.ReadCommitted()
	w.Query(sqlWebhookCursorLease, db.Row(into), webhookID, owner, now, until)
}

// ReleaseWebhook ends the lease of owner at a time.
func (w Tx) ReleaseWebhook(webhookID, owner string, at time.Time) {
	w.ReadCommitted()
	w.Exec(sqlWebhookCursorRelease, webhookID, owner, at)
}

// OwnWebhook makes the transaction fail with refusal if owner does not have the lease. It must come first: until the end of the
// transaction no other one changes the deliveries, except for those that are dead.
func (w Tx) OwnWebhook(webhookID, owner string, refusal error) {
	w.ReadCommitted()
	w.Guard(sqlWebhookCursorOwn, refusal, webhookID, owner)
}

// AdvanceWebhook stores how far a webhook has read the log, and how many more events were lost.
func (w Tx) AdvanceWebhook(webhookID string, last, lost int64) {
	w.Exec(sqlWebhookCursorAdvance, webhookID, last, lost)
}

// RemoveWebhookDeliveries deletes up to 1,000 deliveries of a webhook, and its cursor if none remain. It counts the deliveries.
func (w Tx) RemoveWebhookDeliveries(webhookID string, removed *int64) {
	w.Query(sqlWebhookDeliveriesRemove, db.Value(removed), webhookID)
	w.Exec(sqlWebhookCursorDelete, webhookID)
}
