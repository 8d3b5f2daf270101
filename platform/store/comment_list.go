package store

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

var commentLists, waitingLists = makeCommentLists(), makeWaitingLists()

// commentShown keeps the approved comments, and others where the list shows all ($9) or they are the viewer's own ($10); of those it
// keeps the ones in the state $11, if that is not empty.
const commentShown = `(approval_status = 'approved' OR $9::boolean OR author_id = $10) AND ($11::text IN ('', approval_status))`

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
			levelSQL = ` AND parent_id = $12`
		}
		for f, flagSQL := range flagged {
			for _, o := range timeOrders {
				name := commentListName(level, f, o)
				inner := `SELECT ` + commentColumns + ` FROM comments WHERE home = $1 AND reference_id = $2` + levelSQL + flagSQL +
					` AND ` + o.after(o.column(), "id", "$3::timestamptz", "$4") +
					` AND ` + commentShown +
					` AND ($6::text = 'any' OR ($6::text = 'deleted') = (deleted_at IS NOT NULL))` +
					` AND (cardinality($7::text[]) = 0 OR (data_types && $7::text[] AND (NOT $8::boolean OR (data_types @> $7::text[] AND data_types <@ $7::text[]))))` +
					` ORDER BY ` + o.by(o.column(), "id") + ` LIMIT $5::bigint`
				lists[name] = stmt(name, withReplies(inner, ` ORDER BY `+o.by("p."+o.column(), "p.id")))
			}
		}
	}
	return lists
}

func waitingListName(every bool, o listOrder) string {
	if every {
		return "comments.listWaiting" + o.name
	}
	return "comments.listOwnWaiting" + o.name
}

// makeWaitingLists makes the lists of comments in one state, which few are in: pending or declined. Of each there is one for those who
// see every such comment ($9 is true), and one of the viewer's own ($10).
func makeWaitingLists() map[string]*Statement {
	const waiting = `SELECT ` + commentColumns + ` FROM comments WHERE home = $1 AND reference_id = $2 AND approval_status <> 'approved'`
	lists := map[string]*Statement{}
	for _, o := range timeOrders {
		page, order := waitingPage(o), ` ORDER BY `+o.by("p."+o.column(), "p.id")
		every, own := waitingListName(true, o), waitingListName(false, o)
		lists[every] = stmt(every, withReplies(waiting+` AND approval_status = $11 AND $9::boolean AND $10::text IS NOT NULL AND `+page, order))
		// One user has few such comments: all are read, by the index of authors, and then put in order.
		lists[own] = stmt(own, withReplies(`WITH own AS MATERIALIZED (`+waiting+` AND author_id = $10)
			SELECT `+commentColumns+` FROM own WHERE approval_status = $11 AND NOT $9::boolean AND `+page, order))
	}
	return lists
}

// waitingPage keeps those of waiting comments that a list wants, in its order.
func waitingPage(o listOrder) string {
	return o.after(o.column(), "id", "$3::timestamptz", "$4") +
		` AND ($6::text = 'any' OR ($6::text = 'deleted') = (deleted_at IS NOT NULL))` +
		` AND (cardinality($7::text[]) = 0 OR (data_types && $7::text[] AND (NOT $8::boolean OR (data_types @> $7::text[] AND data_types <@ $7::text[]))))` +
		` AND ($12::text IS NULL OR parent_id = $12::text) AND ($13::boolean IS NULL OR $13::boolean = (flag_count > 0))` +
		` ORDER BY ` + o.by(o.column(), "id") + ` LIMIT $5::bigint`
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
	// EveryState lists comments of others that are not approved, too; ViewerID is the internal id of the user whose own are listed
	// in any case. Status keeps those in one state; empty for any.
	EveryState bool
	ViewerID   string
	Status     string
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
func (r *ReadBatch) ListComments(l CommentList, into *[]Comment) {
	home, err := region.HomeOf(l.ReferenceID)
	if err != nil {
		return
	}
	args := []any{l.ReferenceID, l.After, l.AfterID, l.Limit, string(l.Deleted), emptyIfNil(l.DataTypes), l.ExactTypes, l.EveryState, l.ViewerID, l.Status}
	order := timeOrder(l.ByUpdate, l.Desc)
	if l.Status == Pending || l.Status == Declined {
		r.add(home, waitingLists[waitingListName(l.EveryState, order)], scanAll(into, scanComment), append(args, l.level(), l.Flagged.wanted())...)
		return
	}
	if !l.EveryLevel {
		args = append(args, l.ParentID)
	}
	st := commentLists[commentListName(!l.EveryLevel, l.Flagged, order)]
	r.add(home, st, scanAll(into, scanComment), args...)
}

// level is the parent whose replies the list shows, empty for the first level; nil for every level.
func (l CommentList) level() *string {
	if l.EveryLevel {
		return nil
	}
	return &l.ParentID
}
