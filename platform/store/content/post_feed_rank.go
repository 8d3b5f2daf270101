package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// maxRanked is the number up to which reactions and comments are counted.
const maxRanked = 100

// What ranked feeds are ranked by are the current counts, corrected by what happened after a time. Reactions that were
// removed and comments that were purged leave nothing to correct by.
var (
	sqlReactionsAfter = db.Register("reactions.after", `SELECT reference_id AS ref, count(*) AS n FROM reactions
		WHERE home = $1 AND reference_id = ANY($2::text[]) AND created_at > $3::timestamptz GROUP BY reference_id`)
	// The update time of a comment is at least that of its creation and of its deletion.
	sqlCommentsAfter = db.Register("comments.after", `SELECT reference_id AS ref, sum(CASE WHEN created_at <= $3::timestamptz
		AND deleted_at > $3::timestamptz THEN -1
			WHEN created_at > $3::timestamptz AND deleted_at IS NULL THEN 1 ELSE 0 END)::bigint AS n
		FROM comments WHERE home = $1 AND reference_id = ANY($2::text[]) AND approval_status = 'approved' AND updated_at > $3::timestamptz GROUP
		BY reference_id`)
)

// refCount is a number of rows with a reference.
type refCount struct {
	Ref string
	N   int64
}

// feedRanks is what entries of one home are ranked by.
type feedRanks struct {
	counts              core.Counts
	reactions, comments []refCount // after the time
	mine                []Reaction
}

// Rank queues the statements that set what entries of a home are ranked by.
func (r ReadBatch) Rank(home region.Code, entries []*PostFeedEntry, readerID string, asOf time.Time) {
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	ranks := feedRanks{counts: core.Counts{}}
	r.Counts(home, ids, ranks.counts)
	r.Add(home, sqlReactionsAfter, db.Rows(&ranks.reactions), ids, asOf)
	r.Add(home, sqlCommentsAfter, db.Rows(&ranks.comments), ids, asOf)
	r.Add(home, sqlReactionsOf, db.Rows(&ranks.mine), ids, readerID)
	r.Then(func() { ranks.set(entries, asOf) })
}

func (k *feedRanks) set(entries []*PostFeedEntry, asOf time.Time) {
	mine := map[string]bool{}
	for _, reaction := range k.mine {
		if !reaction.CreatedAt.After(asOf) {
			mine[reaction.ReferenceID] = true
		}
	}
	reactions, comments := sumByRef(k.reactions), sumByRef(k.comments)
	for _, e := range entries {
		e.Mine = mine[e.ID]
		e.Reactions = ranked(sumCounts(k.counts.Reactions(e.ID)) - reactions[e.ID])
		e.Comments = ranked(k.counts.Of(e.ID, core.CountComments) - comments[e.ID])
	}
}

func ranked(n int64) int64 { return min(max(n, 0), maxRanked) }

func sumByRef(rows []refCount) map[string]int64 {
	sums := make(map[string]int64, len(rows))
	for _, row := range rows {
		sums[row.Ref] += row.N
	}
	return sums
}

func sumCounts(counts map[string]int64) int64 {
	var n int64
	for _, of := range counts {
		n += of
	}
	return n
}
