package content

import (
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
)

// postsOnContent are the statements of windows of ListPostsOnContent.
var postsOnContent = core.OrderedByTime(core.Source{
	Name: "posts.onContent", From: `posts WHERE home = $1 AND target_type = 'content' AND target_public_id = $2`, After: 4, Args: 11,
	Filter: ` AND feed_type = $3` + postFilter + `
		AND ($9::boolean IS NULL OR is_flagged = $9::boolean)
		AND (is_parent OR NOT $10::boolean)
		AND (cardinality($11::text[]) = 0 OR CASE WHEN $10::boolean THEN structure_type ELSE data_type END = ANY($11::text[]))`,
}.Window)

// ListPostsOnContent reads up to Limit posts of each home on the content with a client's id, in no particular order. It
// ignores TargetID.
func (r ReadBatch) ListPostsOnContent(publicID string, l PostList, into *[]Post) {
	*into = nil
	for _, home := range region.All() {
		core.ReadWindows(r.ReadBatch, core.Windows[Post]{
			Home: home, After: core.Position{Time: l.After, ID: l.AfterID}, Limit: l.Limit, Statement: postsOnContent.In(l.ByUpdate, l.Desc),
			Rows: r.postsAt(l),
			Args: func(after core.Position, limit int) []any {
				return []any{
					publicID, l.FeedType, after.Time, after.ID, limit, string(l.Deleted), core.EmptyIfNil(l.Tags), l.Flagged.Wanted(), l.onlyParents(),
					core.EmptyIfNil(l.DataTypes),
				}
			},
		}, into)
	}
}
