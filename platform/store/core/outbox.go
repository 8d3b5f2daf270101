package core

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// OutboxLanes is the number of lanes of a home's outbox. The workers of one lane do not wait for those of another.
const OutboxLanes = 4

// NoLane is the number of a lane without rows, for branches that are not needed.
const NoLane = int64(-1)

// OutboxRow is a change or an event that another home, or a worker, has to process after the transaction.
type OutboxRow struct {
	Lane      int64
	ID        string
	NotBefore time.Time
	Topic     string
	Payload   json.RawMessage
	Attempts  int64
	// OrderKey is the key of rows that are delivered in the order in which they were written; empty for rows without an order.
	OrderKey  string
	CreatedAt time.Time
	Trace     string // see span.Of
}

var outboxColumns = db.Columns[OutboxRow]()

var (
	// The clock of the database orders the rows. A transaction writes them after it has locked what it changes.
	sqlOutboxInsert = db.Register("outbox.add", `INSERT INTO outbox (home, lane, id, topic, payload, not_before, created_at, order_key, trace,
		written_at)
		VALUES ($1, $2::bigint, $3, $4, $5::jsonb, $6, $7, $8, $9, clock_timestamp())`)
	outboxDue = ForEachIn([]int{OutboxLanes}, "outbox.due", 2, NoLane, `SELECT `+outboxColumns+` FROM outbox /*@{FORCE_INDEX=outbox_due}*/
		WHERE home = $1 AND lane = {value}::bigint AND not_before > $2::timestamptz AND not_before <= $3::timestamptz ORDER BY not_before, id
		LIMIT `+strconv.Itoa(MaxDueOutboxRows), "")
	// The condition is the key of outbox_due. The statistics of a table that is usually empty do not tell the primary key from
	// an index that only begins with the same column.
	sqlOutboxDelete = db.Register("outbox.delete", `DELETE FROM outbox WHERE home = $1 AND lane = $2::bigint AND not_before = $3::timestamptz AND id
		= $4`)
	sqlOutboxDelay = db.Register("outbox.delay", `UPDATE outbox SET attempts = attempts + $5::bigint, not_before = $6::timestamptz
		WHERE home = $1 AND lane = $2::bigint AND not_before = $3::timestamptz AND id = $4`)
	outboxOfKeys = ForEach("outbox.ofKeys", 1, "", `SELECT `+outboxColumns+` FROM outbox /*@{FORCE_INDEX=outbox_by_key}*/
		WHERE home = $1 AND order_key = {value} AND order_key <> '' ORDER BY written_at, id LIMIT $2::bigint`, "")
)

// Emit inserts an outbox row. Usually the process that committed the transaction delivers it immediately; workers
// deliver it from firstTry on.
func (w *Tx) Emit(topic string, payload any, now, firstTry time.Time) OutboxRow {
	return w.EmitInOrder("", topic, payload, now, firstTry)
}

// EmitInOrder is Emit for a row that is delivered after the rows of this home that were written before with the same key.
func (w *Tx) EmitInOrder(key, topic string, payload any, now, firstTry time.Time) OutboxRow {
	id, raw := region.NewID(w.Home()), PlainJSON(payload)
	row := OutboxRow{
		Lane: laneOf(cmp.Or(key, id)), ID: id, NotBefore: firstTry.Truncate(time.Microsecond), Topic: topic, Payload: raw, OrderKey: key,
		CreatedAt: now,
	}
	w.Exec(sqlOutboxInsert, row.Lane, row.ID, row.Topic, raw, row.NotBefore, now, key, db.OwnTrace)
	return row
}

func laneOf(id string) int64 { return int64(id[len(id)-1]) % OutboxLanes }

// MaxDueOutboxRows is the maximum number of rows of a lane that DueOutboxRows reads.
const MaxDueOutboxRows = 100

// DueOutboxRows reads up to MaxDueOutboxRows rows of each of some lanes that became due after a time, those due first. Two workers can
// read the same row, so that delivery must be idempotent.
func (s *Store) DueOutboxRows(ctx context.Context, home region.Code, lanes []int64, after, now time.Time) (map[int64][]OutboxRow, error) {
	var due []OutboxRow
	r := s.NewReadBatch()
	ReadEachAt(r, home, lanes, outboxDue, &due, after, now)
	err := r.Run(ctx)
	return ByLane(due, func(row OutboxRow) int64 { return row.Lane }), err
}

// ByLane divides rows, and keeps their order.
func ByLane[T any](rows []T, lane func(T) int64) map[int64][]T {
	lanes := map[int64][]T{}
	for _, row := range rows {
		lanes[lane(row)] = append(lanes[lane(row)], row)
	}
	return lanes
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

// OutboxRowsOfKeys reads up to limit rows of each of some keys, in the order in which they are to be delivered.
func (s *Store) OutboxRowsOfKeys(ctx context.Context, home region.Code, keys []string, limit int) (map[string][]OutboxRow, error) {
	var all []OutboxRow
	r := s.NewReadBatch()
	ReadEachAt(r, home, keys, outboxOfKeys, &all, limit)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	byKey := map[string][]OutboxRow{}
	for _, row := range all {
		byKey[row.OrderKey] = append(byKey[row.OrderKey], row)
	}
	return byKey, nil
}

// DelayOutboxRows postpones rows, unless they were postponed since they were read. failed is the id of the one among them whose
// delivery has failed; the others wait for it.
func (s *Store) DelayOutboxRows(ctx context.Context, home region.Code, rows []OutboxRow, failed string, next time.Time) error {
	w := s.NewTx(home)
	w.ReadCommitted()
	for _, row := range slices.SortedFunc(slices.Values(rows), func(a, b OutboxRow) int { return cmp.Compare(a.ID, b.ID) }) {
		attempts := 0
		if row.ID == failed {
			attempts = 1
		}
		w.Exec(sqlOutboxDelay, row.Lane, row.NotBefore, row.ID, attempts, next)
	}
	return w.Commit(ctx)
}
