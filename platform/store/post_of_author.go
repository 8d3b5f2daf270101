package store

import "github.com/plaza-social/plaza/platform/region"

// postsOfAuthor are the statements of windows of ListPostsOfAuthor. $9 includes the posts of all private communities, $10 are private
// communities whose posts are included. The COALESCE hides structure_type from the planner, which would otherwise look for the
// author in the index posts_by_recency of all posts.
var postsOfAuthor = byTime(source{
	name: "posts.ofAuthor", from: `posts WHERE home = $1 AND author_id = $2 AND target_type = 'community'`, after: 3, args: 10,
	filter: ` AND feed_type = 'published' AND ($6::text = 'any' OR ($6::text = 'deleted') = (deleted_at IS NOT NULL))
		AND (is_parent OR NOT $7::boolean)
		AND (cardinality($8::text[]) = 0 OR COALESCE(CASE WHEN $7::boolean THEN structure_type END, data_type) = ANY($8::text[]))
		AND COALESCE((SELECT c.deleted_at IS NULL AND (c.is_public OR $9::boolean OR c.id = ANY($10::text[]))
			FROM communities AS c WHERE c.home = $1 AND c.id = posts.target_id), false)`,
}.window)

// AuthorPosts selects the published posts of a user in communities.
type AuthorPosts struct {
	AuthorID string
	// Everything includes the posts of all private communities, otherwise only those of Communities.
	Everything  bool
	Communities []string
}

// ListPostsOfAuthor reads up to Limit posts of each home, home by home. It ignores TargetID, FeedType, Tags and Flagged.
func (r *ReadBatch) ListPostsOfAuthor(a AuthorPosts, l PostList, into *[]Post) {
	*into = nil
	communities := r.ByHome(a.Communities)
	for _, home := range region.All() {
		readWindows(r, windows[Post]{
			home: home, after: Position{Time: l.After, ID: l.AfterID}, limit: l.Limit, statement: postsOfAuthor.in(l.ByUpdate, l.Desc),
			rows: r.postsAt(l),
			args: func(after Position, limit int) []any {
				return []any{
					a.AuthorID, after.Time, after.ID, limit, string(l.Deleted), l.onlyParents(), emptyIfNil(l.DataTypes), a.Everything,
					emptyIfNil(communities[home]),
				}
			},
		}, into)
	}
}

// onlyParents reports whether the list contains parents only.
func (l PostList) onlyParents() bool { return l.ParentsOnly || len(l.DataTypes) == 0 && !l.EveryPost }
