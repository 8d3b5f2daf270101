package store

import (
	"slices"
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
	AND (cardinality($7::text[]) = 0 OR (data_types && $7::text[] AND (NOT $8::boolean OR (data_types @> $7::text[] AND data_types <@ $7::text[]))))`

var commentFlags = map[Flagged]string{FlaggedAny: ``, FlaggedOnly: ` AND is_flagged >= true`, FlaggedNone: ` AND NOT is_flagged`}

func (k commentListKey) name() string {
	return "comments.list" + flaggedNames[k.flagged] + pick(k.everyLevel, "All", "OfParent")
}

// level is the condition on the level, whose argument is the last one.
func (k commentListKey) level() string { return pick(k.everyLevel, ``, ` AND parent_id = $12`) }

// commentLists are the statements of lists that include deleted comments, commentPages those of pages of others, and commentWindows
// those of the windows of both.
var commentLists, commentPages, commentWindows = makeCommentLists()

func makeCommentLists() (lists, pages, windows map[commentListKey]timeLists) {
	lists, pages, windows = map[commentListKey]timeLists{}, map[commentListKey]timeLists{}, map[commentListKey]timeLists{}
	for _, everyLevel := range []bool{true, false} {
		for f := range commentFlags {
			k := commentListKey{everyLevel, f}
			windows[k] = byTime(k.window)
			if f == FlaggedAny || f == FlaggedOnly && everyLevel { // the filter of others has no index
				lists[k], pages[k] = byTime(k.list), byTime(k.page)
			}
		}
	}
	return lists, pages, windows
}

func (k commentListKey) list(o db.Order, column string) *db.Statement {
	inner := `SELECT ` + commentColumns + ` FROM ` + k.from(o, column) + commentFilter +
		` ORDER BY ` + pick(k.flagged == FlaggedOnly, flaggedFirst(o), ``) + o.By(column, "id") + ` LIMIT $5::bigint`
	return stmt(k.name()+o.Name, withReplies(inner, ` ORDER BY `+o.By("p."+column, "p.id")))
}

func (k commentListKey) page(o db.Order, column string) *db.Statement {
	columns, zeros, order := commentColumns, commentZeros, o.By(column, "id")
	if k.flagged == FlaggedOnly {
		columns, zeros, order = columns+`, is_flagged`, zeros+`, false`, flaggedFirst(o)+order
	}
	return stmt(k.name()+".page"+o.Name, withLatestPage(CountReplies, commentColumns, boundedPage(columns, zeros, order, k.from(o, column), commentFilter, 5)))
}

func (k commentListKey) from(o db.Order, column string) string {
	return `comments WHERE home = $1 AND reference_id = $2` + k.level() + commentFlags[k.flagged] + ` AND ` + o.After(column, "id", "$3::timestamptz", "$4")
}

// window looks through the index of flagged comments, or through that of the level.
func (k commentListKey) window(o db.Order, column string) *db.Statement {
	indexed, filter, key := k.level(), commentFlags[k.flagged], timeKey(o, column, "id")
	if k.flagged == FlaggedOnly {
		indexed, filter, key.rows = filter, indexed, flaggedFirst(o)+key.rows
	}
	from := `comments WHERE home = $1 AND reference_id = $2` + indexed + ` AND ` + o.After(column, "id", "$3::timestamptz", "$4")
	return window(k.name(), o, key, from, filter+commentFilter, 5, 12+int(one(!k.everyLevel)))
}

// flaggedFirst begins an order that only the index of flagged comments provides. PostgreSQL, when it does not know the
// reference, considers the other indexes as good, although they contain every comment on it. It ignores the order by a
// column that is equal to a constant, which is why the condition is >= true.
func flaggedFirst(o db.Order) string { return pick(o.Desc, `is_flagged DESC, `, `is_flagged, `) }

// Lists of the comments in one state, pending or declined, which few comments are in: all of them, for users who may
// see every such comment ($9 is true), and the viewer's own ($10).
var (
	unapprovedComments = byTime(func(o db.Order, column string) *db.Statement {
		inner := boundedPage(commentColumns, commentZeros, o.By(column, "id"), unapprovedAfter(o, column), ` AND $9::boolean AND $10::text IS NOT NULL`+unapprovedFilter, 5)
		return stmt("comments.listWaiting"+o.Name, withLatestPage(CountReplies, commentColumns, inner))
	})
	unapprovedCommentWindows = byTime(func(o db.Order, column string) *db.Statement {
		return window("comments.listWaiting", o, timeKey(o, column, "id"), unapprovedAfter(o, column), ` AND $9::boolean AND $10::text IS NOT NULL`+unapprovedFilter, 5, 14)
	})
	// A user has few such comments, see MaxUnapprovedComments: the statement reads all of them, by the index of authors, and then sorts them.
	ownUnapprovedComments = byTime(func(o db.Order, column string) *db.Statement {
		return stmt("comments.listOwnWaiting"+o.Name, withReplies(`WITH own AS MATERIALIZED (SELECT `+commentColumns+` FROM `+unapproved+` AND author_id = $10)
			SELECT `+commentColumns+` FROM own WHERE NOT $9::boolean AND `+o.After(column, "id", "$3::timestamptz", "$4")+unapprovedFilter+
			` ORDER BY `+o.By(column, "id")+` LIMIT $5::bigint`, ` ORDER BY `+o.By("p."+column, "p.id")))
	})
)

// Parts of these statements. unapprovedFilter has no index.
const (
	unapproved       = `comments WHERE home = $1 AND reference_id = $2 AND approval_status = $11`
	unapprovedFilter = ` AND ($6::text = 'any' OR ($6::text = 'deleted') = (deleted_at IS NOT NULL))
		AND (cardinality($7::text[]) = 0 OR (data_types && $7::text[] AND (NOT $8::boolean OR (data_types @> $7::text[] AND data_types <@ $7::text[]))))
		AND ($12::text IS NULL OR parent_id = $12::text) AND ($13::boolean IS NULL OR $13::boolean = (flag_count > 0))`
)

func unapprovedAfter(o db.Order, column string) string {
	return unapproved + ` AND ` + o.After(column, "id", "$3::timestamptz", "$4")
}

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
	home, err := r.HomeOf(l.ReferenceID)
	if err != nil {
		return
	}
	*into = nil
	args := func(after Position, limit int) []any {
		return []any{l.ReferenceID, after.Time, after.ID, limit, string(l.Deleted), emptyIfNil(l.DataTypes), l.ExactTypes, l.EveryState, l.ViewerID, l.Status}
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
	if !unapproved && !l.isFiltered() && l.Deleted == DeletedAny { // the list leaves out a few comments of each author, see MaxUnapprovedComments
		r.Add(home, lookup(commentLists, key).in(l.ByUpdate, l.Desc), db.Rows(into), append(args(after, l.Limit), more...)...)
		return
	}
	w := windows[Comment]{
		home: home, after: after, limit: l.Limit, statement: windowed.in(l.ByUpdate, l.Desc),
		args: func(after Position, limit int) []any { return append(args(after, limit), more...) },
		rows: func(found []Position, into *[]Comment) { r.commentsAt(l, found, into) },
	}
	if l.isFiltered() {
		readWindows(r, w, into)
		return
	}
	at := func(c Comment) Position { return Position{Time: l.Key(c), ID: c.ID} }
	readPage[listedComment](r, pages.in(l.ByUpdate, l.Desc), l.Desc, at, w, into)
}

// listedComment is a row of a statement of commentPages.
type listedComment struct {
	Comment
	IsMore bool
}

func (c listedComment) split() (Comment, bool) { return c.Comment, c.IsMore }

// commentsAt reads the comments at some positions of a list, without those that have left their position.
func (r *ReadBatch) commentsAt(l CommentList, found []Position, into *[]Comment) {
	var comments []Comment
	times := timesAt(found)
	r.CommentsByID(idsAt(found), &comments)
	r.Then(func() {
		*into = slices.DeleteFunc(comments, func(c Comment) bool { return !l.Key(c).Equal(times[c.ID]) || !l.Deleted.includes(c.DeletedAt) })
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
