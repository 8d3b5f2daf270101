package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/store/db"
)

// Deleted filters by whether rows are deleted.
type Deleted string

// The values of Deleted, which are parameters of statements.
const (
	DeletedAny  Deleted = "any"
	DeletedOnly Deleted = "deleted"
	DeletedNone Deleted = "live"
)

// Flagged filters by whether rows are flagged.
type Flagged int

// The values of Flagged.
const (
	FlaggedAny Flagged = iota
	FlaggedOnly
	FlaggedNone
)

var flaggedNames = map[Flagged]string{FlaggedAny: "", FlaggedOnly: "Flagged", FlaggedNone: "Unflagged"}

// matching selects the posts of a feed that are listed.
type matching string

const (
	matchParents   matching = "Parents"     // parents only
	matchChildren  matching = "Children"    // children only
	matchEvery     matching = "Every"       // both; only for flagged posts, which have one index
	matchType      matching = "OfType"      // parents and children of one data type
	matchStructure matching = "OfStructure" // parents with children of one data type
)

type postListKey struct {
	matching matching
	flagged  Flagged
}

var postLists = makePostLists()

func makePostLists() map[postListKey]timeLists {
	lists := map[postListKey]timeLists{}
	match := map[matching]string{
		matchParents: ` AND is_parent`, matchChildren: ` AND NOT is_parent`, matchEvery: ``, matchType: ` AND data_type = $9`, matchStructure: ` AND is_parent AND structure_type = $9`,
	}
	flagged := map[Flagged]string{FlaggedAny: ``, FlaggedOnly: ` AND is_flagged`, FlaggedNone: ` AND NOT is_flagged`}
	for m, matchSQL := range match {
		for f, flagSQL := range flagged {
			if unusedList(m, f) {
				continue
			}
			lists[postListKey{m, f}] = byTime(func(o db.Order, column string) *db.Statement {
				inner := `SELECT ` + postColumns + ` FROM posts WHERE home = $1 AND target_id = $2 AND feed_type = $3` + matchSQL + flagSQL +
					` AND ` + o.After(column, "id", "$4::timestamptz", "$5") +
					` AND ($7::text = 'any' OR ($7::text = 'deleted') = (deleted_at IS NOT NULL))` +
					` AND (cardinality($8::text[]) = 0 OR tags && $8::text[])` +
					` ORDER BY ` + o.By(column, "id") + ` LIMIT $6::bigint`
				return stmt("posts.list"+flaggedNames[f]+string(m)+o.Name, withComments(inner, ` ORDER BY `+o.By("p."+column, "p.id")))
			})
		}
	}
	return lists
}

// unusedList reports whether no query uses the list.
func unusedList(m matching, f Flagged) bool {
	return m == matchEvery && f != FlaggedOnly || m == matchChildren && f == FlaggedOnly
}

// PostList is a page of one target's posts.
type PostList struct {
	TargetID string // internal id
	FeedType string
	// DataTypes are read by one statement each; empty means parents of all types.
	DataTypes []string
	// ParentsOnly selects parents by their structure type instead of posts by their data type.
	ParentsOnly bool
	// EveryPost includes children; it requires empty DataTypes.
	EveryPost bool
	Flagged   Flagged
	Deleted   Deleted
	Tags      []string
	ByUpdate  bool
	Desc      bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// Key returns the time that the list is ordered by.
func (l PostList) Key(p Post) time.Time {
	if l.ByUpdate {
		return p.UpdatedAt
	}
	return p.CreatedAt
}

// ListPosts reads up to Limit posts in the order of the list.
func (r *ReadBatch) ListPosts(l PostList, into *[]Post) {
	args := []any{l.TargetID, l.FeedType, l.After, l.AfterID, l.Limit, string(l.Deleted), emptyIfNil(l.Tags)}
	list := func(m matching, into *[]Post, args ...any) {
		r.addAt(l.TargetID, lookup(postLists, postListKey{m, l.Flagged}).in(l.ByUpdate, l.Desc), db.Rows(into), args...)
	}
	switch {
	case len(l.DataTypes) == 0 && !l.EveryPost:
		list(matchParents, into, args...)
	case len(l.DataTypes) == 0 && l.Flagged == FlaggedOnly:
		list(matchEvery, into, args...)
	case len(l.DataTypes) == 0:
		parts := make([][]Post, 2)
		list(matchParents, &parts[0], args...)
		list(matchChildren, &parts[1], args...)
		r.Then(func() { *into = mergePosts(parts, l) })
	default:
		parts := make([][]Post, len(l.DataTypes))
		for i, dataType := range l.DataTypes {
			list(pick(l.ParentsOnly, matchStructure, matchType), &parts[i], append(slices.Clone(args), dataType)...)
		}
		r.Then(func() { *into = mergePosts(parts, l) })
	}
}

// mergePosts merges the sorted pages of several statements into one page. No post is in two pages, so that the first
// Limit posts are among the first Limit of each.
func mergePosts(parts [][]Post, l PostList) []Post {
	all := slices.Concat(parts...)
	slices.SortFunc(all, func(a, b Post) int {
		c := compareKeys(l.Key(a), a.ID, l.Key(b), b.ID)
		if l.Desc {
			return -c
		}
		return c
	})
	return all[:min(len(all), l.Limit)]
}

func compareKeys(at time.Time, aID string, bt time.Time, bID string) int {
	return cmp.Or(at.Compare(bt), cmp.Compare(aID, bID))
}
