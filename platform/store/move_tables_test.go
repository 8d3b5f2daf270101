package store_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
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
	_,
		err = conn.Exec(t.Context(),
		`INSERT INTO posts (home, id, target_type, target_id, target_public_id, author_id, author_public_id, is_parent,
			feed_type, data_type, structure_type, created_at, updated_at, edited_at)
		SELECT 'us', 'post' || n::text, 'user', 'user', 'user', 'user', 'user', true, 'published', 'text', 'text', now(), now(), now()
		FROM generate_series(1, $1::bigint) AS n`, posts)
	require.NoError(t, err)
	all := store.Statements()
	i := slices.IndexFunc(all, func(s db.Statement) bool { return s.Name == "moves.rows.posts" })
	require.GreaterOrEqual(t, i, 0)
	var raw []byte
	require.NoError(t, conn.QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) "+all[i].SQL, "us", postsNamed(moved), "eu",
		posts).Scan(&raw))
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

// TestMovesOfTables moves the rows of some ids from one home to another one. The rows of other ids and those at other homes stay.
func TestMovesOfTables(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	moving, staying := region.NewID(region.EU), region.NewID(region.EU)
	for _, table := range lifecycle.MoveTables {
		insertRow(t, conn, table.Name, "eu", moving)
		insertRow(t, conn, table.Name, "eu", staying)
		insertRow(t, conn, table.Name, "sg", moving)
		for _, want := range []int64{1, 0} {
			var moved int64
			w := s.NewTx(region.EU)
			w.MoveTable(table, []string{moving, region.NewID(region.EU)}, region.US, &moved)
			commit(t, w)
			require.Equal(t, want, moved, table.Name)
		}
		rows, err := conn.Query(t.Context(), `SELECT home FROM `+table.Name+` ORDER BY home`)
		require.NoError(t, err)
		homes, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.Equal(t, []string{"eu", "sg", "us"}, homes, table.Name)
	}
}

// insertRow inserts a row of which all texts are value, without the checks of the table.
func insertRow(t *testing.T, conn *pgx.Conn, table, home, value string) {
	t.Helper()
	values := map[string]string{
		"text": "'" + value + "'", "ARRAY": "'{}'", "jsonb": "'{}'", "bytea": `'\x00'`, "boolean": "false", "bigint": "1",
		"double precision":         "1",
		"timestamp with time zone": "'2026-11-20'",
	}
	rows, err := conn.Query(t.Context(), `SELECT conname FROM pg_constraint WHERE conrelid = $1::text::regclass AND contype = 'c'`, table)
	require.NoError(t, err)
	checks, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	for _, name := range checks {
		_, err := conn.Exec(t.Context(), `ALTER TABLE `+table+` DROP CONSTRAINT `+name)
		require.NoError(t, err)
	}
	rows, err = conn.Query(t.Context(), `SELECT column_name, data_type FROM information_schema.columns
		WHERE table_name = $1 AND is_generated = 'NEVER' AND is_nullable = 'NO' AND column_name <> 'home'`, table)
	require.NoError(t, err)
	columns, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (column [2]string, err error) {
		return column, row.Scan(&column[0], &column[1])
	})
	require.NoError(t, err)
	names, fields := []string{"home"}, []string{"'" + home + "'"}
	for _, column := range columns {
		if v := values[column[1]]; v != "" {
			names, fields = append(names, column[0]), append(fields, v)
		}
	}
	_,
		err = conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO %s (%s) VALUES (%s)`, table, strings.Join(names, ", "), strings.Join(fields, ", ")))
	require.NoError(t, err, table)
}
