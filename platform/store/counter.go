package store

import (
	"math/rand/v2"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// counterShards is how many rows a count is spread over.
const counterShards = 16

// CounterKind names what is counted of a reference.
type CounterKind string

// The counts. Those of a community or wall owner are references to the community or user.
const (
	CountMembers    CounterKind = "members"
	CountModerators CounterKind = "moderators"
	CountPublished  CounterKind = "published" // parent posts by feed type
	CountReviewing  CounterKind = "reviewing"
	CountDeclined   CounterKind = "declined"
	CountComments   CounterKind = "comments" // live and approved comments of all levels on a post
	CountSegment    CounterKind = "segment"  // comments ever made on a post
	CountReplies    CounterKind = "replies"  // live and approved direct replies to a comment
)

// Counts are counts by reference and kind; what is absent is zero.
type Counts map[string]map[CounterKind]int64

// Of returns one count.
func (c Counts) Of(ref string, kind CounterKind) int64 { return c[ref][kind] }

var (
	sqlCounterAdd = stmt("counters.add", `INSERT INTO counters (home, ref, kind, shard, n) VALUES ($1, $2, $3, $4::bigint, $5::bigint)
		ON CONFLICT (home, ref, kind, shard) DO UPDATE SET n = counters.n + excluded.n`)
	sqlCounterRead = stmt("counters.read", `SELECT ref, kind, sum(n)::bigint FROM counters WHERE home = $1 AND ref = ANY($2::text[]) GROUP BY ref, kind`)
)

// Count adds delta to a count, in the transaction that makes or ends the fact that is counted.
func (w *Tx) Count(ref string, kind CounterKind, delta int64) {
	shard := rand.Int64N(counterShards) //nolint:gosec // a shard that need not be a secret
	w.exec(sqlCounterAdd, ref, string(kind), shard, delta)
}

// Counts reads the counts of references of one home into an existing map.
func (r *ReadBatch) Counts(home region.Code, refs []string, into Counts) {
	part := new([]countRow)
	r.add(home, sqlCounterRead, scanAll(part, scanCount), refs)
	r.Then(func() { into.fill(*part) })
}

// CountsOf reads the counts of references of any homes into an existing map.
func (r *ReadBatch) CountsOf(refs []string, into Counts) {
	for home, refs := range byHome(refs) {
		r.Counts(home, refs, into)
	}
}

// SelectCounts reads counts as they are once the statements before it have run.
func (w *Tx) SelectCounts(refs []string, into Counts) {
	w.query(sqlCounterRead, func(rows pgx.Rows) error {
		var part []countRow
		err := scanAll(&part, scanCount)(rows)
		into.fill(part)
		return err
	}, refs)
}

type countRow struct {
	ref  string
	kind CounterKind
	n    int64
}

func scanCount(rows pgx.Rows) (countRow, error) {
	var c countRow
	err := rows.Scan(&c.ref, &c.kind, &c.n)
	return c, err
}

func (c Counts) fill(rows []countRow) {
	for _, row := range rows {
		if c[row.ref] == nil {
			c[row.ref] = map[CounterKind]int64{}
		}
		c[row.ref][row.kind] = row.n
	}
}
