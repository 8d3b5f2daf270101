package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// commentShown is the visibility filter: approved comments, others if the list shows all ($9) or they are the viewer's
// own ($10), and among these the ones with the status $11 unless it is empty.
const commentShown = `(approval_status = 'approved' OR $9::boolean OR author_id = $10) AND ($11::text IN ('', approval_status))`

type commentListKey struct {
	everyLevel bool
	flagged    core.Flagged
}

// commentFilter is the filter that has no index.
const commentFilter = ` AND ` + commentShown + ` AND ($6::text = 'any' OR ($6::text = 'deleted') = (deleted_at IS NOT NULL))
	AND (cardinality($7::text[]) = 0 OR (data_types && $7::text[] AND (NOT $8::boolean OR (data_types @> $7::text[] AND data_types <@
	$7::text[]))))`

var commentFlags = map[core.Flagged]string{core.FlaggedAny: ``, core.FlaggedOnly: ` AND is_flagged >= true`, core.FlaggedNone: ` AND NOT is_flagged`}

// commentLists are the statements of lists that include deleted comments, commentPages those of pages of others, and commentWindows
// those of the windows of both.
var commentLists, commentPages, commentWindows = makeCommentLists()

func makeCommentLists() (lists, pages, windows map[commentListKey]core.TimeLists) {
	lists, pages, windows = map[commentListKey]core.TimeLists{}, map[commentListKey]core.TimeLists{}, map[commentListKey]core.TimeLists{}
	for _, everyLevel := range []bool{true, false} {
		for f := range commentFlags {
			k := commentListKey{everyLevel, f}
			s := k.source()
			windows[k] = core.OrderedByTime(s.Window)
			if f == core.FlaggedAny || f == core.FlaggedOnly && everyLevel { // the filter of others has no index
				lists[k] = core.OrderedByTime(s.List)
				if s.Name += ".page"; s.First != "" {
					s.Columns, s.Zeros = s.Columns+`, `+s.First, s.Zeros+`, false`
				}
				pages[k] = core.OrderedByTime(s.Page)
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
func (k commentListKey) source() core.Source {
	s := core.Source{
		Name:    "comments.list" + core.FlaggedNames[k.flagged] + core.Pick(k.everyLevel, "All", "OfParent"),
		Columns: commentColumns, Zeros: commentZeros, After: 3, Args: 11,
		Wrap: withReplies,
	}
	indexed, filter := ``, commentFlags[k.flagged]
	if !k.everyLevel { // the argument of the condition on the level is the last one
		indexed, s.Args = ` AND parent_id = $12`, 12
	}
	if k.flagged == core.FlaggedOnly {
		indexed, filter, s.First = filter, indexed, `is_flagged`
	}
	s.From, s.Filter = `comments WHERE home = $1 AND reference_id = $2`+indexed, filter+commentFilter
	return s
}

// Lists of the comments in one state, pending or declined, which few comments are in: all of them, for users who may
// see every such comment ($9 is true), and the viewer's own ($10).
var (
	unapprovedComments, unapprovedCommentWindows = core.OrderedByTime(unapprovedSource.Page), core.OrderedByTime(unapprovedSource.Window)

	unapprovedSource = core.Source{
		Name: "comments.listWaiting", Columns: commentColumns, Zeros: commentZeros, From: unapproved,
		Filter: ` AND $9::boolean AND $10::text IS NOT NULL` + unapprovedFilter, After: 3, Args: 13, Wrap: withReplies,
	}
	// A user has few such comments, see MaxUnapprovedComments: the statement reads all of them, by the index of authors, and then sorts them.
	ownUnapprovedComments = core.OrderedByTime(core.Source{
		Name: "comments.listOwnWaiting", Columns: commentColumns, From: `own WHERE NOT $9::boolean`, Filter: unapprovedFilter, After: 3,
		Wrap: func(inner, order string) string {
			return withReplies(`WITH own AS MATERIALIZED (SELECT `+commentColumns+` FROM `+unapproved+` AND author_id = $10) `+inner, order)
		},
	}.List)
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
	Flagged    core.Flagged
	Deleted    core.Deleted
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
func (r ReadBatch) ListComments(l CommentList, into *[]Comment) {
	home := r.HomeOrNone(l.ReferenceID)
	*into = nil
	args := func(after core.Position, limit int) []any {
		return []any{
			l.ReferenceID, after.Time, after.ID, limit, string(l.Deleted), core.EmptyIfNil(l.DataTypes), l.ExactTypes, l.EveryState,
			l.ViewerID, l.Status,
		}
	}
	after := core.Position{Time: l.After, ID: l.AfterID}
	unapproved := l.Status == Pending || l.Status == Declined
	if unapproved && !l.EveryState {
		r.Add(home, ownUnapprovedComments.In(l.ByUpdate, l.Desc), db.Rows(into), append(args(after, l.Limit), l.level(), l.Flagged.Wanted())...)
		return
	}
	key := commentListKey{l.EveryLevel, l.Flagged}
	pages, windowed, more := commentPages[key], commentWindows[key], []any(nil)
	switch {
	case unapproved:
		pages, windowed, more = unapprovedComments, unapprovedCommentWindows, []any{l.level(), l.Flagged.Wanted()}
	case !l.EveryLevel:
		more = []any{l.ParentID}
	}
	// The list leaves out a few comments of each author, see MaxUnapprovedComments.
	if !unapproved && !l.isFiltered() && l.Deleted == core.DeletedAny {
		r.Add(home, core.Lookup(commentLists, key).In(l.ByUpdate, l.Desc), db.Rows(into), append(args(after, l.Limit), more...)...)
		return
	}
	w := core.Windows[Comment]{
		Home: home, After: after, Limit: l.Limit, Statement: windowed.In(l.ByUpdate, l.Desc),
		Args: func(after core.Position, limit int) []any { return append(args(after, limit), more...) },
		Rows: r.commentsAt(l),
	}
	if l.isFiltered() {
		core.ReadWindows(r.ReadBatch, w, into)
		return
	}
	at := func(c Comment) core.Position { return core.Position{Time: l.Key(c), ID: c.ID} }
	core.ReadPage(r.ReadBatch, pages.In(l.ByUpdate, l.Desc), l.Desc, at, w, into)
}

// commentsAt returns a function that reads the comments at some positions of a list, without those that have left their position.
func (r ReadBatch) commentsAt(l CommentList) func(found []core.Position, into *[]Comment) {
	return core.RowsAt(r.ReadBatch, r.CommentsByID, func(c Comment, at map[string]core.Position) (Comment, bool) {
		return c, l.Key(c).Equal(at[c.ID].Time) && l.Deleted.Includes(c.DeletedAt)
	})
}

// isFiltered reports whether the list has a filter without an index.
func (l CommentList) isFiltered() bool {
	return len(l.DataTypes) > 0 || l.Deleted == core.DeletedOnly || l.Flagged == core.FlaggedNone || l.Flagged == core.FlaggedOnly &&
		!l.EveryLevel
}

// level returns the parent whose replies are listed, "" for the first level, or nil for all levels.
func (l CommentList) level() *string {
	if l.EveryLevel {
		return nil
	}
	return &l.ParentID
}
