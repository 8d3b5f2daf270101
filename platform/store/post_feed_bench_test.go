package store_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// feedBenchPosts is how many posts the benchmark of feeds has; PLAZA_FEED_POSTS changes it.
func feedBenchPosts() int {
	if n, err := strconv.Atoi(os.Getenv("PLAZA_FEED_POSTS")); err == nil {
		return n
	}
	return 200_000
}

// silentReader follows 5,000 accounts that fell silent long ago.
const silentReader = 5001

// BenchmarkFeed reads pages of the following feed of readers who follow from 10 to 5,000 accounts, among posts on
// 20,000 walls, and of silentReader. It reports the median of what finding the page costs: whom the reader follows, and
// the entries.
func BenchmarkFeed(b *testing.B) {
	url := dbtest.New(b)
	s := open(b, url)
	conn := connect(b, url)
	posts := feedBenchPosts()
	exec := func(sql string) {
		_, err := conn.Exec(b.Context(), expandWorld(sql))
		require.NoError(b, err, sql)
	}
	exec(fmt.Sprintf(`INSERT INTO posts (home, id, target_type, target_id, target_public_id, author_id, author_public_id, is_parent,
			feed_type, data_type, structure_type, data, created_at, updated_at, edited_at)
		SELECT 'us', ID(p, n, 0), 'user', ID(u, w, 0), 'w', ID(u, w, 0), 'w', true, 'published', 'text', 'text',
			jsonb_build_object('text', repeat('We saw two herons and a seal. ', 7)), AT(n, 7), AT(n, 7), AT(n, 7)
		FROM (SELECT n, CASE WHEN n < 10000 THEN 20000 + n %% 5000 ELSE (n::bigint * 7919) %% 20000 END AS w FROM generate_series(1, %d) AS n)
		AS p`, posts))
	readers := []int{10, 50, 200, 500, 1000, 2000, 5000, silentReader}
	for _, reader := range readers {
		walls := fmt.Sprintf("n < %d", reader)
		if reader == silentReader {
			walls = "n >= 20000"
		}
		exec(fmt.Sprintf(`INSERT INTO follows (home, follower_id, followee_id, follower_public_id, followee_public_id, status, version,
			created_at, updated_at)
			SELECT 'us', ID(r, %d, 0), ID(u, n, 0), 'r', 'u', 'accepted', 1, AT(n, 7), AT(n, 7) FROM generate_series(0, 24999) AS n WHERE %s`,
			reader, walls))
	}
	exec(`INSERT INTO followers (home, followee_id, follower_id, follower_public_id, followee_public_id, status, version, created_at,
		updated_at)
		SELECT home, followee_id, follower_id, 'r', 'u', status, version, created_at, updated_at FROM follows`)
	exec(`VACUUM ANALYZE`)
	for _, reader := range readers {
		for _, ranked := range []bool{false, true} {
			for _, deep := range []int{0, min(1000, 5*reader)} {
				name := fmt.Sprintf("follows=%d/ranked=%v/after=%d", reader, ranked, deep)
				b.Run(name, func(b *testing.B) {
					q := content.PostFeedQuery{Desc: true, Limit: 21}
					q.After, _, q.AfterID = page.Cursor{Limit: 20}.Start(true)
					if deep > 0 {
						start := q
						start.Limit = deep
						found := readFeed(b, s, reader, start)
						q.After, q.AfterID = found[len(found)-1].CreatedAt, found[len(found)-1].ID
					}
					if ranked {
						q.Limit, q.Ranked, q.AsOf = 217, true, time.Now()
					}
					measureFeed(b, s, reader, q)
				})
			}
		}
	}
}

func measureFeed(b *testing.B, s *store.Store, reader int, q content.PostFeedQuery) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		found := readFeed(b, s, reader, q)
		took = append(took, time.Since(start))
		require.NotEmpty(b, found)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
}

func readFeed(b *testing.B, s *store.Store, reader int, q content.PostFeedQuery) []content.PostFeedEntry {
	b.Helper()
	id := worldID("r", reader, 0)
	counts := core.Counts{}
	first := s.NewReadBatch()
	first.Counts(region.US, []string{id}, counts)
	first.HiddenFrom(id, &q.Hidden)
	require.NoError(b, first.Run(b.Context()))
	q.ReaderID, q.OwnWall, q.Following, q.FollowedAt = id, true, true, map[region.Code]int64{region.US: int64(reader)}
	var found []content.PostFeedEntry
	second := s.NewReadBatch()
	second.ListPostFeed(q, &found)
	require.NoError(b, second.Run(b.Context()))
	return found
}
