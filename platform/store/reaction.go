package store

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// Reaction is a row of reactions: one user, one reference, one name.
type Reaction struct {
	ReferenceType string // post, comment, story or message
	ReferenceID   string
	UserID        string // internal id
	UserPublicID  string
	Name          string
	ID            string
	CreatedAt     time.Time
}

const reactionColumns = `reference_type, reference_id, user_id, user_public_id, name, id, created_at`

func scanReaction(rows pgx.Rows) (Reaction, error) {
	var r Reaction
	err := rows.Scan(&r.ReferenceType, &r.ReferenceID, &r.UserID, &r.UserPublicID, &r.Name, &r.ID, &r.CreatedAt)
	return r, err
}

var (
	sqlReactionInsert = stmt("reactions.insert", `INSERT INTO reactions (home, reference_type, reference_id, user_id, user_public_id, name, id, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`)
	sqlReactionThere = stmt("reactions.guardThere", `SELECT 1 / count(*) FROM reactions WHERE home = $1 AND reference_id = $2 AND user_id = $3 AND name = $4`)
	sqlReactionEnd   = stmt("reactions.delete", `DELETE FROM reactions WHERE home = $1 AND reference_id = $2 AND user_id = $3 AND name = $4`)
	sqlReactionPurge = stmt("reactions.purge", `DELETE FROM reactions WHERE home = $1 AND reference_id = ANY($2::text[])`)
	sqlReactionsOf   = stmt("reactions.ofUser", `SELECT `+reactionColumns+` FROM reactions WHERE home = $1 AND reference_id = ANY($2::text[]) AND user_id = $3 ORDER BY reference_id, user_id, name`)

	reactionLists = makeReactionLists()
)

func makeReactionLists() map[string]*Statement {
	lists := map[string]*Statement{}
	for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
		for scope, where := range map[string]string{"All": "", "OfName": " AND name = $6"} {
			name := "reactions.list" + scope + o.name
			lists[name] = stmt(name, `SELECT `+reactionColumns+` FROM reactions WHERE home = $1 AND reference_id = $2`+where+
				` AND `+o.after("created_at", "id", "$3::timestamptz", "$4")+` ORDER BY `+o.by("created_at", "id")+` LIMIT $5::bigint`)
		}
	}
	return lists
}

// reactionPrefix begins the kinds of the counts of reactions; the name follows.
const reactionPrefix = "reaction:"

// CountReactions is the kind of the count of reactions by a name.
func CountReactions(name string) CounterKind { return CounterKind(reactionPrefix + name) }

// Reactions are a reference's counts by reaction name; names that nobody reacts by any more are left out.
func (c Counts) Reactions(ref string) map[string]int64 {
	byName := map[string]int64{}
	for kind, n := range c[ref] {
		if name, ok := strings.CutPrefix(string(kind), reactionPrefix); ok && n > 0 {
			byName[name] = n
		}
	}
	return byName
}

// InsertReaction inserts a reaction and counts it; a second one by the same name is answered with there.
func (w *Tx) InsertReaction(r Reaction, there error) {
	w.once = "reactions_pkey"
	w.exec(sqlReactionInsert, r.ReferenceType, r.ReferenceID, r.UserID, r.UserPublicID, r.Name, r.ID, r.CreatedAt).
		conflict("reactions_pkey", there)
	w.Count(r.ReferenceID, CountReactions(r.Name), +1)
}

// DeleteReaction removes a reaction and uncounts it; gone answers where it is not there.
func (w *Tx) DeleteReaction(r Reaction, gone error) {
	w.guard(sqlReactionThere, gone, r.ReferenceID, r.UserID, r.Name)
	w.exec(sqlReactionEnd, r.ReferenceID, r.UserID, r.Name)
	w.Count(r.ReferenceID, CountReactions(r.Name), -1)
}

// ReactionsOf reads a user's reactions to references of one home.
func (r *ReadBatch) ReactionsOf(home region.Code, references []string, userID string, into *[]Reaction) {
	part := new([]Reaction)
	r.add(home, sqlReactionsOf, scanAll(part, scanReaction), references, userID)
	r.Then(func() { *into = append(*into, *part...) })
}

// MyReactions reads a user's reactions to references of any homes.
func (r *ReadBatch) MyReactions(references []string, userID string, into *[]Reaction) {
	for home, ids := range byHome(references) {
		r.ReactionsOf(home, ids, userID, into)
	}
}

// ReactionList is a page of the reactions to one reference, newest first.
type ReactionList struct {
	ReferenceID string
	Name        string // all names when empty
	Desc        bool
	// The position after which the page starts.
	After   time.Time
	AfterID string
	Limit   int
}

// ListReactions reads up to Limit reactions in the order of the list.
func (r *ReadBatch) ListReactions(l ReactionList, into *[]Reaction) {
	home, err := region.HomeOf(l.ReferenceID)
	if err != nil {
		return
	}
	args := []any{l.ReferenceID, l.After, l.AfterID, l.Limit}
	scope := "All"
	if l.Name != "" {
		scope, args = "OfName", append(args, l.Name)
	}
	st := reactionLists["reactions.list"+scope+pick(l.Desc, orderCreatedDesc, orderCreatedAsc).name]
	r.add(home, st, scanAll(into, scanReaction), args...)
}
