package store_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// TestMovesWithoutStatistics moves posts of a table about which PostgreSQL has no statistics, as it is shortly after the first posts.
// The plan must not read the rows that move once for each row of the table.
func TestMovesWithoutStatistics(t *testing.T) {
	t.Parallel()
	if testdb.Cockroach(t) {
		t.Skip("the statistics are those of PostgreSQL")
	}
	const posts, moved = 400, 300
	conn := connect(t, dbtest.New(t))
	_, err := conn.Exec(t.Context(), `ALTER TABLE posts SET (autovacuum_enabled = false)`)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `INSERT INTO posts (home, id, target_type, target_id, target_public_id, author_id, author_public_id, is_parent,
			feed_type, data_type, structure_type, created_at, updated_at, edited_at)
		SELECT 'us', 'post' || n::text, 'user', 'user', 'user', 'user', 'user', true, 'published', 'text', 'text', now(), now(), now()
		FROM generate_series(1, $1::bigint) AS n`, posts)
	require.NoError(t, err)
	all := store.Statements()
	i := slices.IndexFunc(all, func(s db.Statement) bool { return s.Name == "moves.rows.posts" })
	require.GreaterOrEqual(t, i, 0)
	var raw []byte
	require.NoError(t, conn.QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) "+all[i].SQL, "us", postsNamed(moved), "eu", posts).Scan(&raw))
	var plans []struct {
		Plan planNode `json:"Plan"`
	}
	require.NoError(t, json.Unmarshal(raw, &plans))
	plan := &plans[0].Plan
	require.Equal(t, moved, int(plan.result()), "%s", plan)
	read := 0.
	plan.each(func(n *planNode) {
		if n.Relation == "posts" && n.Type != "ModifyTable" {
			read += n.returned() + n.removed()
		}
	})
	require.LessOrEqual(t, read, float64(3*posts), "%s", plan)
}

// postsNamed returns the ids of a number of posts.
func postsNamed(count int) []string {
	ids := make([]string, count)
	for i := range ids {
		ids[i] = fmt.Sprint("post", i+1)
	}
	return ids
}
