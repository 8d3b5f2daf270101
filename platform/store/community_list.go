package store

import (
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// CommunityList is a page of communities to read.
type CommunityList struct {
	// Flagged keeps those with a flagged post or comment, or the others; nil keeps both.
	Flagged *bool
	// Deleted keeps the deleted ones, or the others.
	Deleted bool
	// CategoryID keeps those of one category; empty keeps all.
	CategoryID string
	// Tags keeps those that have any of the tags; empty keeps all.
	Tags []string
	// Everything shows all private communities. Otherwise those of Mine are shown, and with Discoverable those that
	// everybody can find.
	Everything   bool
	Discoverable bool
	// Mine are the communities that the caller is a member of; NotMine leaves them out.
	Mine    []string
	NotMine bool
	// ByName orders by name, else by time of creation.
	ByName bool
	Desc   bool
	// Prefix is the beginning of the name; it goes with ByName.
	Prefix string
	// The position after which the page starts.
	AfterTime time.Time
	AfterKey  string
	AfterID   string
	Limit     int
}

// CommunityKey is a community's place in lists.
type CommunityKey struct {
	ID        string
	NameKey   string
	CreatedAt time.Time
}

func scanCommunityKey(rows pgx.Rows) (CommunityKey, error) {
	var k CommunityKey
	err := rows.Scan(&k.ID, &k.NameKey, &k.CreatedAt)
	return k, err
}

// CommunityRow is a community with its place in lists by name.
type CommunityRow struct {
	Community
	NameKey string
}

func scanCommunityRow(rows pgx.Rows) (CommunityRow, error) {
	var c CommunityRow
	err := rows.Scan(append(c.fields(), &c.NameKey)...)
	return c, err
}

// communityFilter keeps what a list asks for; its parameters are those of CommunityList.filter.
const communityFilter = ` AND (c.deleted_at IS NOT NULL) = $2::boolean AND (array_length($3::text[], 1) IS NULL OR c.tags && $3::text[])
	AND ($4::boolean IS NULL OR c.is_flagged = $4::boolean)`

func (l CommunityList) filter() []any { return []any{l.Deleted, texts(l.Tags), l.Flagged} }

// communityVisible keeps what the caller may see.
const communityVisible = ` AND (c.is_public OR $5::boolean OR (c.is_discoverable AND $6::boolean) OR c.id = ANY($7::text[]))
	AND NOT ($8::boolean AND c.id = ANY($7::text[]))`

// likeBeyondKey returns the pattern of names that begin with prefix, where the key of names does not settle that.
func likeBeyondKey(prefix string) string {
	if utf8.RuneCountInString(prefix) <= PublicNameKeyRunes {
		return "%"
	}
	return likePrefix(prefix)
}

func (l CommunityList) names() []any {
	low, high := prefixRange(NameKey(l.Prefix, PublicNameKeyRunes))
	return []any{low, high, likeBeyondKey(l.Prefix)}
}

// communityNamed keeps names with a prefix, by the key in the table that the list walks.
func communityNamed(table string) string {
	return " AND " + table + ".name_key >= $12::text AND " + table + ".name_key < $13::text AND lower(c.display_name) LIKE $14::text"
}

// communityLists holds the statements of ListCommunities by what they walk and in which order.
var communityLists = makeCommunityLists()

func makeCommunityLists() map[string]*Statement {
	lists := map[string]*Statement{}
	add := func(source string, o listOrder, tables, where, key, id, kind string) {
		lists[source+o.name] = stmt("communities.list."+source+o.name, `SELECT `+prefixed("c", communityColumns)+`, c.name_key FROM `+tables+
			` WHERE `+where+communityFilter+communityVisible+` AND `+o.after(key, id, "$9::"+kind, "$10")+
			` ORDER BY `+o.by(key, id)+` LIMIT $11::bigint`)
	}
	const alone, inCategory = "communities AS c", "community_categories AS cc JOIN communities AS c ON c.home = $1 AND c.id = cc.community_id"
	for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
		add("all", o, alone, "c.home = $1", "c.created_at", "c.id", "timestamptz")
		add("flagged", o, alone, "c.home = $1 AND c.is_flagged", "c.created_at", "c.id", "timestamptz")
		add("category", o, inCategory, "cc.home = $1 AND cc.category_id = $12", "cc.created_at", "cc.community_id", "timestamptz")
	}
	for _, o := range []listOrder{orderNameDesc, orderNameAsc} {
		add("all", o, alone, "c.home = $1"+communityNamed("c"), "c.name_key", "c.id", "text")
		add("category", o, inCategory, "cc.home = $1 AND cc.category_id = $15"+communityNamed("cc"), "cc.name_key", "cc.community_id", "text")
	}
	return lists
}

var sqlCommunityKeys = stmt("communities.keys", `SELECT c.id, c.name_key, c.created_at FROM communities AS c
	WHERE c.home = $1 AND c.id = ANY($5::text[])`+communityFilter+` AND ($6::text = '' OR $6::text = ANY(c.category_ids))
	AND c.name_key >= $7::text AND c.name_key < $8::text AND lower(c.display_name) LIKE $9::text`)

// ListCommunities reads up to Limit communities of each home that the list shows, home by home.
func (r *ReadBatch) ListCommunities(l CommunityList, into *[]CommunityRow) {
	*into = nil
	mine := byHome(l.Mine)
	for _, home := range region.All() {
		part := new([]CommunityRow)
		r.add(home, communityLists[l.source()+l.order().name], scanAll(part, scanCommunityRow), l.args(mine[home])...)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// CommunityKeys reads the places of those communities of Mine that the list keeps, whatever its page.
func (r *ReadBatch) CommunityKeys(l CommunityList, into *[]CommunityKey) {
	*into = nil
	for home, ids := range byHome(l.Mine) {
		part := new([]CommunityKey)
		r.add(home, sqlCommunityKeys, scanAll(part, scanCommunityKey), append(append(l.filter(), ids, l.CategoryID), l.names()...)...)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

func (l CommunityList) order() listOrder {
	if l.ByName {
		return pick(l.Desc, orderNameDesc, orderNameAsc)
	}
	return pick(l.Desc, orderCreatedDesc, orderCreatedAsc)
}

func (l CommunityList) source() string {
	switch {
	case l.CategoryID != "":
		return "category"
	case l.Flagged != nil && *l.Flagged && !l.ByName: // the index of flagged ones is by time
		return "flagged"
	}
	return "all"
}

func (l CommunityList) args(mine []string) []any {
	args := append(l.filter(), l.Everything, l.Discoverable, texts(mine), l.NotMine)
	if l.ByName {
		args = append(args, l.AfterKey, l.AfterID, l.Limit)
		args = append(args, l.names()...)
	} else {
		args = append(args, l.AfterTime, l.AfterID, l.Limit)
	}
	if l.CategoryID != "" {
		args = append(args, l.CategoryID)
	}
	return args
}
