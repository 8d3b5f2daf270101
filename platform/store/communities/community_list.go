package communities

import (
	"time"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// CommunityList is a page of communities.
type CommunityList struct {
	// Flagged filters by whether the community has a flagged post or comment; nil means all.
	Flagged *bool
	// Deleted selects deleted communities, otherwise live ones.
	Deleted bool
	// CategoryID filters by category; empty means all.
	CategoryID string
	// Tags selects communities with any of the tags; empty means all.
	Tags []string
	// Everything includes all private communities. Otherwise only those in Mine are included, and with Discoverable the
	// discoverable ones.
	Everything   bool
	Discoverable bool
	// Mine are the communities of the caller; NotMine excludes them.
	Mine    []string
	NotMine bool
	// ByName orders by name, otherwise by creation time.
	ByName bool
	Desc   bool
	// Prefix is the prefix of the name; it requires ByName.
	Prefix string
	// The position that the page starts after.
	AfterTime time.Time
	AfterKey  string
	AfterID   string
	Limit     int
}

// CommunityKey is the position of a community in a list.
type CommunityKey struct {
	ID        string
	NameKey   string
	CreatedAt time.Time
}

// CommunityRow is a community with the key of lists by name.
type CommunityRow struct {
	Community
	NameKey string
}

// communityFilter is the filter of community lists. Its parameters are those of CommunityList.filter.
const communityFilter = ` AND (c.deleted_at IS NOT NULL) = $2::boolean AND (array_length($3::text[], 1) IS NULL OR c.tags && $3::text[])
	AND ($4::boolean IS NULL OR c.is_flagged = $4::boolean)`

func (l CommunityList) filter() []any { return []any{l.Deleted, core.EmptyIfNil(l.Tags), l.Flagged} }

// communityVisible keeps the communities that the caller can see.
const communityVisible = ` AND (c.is_public OR $5::boolean OR (c.is_discoverable AND $6::boolean) OR c.id = ANY($7::text[]))
	AND NOT ($8::boolean AND c.id = ANY($7::text[]))`

// likeBeyondKey returns the LIKE pattern of names with the prefix, or one that matches all names if the key contains
// the whole prefix.
func likeBeyondKey(prefix string) string {
	if utf8.RuneCountInString(prefix) <= core.PublicNameKeyRunes {
		return "%"
	}
	return core.LikePrefix(prefix)
}

func (l CommunityList) names() []any {
	low, high := core.PrefixRange(core.NameKey(l.Prefix, core.PublicNameKeyRunes))
	return []any{low, high, likeBeyondKey(l.Prefix)}
}

// The statements of ListCommunities. All lists are read in windows: the filters have no index, nor has the one that keeps deleted
// communities and the private ones of others out, of which there can be any number.
var (
	communitiesByCreation        = communityList("all", "communities_by_created", "c.created_at", "", "", 11)
	flaggedCommunitiesByCreation = communityList("flagged", "communities_flagged", "c.created_at", " AND c.is_flagged", "", 11)
	communitiesByName            = communityList("all", "communities_by_name", "c.name_key", communityNamed("c"), communityHasName, 14)

	communitiesOfCategoryByCreation = communitiesOfCategory("cc.created_at", " AND cc.category_id = $12", "", 12)
	communitiesOfCategoryByName     = communitiesOfCategory("cc.name_key", " AND cc.category_id = $15"+communityNamed("cc"),
		communityHasName, 15)
)

// communityNamed is the condition on the beginning of the name, by the keys in a table.
func communityNamed(table string) string {
	return " AND " + table + ".name_key >= $12::text AND " + table + ".name_key < $13::text"
}

// communityHasName is the filter by the rest of a prefix of the name.
const communityHasName = " AND lower(c.display_name) LIKE $14::text"

// communityList registers the windows of a list of all communities, read by the index in the order of the list: see listedChannels.
func communityList(name, index, column, condition, filter string, args int) core.Directions {
	return core.OrderedBy(communityOrders(column), column, core.Source{
		Name: "communities.list." + name, From: "communities /*@{FORCE_INDEX=" + index + "}*/ AS c WHERE c.home = $1" + condition,
		Filter: communityFilter + communityVisible + filter, ID: "c.id", After: 9, Args: args,
	}.Window)
}

// communitiesOfCategory registers the windows of a list of the communities of a category.
func communitiesOfCategory(column, condition, filter string, args int) core.Directions {
	return core.OrderedBy(communityOrders(column), column, core.Source{
		Name:   "communities.list.category",
		From:   "community_categories AS cc JOIN communities AS c ON c.home = $1 AND c.id = cc.community_id WHERE cc.home = $1" + condition,
		Filter: communityFilter + communityVisible + filter, ID: "cc.community_id", After: 9, Args: args,
	}.Window)
}

func communityOrders(column string) [2]db.Order {
	return core.Pick(core.IsName(column), core.NameOrders, core.CreatedOrders)
}

var sqlCommunityKeys = db.Register("communities.keys", `SELECT c.id, c.name_key, c.created_at FROM communities AS c
	WHERE c.home = $1 AND c.id = ANY($5::text[])`+communityFilter+` AND ($6::text = '' OR $6::text = ANY(c.category_ids))
	AND c.name_key >= $7::text AND c.name_key < $8::text AND ($9::text = '%' OR lower(c.display_name) LIKE $9::text)`)

// ListCommunities reads up to Limit visible communities of each home, home by home.
func (r ReadBatch) ListCommunities(l CommunityList, into *[]CommunityRow) {
	*into = nil
	mine, after := r.ByHome(l.Mine), core.Position{Time: l.AfterTime, Key: l.AfterKey, ID: l.AfterID}
	for _, home := range region.All() {
		core.ReadWindows(r.ReadBatch, core.Windows[CommunityRow]{
			Home: home, After: after, Limit: l.Limit, Statement: l.statements().In(l.Desc),
			Args: func(after core.Position, limit int) []any { return l.args(mine[home], after, limit) },
			Rows: core.RowsAt(r.ReadBatch, r.Communities, func(c Community, at map[string]core.Position) (CommunityRow, bool) {
				return CommunityRow{c, at[c.ID].Key}, true
			}),
		}, into)
	}
}

// CommunityKeys reads the keys of all communities in Mine that match the filter, without paging.
func (r ReadBatch) CommunityKeys(l CommunityList, into *[]CommunityKey) {
	*into = nil
	for home, ids := range r.ByHome(l.Mine) {
		core.AppendRows(r.ReadBatch, home, sqlCommunityKeys, into, append(append(l.filter(), ids, l.CategoryID), l.names()...)...)
	}
}

func (l CommunityList) statements() core.Directions {
	switch {
	case l.CategoryID != "":
		return core.Pick(l.ByName, communitiesOfCategoryByName, communitiesOfCategoryByCreation)
	case l.ByName:
		return communitiesByName
	case l.Flagged != nil && *l.Flagged:
		return flaggedCommunitiesByCreation
	}
	return communitiesByCreation
}

func (l CommunityList) args(mine []string, after core.Position, limit int) []any {
	args := append(l.filter(), l.Everything, l.Discoverable, core.EmptyIfNil(mine), l.NotMine)
	if l.ByName {
		args = append(args, after.Key, after.ID, limit)
		args = append(args, l.names()...)
	} else {
		args = append(args, after.Time, after.ID, limit)
	}
	if l.CategoryID != "" {
		args = append(args, l.CategoryID)
	}
	return args
}
