package network

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The states of a delivery.
const (
	DeliveryWaiting   = "waiting" // for the next attempt
	DeliveryBlocked   = "blocked" // by an earlier one of the object
	DeliveryDelivered = "delivered"
	DeliveryDead      = "dead"
)

// WebhookDelivery is a row of webhook_deliveries: an event of a home's log for a webhook.
type WebhookDelivery struct {
	Seq       int64  // of the event in the log
	ID        string // of the event
	Name      string // of the event
	ObjectID  string
	SenderID  string
	Payload   json.RawMessage // the change that the event is about
	SentAt    time.Time
	State     string
	Attempts  int64
	At        time.Time // when the next attempt is due, or when the delivery ended
	ExpiresAt time.Time // when it ends at the latest
	Status    int64     // of the latest attempt
	Error     string
	TookMS    int64  `db:"took_ms"`
	Trace     string // see span.Of
}

var deliveryColumns = db.Columns[WebhookDelivery]()

// An event is blocked if the object has an earlier one that has not ended, in the table or in the same statement.
var (
	sqlWebhookDeliveriesInsert = db.Register("webhookDeliveries.insert", `INSERT INTO webhook_deliveries (home, webhook_id, `+deliveryColumns+`)
		SELECT $1, $2, e.seq, e.id, e.name, e.object_id, e.sender_id, e.payload::jsonb, e.sent_at,
			CASE WHEN NOT e.is_first OR EXISTS (SELECT 1 FROM webhook_deliveries AS d WHERE d.home = $1 AND d.webhook_id = $2
			AND d.object_id = e.object_id
				AND d.state IN ('waiting', 'blocked')) THEN 'blocked' ELSE 'waiting' END, 0, $11::timestamptz, $12::timestamptz, 0, '', 0, e.trace
		FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::timestamptz[], $10::bool[], $13::text[])
			AS e (seq, id, name, object_id, sender_id, payload, sent_at, is_first, trace)`)
	// A delivery that was sent again can be before the one that the object waits for.
	sqlWebhookDeliveriesDue = db.Register("webhookDeliveries.due", `SELECT `+db.Prefixed("d", deliveryColumns)+`
		FROM webhook_deliveries /*@{FORCE_INDEX=webhook_deliveries_by_state}*/ AS d
		WHERE d.home = $1 AND d.webhook_id = $2 AND d.state = 'waiting' AND d.at > $5::timestamptz AND d.at <= $3::timestamptz
		AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS e
			WHERE e.home = $1 AND e.webhook_id = $2 AND e.object_id = d.object_id AND e.state = 'waiting' AND e.seq < d.seq)
		ORDER BY d.at, d.id LIMIT $4::bigint`)
	webhookDeliveriesBlocked = core.ForEach("webhookDeliveries.blocked", 2, "", `SELECT `+deliveryColumns+`
		FROM webhook_deliveries /*@{FORCE_INDEX=webhook_deliveries_by_object}*/
		WHERE home = $1 AND webhook_id = $2 AND object_id = {value} AND state = 'blocked' ORDER BY seq LIMIT $3::bigint`, ``)
	sqlWebhookDeliveryUpdate = db.Register("webhookDeliveries.update", `UPDATE webhook_deliveries SET state = $4, attempts = $5::bigint,
		at = $6::timestamptz,
		status = $7::bigint, error = $8, took_ms = $9::bigint WHERE home = $1 AND webhook_id = $2 AND seq = $3::bigint`)
	sqlWebhookDeliveryUnblock = db.Register("webhookDeliveries.unblock", `UPDATE webhook_deliveries SET state = 'waiting', at = $4::timestamptz
		WHERE home = $1 AND webhook_id = $2 AND seq = (SELECT seq FROM webhook_deliveries /*@{FORCE_INDEX=webhook_deliveries_by_object}*/
			WHERE home = $1 AND webhook_id = $2 AND object_id = $3 AND state = 'blocked' ORDER BY seq LIMIT 1)`)
	sqlWebhookDeliveriesCount = db.Register("webhookDeliveries.count", `SELECT count(*) FROM (SELECT seq
		FROM webhook_deliveries /*@{FORCE_INDEX=webhook_deliveries_by_seq}*/
		WHERE home = $1 AND webhook_id = $2 AND state = $3 LIMIT $4::bigint) AS found`)
	sqlWebhookDeliveriesOldest = db.Register("webhookDeliveries.oldest", `SELECT sent_at
		FROM webhook_deliveries /*@{FORCE_INDEX=webhook_deliveries_by_seq}*/
		WHERE home = $1 AND webhook_id = $2 AND state = 'waiting' ORDER BY seq LIMIT 1`)
	// The oldest deliveries have the smallest numbers, except for those that were sent again.
	sqlWebhookDeliveriesExpired = db.Register("webhookDeliveries.expired", `SELECT `+deliveryColumns+` FROM (SELECT `+deliveryColumns+`
		FROM webhook_deliveries /*@{FORCE_INDEX=webhook_deliveries_by_seq}*/
		WHERE home = $1 AND webhook_id = $2 AND state = 'waiting' ORDER BY seq LIMIT $4::bigint) AS oldest WHERE expires_at <= $3::timestamptz`)
	sqlWebhookDeliveriesTrim = db.Register("webhookDeliveries.trim", `WITH gone AS (DELETE FROM webhook_deliveries WHERE home = $1
		AND webhook_id = $2 AND seq IN
		(SELECT seq FROM webhook_deliveries /*@{FORCE_INDEX=webhook_deliveries_by_seq}*/ WHERE home = $1 AND webhook_id = $2 AND state = $3
		ORDER BY seq DESC OFFSET $4::bigint LIMIT 1000)
		RETURNING seq) SELECT count(*) FROM gone`)
	sqlWebhookDeliveriesExpire = db.Register("webhookDeliveries.expire", `WITH gone AS (DELETE FROM webhook_deliveries WHERE home = $1 AND webhook_id
		= $2 AND seq IN
		(SELECT seq FROM webhook_deliveries /*@{FORCE_INDEX=webhook_deliveries_by_state}*/ WHERE home = $1 AND webhook_id = $2 AND state = 'dead'
		AND at < $3::timestamptz ORDER BY at LIMIT 1000)
		RETURNING seq) SELECT count(*) FROM gone`)
	sqlWebhookDeliveriesRemove = db.Register("webhookDeliveries.remove", `WITH gone AS (DELETE FROM webhook_deliveries WHERE home = $1 AND webhook_id
		= $2 AND seq
		IN (SELECT seq FROM webhook_deliveries /*@{FORCE_INDEX=webhook_deliveries_pkey}*/ WHERE home = $1 AND webhook_id = $2 ORDER BY seq
		LIMIT 1000) RETURNING seq) SELECT count(*) FROM gone`)
	sqlWebhookDeliveriesReplay = db.Register("webhookDeliveries.replay", `WITH again AS (UPDATE webhook_deliveries SET state = 'waiting',
		attempts = 0, at = $4::timestamptz,
		expires_at = $5::timestamptz, status = 0, error = '', took_ms = 0 WHERE home = $1 AND webhook_id = $2 AND seq = ANY($3::bigint[])
		AND state = 'dead'
		RETURNING seq) SELECT count(*) FROM again`)
	sqlWebhookDeliveriesReplayOldest = db.Register("webhookDeliveries.replayOldest", `WITH again AS (UPDATE webhook_deliveries SET state = 'waiting',
		attempts = 0,
		at = $3::timestamptz, expires_at = $4::timestamptz, status = 0, error = '', took_ms = 0 WHERE home = $1 AND webhook_id = $2 AND seq IN
		(SELECT seq FROM webhook_deliveries /*@{FORCE_INDEX=webhook_deliveries_by_seq}*/ WHERE home = $1 AND webhook_id = $2 AND state = 'dead'
		ORDER BY seq LIMIT 1000)
		RETURNING seq) SELECT count(*) FROM again`)
)

// webhookDeliveriesInState are the statements of ListWebhookDeliveries.
var webhookDeliveriesInState = core.OrderedBy(core.PlainOrders, "at", core.Source{
	Name: "webhookDeliveries.list", Columns: deliveryColumns, After: 4,
	From: `webhook_deliveries /*@{FORCE_INDEX=webhook_deliveries_by_state}*/ WHERE home = $1 AND webhook_id = $2 AND state = $3`,
}.List)

// InsertWebhookDeliveries inserts deliveries, in the order of their numbers, that are due at a time and end at expires.
func (w Tx) InsertWebhookDeliveries(webhookID string, all []WebhookDelivery, at, expires time.Time) {
	n := len(all)
	seqs, sent, firsts := make([]int64, n), make([]time.Time, n), make([]bool, n)
	ids, names, objects, senders, payloads, traces := make([]string, n), make([]string, n), make([]string, n), make([]string, n),
		make([]string, n), make([]string, n)
	seen := map[string]bool{}
	for i, d := range all {
		seqs[i], sent[i], firsts[i] = d.Seq, d.SentAt, !seen[d.ObjectID]
		ids[i], names[i], objects[i], senders[i], payloads[i], traces[i] = d.ID, d.Name, d.ObjectID, d.SenderID, string(d.Payload), d.Trace
		seen[d.ObjectID] = true
	}
	w.Exec(sqlWebhookDeliveriesInsert, webhookID, seqs, ids, names, objects, senders, payloads, sent, firsts, at, expires, traces)
}

// DueWebhookDeliveries reads up to limit deliveries of different objects that became due after a time, the earliest first.
func (r ReadBatch) DueWebhookDeliveries(home region.Code, webhookID string, after, now time.Time, limit int, into *[]WebhookDelivery) {
	r.Add(home, sqlWebhookDeliveriesDue, db.Rows(into), webhookID, now, limit, after)
}

// BlockedWebhookDeliveries reads the first blocked deliveries of each of some objects, up to limit of each.
func (r ReadBatch) BlockedWebhookDeliveries(home region.Code, webhookID string, objectIDs []string, limit int, into *[]WebhookDelivery) {
	core.ReadEachAt(r.ReadBatch, home, objectIDs, webhookDeliveriesBlocked, into, webhookID, limit)
}

// UpdateWebhookDelivery stores the result of an attempt.
func (w Tx) UpdateWebhookDelivery(webhookID string, d WebhookDelivery) {
	w.Exec(sqlWebhookDeliveryUpdate, webhookID, d.Seq, d.State, d.Attempts, d.At, d.Status, d.Error, d.TookMS)
}

// UnblockWebhookDelivery makes the first blocked delivery of an object due at a time.
func (w Tx) UnblockWebhookDelivery(webhookID, objectID string, at time.Time) {
	w.Exec(sqlWebhookDeliveryUnblock, webhookID, objectID, at)
}

// CountWebhookDeliveries counts the deliveries in a state, up to limit.
func (r ReadBatch) CountWebhookDeliveries(home region.Code, webhookID, state string, limit int, into *int64) {
	r.Add(home, sqlWebhookDeliveriesCount, db.Value(into), webhookID, state, limit)
}

// OldestWebhookDelivery reads when the event of the oldest delivery that has not ended happened; zero if there is none.
func (r ReadBatch) OldestWebhookDelivery(home region.Code, webhookID string, into *time.Time) {
	r.Add(home, sqlWebhookDeliveriesOldest, db.Value(into), webhookID)
}

// ExpiredWebhookDeliveries reads those of the oldest limit waiting deliveries that end before a time.
func (r ReadBatch) ExpiredWebhookDeliveries(home region.Code, webhookID string, now time.Time, limit int, into *[]WebhookDelivery) {
	r.Add(home, sqlWebhookDeliveriesExpired, db.Rows(into), webhookID, now, limit)
}

// TrimWebhookDeliveries deletes up to 1,000 deliveries in a state before the latest keep ones, and counts them.
func (w Tx) TrimWebhookDeliveries(webhookID, state string, keep int, removed *int64) {
	w.Query(sqlWebhookDeliveriesTrim, db.Value(removed), webhookID, state, keep)
}

// ExpireWebhookDeliveries deletes up to 1,000 dead deliveries that ended before a time, and counts them.
func (w Tx) ExpireWebhookDeliveries(webhookID string, before time.Time, removed *int64) {
	w.Query(sqlWebhookDeliveriesExpire, db.Value(removed), webhookID, before)
}

// ReplayWebhookDeliveries makes dead deliveries wait again, until expires: those with the given numbers, or without any the
// oldest 1,000. It counts them.
func (w Tx) ReplayWebhookDeliveries(webhookID string, seqs []int64, now, expires time.Time, replayed *int64) {
	if len(seqs) == 0 {
		w.Query(sqlWebhookDeliveriesReplayOldest, db.Value(replayed), webhookID, now, expires)
		return
	}
	w.Query(sqlWebhookDeliveriesReplay, db.Value(replayed), webhookID, slices.Clone(seqs), now, expires)
}

// WebhookDeliveryList is a page of deliveries of a webhook in a state.
type WebhookDeliveryList struct {
	WebhookID string
	State     string
	Desc      bool
	After     time.Time // the position that the page starts after
	ID        string
	Limit     int
}

// ListWebhookDeliveries reads a page of the deliveries of a home.
func (r ReadBatch) ListWebhookDeliveries(home region.Code, l WebhookDeliveryList, into *[]WebhookDelivery) {
	r.Add(home, webhookDeliveriesInState.In(l.Desc), db.Rows(into), l.WebhookID, l.State, l.After, l.ID, l.Limit)
}
