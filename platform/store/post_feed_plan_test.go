package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

// statementName is the name of a statement of the program.
func statementName(t *testing.T, sql string) string {
	t.Helper()
	all := store.Statements()
	at := slices.IndexFunc(all, func(s db.Statement) bool { return s.SQL == sql })
	require.GreaterOrEqual(t, at, 0, "not a statement of the program: %s", sql)
	return all[at].Name
}

// feedQueued is the statement that finds a page of one home.
func feedQueued(t *testing.T, s *store.Store, q store.PostFeedQuery) db.Queued {
	t.Helper()
	q.Desc = true
	q.After, _, q.AfterID = page.Cursor{Limit: 1}.Start(true)
	r := s.NewReadBatch()
	r.ListPostFeed(q, new([]store.PostFeedEntry))
	queued := r.Queued()
	require.Len(t, queued, 1)
	return queued[0]
}

// TestFeedWay holds which statement a home is asked, by the number of targets that it has, and how far it may look.
func TestFeedWay(t *testing.T) {
	s := open(t, schema.New(t))
	reader := worldID("r", 1, 1) // at home elsewhere
	some := []string{worldID("c", 1, 0), worldID("c", 2, 0)}
	for name, test := range map[string]struct {
		q    store.PostFeedQuery
		want string
		args []any // after those of every feed: the first posts of a target, the posts of a scan
	}{
		"one":              {store.PostFeedQuery{Following: true, FollowedAt: map[region.Code]int64{"us": 1}, Limit: 21}, "feeds.walkCreatedDesc", []any{42}},
		"few":              {store.PostFeedQuery{Following: true, FollowedAt: map[region.Code]int64{"us": 10}, Limit: 21}, "feeds.walkCreatedDesc", []any{5}},
		"few, ranked":      {store.PostFeedQuery{Following: true, FollowedAt: map[region.Code]int64{"us": 100}, Limit: 217, Ranked: true}, "feeds.walkRankedCreatedDesc", []any{5}},
		"not followed":     {store.PostFeedQuery{FollowedAt: map[region.Code]int64{"us": 500}, Communities: some, Limit: 21}, "feeds.walkCreatedDesc", []any{21}},
		"the last walk":    {store.PostFeedQuery{Following: true, FollowedAt: map[region.Code]int64{"us": 128}, Limit: 21}, "feeds.walkCreatedDesc", []any{1}},
		"with communities": {store.PostFeedQuery{Following: true, FollowedAt: map[region.Code]int64{"us": 128}, Communities: some, Limit: 21}, "feeds.scanCreatedDesc", []any{1, 3087}},
		"hundreds":         {store.PostFeedQuery{Following: true, FollowedAt: map[region.Code]int64{"us": 300}, Limit: 217}, "feeds.scanCreatedDesc", []any{2, 7125}},
		"many":             {store.PostFeedQuery{Following: true, FollowedAt: map[region.Code]int64{"us": 2000}, Limit: 21}, "feeds.scanCreatedDesc", []any{1, 20_000}},
		"thousands":        {store.PostFeedQuery{Following: true, FollowedAt: map[region.Code]int64{"us": 2001}, Limit: 21}, "feeds.mixedCreatedDesc", []any{1, 20_000}},
		"ten thousands":    {store.PostFeedQuery{Following: true, FollowedAt: map[region.Code]int64{"us": 20_000}, Limit: 21}, "feeds.mixedCreatedDesc", []any{1, 20_000}},
		"very many":        {store.PostFeedQuery{Following: true, FollowedAt: map[region.Code]int64{"us": 20_001}, Limit: 21}, "feeds.probeCreatedDesc", []any{1, 20_000}},
	} {
		t.Run(name, func(t *testing.T) {
			test.q.ReaderID = reader
			q := feedQueued(t, s, test.q)
			require.Equal(t, test.want, statementName(t, q.SQL))
			const ofEvery = 10
			rest := q.Args[ofEvery:]
			if test.q.Ranked {
				rest = rest[:len(rest)-1]
			}
			require.Equal(t, test.args, rest)
		})
	}
}

// TestFeedNext holds what a scan does after its sample, by how many of the home's posts stand on what the reader
// follows.
func TestFeedNext(t *testing.T) {
	s, conn := feedOfShares(t)
	for name, test := range map[string]struct {
		share   int   // of 1,000 posts
		targets int64 // as many posts as that, times 23.75, a scan may look at
		limit   int
		next    string
		walk    bool
	}{
		"the sample is enough":              {share: 250, targets: 200, limit: 21, next: "page"},
		"a scan is cheaper":                 {share: 50, targets: 200, limit: 51, next: "scan"},
		"a scan of more than there are":     {share: 50, targets: 1000, limit: 400, next: "scan", walk: true},
		"a walk is cheaper, the page large": {share: 50, targets: 150, limit: 217, next: "walk", walk: true},
		"a scan is, of so many targets":     {share: 50, targets: 500, limit: 217, next: "scan"},
		"nothing in the sample":             {share: 0, targets: 500, limit: 21, next: "walk", walk: true},
		"of thousands, a small sample":      {share: 50, targets: 5000, limit: 21, next: "scan"},
		"of thousands, a small one for all": {share: 250, targets: 5000, limit: 21, next: "page"},
		"nothing in the small sample":       {share: 0, targets: 5000, limit: 21, next: "walk", walk: true},
		"asked one by one, the same":        {share: 50, targets: 50_000, limit: 21, next: "scan"},
		"asked one by one, for nothing":     {share: 0, targets: 50_000, limit: 21, next: "walk", walk: true},
	} {
		t.Run(name, func(t *testing.T) {
			q := feedQueued(t, s, store.PostFeedQuery{
				ReaderID: worldID("r", test.share, 0), Following: true, FollowedAt: map[region.Code]int64{"us": test.targets}, Limit: test.limit,
			})
			next, walk := feedNext(t, conn, q)
			require.Equal(t, test.next, next)
			require.Equal(t, test.walk, walk)
		})
	}
	q := feedQueued(t, s, store.PostFeedQuery{ReaderID: worldID("r", 50, 0), Following: true, FollowedAt: map[region.Code]int64{"us": 500}, Limit: 21})
	_, err := conn.Exec(t.Context(), `DELETE FROM posts WHERE created_at > (SELECT created_at FROM posts ORDER BY created_at OFFSET 99 LIMIT 1)`)
	require.NoError(t, err)
	next, walk := feedNext(t, conn, q)
	require.Equal(t, "page", next, "there are no posts but those of the sample")
	require.False(t, walk)
}

// feedOfShares has 7,000 posts, of which every 4th is on wall 250 and every 20th on wall 50, and readers of these
// walls.
func feedOfShares(t *testing.T) (*store.Store, *pgx.Conn) {
	t.Helper()
	url := schema.New(t)
	conn := connect(t, url)
	for _, sql := range []string{
		`INSERT INTO posts (home, id, target_type, target_id, target_public_id, author_id, author_public_id, is_parent,
				feed_type, data_type, structure_type, created_at, updated_at, edited_at)
			SELECT 'us', ID(p, n, 0), 'user', ID(u, w, 0), 'w', ID(u, w, 0), 'w', true, 'published', 'text', 'text', AT(n, 7), AT(n, 7), AT(n, 7)
			FROM (SELECT n, CASE WHEN n % 4 = 0 THEN 250 WHEN n % 20 = 1 THEN 50 ELSE 1000 END AS w FROM generate_series(1, 7000) AS n) AS p`,
		`INSERT INTO followers (home, followee_id, follower_id, follower_public_id, followee_public_id, status, version, created_at, updated_at)
			SELECT 'us', ID(u, n, 0), ID(r, n, 0), 'r', 'u', 'accepted', 1, AT(n, 7), AT(n, 7) FROM generate_series(0, 999) AS n`,
	} {
		_, err := conn.Exec(t.Context(), expandWorld(sql))
		require.NoError(t, err, sql)
	}
	return open(t, url), conn
}

// feedNext asks the parts of a scan what they decided.
func feedNext(t *testing.T, conn *pgx.Conn, q db.Queued) (next string, walk bool) {
	t.Helper()
	parts, _, found := strings.Cut(q.SQL, " SELECT f.id, ")
	require.True(t, found)
	sql := parts + ` SELECT (SELECT next FROM seen), (SELECT walk FROM result), (SELECT count(*) FROM walked)`
	var walked int
	require.NoError(t, conn.QueryRow(t.Context(), sql, q.Args...).Scan(&next, &walk, &walked))
	require.True(t, walk || walked == 0, "%d rows of a walk that was not to be", walked)
	return next, walk
}
