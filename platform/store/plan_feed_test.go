package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
)

// Everybody follows the ten next users, the users with a number that 300 divides are followed by hundreds, and
// everybody blocks one; thousands block or have blocked the user 3.
var _ = planned((*collector).collectFollows,
	`INSERT INTO follows (home, follower_id, followee_id, follower_public_id, followee_public_id, status, version, created_at, updated_at)
		SELECT HOME(n), ID(u, n, n), ID(u, (n + k), (n + k)), 'u', 'u', CASE WHEN k = 5 THEN 'pending' ELSE 'accepted' END, 1, AT(n, k), AT(n, k)
		FROM generate_series(1, 5000) AS n, generate_series(1, 10) AS k`,
	`INSERT INTO follows (home, follower_id, followee_id, follower_public_id, followee_public_id, status, version, created_at, updated_at)
		SELECT 'us', ID(u, 3, 3), ID(u, n, n), 'u', 'u', CASE WHEN n % 10 = 5 THEN 'pending' ELSE 'accepted' END, 1, AT(n, 3), AT(n, 3)
		FROM generate_series(20, 5000) AS n`,
	`INSERT INTO followers (home, followee_id, follower_id, follower_public_id, followee_public_id, status, version, created_at, updated_at)
		SELECT HOME(n), ID(u, n, n), ID(u, (n + k), (n + k)), 'u', 'u', CASE WHEN k = 5 THEN 'pending' ELSE 'accepted' END, 1, AT(n, k), AT(n, k)
		FROM generate_series(1, 5000) AS n, generate_series(1, 10) AS k`,
	`INSERT INTO followers (home, followee_id, follower_id, follower_public_id, followee_public_id, status, version, created_at, updated_at)
		SELECT 'us', ID(u, 3, 3), ID(u, n, n), 'u', 'u', CASE WHEN n % 10 = 5 THEN 'pending' ELSE 'accepted' END, 1, AT(n, 3), AT(n, 3)
		FROM generate_series(20, 5000) AS n`,
	`INSERT INTO blocks (home, blocker_id, blocked_id, blocker_public_id, blocked_public_id, status, version, created_at, updated_at)
		SELECT HOME(n), ID(u, n, n), ID(u, (n + 7), (n + 7)), 'u', 'u', 'blocked', 1, AT(n, 3), AT(n, 3) FROM generate_series(1, 5000) AS n`,
	`INSERT INTO blocks (home, blocker_id, blocked_id, blocker_public_id, blocked_public_id, status, version, created_at, updated_at)
		SELECT 'us', ID(u, 3, 3), ID(u, n, n), 'u', 'u', 'blocked', 1, AT(n, 3), AT(n, 3) FROM generate_series(100, 900) AS n`,
	`INSERT INTO blocked_by (home, blocked_id, blocker_id, status, version, changed_at)
		SELECT HOME(n), ID(u, n, n), ID(u, (n + 7), (n + 7)), 'blocked', 1, AT(n, 3) FROM generate_series(1, 30000) AS n`,
	`INSERT INTO blocked_by (home, blocked_id, blocker_id, status, version, changed_at)
		SELECT 'us', ID(u, 3, 3), ID(u, n, n), CASE WHEN n % 2 = 0 THEN 'none' ELSE 'blocked' END, 1, AT(n, 3) FROM generate_series(20, 3000)
		AS n`,
)

func (c *collector) collectFollows() {
	var follow *people.Follow
	var follows []people.Follow
	var ids []string
	var wall content.Wall
	star := userID(3)
	c.reads(func(r *store.ReadBatch) { r.Follow(star, userID(6), &follow) })
	for _, user := range []string{star, userID(9)} {
		c.reads(func(r *store.ReadBatch) { r.HiddenFrom(user, &ids) })
		c.reads(func(r *store.ReadBatch) { r.BlockersOf(user, &ids) })
	}
	c.reads(func(r *store.ReadBatch) { r.HiddenAmong(star, []string{userID(9), userID(150)}, &ids) })
	c.reads(func(r *store.ReadBatch) { r.BlockersAmong(star, []string{userID(9), userID(150)}, &ids) })
	both(5000*3/2, func(desc bool, at time.Time, id string) {
		for _, followers := range []bool{true, false} {
			l := people.FollowList{
				UserID: star, Followers: followers, Statuses: []string{people.FollowAccepted}, Desc: desc, After: at, AfterID: id,
				Limit: pageRows,
			}
			c.reads(func(r *store.ReadBatch) { r.ListFollows(l, &follows) })
		}
		var blocks []people.Block
		c.reads(func(r *store.ReadBatch) {
			r.ListBlocks(people.BlockList{UserID: star, Desc: desc, After: at, AfterID: id, Limit: pageRows}, &blocks)
		})
	})
	c.reads(func(r *store.ReadBatch) { r.Wall(star, userID(6), &wall) })

	fresh := people.Follow{
		FollowerID: star, FolloweeID: userID(6000), Status: people.FollowAccepted, CreatedAt: worldStart,
		UpdatedAt: worldStart,
	}
	old := fresh
	old.FolloweeID, old.Version = userID(30), 1
	ended := old
	ended.Status = people.FollowNone
	c.write(func(w *store.Tx) {
		w.GuardNotBlocked(star, userID(6), core.ErrConflict)
		w.ChangeFollow(people.FollowChange{New: fresh}, worldStart, worldStart)
		w.ChangeFollow(people.FollowChange{Old: &old, New: ended}, worldStart, worldStart)
		w.EndFollower(star, userID(30))
		w.GuardNoFollow(star, userID(30))
	})
	c.collectBlocks()
	c.collectFeeds()
}

func (c *collector) collectBlocks() {
	var block *people.Block
	var mirrored *people.MirroredBlock
	star := userID(3)
	c.reads(func(r *store.ReadBatch) { r.Block(star, userID(300), &block) })
	c.reads(func(r *store.ReadBatch) { r.BlockedBy(star, userID(300), &mirrored) })
	fresh := people.Block{BlockerID: star, BlockedID: userID(6), Status: people.BlockBlocked, CreatedAt: worldStart, UpdatedAt: worldStart}
	old := fresh
	old.BlockedID, old.Version = userID(300), 1
	c.write(func(w *store.Tx) {
		w.ChangeBlock(people.BlockChange{New: fresh}, worldStart, worldStart)
		w.ChangeBlock(people.BlockChange{Old: &old, New: old}, worldStart, worldStart)
		w.MirrorBlock(people.MirroredBlock{BlockerID: userID(6), BlockedID: star, Status: people.BlockBlocked, Version: 1, ChangedAt: worldStart})
	})
}

// collectFeeds reads feeds of few and of many communities of one home, and of more and more targets.
func (c *collector) collectFeeds() {
	var found []content.PostFeedEntry
	var ids []string
	c.reads(func(r *store.ReadBatch) { r.Followed(userID(3), &ids) })
	c.reads(func(r *store.ReadBatch) { r.FollowedAtHome(region.US, userID(6), &ids) })
	entries := make([]*content.PostFeedEntry, pageRows)
	for i := range entries {
		entries[i] = &content.PostFeedEntry{ID: postID(3 * (i + 1))}
	}
	c.reads(func(r *store.ReadBatch) { r.Rank(region.US, entries, userID(6), postTime(worldPosts)) })
	both(worldPosts*7, func(desc bool, at time.Time, id string) {
		q := content.PostFeedQuery{
			Desc: desc, After: at, AfterID: id, Limit: pageRows, Hidden: []string{userID(9)}, ReaderID: userID(3), OwnWall: true, Following: true,
		}
		for n := range 999 {
			q.Communities = append(q.Communities, communityID(3*n+3))
		}
		for _, n := range []int64{1_000, 30_000} {
			q.FollowedAt = map[region.Code]int64{region.US: n}
			c.usAlone(func(r *store.ReadBatch) { r.ListPostFeed(q, &found) })
		}
		q.FollowedAt, q.Communities = nil, q.Communities[:2]
		for i := range 60 { // few to many branches
			if n := len(q.Followed); n == 1 || n == 10 || n == 59 {
				c.usAlone(func(r *store.ReadBatch) { r.ListPostFeed(q, &found) })
			}
			q.Followed = append(q.Followed, userID(3*i+21))
		}
		q.Everyone, q.WallsOpen = true, true
		c.usAlone(func(r *store.ReadBatch) { r.ListPostFeed(q, &found) })
	})
	c.lastWindows("feeds.everyone")
}

// usAlone collects the statements of a gathering for one home.
func (c *collector) usAlone(gather func(r *store.ReadBatch)) {
	r := c.store.NewReadBatch()
	gather(r)
	for _, q := range r.Queued() {
		if q.Args[0] == string(region.US) {
			c.add(nil, q)
		}
	}
}
