package store_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// statementName is the name of a statement of the program.
func statementName(t *testing.T, sql string) string {
	t.Helper()
	all := store.Statements()
	at := slices.IndexFunc(all, func(s db.Statement) bool { return s.SQL == sql })
	require.GreaterOrEqual(t, at, 0, "not a statement of the program: %s", sql)
	return all[at].Name
}

// TestFirstStatementsOfFeeds holds what a home is asked first, by the number of targets that it has, and how far a window
// reaches.
func TestFirstStatementsOfFeeds(t *testing.T) {
	s := open(t, dbtest.New(t))
	some := []string{worldID("c", 1, 0), worldID("c", 2, 0)}
	at := func(n int64) map[region.Code]int64 { return map[region.Code]int64{region.US: n} }
	for name, test := range map[string]struct {
		q      content.PostFeedQuery
		want   []string
		window int
	}{
		"one":      {q: content.PostFeedQuery{Following: true, Followed: manyIDs(1)}, want: []string{"branches4"}},
		"few":      {q: content.PostFeedQuery{Following: true, Followed: manyIDs(5)}, want: []string{"branches16"}},
		"the most": {q: content.PostFeedQuery{Following: true, Followed: manyIDs(64)}, want: []string{"branches64"}},
		"with communities": {
			q: content.PostFeedQuery{Following: true, Followed: manyIDs(63), Communities: some}, want: []string{"listed"},
			window: 6500,
		},
		"not followed": {
			q:    content.PostFeedQuery{Followed: manyIDs(3), FollowedAt: at(500), Communities: some},
			want: []string{"deleted", "branches4"},
		},
		"hundreds":  {q: content.PostFeedQuery{Following: true, FollowedAt: at(300)}, want: []string{"listed"}, window: 30_000},
		"thousands": {q: content.PostFeedQuery{Following: true, FollowedAt: at(5000)}, want: []string{"probed"}, window: 20_000},
		"everyone":  {q: content.PostFeedQuery{Everyone: true, Following: true, Followed: manyIDs(3)}, want: []string{"everyone"}, window: 2000},
	} {
		t.Run(name, func(t *testing.T) {
			test.q.ReaderID, test.q.Desc, test.q.Limit = region.NewID(region.EU), true, 21
			r := s.NewReadBatch()
			r.ListPostFeed(test.q, new([]content.PostFeedEntry))
			var got []string
			for _, q := range r.Queued() {
				if q.Args[0] != "us" {
					continue
				}
				got = append(got, statementName(t, q.SQL))
				if test.window > 0 {
					const ofWindow = 6
					require.Equal(t, test.window, q.Args[ofWindow])
				}
			}
			for i, want := range test.want {
				test.want[i] = map[string]string{
					"branches4": "feeds.branchesCreatedDesc4", "branches16": "feeds.branchesCreatedDesc16", "branches64": "feeds.branchesCreatedDesc64",
					"listed": "feeds.listedCreatedDesc", "probed": "feeds.probedCreatedDesc", "everyone": "feeds.everyoneCreatedDesc",
					"deleted": "communities.deleted",
				}[want]
			}
			require.Equal(t, test.want, got)
		})
	}
}

func manyIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = region.NewID(region.US)
	}
	return ids
}

// TestFollowedForFeeds checks that a feed knows the followed users of a home if there are few of them.
func TestFollowedForFeeds(t *testing.T) {
	url := dbtest.New(t)
	s := open(t, url)
	conn := connect(t, url)
	reader := region.NewID(region.EU)
	counts := core.Counts{}
	follow := func(home region.Code, n int) {
		counts.Add(reader, core.CountFollowing(home), int64(n))
		from, _ := region.IDRange(home)
		_,
			err := conn.Exec(t.Context(),
			`INSERT INTO follows (home, follower_id, followee_id, follower_public_id, followee_public_id, status, version, created_at, updated_at)
			SELECT 'eu', $1, $2 || lpad(to_hex(n), 22, '0'), 'r', 'u', 'accepted', 1, now(), now() FROM generate_series(1, $3) AS n`, reader, from,
			n)
		require.NoError(t, err)
	}
	follow(region.US, 300)
	follow(region.EU, 64)
	follow(region.SG, 3)
	followed := followedBy(t, s, reader)
	q := content.PostFeedQuery{ReaderID: reader}
	q.Follow(followed, counts, s.Routes())
	require.Equal(t, map[region.Code]int64{region.US: 300}, q.FollowedAt)
	require.Len(t, s.ByHome(q.Followed)[region.EU], 64)
	require.Len(t, s.ByHome(q.Followed)[region.SG], 3)
}

// TestFeedsReadAFewRows holds how many posts a page of a feed reads among many others.
func TestFeedsReadAFewRows(t *testing.T) {
	url := dbtest.New(t)
	s := open(t, url)
	conn := connect(t, url)
	// Every second post is on one of 100 walls, the others are on a wall and in a private community of others.
	for _, sql := range []string{
		`INSERT INTO posts (home, id, target_type, target_id, target_public_id, author_id, author_public_id, is_parent,
				feed_type, data_type, structure_type, created_at, updated_at, edited_at)
			SELECT 'us', ID(p, n, 0), 'user', ID(u, w, 0), 'w', ID(u, w, 0), 'w', true, 'published', 'text', 'text', AT(n, 7), AT(n, 7), AT(n, 7)
			FROM (SELECT n, CASE WHEN n % 2 = 0 THEN n / 2 % 100 ELSE 1000 END AS w FROM generate_series(1, 30000) AS n) AS p`,
		`INSERT INTO followers (home, followee_id, follower_id, follower_public_id, followee_public_id, status, version, created_at, updated_at)
			SELECT 'us', ID(u, n, 0), ID(r, 1, 0), 'r', 'u', 'accepted', 1, AT(n, 7), AT(n, 7) FROM generate_series(0, 99) AS n`,
	} {
		_, err := conn.Exec(t.Context(), expandWorld(sql))
		require.NoError(t, err, sql)
	}
	few := make([]string, 10)
	for i := range few {
		few[i] = worldID("u", i, 0)
	}
	explain := explainFeed
	if testdb.Cockroach(t) {
		explain = explainFeedOnCockroach
	}
	read := explain(t, conn)
	for name, test := range map[string]struct {
		q    content.PostFeedQuery
		most float64
	}{
		"branches": {content.PostFeedQuery{Following: true, Followed: few}, 21 + 16},
		"listed":   {content.PostFeedQuery{Following: true, FollowedAt: map[region.Code]int64{region.US: 200}}, 2 * 21},
		"probed":   {content.PostFeedQuery{Following: true, FollowedAt: map[region.Code]int64{region.US: 5000}}, 2 * 21},
		"everyone": {content.PostFeedQuery{Everyone: true, WallsOpen: true}, 21},
	} {
		t.Run(name, func(t *testing.T) {
			test.q.ReaderID, test.q.Desc, test.q.Limit = worldID("r", 1, 0), true, 21
			test.q.After, _, test.q.AfterID = page.Cursor{Limit: 1}.Start(true)
			r := s.NewReadBatch()
			r.ListPostFeed(test.q, new([]content.PostFeedEntry))
			queued := r.Queued()
			at := slices.IndexFunc(queued, func(q db.Queued) bool { return q.Args[0] == "us" })
			read(t, sample{Queued: queued[at], name: name}, test.most)
		})
	}
}

// explainFeed returns a function that checks that a sample returns a page and reads at most so many posts, whatever its plan knows.
func explainFeed(t *testing.T, conn *pgx.Conn) func(t *testing.T, s sample, most float64) {
	t.Helper()
	analyze(t, conn)
	_, err := conn.Exec(t.Context(), "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan")
	require.NoError(t, err)
	e := &explainer{t: t, conn: conn, prepared: map[string]string{}, used: map[string]bool{}}
	return func(t *testing.T, s sample, most float64) {
		t.Helper()
		plan := e.explain(s)
		var read float64
		plan.each(func(n *planNode) {
			if n.Relation == "posts" {
				read += n.returned() + n.removed()
			}
		})
		require.InDelta(t, pageRows, plan.Rows, 0)
		require.LessOrEqual(t, read, most, fmt.Sprint(plan))
	}
}

// explainFeedOnCockroach is explainFeed on CockroachDB, whose plans tell no rows of a table: it looks for full scans.
func explainFeedOnCockroach(t *testing.T, conn *pgx.Conn) func(t *testing.T, s sample, most float64) {
	t.Helper()
	return func(t *testing.T, s sample, _ float64) {
		t.Helper()
		explainOnCockroach(t, conn, []sample{s}, func(sample, string) {})
	}
}

// TestFeedWithoutDeletedCommunities checks that a page is full although the newest posts are in a deleted community.
func TestFeedWithoutDeletedCommunities(t *testing.T) {
	url := dbtest.New(t)
	s := open(t, url)
	conn := connect(t, url)
	for _, sql := range []string{
		`INSERT INTO communities (home, id, display_name, name_key, creator_id, creator_public_id, is_official, is_public, is_discoverable,
				only_admin_can_post, post_approval, comment_approval, join_approval, story_comments, notification_mode, type, tags, category_ids,
				created_at, updated_at, deleted_at)
			SELECT 'us', ID(c, n, 0), n::text, n::text, 'x', 'x', false, true, true, false, false, false, false, false, 'default', 'default', '{}',
			'{}',
				AT(n, 1), AT(n, 1), CASE WHEN n = 2 THEN AT(n, 1) END FROM generate_series(1, 2) AS n`,
		`INSERT INTO posts (home, id, target_type, target_id, target_public_id, author_id, author_public_id, is_parent,
				feed_type, data_type, structure_type, created_at, updated_at, edited_at)
			SELECT 'us', ID(p, n, 0), 'community', ID(c, CASE WHEN n > 50 THEN 2 ELSE 1 END, 0), 'c', ID(u, n, 0), 'w', true, 'published', 'text',
			'text', AT(n, 7), AT(n, 7), AT(n, 7)
			FROM generate_series(1, 100) AS n`,
	} {
		_, err := conn.Exec(t.Context(), expandWorld(sql))
		require.NoError(t, err, sql)
	}
	for _, communities := range [][]int{{1, 2}, {2}} {
		t.Run(strconv.Itoa(len(communities)), func(t *testing.T) {
			q := content.PostFeedQuery{ReaderID: worldID("r", 1, 0), Desc: true, Limit: 20, AsOf: time.Now(), Ranked: true}
			q.After, _, q.AfterID = page.Cursor{Limit: 1}.Start(true)
			for _, n := range communities {
				q.Communities = append(q.Communities, worldID("c", n, 0))
			}
			var found []content.PostFeedEntry
			r := s.NewReadBatch()
			r.ListPostFeed(q, &found)
			run(t, r)
			if len(communities) == 1 {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 20)
			require.Equal(t, worldID("p", 50, 0), found[0].ID)
		})
	}
}
