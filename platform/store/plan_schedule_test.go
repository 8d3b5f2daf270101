package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
)

// User 3 scheduled a third of all posts. Most are published, one in fifty waits.
var _ = planned((*collector).collectScheduledPosts,
	`INSERT INTO scheduled_posts (home, id, lane, author_id, author_public_id, target_type, target_id, target_public_id, post_ids, draft,
			scheduled_at, due_at, status, description, created_at, updated_at)
		SELECT HOME(n), ID(x, n, n), n % 4, ID(u, a, a), 'user-' || a::text, 'community', ID(c, n, n), ID(c, n, n), ARRAY[ID(p, n, n)], '{}',
			AT(n, 60), AT(n, 60), CASE WHEN n % 50 = 0 THEN 'WAIT' ELSE 'posted' END, '', AT(n, 60), AT(n, 60)
		FROM (SELECT n, CASE WHEN n % 3 = 0 THEN 3 ELSE n END AS a FROM generate_series(1, 30000) AS n) AS s`,
)

func (c *collector) collectScheduledPosts() {
	var one *content.ScheduledPost
	var all []content.ScheduledPost
	c.reads(func(r *store.ReadBatch) { r.ScheduledPost(worldID("x", 3, 3), &one) })
	both(30_000*30, func(desc bool, at time.Time, id string) {
		for _, byUpdate := range []bool{true, false} {
			for _, author := range []string{"", userID(3)} {
				l := content.ScheduledPostList{AuthorID: author, ByUpdate: byUpdate, Desc: desc, After: at, AfterID: id, Limit: pageRows}
				c.reads(func(r *store.ReadBatch) { r.ListScheduledPosts(l, &all) })
			}
		}
	})
	c.byName("scheduledPosts.due4", string(region.US), worldStart, worldStart.Add(30_000*time.Minute), 100, int64(0), int64(1), int64(2),
		int64(-1))
	row := content.ScheduledPost{
		ID: worldID("x", 150, 150), AuthorID: userID(3), TargetType: "community", TargetID: communityID(3), PostIDs: []string{postID(3)},
		Draft: []byte(`{}`), Mentions: []byte(`[]`), ScheduledAt: worldStart, Status: content.ScheduleWaiting, Version: 1, CreatedAt: worldStart,
		UpdatedAt: worldStart,
	}
	fresh, changed := row, row
	fresh.ID, changed.Version = region.NewID(region.US), 2
	c.write(func(w *store.Tx) {
		w.InsertScheduledPost(fresh)
		w.UpdateScheduledPost(row, core.ErrConflict)
		w.DelayScheduledPost(changed, worldStart)
		w.ResolveScheduledPost(changed, content.SchedulePosted, "", worldStart, core.ErrConflict)
	})
	c.write(func(w *store.Tx) { w.DeleteScheduledPost(row, core.ErrConflict) })
}
