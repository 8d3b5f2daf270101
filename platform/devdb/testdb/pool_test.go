package testdb

import (
	"context"
	"crypto/rand"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// pooledTemplate returns a template with a table of three rows and an empty one.
func pooledTemplate() *Template {
	return NewTemplate(rand.Text(), func(ctx context.Context, url string) error {
		return execErr(ctx, url, `CREATE TABLE filled (i INT PRIMARY KEY, v TEXT NOT NULL); CREATE TABLE empty (i INT PRIMARY KEY);
			INSERT INTO filled VALUES (1, 'one'), (2, 'two'), (3, 'three')`)
	})
}

// TestPool uses a database again after a test has changed it, unless the test failed or changed more than rows.
func TestPool(t *testing.T) {
	s, tpl := get(t), pooledTemplate()
	first, err := tpl.take(t.Context(), s)
	require.NoError(t, err)
	defer func() { require.NoError(t, tpl.giveBack(t.Context(), s, first, true)) }() // drops it
	for _, test := range []struct {
		name   string
		sql    string
		failed bool
		again  bool
	}{
		{"nothing", "SELECT 1", false, true},
		{
			"rows",
			"UPDATE filled SET v = 'x'; DELETE FROM filled WHERE i = 2; INSERT INTO filled VALUES (4, 'four'); INSERT INTO empty VALUES (1)",
			false, true,
		},
		{"many rows", "INSERT INTO empty SELECT generate_series(1, 20000)", false, true},
		{"too many rows", "INSERT INTO empty SELECT generate_series(1, 20001)", false, false},
		{"all rows", "DELETE FROM filled", false, true},
		{"a failed test", "SELECT 1", true, false},
		{"a column", "ALTER TABLE empty ADD COLUMN j INT", false, false},
		{"a table", "CREATE TABLE other (i INT PRIMARY KEY)", false, false},
		{"no table", "DROP TABLE empty", false, false},
		{"an index", "CREATE INDEX other ON filled (v)", false, false},
		{"a function", "CREATE FUNCTION other() RETURNS INT LANGUAGE SQL AS 'SELECT 1'", false, false},
		{"rights", "GRANT SELECT ON empty TO PUBLIC", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.NoError(t, execErr(t.Context(), first.url, test.sql))
			require.NoError(t, tpl.giveBack(t.Context(), s, first, test.failed))

			second, err := tpl.take(t.Context(), s)
			require.NoError(t, err)
			require.Equal(t, test.again, first == second)
			first = second
			conn, err := pgx.Connect(t.Context(), second.url)
			require.NoError(t, err)
			defer func() { _ = conn.Close(t.Context()) }()
			rows, err := conn.Query(t.Context(), "SELECT v FROM filled UNION ALL SELECT 'in the empty table' FROM empty ORDER BY 1")
			require.NoError(t, err)
			values, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err)
			require.Equal(t, []string{"one", "three", "two"}, values)
		})
	}
}

// TestPoolIsShared takes the same databases at the same time as several processes do, each with a connection of its own.
func TestPoolIsShared(t *testing.T) {
	s, tpl := get(t), pooledTemplate()
	const n = 3
	var all [n]pooled
	for range 2 {
		var takers sync.WaitGroup
		for i := range n {
			takers.Go(func() {
				own := s
				own.conn = &connection{url: s.url}
				var err error
				if all[i], err = tpl.take(t.Context(), own); err != nil {
					t.Error(err)
				}
				if own.conn.conn != nil {
					_ = own.conn.conn.Close(t.Context())
				}
			})
		}
		takers.Wait()
		names := map[string]bool{}
		for _, d := range all {
			names[d.name] = true
		}
		require.Len(t, names, n)
		for _, d := range all {
			require.NoError(t, tpl.giveBack(t.Context(), s, d, false))
		}
	}
	for _, d := range all {
		_, err := tpl.take(t.Context(), s)
		require.NoError(t, err)
		require.NoError(t, tpl.giveBack(t.Context(), s, d, true))
	}
}
