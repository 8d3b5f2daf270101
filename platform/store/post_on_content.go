package store

import "github.com/plaza-social/plaza/platform/region"

// postsOnContent are the statements of windows of ListPostsOnContent.
var postsOnContent = byTime(source{
	name: "posts.onContent", from: `posts WHERE home = $1 AND target_type = 'content' AND target_public_id = $2`, after: 4, args: 11,
	filter: ` AND feed_type = $3` + postFilter + `
		AND ($9::boolean IS NULL OR is_flagged = $9::boolean)
		AND (is_parent OR NOT $10::boolean)
		AND (cardinality($11::text[]) = 0 OR CASE WHEN $10::boolean THEN structure_type ELSE data_type END = ANY($11::text[]))`,
}.window)

// ListPostsOnContent reads up to Limit posts of each home on the content with a client's id, in no particular order. It
// ignores TargetID.
func (r *ReadBatch) ListPostsOnContent(publicID string, l PostList, into *[]Post) {
	*into = nil
	for _, home := range region.All() {
		readWindows(r, windows[Post]{
			home: home, after: Position{Time: l.After, ID: l.AfterID}, limit: l.Limit, statement: postsOnContent.in(l.ByUpdate, l.Desc),
			rows: r.postsAt(l),
			args: func(after Position, limit int) []any {
				return []any{
					publicID, l.FeedType, after.Time, after.ID, limit, string(l.Deleted), emptyIfNil(l.Tags), l.Flagged.wanted(), l.onlyParents(),
					emptyIfNil(l.DataTypes),
				}
			},
		}, into)
	}
}
