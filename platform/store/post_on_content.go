package store

import (
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// postsOnContent are the statements of ListPostsOnContent. The filters are not indexed: there are few posts on one
// content.
var postsOnContent = byTime(func(o db.Order, column string) *db.Statement {
	inner := `SELECT ` + postColumns + ` FROM posts WHERE home = $1 AND target_type = 'content' AND target_public_id = $2 AND feed_type = $3
			AND ` + o.After(column, "id", "$4::timestamptz", "$5") +
		` AND ($7::text = 'any' OR ($7::text = 'deleted') = (deleted_at IS NOT NULL))
			AND (cardinality($8::text[]) = 0 OR tags && $8::text[])
			AND ($9::boolean IS NULL OR is_flagged = $9::boolean)
			AND (is_parent OR NOT $10::boolean)
			AND (cardinality($11::text[]) = 0 OR CASE WHEN $10::boolean THEN structure_type ELSE data_type END = ANY($11::text[]))
			ORDER BY ` + o.By(column, "id") + ` LIMIT $6::bigint`
	return stmt("posts.onContent"+o.Name, withComments(inner, ` ORDER BY `+o.By("p."+column, "p.id")))
})

// ListPostsOnContent reads up to Limit posts of each home on the content with a client's id, in no particular order. It
// ignores TargetID.
func (r *ReadBatch) ListPostsOnContent(publicID string, l PostList, into *[]Post) {
	*into = nil
	for _, home := range region.All() {
		part := new([]Post)
		r.Add(home, postsOnContent.in(l.ByUpdate, l.Desc), db.Rows(part), publicID, l.FeedType, l.After, l.AfterID, l.Limit,
			string(l.Deleted), emptyIfNil(l.Tags), l.Flagged.wanted(), l.onlyParents(), emptyIfNil(l.DataTypes))
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// wanted returns the parameter of a filter; nil, which is NULL, for any.
func (f Flagged) wanted() *bool {
	yes := f == FlaggedOnly
	if f == FlaggedAny {
		return nil
	}
	return &yes
}
