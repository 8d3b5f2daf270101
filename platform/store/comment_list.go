package store

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/db"
)

// commentShown is the visibility filter: approved comments, others if the list shows all ($9) or they are the viewer's
// own ($10), and among these the ones with the status $11 unless it is empty.
const commentShown = `(approval_status = 'approved' OR $9::boolean OR author_id = $10) AND ($11::text IN ('', approval_status))`

type commentListKey struct {
	everyLevel bool
	flagged    Flagged
}

// commentFilter is the filter that has no index.
const commentFilter = ` AND ` + commentShown + ` AND ($6::text = 'any' OR ($6::text = 'deleted') = (deleted_at IS NOT NULL))
	AND (cardinality($7::text[]) = 0 OR (data_types && $7::text[] AND (NOT $8::boolean OR (data_types @> $7::text[] AND data_types <@
	$7::text[]))))`

var commentFlags = map[Flagged]string{FlaggedAny: ``, FlaggedOnly: ` AND is_flagged >= true`, FlaggedNone: ` AND NOT is_flagged`}

// commentLists are the statements of lists that include deleted comments, commentPages those of pages of others, and commentWindows
// those of the windows of both.
var commentLists, commentPages, commentWindows = makeCommentLists()

func makeCommentLists() (lists, pages, windows map[commentListKey]timeLists) {
	lists, pages, windows = map[commentListKey]timeLists{}, map[commentListKey]timeLists{}, map[commentListKey]timeLists{}
	for _, everyLevel := range []bool{true, false} {
		for f := range commentFlags {
			k := commentListKey{everyLevel, f}
			s := k.source()
			windows[k] = byTime(s.window)
			if f == FlaggedAny || f == FlaggedOnly && everyLevel { // the filter of others has no index
				lists[k] = byTime(s.list)
				if s.name += ".page"; s.first != "" {
					s.columns, s.zeros = s.columns+`, `+s.first, s.zeros+`, false`
				}
				pages[k] = byTime(s.page)
			}
		}
	}
	return lists, pages, windows
}

// source returns the list by the index of flagged comments, or by that of the level.
//
// Only the index of flagged comments provides an order that begins with is_flagged. PostgreSQL, when it does not know the
// reference, considers the other indexes as good, although they contain every comment on it. It ignores the order by a
// column that is equal to a constant, which is why the condition is >= true.
func (k commentListKey) source() source {
	s := source{
		name:    "comments.list" + flaggedNames[k.flagged] + pick(k.everyLevel, "All", "OfParent"),
		columns: commentColumns, zeros: commentZeros, after: 3, args: 11,
		wrap: withReplies,
	}
	indexed, filter := ``, commentFlags[k.flagged]
	if !k.everyLevel { // the argument of the condition on the level is the last one
		indexed, s.args = ` AND parent_id = $12`, 12
	}
	if k.flagged == FlaggedOnly {
		indexed, filter, s.first = filter, indexed, `is_flagged`
	}
	s.from, s.filter = `comments WHERE home = $1 AND reference_id = $2`+indexed, filter+commentFilter
	return s
}

// Lists of the comments in one state, pending or declined, which few comments are in: all of them, for users who may
// see every such comment ($9 is true), and the viewer's own ($10).
var (
	unapprovedComments, unapprovedCommentWindows = byTime(unapprovedSource.page), byTime(unapprovedSource.window)

	unapprovedSource = source{
		name: "comments.listWaiting", columns: commentColumns, zeros: commentZeros, from: unapproved,
		filter: ` AND $9::boolean AND $10::text IS NOT NULL` + unapprovedFilter, after: 3, args: 13, wrap: withReplies,
	}
	// A user has few such comments, see MaxUnapprovedComments: the statement reads all of them, by the index of authors, and then sorts them.
	ownUnapprovedComments = byTime(source{
		name: "comments.listOwnWaiting", columns: commentColumns, from: `own WHERE NOT $9::boolean`, filter: unapprovedFilter, after: 3,
		wrap: func(inner, order string) string {
			return withReplies(`WITH own AS MATERIALIZED (SELECT `+commentColumns+` FROM `+unapproved+` AND author_id = $10) `+inner, order)
		},
	}.list)
)

// Parts of these statements. unapprovedFilter has no index.
const (
	unapproved       = `comments WHERE home = $1 AND reference_id = $2 AND approval_status = $11`
	unapprovedFilter = ` AND ($6::text = 'any' OR ($6::text = 'deleted') = (deleted_at IS NOT NULL))
		AND (cardinality($7::text[]) = 0 OR (data_types && $7::text[] AND (NOT $8::boolean OR (data_types @> $7::text[] AND data_types <@
		$7::text[]))))
		AND ($12::text IS NULL OR parent_id = $12::text) AND ($13::boolean IS NULL OR $13::boolean = (flag_count > 0))`
)

// CommentList is a page of the comments on one reference.
type CommentList struct {
	ReferenceID string
	// EveryLevel lists all levels; otherwise the replies to ParentID, or the first level if it is empty.
	EveryLevel bool
	ParentID   string
	Flagged    Flagged
	Deleted    Deleted
	DataTypes  []string
	// ExactTypes selects comments with exactly these data types, otherwise with any of them.
	ExactTypes bool
	// EveryState includes unapproved comments of all users; those of ViewerID, an internal id, are always included.
	// Status filters by status; empty means any.
	EveryState bool
	ViewerID   string
	Status     string
	ByUpdate   bool
	Desc       bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// Key returns the time that the list is ordered by.
func (l CommentList) Key(c Comment) time.Time {
	if l.ByUpdate {
		return c.UpdatedAt
	}
	return c.CreatedAt
}

// ListComments reads up to Limit comments in the order of the list.
func (r *ReadBatch) ListComments(l CommentList, into *[]Comment) {
	home := r.homeOf(l.ReferenceID)
	*into = nil
	args := func(after Position, limit int) []any {
		return []any{
			l.ReferenceID, after.Time, after.ID, limit, string(l.Deleted), emptyIfNil(l.DataTypes), l.ExactTypes, l.EveryState,
			l.ViewerID, l.Status,
		}
	}
	after := Position{Time: l.After, ID: l.AfterID}
	unapproved := l.Status == Pending || l.Status == Declined
	if unapproved && !l.EveryState {
		r.Add(home, ownUnapprovedComments.in(l.ByUpdate, l.Desc), db.Rows(into), append(args(after, l.Limit), l.level(), l.Flagged.wanted())...)
		return
	}
	key := commentListKey{l.EveryLevel, l.Flagged}
	pages, windowed, more := commentPages[key], commentWindows[key], []any(nil)
	switch {
	case unapproved:
		pages, windowed, more = unapprovedComments, unapprovedCommentWindows, []any{l.level(), l.Flagged.wanted()}
	case !l.EveryLevel:
		more = []any{l.ParentID}
	}
	// The list leaves out a few comments of each author, see MaxUnapprovedComments.
	if !unapproved && !l.isFiltered() && l.Deleted == DeletedAny {
		r.Add(home, lookup(commentLists, key).in(l.ByUpdate, l.Desc), db.Rows(into), append(args(after, l.Limit), more...)...)
		return
	}
	w := windows[Comment]{
		home: home, after: after, limit: l.Limit, statement: windowed.in(l.ByUpdate, l.Desc),
		args: func(after Position, limit int) []any { return append(args(after, limit), more...) },
		rows: r.commentsAt(l),
	}
	if l.isFiltered() {
		readWindows(r, w, into)
		return
	}
	at := func(c Comment) Position { return Position{Time: l.Key(c), ID: c.ID} }
	readPage(r, pages.in(l.ByUpdate, l.Desc), l.Desc, at, w, into)
}

// commentsAt returns a function that reads the comments at some positions of a list, without those that have left their position.
func (r *ReadBatch) commentsAt(l CommentList) func(found []Position, into *[]Comment) {
	return rowsAt(r, r.CommentsByID, func(c Comment, at map[string]Position) (Comment, bool) {
		return c, l.Key(c).Equal(at[c.ID].Time) && l.Deleted.includes(c.DeletedAt)
	})
}

// isFiltered reports whether the list has a filter without an index.
func (l CommentList) isFiltered() bool {
	return len(l.DataTypes) > 0 || l.Deleted == DeletedOnly || l.Flagged == FlaggedNone || l.Flagged == FlaggedOnly && !l.EveryLevel
}

// level returns the parent whose replies are listed, "" for the first level, or nil for all levels.
func (l CommentList) level() *string {
	if l.EveryLevel {
		return nil
	}
	return &l.ParentID
}
