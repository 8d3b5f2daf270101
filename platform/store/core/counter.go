package core

import (
	"errors"
	"strings"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// CounterKind is what is counted for a reference.
type CounterKind string

// The kinds of counts. The reference of posts on a wall is its owner.
const (
	CountMembers    CounterKind = "members"
	CountModerators CounterKind = "moderators"
	CountPublished  CounterKind = "published" // parent posts by feed type
	CountReviewing  CounterKind = "reviewing"
	CountDeclined   CounterKind = "declined"
	CountComments   CounterKind = "comments" // live and approved comments of all levels on a post
	CountSegment    CounterKind = "segment"  // all comments on a post, including deleted ones
	CountReplies    CounterKind = "replies"  // live and approved direct replies to a comment
)

// Counts are counts by reference and kind; absent counts are zero.
type Counts map[string]map[CounterKind]int64

// Of returns one count.
func (c Counts) Of(ref string, kind CounterKind) int64 { return c[ref][kind] }

var (
	sqlCounterAdd = db.Register("counters.add", `INSERT INTO counters (home, ref, kind, shard, n) VALUES ($1, $2, $3, $4::bigint, $5::bigint)
		ON CONFLICT (home, ref, kind, shard) DO UPDATE SET n = counters.n + excluded.n`).UpdatesFirst(SharedCounters, 2, 3, 4)
	// CountersPurge deletes the counts of the references $2.
	CountersPurge = db.Register("counters.purge", `DELETE FROM counters WHERE home = $1 AND ref = ANY($2::text[])`).
			UpdatesUnlocked(SharedCounters, "they are deleted with what is counted")
	sqlCounterRead = db.Register("counters.read", `SELECT ref, kind, sum(n)::bigint FROM counters WHERE home = $1 AND ref = ANY($2::text[])
		GROUP BY ref, kind`)
)

// Count adds delta to a count. It must be called in the transaction that changes the counted rows.
func (w *Tx) Count(ref string, kind CounterKind, delta int64) {
	w.Exec(sqlCounterAdd, ref, string(kind), db.AnyShard, delta)
}

// LockCounter locks a row of a count, which it inserts if needed, for statements that update it. It has no effect without
// a reference.
func (w *Tx) LockCounter(ref string, kind CounterKind, shard int64) {
	if ref != "" {
		w.Exec(sqlCounterAdd, ref, string(kind), shard, 0)
	}
}

// Counts reads the counts of references of one home and adds them to into.
func (r *ReadBatch) Counts(home region.Code, refs []string, into Counts) {
	part := new([]countRow)
	r.Add(home, sqlCounterRead, db.Rows(part), refs)
	r.Then(func() { into.fill(*part) })
}

// CountsOf reads the counts of references of any homes and adds them to into.
func (r *ReadBatch) CountsOf(refs []string, into Counts) {
	for home, refs := range r.ByHome(refs) {
		r.Counts(home, refs, into)
	}
}

// Add adds to one count.
func (c Counts) Add(ref string, kind CounterKind, delta int64) {
	if c[ref] == nil {
		c[ref] = map[CounterKind]int64{}
	}
	c[ref][kind] += delta
}

type countRow struct {
	Ref  string
	Kind CounterKind
	N    int64
}

func (c Counts) fill(rows []countRow) {
	for _, row := range rows {
		c.Add(row.Ref, row.Kind, row.N-c.Of(row.Ref, row.Kind))
	}
}

// CountFollowing returns the kind of the count of the users that a user follows whose ids contain a home. There is one
// count per home, because a feed chooses its plan per home.
func CountFollowing(home region.Code) CounterKind { return CounterKind("following:" + home) }

// Following returns the number of users that a user follows.
func (c Counts) Following(userID string) int64 {
	var n int64
	for _, home := range region.All() {
		n += c.Of(userID, CountFollowing(home))
	}
	return n
}

// reactionPrefix is the prefix of the kinds of counts of reactions, which end with the name.
const reactionPrefix = "reaction:"

// CountReactions returns the kind of the count of reactions with a name.
func CountReactions(name string) CounterKind { return CounterKind(reactionPrefix + name) }

// Reactions returns the counts of a reference's reactions by name, without zero counts.
func (c Counts) Reactions(ref string) map[string]int64 {
	byName := map[string]int64{}
	for kind, n := range c[ref] {
		if name, ok := strings.CutPrefix(string(kind), reactionPrefix); ok && n > 0 {
			byName[name] = n
		}
	}
	return byName
}

// ErrConflict is the error of a transaction that depends on a row which was changed after it was read. The caller reads
// the rows again and retries, see service.RetryOnConflict.
var ErrConflict = errors.New("the row changed after it was read")

// CountUnlessZero is Count without effect for a delta of zero.
func (w *Tx) CountUnlessZero(ref string, kind CounterKind, delta int64) {
	if delta != 0 {
		w.Count(ref, kind, delta)
	}
}

// CountIf returns 1 if a row is counted, and 0 if not.
func CountIf(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
