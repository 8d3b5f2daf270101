package store

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Backfill is a row of backfills: work that adds to the rows of a home what servers of earlier versions did not write.
type Backfill struct {
	Name string
	Progress
	FinishedAt *time.Time
}

var backfillColumns = db.Columns[Backfill]()

var (
	sqlBackfillByName = stmt("backfills.byName", `SELECT `+backfillColumns+` FROM backfills WHERE home = $1 AND name = $2`)
	sqlBackfillInsert = stmt("backfills.insert", `INSERT INTO backfills (home, name, due_at) VALUES ($1, $2, $3) ON CONFLICT (home, name) DO NOTHING`)
	sqlBackfillUpdate = stmt("backfills.update", `WITH changed AS (UPDATE backfills SET step = $4, position = $5::text[], version = version + 1,
		attempts = $6::bigint, due_at = $7::timestamptz, finished_at = $8
		WHERE home = $1 AND name = $2 AND version = $3::bigint RETURNING name) SELECT 1 / count(*) FROM changed`)

	sqlCommentCountsAfter = stmt("counters.commentCountsAfter", `SELECT ref, kind, shard, n <> 0 AND latest_1 = '' AND kind IN ('comments', 'replies') AS lacks_latest
		FROM counters WHERE home = $1 AND (ref, kind, shard) > ($2, $3, $4::bigint) ORDER BY ref, kind, shard LIMIT $5::bigint`)
)

// Backfill reads a backfill of a home; nil if it was never due.
func (r *ReadBatch) Backfill(home region.Code, name string, into **Backfill) {
	r.Add(home, sqlBackfillByName, db.Row(into), name)
}

// InsertBackfill inserts a backfill that begins at a time, unless it exists.
func (w *Tx) InsertBackfill(name string, dueAt time.Time) { w.Exec(sqlBackfillInsert, name, dueAt) }

// UpdateBackfill stores the progress of a backfill. If another server has changed it since it was read, the transaction
// fails with ErrConflict.
func (w *Tx) UpdateBackfill(b Backfill) {
	w.Guard(sqlBackfillUpdate, ErrConflict, b.Name, b.Version, b.Step, emptyIfNil(b.Position), b.Attempts, b.DueAt, b.FinishedAt)
}

// CounterShard is the key of a row of counters. LacksLatest reports whether it counts comments and has none of the latest,
// which can only be if servers of earlier versions counted them.
type CounterShard struct {
	Ref         string
	Kind        CounterKind
	Shard       int64
	LacksLatest bool
}

// CounterShards reads up to limit rows of counters of a home after one, in the order of the key.
func (r *ReadBatch) CounterShards(home region.Code, after CounterShard, limit int, into *[]CounterShard) {
	r.Add(home, sqlCommentCountsAfter, db.Rows(into), after.Ref, string(after.Kind), after.Shard, limit)
}

// RefillLatest stores the latest comments of a reference, or the latest replies to one of its comments if parentID is not
// empty.
func (w *Tx) RefillLatest(referenceID, parentID string) {
	ref, kind := Comment{ReferenceID: referenceID, ParentID: parentID}.shownAt()
	w.lockCounter(ref, kind, 0)
	w.Exec(sqlLatestRefill, ref, string(kind), referenceID, parentID)
}
