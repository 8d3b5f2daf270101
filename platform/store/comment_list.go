package store

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

var commentLists = makeCommentLists()

func commentListName(level bool, f Flagged, o listOrder) string {
	scope := "All"
	if level {
		scope = "OfParent"
	}
	return "comments.list" + flaggedNames[f] + scope + o.name
}

func makeCommentLists() map[string]*Statement {
	lists := map[string]*Statement{}
	flagged := map[Flagged]string{FlaggedAny: ``, FlaggedOnly: ` AND flag_count > 0`, FlaggedNone: ` AND flag_count = 0`}
	for _, level := range []bool{true, false} {
		levelSQL := ``
		if level {
			levelSQL = ` AND parent_id = $9`
		}
		for f, flagSQL := range flagged {
			for _, o := range timeOrders {
				name := commentListName(level, f, o)
				inner := `SELECT ` + commentColumns + ` FROM comments WHERE home = $1 AND reference_id = $2` + levelSQL + flagSQL +
					` AND ` + o.after(o.column(), "id", "$3::timestamptz", "$4") +
					` AND ($6::text = 'any' OR ($6::text = 'deleted') = (deleted_at IS NOT NULL))` +
					` AND (cardinality($7::text[]) = 0 OR (data_types && $7::text[] AND (NOT $8::boolean OR (data_types @> $7::text[] AND data_types <@ $7::text[]))))` +
					` ORDER BY ` + o.by(o.column(), "id") + ` LIMIT $5::bigint`
				lists[name] = stmt(name, withReplies(inner, ` ORDER BY `+o.by("p."+o.column(), "p.id")))
			}
		}
	}
	return lists
}

// CommentList is a page of the comments on one reference.
type CommentList struct {
	ReferenceID string
	// EveryLevel lists all levels; otherwise ParentID names the one, empty for the first.
	EveryLevel bool
	ParentID   string
	Flagged    Flagged
	Deleted    Deleted
	DataTypes  []string
	// ExactTypes asks for these data types and no others; otherwise for any of them.
	ExactTypes bool
	ByUpdate   bool
	Desc       bool
	// The position after which the page starts.
	After   time.Time
	AfterID string
	Limit   int
}

// Key is the time that the list orders a comment by.
func (l CommentList) Key(c Comment) time.Time {
	if l.ByUpdate {
		return c.UpdatedAt
	}
	return c.CreatedAt
}

// ListComments reads up to Limit comments in the order of the list.
func (r *Reads) ListComments(l CommentList, into *[]Comment) {
	home, err := region.HomeOf(l.ReferenceID)
	if err != nil {
		return
	}
	args := []any{l.ReferenceID, l.After, l.AfterID, l.Limit, string(l.Deleted), emptyIfNil(l.DataTypes), l.ExactTypes}
	if !l.EveryLevel {
		args = append(args, l.ParentID)
	}
	st := commentLists[commentListName(!l.EveryLevel, l.Flagged, timeOrder(l.ByUpdate, l.Desc))]
	r.add(home, st, scanAll(into, scanComment), args...)
}
