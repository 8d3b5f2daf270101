package textsearch

import (
	"slices"
	"strconv"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// searchWindows are the numbers of objects with a word among which a home looks for a page: in the second window only if the
// page is not full. Then the page ends, with a token for the objects after the window. Callers see most objects of most words.
var searchWindows = []int{500, 20_000}

// windowEnd is the weight of the row that a search in the last window returns in addition: the last one of the window, if the home
// may have objects after it.
const windowEnd = -1

// Searcher is who searches, which decides what is found.
type Searcher struct {
	// UserID is the internal id; empty for administrators.
	UserID string
	// Communities are those of the user, Hidden the users whose content the user does not see.
	Communities, Hidden []string
	// WallsOpen reports whether walls are visible to users who do not follow their owners.
	WallsOpen bool
	// AllCommunities and AllWalls are whether a network role lets the caller see all of them.
	AllCommunities, AllWalls bool
}

// args returns the arguments of statements that find posts and communities.
func (s Searcher) args() []any {
	return []any{core.EmptyIfNil(s.Communities), core.EmptyIfNil(s.Hidden), s.AllCommunities}
}

// SearchWord is a word to search for.
type SearchWord struct {
	Key string // of SearchKey, or of StemKey for a prefix
	// Word is the word, or with IsPrefix its beginning; empty for all words of the key.
	Word     string
	IsPrefix bool
}

// pattern returns the LIKE pattern of the words of rows.
func (s SearchWord) pattern() string {
	switch {
	case s.Word == "":
		return "%"
	case s.IsPrefix:
		return "% " + core.LikePrefix(s.Word)
	}
	return "% " + core.LikePrefix(s.Word+" ")
}

// SearchHit is an object that contains a word.
type SearchHit struct {
	ID        string
	CreatedAt time.Time
	Words     string // those of the key, separated by spaces
	Weight    int64  // up to MaxWeight
}

// SearchPage is a page of the objects with a word that a caller sees.
type SearchPage struct {
	Searcher
	SearchWord
	// Others are the keys of words that the objects contain as well.
	Others []string
	Desc   bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// PostSearch is a page of posts.
type PostSearch struct {
	SearchPage
	// TargetType and TargetID filter by target; empty means all. TargetID is an internal id, or the client's id of content.
	TargetType, TargetID string
	// StructureTypes filters by structure type, Tags by tags of which posts have any; empty means all.
	StructureTypes, Tags []string
}

// CommunitySearch is a page of communities.
type CommunitySearch struct {
	SearchPage
	// Tags and CategoryIDs filter by tags and categories of which communities have any; empty means all.
	Tags, CategoryIDs []string
	// Member filters by whether the searcher is a member; nil means all.
	Member *bool
	// Discoverable includes private communities that everyone can find.
	Discoverable bool
}

// searchIn returns a statement that selects the hits that meet a condition from the next rows of a key, w, with the joined rows of the
// objects. Its parameters: $2 the key,
// $3 the pattern, $4 and $5 the position, $6 the size of the window, $7 the limit, $8 other keys, $9 the communities of
// the searcher, $10 hidden users, $11 whether all communities are visible.
func searchIn(name string, o db.Order, joins, condition string) searches {
	rows := ` FROM search_words WHERE home = $1 AND key = $2 AND ` + o.After("created_at", "object_id", "$4::timestamptz", "$5") + `
			ORDER BY ` + o.By("created_at", "object_id")
	page := `SELECT object_id AS id, created_at, words, weight FROM (SELECT object_id, created_at, words, weight` +
		rows + ` LIMIT $6::bigint) AS w
		` + joins + `
		WHERE words LIKE $3 AND (cardinality($8::text[]) = 0 OR (SELECT count(*) FROM search_words AS other
			WHERE other.home = $1 AND other.object_id = w.object_id AND other.key = ANY($8::text[])) = cardinality($8::text[]))
		AND ` + condition + ` ORDER BY ` + o.By("created_at", "object_id") + ` LIMIT $7::bigint`
	return searches{db.Register(name+o.Name, page), db.Register(name+".last"+o.Name, `(`+page+`) UNION ALL (SELECT object_id, created_at, '', `+
		strconv.Itoa(windowEnd)+`::bigint`+rows+` OFFSET $6::bigint - 1 LIMIT 1)`)}
}

// searches are the statements that look for a page in the first window, and in the last one.
type searches struct{ first, last *db.Statement }

// searchesInBoth registers the statements of both directions.
func searchesInBoth(register func(db.Order) searches) map[bool]searches {
	return map[bool]searches{true: register(core.CreatedOrders[0]), false: register(core.CreatedOrders[1])}
}

var (
	// $12 is the searcher, $13 whether all walls are visible, $14 the type of the target, $15 its id, $16 the structure
	// types and $17 tags.
	searchPosts = searchesInBoth(func(o db.Order) searches {
		return searchIn("search.posts", o, `CROSS JOIN LATERAL (SELECT is_listed, author_id, target_type, target_id, target_public_id,
			structure_type, tags
				FROM posts WHERE home = $1 AND id = w.object_id LIMIT 1) AS p
			LEFT JOIN LATERAL (SELECT status FROM followers
				WHERE p.target_type = 'user' AND home = $1 AND followee_id = p.target_id AND follower_id = $12 LIMIT 1) AS f ON true
			LEFT JOIN LATERAL (SELECT deleted_at IS NULL AND (is_public OR $11::boolean OR id = ANY($9::text[])) AS is_visible FROM communities
				WHERE p.target_type = 'community' AND home = $1 AND id = p.target_id LIMIT 1) AS c ON true`,
			`p.is_listed AND p.author_id <> ALL($10::text[]) AND p.target_id <> ALL($10::text[])
			AND ($14 = '' OR p.target_type = $14) AND ($15 = '' OR CASE WHEN p.target_type = 'content' THEN p.target_public_id ELSE p.target_id END
			= $15)
			AND (cardinality($16::text[]) = 0 OR p.structure_type = ANY($16::text[])) AND (cardinality($17::text[]) = 0 OR p.tags && $17::text[])
			AND CASE p.target_type WHEN 'content' THEN true WHEN 'user' THEN $13::boolean OR p.target_id = $12 OR f.status = 'accepted'
			ELSE c.is_visible END`)
	})
	// $12 are tags, $13 categories, $14 whether the searcher is a member and $15 whether to include private communities.
	searchCommunities = searchesInBoth(func(o db.Order) searches {
		return searchIn("search.communities", o, "", `COALESCE((SELECT c.deleted_at IS NULL AND c.creator_id <> ALL($10::text[])
			AND (c.is_public OR (c.is_discoverable AND $15::boolean) OR $11::boolean OR c.id = ANY($9::text[]))
			AND (cardinality($12::text[]) = 0 OR c.tags && $12::text[]) AND (cardinality($13::text[]) = 0 OR c.category_ids && $13::text[])
			AND ($14::boolean IS NULL OR $14::boolean = (c.id = ANY($9::text[])))
			FROM communities AS c WHERE c.home = $1 AND c.id = w.object_id), false)`)
	})
)

// SearchPosts reads up to Limit hits of each home and adds those that into does not contain, in no particular order.
func (r ReadBatch) SearchPosts(s PostSearch, into *[]SearchHit) {
	walls := s.WallsOpen || s.AllWalls
	r.search(searchPosts[s.Desc], s.SearchPage, into, s.UserID, walls, s.TargetType, s.TargetID, core.EmptyIfNil(s.StructureTypes),
		core.EmptyIfNil(s.Tags))
}

// SearchCommunities is SearchPosts for communities.
func (r ReadBatch) SearchCommunities(s CommunitySearch, into *[]SearchHit) {
	r.search(searchCommunities[s.Desc], s.SearchPage, into, core.EmptyIfNil(s.Tags), core.EmptyIfNil(s.CategoryIDs), s.Member, s.Discoverable)
}

func (r ReadBatch) search(st searches, s SearchPage, into *[]SearchHit, more ...any) {
	for _, home := range region.All() {
		h := &homeSearch{reads: r, home: home, searches: st, page: s, more: more, into: into}
		h.look(searchWindows)
	}
}

// homeSearch finds the part of a page of one home.
type homeSearch struct {
	searches

	reads ReadBatch
	home  region.Code
	page  SearchPage
	more  []any
	rows  []SearchHit
	into  *[]SearchHit
}

// look looks for the page in the first of windows, and then in the others.
func (h *homeSearch) look(windows []int) {
	s, st := h.page, h.first
	if len(windows) == 1 {
		st = h.last
	}
	args := slices.Concat([]any{s.Key, s.pattern(), s.After, s.AfterID, windows[0], s.Limit, core.EmptyIfNil(s.Others)}, s.args(), h.more)
	h.reads.Add(h.home, st, db.Rows(&h.rows), args...)
	h.reads.Then(func() {
		switch {
		case slices.Contains(h.reads.Missing(), h.home):
		case len(h.rows) < s.Limit && len(windows) > 1:
			h.look(windows[1:])
		default:
			h.add()
		}
	})
}

// add adds the rows that several searches find once, and notes where the search stopped before the page was full.
func (h *homeSearch) add() {
	for _, row := range h.rows {
		switch {
		case row.Weight == windowEnd && len(h.rows) <= h.page.Limit:
			h.reads.StopAt(core.Position{Time: row.CreatedAt, ID: row.ID})
		case row.Weight != windowEnd && !slices.ContainsFunc(*h.into, func(other SearchHit) bool { return other.ID == row.ID }):
			*h.into = append(*h.into, row)
		}
	}
}
