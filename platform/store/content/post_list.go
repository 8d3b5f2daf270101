package content

import (
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

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
	flagged  core.Flagged
}

// The conditions of matching, whose last argument is the data type, and those of flags.
var (
	postMatches = map[matching]string{
		matchParents: ` AND is_parent`, matchChildren: ` AND NOT is_parent`, matchEvery: ``, matchType: ` AND data_type = $9`,
		matchStructure: ` AND is_parent AND structure_type = $9`,
	}
	postFlags = map[core.Flagged]string{core.FlaggedAny: ``, core.FlaggedOnly: ` AND is_flagged`, core.FlaggedNone: ` AND NOT is_flagged`}
)

// postFilter is the filter that has no index.
const postFilter = ` AND ($7::text = 'any' OR ($7::text = 'deleted') = (deleted_at IS NOT NULL)) AND (cardinality($8::text[]) = 0 OR tags
	&& $8::text[])`

// postLists are the statements of lists, and postWindows those of their windows.
var postLists, postWindows = makePostLists()

func makePostLists() (lists, windows map[postListKey]core.TimeLists) {
	lists, windows = map[postListKey]core.TimeLists{}, map[postListKey]core.TimeLists{}
	for m := range postMatches {
		for f := range postFlags {
			if unusedList(m, f) {
				continue
			}
			key := postListKey{m, f}
			if f == core.FlaggedAny || m == matchEvery { // the filter of others has no index
				lists[key] = core.OrderedByTime(key.source().Page)
			}
			windows[key] = core.OrderedByTime(key.source().Window)
		}
	}
	return lists, windows
}

// source returns the list by the index of flagged posts, or by that of the matching ones.
func (k postListKey) source() core.Source {
	indexed, filter := postMatches[k.matching], postFlags[k.flagged]
	if k.flagged == core.FlaggedOnly {
		indexed, filter = filter, indexed
	}
	return core.Source{
		Name: "posts.list" + core.FlaggedNames[k.flagged] + string(k.matching), Columns: postColumns, Zeros: db.Zeros[Post]("latest_comments"),
		From: `posts WHERE home = $1 AND target_id = $2 AND feed_type = $3` + indexed, Filter: filter + postFilter, After: 4,
		Args: 8 + int(core.CountIf(k.matching.hasType())), Wrap: withComments,
	}
}

// hasType reports whether the data type is an argument.
func (m matching) hasType() bool { return m == matchType || m == matchStructure }

// unusedList reports whether no query uses the list.
func unusedList(m matching, f core.Flagged) bool {
	return m == matchEvery && f != core.FlaggedOnly || m == matchChildren && f == core.FlaggedOnly
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
	Flagged   core.Flagged
	Deleted   core.Deleted
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
func (r ReadBatch) ListPosts(l PostList, into *[]Post) {
	*into = nil
	home := r.HomeOrNone(l.TargetID)
	merge := func(parts [][]Post) {
		r.Finally(func() {
			if !slices.Contains(r.Missing(), home) { // a home can fail after some parts were found
				*into = mergePosts(parts, l)
			}
		})
	}
	switch {
	case len(l.DataTypes) == 0 && !l.EveryPost:
		r.listPosts(home, l, matchParents, into)
	case len(l.DataTypes) == 0 && l.Flagged == core.FlaggedOnly:
		r.listPosts(home, l, matchEvery, into)
	case len(l.DataTypes) == 0:
		parts := make([][]Post, 2)
		r.listPosts(home, l, matchParents, &parts[0])
		r.listPosts(home, l, matchChildren, &parts[1])
		merge(parts)
	default:
		parts := make([][]Post, len(l.DataTypes))
		for i, dataType := range l.DataTypes {
			r.listPosts(home, l, core.Pick(l.ParentsOnly, matchStructure, matchType), &parts[i], dataType)
		}
		merge(parts)
	}
}

// listPosts reads the part of a list that one statement finds. dataType is given if the matching has it.
func (r ReadBatch) listPosts(home region.Code, l PostList, m matching, into *[]Post, dataType ...any) {
	key := postListKey{m, l.Flagged}
	args := func(after core.Position, limit int) []any {
		return append([]any{l.TargetID, l.FeedType, after.Time, after.ID, limit, string(l.Deleted), core.EmptyIfNil(l.Tags)}, dataType...)
	}
	after := core.Position{Time: l.After, ID: l.AfterID}
	w := core.Windows[Post]{
		Home: home, After: after, Limit: l.Limit, Statement: core.Lookup(postWindows, key).In(l.ByUpdate, l.Desc), Args: args, Rows: r.postsAt(l),
	}
	if l.isFiltered(m) {
		core.ReadWindows(r.ReadBatch, w, into)
		return
	}
	at := func(p Post) core.Position { return core.Position{Time: l.Key(p), ID: p.ID} }
	core.ReadPage(r.ReadBatch, core.Lookup(postLists, key).In(l.ByUpdate, l.Desc), l.Desc, at, w, into)
}

// postsAt returns a function that reads the posts at some positions of a list, without those that have left their position.
func (r ReadBatch) postsAt(l PostList) func(found []core.Position, into *[]Post) {
	return core.RowsAt(r.ReadBatch, r.PostsByID, func(p Post, at map[string]core.Position) (Post, bool) {
		return p, l.Key(p).Equal(at[p.ID].Time) && l.Deleted.Includes(p.DeletedAt)
	})
}

// isFiltered reports whether the list has a filter without an index.
func (l PostList) isFiltered(m matching) bool {
	return len(l.Tags) > 0 || l.Deleted == core.DeletedOnly || l.Flagged == core.FlaggedNone || l.Flagged == core.FlaggedOnly &&
		m != matchEvery
}

// mergePosts merges the sorted pages of several statements into one page. No post is in two pages, so that the first
// Limit posts are among the first Limit of each.
func mergePosts(parts [][]Post, l PostList) []Post {
	all := slices.Concat(parts...)
	slices.SortFunc(all, func(a, b Post) int {
		c := core.CompareKeys(l.Key(a), a.ID, l.Key(b), b.ID)
		if l.Desc {
			return -c
		}
		return c
	})
	return all[:min(len(all), l.Limit)]
}
