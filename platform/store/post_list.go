package store

import (
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

// Deleted says which rows a list shows by whether they are deleted.
type Deleted string

// The choices; the texts are parameters of statements.
const (
	DeletedAny  Deleted = "any"
	DeletedOnly Deleted = "deleted"
	DeletedNone Deleted = "live"
)

// Flagged says which rows a list shows by whether they are flagged.
type Flagged int

// The choices of the three-state hasFlag.
const (
	FlaggedAny Flagged = iota
	FlaggedOnly
	FlaggedNone
)

var flaggedNames = map[Flagged]string{FlaggedAny: "", FlaggedOnly: "Flagged", FlaggedNone: "Unflagged"}

// matching says which posts of a feed a list shows.
type matching string

const (
	matchParents   matching = "Parents"     // parents only
	matchChildren  matching = "Children"    // children only
	matchEvery     matching = "Every"       // both; of flagged posts, whose index has them together
	matchType      matching = "OfType"      // parents and children of one data type
	matchStructure matching = "OfStructure" // parents that hold one data type
)

var postLists = makePostLists()

func postListName(m matching, f Flagged, o listOrder) string {
	return "posts.list" + flaggedNames[f] + string(m) + o.name
}

func makePostLists() map[string]*Statement {
	lists := map[string]*Statement{}
	match := map[matching]string{
		matchParents: ` AND is_parent`, matchChildren: ` AND NOT is_parent`, matchEvery: ``, matchType: ` AND data_type = $9`, matchStructure: ` AND is_parent AND structure_type = $9`,
	}
	flagged := map[Flagged]string{FlaggedAny: ``, FlaggedOnly: ` AND is_flagged`, FlaggedNone: ` AND NOT is_flagged`}
	for m, matchSQL := range match {
		for f, flagSQL := range flagged {
			if unusedList(m, f) {
				continue
			}
			for _, o := range timeOrders {
				name := postListName(m, f, o)
				inner := `SELECT ` + postColumns + ` FROM posts WHERE home = $1 AND target_id = $2 AND feed_type = $3` + matchSQL + flagSQL +
					` AND ` + o.after(o.column(), "id", "$4::timestamptz", "$5") +
					` AND ($7::text = 'any' OR ($7::text = 'deleted') = (deleted_at IS NOT NULL))` +
					` AND (cardinality($8::text[]) = 0 OR tags && $8::text[])` +
					` ORDER BY ` + o.by(o.column(), "id") + ` LIMIT $6::bigint`
				lists[name] = stmt(name, withComments(inner, ` ORDER BY `+o.by("p."+o.column(), "p.id")))
			}
		}
	}
	return lists
}

// unusedList names the lists that every post of a target is not read by.
func unusedList(m matching, f Flagged) bool {
	return m == matchEvery && f != FlaggedOnly || m == matchChildren && f == FlaggedOnly
}

var timeOrders = []listOrder{orderCreatedDesc, orderCreatedAsc, orderUpdatedDesc, orderUpdatedAsc}

func (o listOrder) column() string {
	if o == orderUpdatedAsc || o == orderUpdatedDesc {
		return "updated_at"
	}
	return "created_at"
}

func timeOrder(byUpdate, desc bool) listOrder {
	if byUpdate {
		return pick(desc, orderUpdatedDesc, orderUpdatedAsc)
	}
	return pick(desc, orderCreatedDesc, orderCreatedAsc)
}

// PostList is a page of one target's posts.
type PostList struct {
	TargetID string // internal id
	FeedType string
	// DataTypes are matched one statement each, and merged; empty means parents of every type.
	DataTypes []string
	// ParentsOnly matches data types by what parents hold, instead of by the posts' own type.
	ParentsOnly bool
	// EveryPost lists children beside parents; without data types.
	EveryPost bool
	Flagged   Flagged
	Deleted   Deleted
	Tags      []string
	ByUpdate  bool
	Desc      bool
	// The position after which the page starts.
	After   time.Time
	AfterID string
	Limit   int
}

// Key is the time that the list orders a post by.
func (l PostList) Key(p Post) time.Time {
	if l.ByUpdate {
		return p.UpdatedAt
	}
	return p.CreatedAt
}

// ListPosts reads up to Limit posts in the order of the list.
func (r *ReadBatch) ListPosts(l PostList, into *[]Post) {
	home, err := region.HomeOf(l.TargetID)
	if err != nil {
		return
	}
	order := timeOrder(l.ByUpdate, l.Desc)
	args := []any{l.TargetID, l.FeedType, l.After, l.AfterID, l.Limit, string(l.Deleted), emptyIfNil(l.Tags)}
	if len(l.DataTypes) == 0 && l.EveryPost && l.Flagged == FlaggedOnly {
		r.add(home, postLists[postListName(matchEvery, l.Flagged, order)], scanAll(into, scanPost), args...)
		return
	}
	if len(l.DataTypes) == 0 && l.EveryPost {
		parts := []*[]Post{new([]Post), new([]Post)}
		r.add(home, postLists[postListName(matchParents, l.Flagged, order)], scanAll(parts[0], scanPost), args...)
		r.add(home, postLists[postListName(matchChildren, l.Flagged, order)], scanAll(parts[1], scanPost), args...)
		r.Then(func() { *into = mergePosts(parts, l) })
		return
	}
	if len(l.DataTypes) == 0 {
		r.add(home, postLists[postListName(matchParents, l.Flagged, order)], scanAll(into, scanPost), args...)
		return
	}
	m := matchType
	if l.ParentsOnly {
		m = matchStructure
	}
	parts := make([]*[]Post, len(l.DataTypes))
	for i, dataType := range l.DataTypes {
		parts[i] = new([]Post)
		r.add(home, postLists[postListName(m, l.Flagged, order)], scanAll(parts[i], scanPost), append(slices.Clone(args), dataType)...)
	}
	r.Then(func() { *into = mergePosts(parts, l) })
}

// mergePosts puts the pages of several statements in order and cuts them to one page. Each is in order already and no
// post is in two, so the first Limit of all are among the first Limit of each.
func mergePosts(parts []*[]Post, l PostList) []Post {
	var all []Post
	for _, part := range parts {
		all = append(all, *part...)
	}
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
	if c := at.Compare(bt); c != 0 {
		return c
	}
	switch {
	case aID < bID:
		return -1
	case aID > bID:
		return 1
	}
	return 0
}
