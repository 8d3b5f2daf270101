package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

func TestZZFeedSpeed(t *testing.T) {
	n := apptest.Start(t)
	conn, err := pgx.Connect(t.Context(), n.DatabaseURL)
	require.NoError(t, err)
	exec := func(sql string, args ...any) {
		_, err := conn.Exec(t.Context(), sql, args...)
		require.NoError(t, err, sql)
	}
	exec(`INSERT INTO users (home, id, public_id, display_name, name_key, profile_handle, created_at, updated_at)
		SELECT 'us', '01' || substr(md5('u' || n::text), 1, 22), 'w' || n::text, 'w', 'w', '', now(), now() FROM generate_series(0, 9999) AS n`)
	exec(`INSERT INTO posts (home, id, target_type, target_id, target_public_id, author_id, author_public_id, is_parent,
			feed_type, data_type, structure_type, data, created_at, updated_at, edited_at)
		SELECT 'us', '01' || substr(md5('p' || n::text), 1, 22), 'user', '01' || substr(md5('u' || w::text), 1, 22), 'w' || w::text, '01' || substr(md5('u' || w::text), 1, 22), 'w' || w::text,
			true, 'published', 'text', 'text', jsonb_build_object('text', repeat('We saw two herons and a seal. ', 7)), t, t, t
		FROM (SELECT n, (n::bigint * 7919) % 10000 AS w, now() - n * INTERVAL '7 seconds' AS t FROM generate_series(1, 1000000) AS n) AS p`)
	clients := map[int]*apptest.Client{}
	for _, k := range []int{10, 500, 5000} {
		c := n.NewUser(t, region.US, "reader")
		clients[k] = c
		exec(`INSERT INTO followers (home, followee_id, follower_id, follower_public_id, followee_public_id, status, version, created_at, updated_at)
			SELECT 'us', '01' || substr(md5('u' || n::text), 1, 22), $1, 'r', 'u', 'accepted', 1, now(), now() FROM generate_series(0, $2::bigint - 1) AS n`, c.InternalID, k)
		exec(`INSERT INTO counters (home, ref, kind, shard, n) VALUES ('us', $1, 'following:us', 0, $2)`, c.InternalID, k)
	}
	exec(`VACUUM ANALYZE`)
	for _, sort := range []string{"lastCreated", "customRanking"} {
		tokens := map[int]string{}
		for k, c := range clients {
			token := ""
			for range 49 {
				r := feedPage(t, c, url.Values{"sortBy": {sort}, "limit": {"20"}, "token": {token}})
				token = r.String(t, "paging.next")
				require.NotEmpty(t, token)
			}
			tokens[k] = token
		}
		took := map[string][]time.Duration{}
		for range 150 {
			for k, c := range clients {
				for name, token := range map[string]string{"page1": "", "page50": tokens[k]} {
					start := time.Now()
					r := c.Do(t, http.MethodGet, followingFeedPath+"?"+url.Values{"sortBy": {sort}, "limit": {"20"}, "token": {token}}.Encode(), nil)
					took[fmt.Sprintf("%s %5d %s", sort, k, name)] = append(took[fmt.Sprintf("%s %5d %s", sort, k, name)], time.Since(start))
					require.Equal(t, 200, r.Status)
				}
			}
		}
		for name, ds := range took {
			slices.Sort(ds)
			fmt.Println(name, "p50", ds[len(ds)/2], "p90", ds[len(ds)*9/10])
		}
	}
}
