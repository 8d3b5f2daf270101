package content

import (
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
)

// postsOfAuthor are the statements of windows of ListPostsOfAuthor. $9 includes the posts of all private communities, $10 are private
// communities whose posts are included. The COALESCE hides structure_type from the planner, which would otherwise look for the
// author in the index posts_by_recency of all posts.
var postsOfAuthor = core.OrderedByTime(core.Source{
	Name: "posts.ofAuthor", From: `posts WHERE home = $1 AND author_id = $2 AND target_type = 'community'`, After: 3, Args: 10,
	Filter: ` AND feed_type = 'published' AND ($6::text = 'any' OR ($6::text = 'deleted') = (deleted_at IS NOT NULL))
		AND (is_parent OR NOT $7::boolean)
		AND (cardinality($8::text[]) = 0 OR COALESCE(CASE WHEN $7::boolean THEN structure_type END, data_type) = ANY($8::text[]))
		AND COALESCE((SELECT c.deleted_at IS NULL AND (c.is_public OR $9::boolean OR c.id = ANY($10::text[]))
			FROM communities AS c WHERE c.home = $1 AND c.id = posts.target_id), false)`,
}.Window)

// AuthorPosts selects the published posts of a user in communities.
type AuthorPosts struct {
	AuthorID string
	// Everything includes the posts of all private communities, otherwise only those of Communities.
	Everything  bool
	Communities []string
}

// ListPostsOfAuthor reads up to Limit posts of each home, home by home. It ignores TargetID, FeedType, Tags and Flagged.
func (r ReadBatch) ListPostsOfAuthor(a AuthorPosts, l PostList, into *[]Post) {
	*into = nil
	communities := r.ByHome(a.Communities)
	for _, home := range region.All() {
		core.ReadWindows(r.ReadBatch, core.Windows[Post]{
			Home: home, After: core.Position{Time: l.After, ID: l.AfterID}, Limit: l.Limit, Statement: postsOfAuthor.In(l.ByUpdate, l.Desc),
			Rows: r.postsAt(l),
			Args: func(after core.Position, limit int) []any {
				return []any{
					a.AuthorID, after.Time, after.ID, limit, string(l.Deleted), l.onlyParents(), core.EmptyIfNil(l.DataTypes), a.Everything,
					core.EmptyIfNil(communities[home]),
				}
			},
		}, into)
	}
}

// onlyParents reports whether the list contains parents only.
func (l PostList) onlyParents() bool { return l.ParentsOnly || len(l.DataTypes) == 0 && !l.EveryPost }
