package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// OutboxLanes is the number of lanes of a home's outbox. The workers of one lane do not wait for those of another.
const OutboxLanes = 4

// OutboxRow is a change or an event that another home, or a worker, has to process after the transaction.
type OutboxRow struct {
	Lane      int64
	ID        string
	NotBefore time.Time
	Topic     string
	Payload   json.RawMessage
	Attempts  int64
	Trace     string // see span.Of
}

var outboxColumns = db.Columns[OutboxRow]()

var (
	sqlOutboxInsert = stmt("outbox.add", `INSERT INTO outbox (home, lane, id, topic, payload, not_before, created_at, trace)
		VALUES ($1, $2::bigint, $3, $4, $5::jsonb, $6, $7, $8)`)
	sqlOutboxDue = stmt("outbox.due", `SELECT `+outboxColumns+` FROM outbox
		WHERE home = $1 AND lane = $2::bigint AND not_before <= $3::timestamptz ORDER BY not_before, id LIMIT 100`)
	// The condition is the key of outbox_due. The statistics of a table that is usually empty do not tell the primary key from
	// an index that only begins with the same column.
	sqlOutboxDelete = stmt("outbox.delete", `DELETE FROM outbox WHERE home = $1 AND lane = $2::bigint AND not_before = $3::timestamptz AND id = $4`)
	sqlOutboxDelay  = stmt("outbox.delay", `UPDATE outbox SET attempts = attempts + 1, not_before = $5::timestamptz
		WHERE home = $1 AND lane = $2::bigint AND not_before = $3::timestamptz AND id = $4`)
)

// Emit inserts an outbox row. Usually the process that committed the transaction delivers it immediately; workers
// deliver it from firstTry on.
func (w *Tx) Emit(topic string, payload any, now, firstTry time.Time) OutboxRow {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic("store: outbox payload: " + err.Error()) // payloads are plain structs
	}
	id := region.NewID(w.Home())
	row := OutboxRow{Lane: laneOf(id), ID: id, NotBefore: firstTry.Truncate(time.Microsecond), Topic: topic, Payload: raw}
	w.Exec(sqlOutboxInsert, row.Lane, row.ID, row.Topic, raw, row.NotBefore, now, db.OwnTrace)
	return row
}

func laneOf(id string) int64 { return int64(id[len(id)-1]) % OutboxLanes }

// DueOutboxRows reads up to 100 due rows of a lane. Two workers can read the same row, so that delivery must be
// idempotent.
func (s *Store) DueOutboxRows(ctx context.Context, home region.Code, lane int64, now time.Time) ([]OutboxRow, error) {
	var due []OutboxRow
	r := s.NewReadBatch()
	r.Add(home, sqlOutboxDue, db.Rows(&due), lane, now)
	err := r.Run(ctx)
	return due, err
}

// DeleteOutboxRows deletes delivered rows, except for those that were postponed since they were read.
func (s *Store) DeleteOutboxRows(ctx context.Context, home region.Code, rows []OutboxRow) error {
	w := s.NewTx(home)
	w.ReadCommitted()
	for _, row := range slices.SortedFunc(slices.Values(rows), func(a, b OutboxRow) int { return cmp.Compare(a.ID, b.ID) }) {
		w.Exec(sqlOutboxDelete, row.Lane, row.NotBefore, row.ID)
	}
	return w.Commit(ctx)
}

// DelayOutboxRow postpones a row whose delivery has failed, unless it was postponed since it was read.
func (s *Store) DelayOutboxRow(ctx context.Context, home region.Code, row OutboxRow, next time.Time) error {
	w := s.NewTx(home)
	w.ReadCommitted()
	w.Exec(sqlOutboxDelay, row.Lane, row.NotBefore, row.ID, next)
	return w.Commit(ctx)
}
