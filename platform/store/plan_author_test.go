package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
)

// One user has 3,000 posts in a community of home us; of each kind that a list filters by one in eight, and one in eight is in
// a private community.
var _ = planned((*collector).collectPostsOfAuthor,
	`INSERT INTO posts (home, id, target_type, target_id, target_public_id, author_id, author_public_id, parent_id, is_parent, children,
			feed_type, data_type, structure_type, tags, created_at, updated_at, edited_at, deleted_at)
		SELECT 'us', ID(w, n, 3), 'community', CASE WHEN n % 16 = 8 THEN ID(c, 99, 3) ELSE ID(c, 6, 3) END, ID(c, 6, 3), ID(u, 4, 4), 'user-4',
			'', n % 16 <> 2, ARRAY[]::text[], CASE WHEN n % 16 = 6 THEN 'reviewing' ELSE 'published' END, CASE WHEN n % 16 = 4 THEN 'image'
			ELSE 'text' END,
			CASE WHEN n % 16 = 4 THEN 'image' ELSE 'text' END, ARRAY[]::text[], AT(n, 3), AT(n, 3), AT(n, 3), CASE WHEN n % 16 = 10 THEN AT(n, 3) END
		FROM generate_series(1, 3000) AS n`,
)

func (c *collector) collectPostsOfAuthor() {
	var posts []content.Post
	author := content.AuthorPosts{AuthorID: userID(4), Communities: []string{communityID(99)}}
	both(3000*3/2, func(desc bool, at time.Time, id string) {
		for _, byUpdate := range []bool{true, false} {
			for _, l := range []content.PostList{
				{Deleted: core.DeletedNone},
				{Deleted: core.DeletedOnly},
				{Deleted: core.DeletedAny, EveryPost: true},
				{Deleted: core.DeletedNone, DataTypes: []string{"image"}},
				{Deleted: core.DeletedNone, DataTypes: []string{"image"}, ParentsOnly: true},
			} {
				l.Desc, l.ByUpdate, l.After, l.AfterID, l.Limit = desc, byUpdate, at, id, pageRows
				c.reads(func(r *store.ReadBatch) { r.ListPostsOfAuthor(author, l, &posts) })
			}
		}
	})
}
