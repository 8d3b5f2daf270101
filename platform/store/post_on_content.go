package store

import "github.com/plaza-social/plaza/platform/region"

// postsOnContent holds the statements of ListPostsOnContent by order. What a list keeps of the few posts on one content is
// looked up in their rows.
var postsOnContent = makePostsOnContent()

func makePostsOnContent() map[string]*Statement {
	lists := map[string]*Statement{}
	for _, o := range timeOrders {
		inner := `SELECT ` + postColumns + ` FROM posts WHERE home = $1 AND target_type = 'content' AND target_public_id = $2 AND feed_type = $3
			AND ` + o.after(o.column(), "id", "$4::timestamptz", "$5") +
			` AND ($7::text = 'any' OR ($7::text = 'deleted') = (deleted_at IS NOT NULL))
			AND (cardinality($8::text[]) = 0 OR tags && $8::text[])
			AND ($9::boolean IS NULL OR is_flagged = $9::boolean)
			AND (is_parent OR NOT $10::boolean)
			AND (cardinality($11::text[]) = 0 OR CASE WHEN $10::boolean THEN structure_type ELSE data_type END = ANY($11::text[]))
			ORDER BY ` + o.by(o.column(), "id") + ` LIMIT $6::bigint`
		lists[o.name] = stmt("posts.onContent"+o.name, withComments(inner, ` ORDER BY `+o.by("p."+o.column(), "p.id")))
	}
	return lists
}

// ListPostsOnContent reads, from each home, up to Limit posts on the content that has an id of the client's; their order is not
// defined. TargetID of the list counts for nothing.
func (r *ReadBatch) ListPostsOnContent(publicID string, l PostList, into *[]Post) {
	*into = nil
	parents := l.ParentsOnly || len(l.DataTypes) == 0 && !l.EveryPost
	for _, home := range region.All() {
		part := new([]Post)
		r.add(home, postsOnContent[timeOrder(l.ByUpdate, l.Desc).name], scanAll(part, scanPost), publicID, l.FeedType, l.After, l.AfterID, l.Limit,
			string(l.Deleted), texts(l.Tags), l.Flagged.wanted(), parents, texts(l.DataTypes))
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// wanted is the choice as a parameter: NULL for any.
func (f Flagged) wanted() *bool {
	yes := f == FlaggedOnly
	if f == FlaggedAny {
		return nil
	}
	return &yes
}
