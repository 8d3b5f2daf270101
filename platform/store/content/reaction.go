package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Reaction is a row of reactions: one user's reaction to one reference with one name.
type Reaction struct {
	ReferenceType string // post, comment, story or message
	ReferenceID   string
	UserID        string // internal id
	UserPublicID  string
	Name          string
	ID            string
	CreatedAt     time.Time
}

var reactionColumns = db.Columns[Reaction]()

var (
	sqlReactionInsert = db.Register("reactions.insert", `INSERT INTO reactions (home, reference_type, reference_id, user_id, user_public_id, name,
		id, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`)
	sqlReactionGuard = db.Register("reactions.guardThere", `SELECT 1 / count(*) FROM reactions WHERE home = $1 AND reference_id = $2
		AND user_id = $3 AND name = $4`)
	sqlReactionDelete = db.Register("reactions.delete", `DELETE FROM reactions WHERE home = $1 AND reference_id = $2 AND user_id = $3 AND name = $4`)
	sqlReactionPurge  = db.Register("reactions.purge", `DELETE FROM reactions WHERE home = $1 AND reference_id = ANY($2::text[])`)
	// sqlReactionNamesGuard counts at most as many names as allowed, including the new one: counts are added to first.
	sqlReactionNamesGuard = db.Register("reactions.guardNames", `SELECT 1 / CASE WHEN count(*) <= $3::bigint THEN 1 ELSE 0 END FROM (
		SELECT kind FROM counters WHERE home = $1 AND ref = $2 AND kind LIKE 'reaction:%' GROUP BY kind HAVING sum(n) > 0) AS names`)
	// sqlReactionCountsPurge deletes the rows of names whose last reaction was removed: the shards of such a count add up to zero.
	sqlReactionCountsPurge = db.Register("reactions.purgeCounts", `DELETE FROM counters WHERE home = $1 AND ref = $2 AND kind IN (
		SELECT kind FROM counters WHERE home = $1 AND ref = $2 AND kind LIKE 'reaction:%' GROUP BY kind HAVING sum(n) = 0)`).
		UpdatesUnlocked(core.SharedCounters, "the rows depend on the counts that the statement reads")
	sqlReactionsOf = db.Register("reactions.ofUser", `SELECT `+reactionColumns+` FROM reactions WHERE home = $1 AND reference_id = ANY($2::text[])
		AND user_id = $3 ORDER BY reference_id, user_id, name`)

	reactionsByCreation       = reactionList("All", "")
	reactionsOfNameByCreation = reactionList("OfName", " AND name = $6")
)

func reactionList(name, filter string) core.Directions {
	return core.OrderedBy(core.CreatedOrders, "created_at", core.Source{
		Name: "reactions.list" + name, Columns: reactionColumns, From: `reactions WHERE home = $1 AND reference_id = $2` + filter, After: 3,
	}.List)
}

// InsertReaction inserts a reaction and counts it. The transaction fails with exists if the user has reacted with this
// name.
func (w Tx) InsertReaction(r Reaction, exists error) {
	w.IdempotentBy("reactions_pkey")
	w.Exec(sqlReactionInsert, r.ReferenceType, r.ReferenceID, r.UserID, r.UserPublicID, r.Name, r.ID, r.CreatedAt).
		OnConflict("reactions_pkey", exists)
	w.Count(r.ReferenceID, core.CountReactions(r.Name), +1)
}

// GuardReactionNames makes the transaction fail with refusal if a reference has reactions of more than limit names, including the one
// that the transaction adds. It deletes the counts of names that are no longer used, so that a reference has counts of few more
// names than it shows.
func (w Tx) GuardReactionNames(ref string, limit int, refusal error) {
	w.Guard(sqlReactionNamesGuard, refusal, ref, limit)
	if !defence.Off(defence.UnusedCounters) {
		w.Exec(sqlReactionCountsPurge, ref)
	}
}

// DeleteReaction deletes a reaction and its count. The transaction fails with gone if there is none.
func (w Tx) DeleteReaction(r Reaction, gone error) {
	w.Guard(sqlReactionGuard, gone, r.ReferenceID, r.UserID, r.Name)
	w.Exec(sqlReactionDelete, r.ReferenceID, r.UserID, r.Name)
	w.Count(r.ReferenceID, core.CountReactions(r.Name), -1)
}

// ReactionsOf reads a user's reactions to references of one home.
func (r ReadBatch) ReactionsOf(home region.Code, references []string, userID string, into *[]Reaction) {
	core.AppendRows(r.ReadBatch, home, sqlReactionsOf, into, references, userID)
}

// UserReactions reads a user's reactions to references of any homes.
func (r ReadBatch) UserReactions(references []string, userID string, into *[]Reaction) {
	for home, ids := range r.ByHome(references) {
		r.ReactionsOf(home, ids, userID, into)
	}
}

// ReactionList is a page of the reactions to one reference, newest first.
type ReactionList struct {
	ReferenceID string
	Name        string // empty means all
	Desc        bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// ListReactions reads up to Limit reactions in the order of the list.
func (r ReadBatch) ListReactions(l ReactionList, into *[]Reaction) {
	list, args := reactionsByCreation, []any{l.ReferenceID, l.After, l.AfterID, l.Limit}
	if l.Name != "" {
		list, args = reactionsOfNameByCreation, append(args, l.Name)
	}
	r.AddAt(l.ReferenceID, list.In(l.Desc), db.Rows(into), args...)
}

// PurgeReferences deletes what refers to objects that are deleted or emptied, and releases their files.
func (w Tx) PurgeReferences(ids []string) {
	w.Exec(sqlReactionPurge, ids)
	w.PurgeFlags(ids)
	w.ReleaseFiles(ids)
}
