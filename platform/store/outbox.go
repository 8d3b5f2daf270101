package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// OutboxLanes is how many lanes the outbox of a home has; workers of one lane do not wait for another's.
const OutboxLanes = 4

// OutboxRow is something that a transaction has to change or tell elsewhere.
type OutboxRow struct {
	Lane     int64
	ID       string
	Topic    string
	Payload  json.RawMessage
	Attempts int64
}

const outboxColumns = `lane, id, topic, payload, attempts`

var (
	sqlOutboxAdd = stmt("outbox.add", `INSERT INTO outbox (home, lane, id, topic, payload, not_before, created_at)
		VALUES ($1, $2::bigint, $3, $4, $5::jsonb, $6, $7)`)
	sqlOutboxDue = stmt("outbox.due", `SELECT `+outboxColumns+` FROM outbox
		WHERE home = $1 AND lane = $2::bigint AND not_before <= $3::timestamptz ORDER BY not_before, id LIMIT 100`)
	sqlOutboxDelete = stmt("outbox.delete", `DELETE FROM outbox WHERE home = $1 AND lane = $2::bigint AND id = ANY($3::text[])`)
	sqlOutboxDelay  = stmt("outbox.delay", `UPDATE outbox SET attempts = attempts + 1, not_before = $4::timestamptz
		WHERE home = $1 AND lane = $2::bigint AND id = $3`)
)

// Emit adds an outbox row to the transaction. firstTry is when a worker may take it: the one who wrote it usually
// delivers at once, and a worker steps in where that failed.
func (w *Tx) Emit(topic string, payload any, now, firstTry time.Time) OutboxRow {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic("store: outbox payload: " + err.Error()) // payloads are our own plain structs
	}
	id := region.NewID(w.home)
	row := OutboxRow{Lane: laneOf(id), ID: id, Topic: topic, Payload: raw}
	w.exec(sqlOutboxAdd, row.Lane, row.ID, row.Topic, raw, firstTry, now)
	return row
}

func laneOf(id string) int64 { return int64(id[len(id)-1]) % OutboxLanes }

func scanOutbox(rows pgx.Rows) (OutboxRow, error) {
	var r OutboxRow
	err := rows.Scan(&r.Lane, &r.ID, &r.Topic, &r.Payload, &r.Attempts)
	return r, err
}

// OutboxDue reads up to 100 rows of a lane whose time has come. Two workers may see the same row: what they do with it
// has to be safe to do twice.
func (s *Store) OutboxDue(ctx context.Context, home region.Code, lane int64, now time.Time) ([]OutboxRow, error) {
	var due []OutboxRow
	r := s.NewReadBatch()
	r.add(home, sqlOutboxDue, scanAll(&due, scanOutbox), lane, now)
	err := r.Run(ctx)
	return due, err
}

// OutboxDone removes delivered rows of one lane.
func (s *Store) OutboxDone(ctx context.Context, home region.Code, lane int64, ids []string) error {
	w := s.NewTx(home)
	w.exec(sqlOutboxDelete, lane, ids)
	return w.Commit(ctx)
}

// OutboxRetry leaves a row that could not be delivered until next.
func (s *Store) OutboxRetry(ctx context.Context, home region.Code, row OutboxRow, next time.Time) error {
	w := s.NewTx(home)
	w.exec(sqlOutboxDelay, row.Lane, row.ID, next)
	return w.Commit(ctx)
}
