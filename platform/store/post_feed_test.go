package store_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// TestFeedWays reads feeds in every way, page by page in both directions, and requires what a plain look at all posts
// finds: of readers who follow walls that are busy, walls that fell silent thousands of posts ago, and none. How many
// the reader follows is said wrong on purpose: it decides about the way, and about how many posts are looked up.
func TestFeedWays(t *testing.T) {
	url := dbtest.New(t)
	s := open(t, url)
	conn := connect(t, url)
	// Walls 0 to 9 are silent after post 500; of the 6,000 posts some are deleted, declined, children or by a hidden
	// author.
	for _, sql := range []string{
		`INSERT INTO communities (home, id, display_name, name_key, creator_id, creator_public_id, is_official, is_public, is_discoverable,
				only_admin_can_post, post_approval, comment_approval, join_approval, story_comments, notification_mode, type, tags, category_ids,
				created_at, updated_at, deleted_at)
			SELECT 'us', ID(c, n, 0), n::text, n::text, 'x', 'x', false, n < 12, true, false, false, false, false, false, 'default', 'default',
			'{}', '{}',
				AT(n, 1), AT(n, 1), CASE WHEN n = 13 THEN AT(n, 1) END FROM generate_series(10, 14) AS n`,
		`INSERT INTO posts (home, id, target_type, target_id, target_public_id, author_id, author_public_id, is_parent,
				feed_type, data_type, structure_type, created_at, updated_at, edited_at, deleted_at)
			SELECT 'us', ID(p, n, 0), CASE WHEN w BETWEEN 10 AND 14 THEN 'community' ELSE 'user' END,
				CASE WHEN w BETWEEN 10 AND 14 THEN ID(c, w, 0) ELSE ID(u, w, 0) END, 'w', ID(u, n % 97, 0), 'w', n % 31 <> 0,
				CASE WHEN n % 29 = 0 THEN 'declined' ELSE 'published' END, 'text', CASE WHEN n % 3 = 0 THEN 'image' ELSE 'text' END,
				AT(n / 3, 7), AT(n, 7), AT(n, 7), CASE WHEN n % 23 = 0 THEN AT(n, 7) END
			FROM (SELECT n, CASE WHEN n <= 500 THEN n % 10 ELSE 10 + n % 40 END AS w FROM generate_series(1, 6000) AS n) AS p`,
		`INSERT INTO followers (home, followee_id, follower_id, follower_public_id, followee_public_id, status, version, created_at, updated_at)
			SELECT 'us', ID(u, n, 0), r, 'r', 'u', CASE WHEN n = 25 THEN 'pending' ELSE 'accepted' END, 1, AT(n, 7), AT(n, 7)
			FROM generate_series(0, 25) AS n, (VALUES (ID(r, 1, 0), 15, 25), (ID(r, 2, 0), 0, 9), (ID(r, 3, 0), 0, 25)) AS f (r, low, high)
			WHERE n BETWEEN low AND high`,
		`INSERT INTO follows (home, follower_id, followee_id, follower_public_id, followee_public_id, status, version, created_at, updated_at)
			SELECT home, follower_id, followee_id, 'r', 'u', status, version, created_at, updated_at FROM followers`,
	} {
		_, err := conn.Exec(t.Context(), expandWorld(sql))
		require.NoError(t, err, sql)
	}
	communities := []string{worldID("c", 12, 0), worldID("c", 13, 0)}
	for name, q := range map[string]content.PostFeedQuery{
		"busy":        {ReaderID: worldID("r", 1, 0), Following: true, OwnWall: true, Communities: communities},
		"silent":      {ReaderID: worldID("r", 2, 0), Following: true},
		"both":        {ReaderID: worldID("r", 3, 0), Following: true, Hidden: []string{worldID("u", 5, 0)}},
		"pictures":    {ReaderID: worldID("r", 3, 0), Following: true, StructureTypes: []string{"image"}},
		"own":         {ReaderID: worldID("u", 30, 0), OwnWall: true},
		"none":        {ReaderID: worldID("r", 9, 0), Following: true, OwnWall: true},
		"communities": {ReaderID: worldID("r", 1, 0), Communities: communities},
		"everyone":    {ReaderID: worldID("r", 1, 0), Everyone: true, WallsOpen: true, Communities: communities},
		"but one": {
			ReaderID: worldID("r", 1, 0), Everyone: true, WallsOpen: true, Communities: communities,
			Hidden: []string{worldID("u", 20, 0)},
		},
	} {
		want := plainFeed(t, conn, q)
		if name != "none" {
			require.NotEmpty(t, want)
		}
		for _, targets := range []int64{0, 1, 200, 5000} { // branches, and windows of some sizes
			for _, ranked := range []bool{false, true} {
				for _, desc := range []bool{true, false} {
					t.Run(name+"/"+strconv.FormatInt(targets, 10)+"/"+strconv.FormatBool(ranked)+"/"+strconv.FormatBool(desc), func(t *testing.T) {
						q.FollowedAt, q.Followed = map[region.Code]int64{region.US: targets}, followedBy(t, s, q.ReaderID)
						q.Ranked, q.AsOf, q.Desc, q.Limit = ranked, time.Now(), desc, max(100, len(want)/6)
						got := readWholeFeed(t, s, q)
						if !desc {
							slices.Reverse(got)
						}
						require.Equal(t, want, got)
					})
				}
			}
		}
	}
}

func followedBy(t *testing.T, s *store.Store, readerID string) []string {
	t.Helper()
	var ids []string
	r := s.NewReadBatch()
	r.Followed(readerID, &ids)
	run(t, r)
	return ids
}

// plainFeed looks at every post.
func plainFeed(t *testing.T, conn *pgx.Conn, q content.PostFeedQuery) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT id FROM posts AS p WHERE is_parent AND feed_type = 'published' AND deleted_at IS NULL
		AND author_id <> ALL($2::text[]) AND (cardinality($3::text[]) = 0 OR structure_type = ANY($3)) AND (
			($4 AND EXISTS (SELECT 1 FROM followers AS f WHERE f.follower_id = $1 AND f.followee_id = p.target_id AND f.status = 'accepted'))
			OR ($5 AND target_id = $1)
			OR target_id IN (SELECT id FROM communities WHERE deleted_at IS NULL AND (id = ANY($6::text[]) OR ($7 AND is_public)))
			OR ($7 AND target_type = 'user' AND target_id <> ALL($2::text[])))
		ORDER BY created_at DESC, id DESC`,
		q.ReaderID, append([]string{}, q.Hidden...), append([]string{}, q.StructureTypes...), q.Following, q.OwnWall,
		append([]string{}, q.Communities...), q.Everyone)
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return ids
}

// readWholeFeed reads a feed page by page.
func readWholeFeed(t *testing.T, s *store.Store, q content.PostFeedQuery) []string {
	t.Helper()
	ids := []string{}
	q.After, _, q.AfterID = page.Cursor{Limit: 1}.Start(q.Desc)
	for {
		var found []content.PostFeedEntry
		r := s.NewReadBatch()
		r.ListPostFeed(q, &found)
		run(t, r)
		for _, e := range found {
			ids = append(ids, e.ID)
		}
		if len(found) < q.Limit {
			return ids
		}
		last := found[len(found)-1]
		q.After, q.AfterID = last.CreatedAt, last.ID
	}
}
