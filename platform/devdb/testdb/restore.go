package testdb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// mostRows is the number of rows of a table up to which a database is used again. Deleting more takes longer than preparing a
// database.
const mostRows = 20_000

// originals is the schema with copies of the rows that a template has inserted.
const originals = "test_originals"

// keepOriginals copies the rows of a database.
func keepOriginals(ctx context.Context, conn *pgx.Conn) error {
	filled, err := filledTables(ctx, conn)
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "CREATE SCHEMA "+originals); err != nil {
		return err
	}
	for table := range filled {
		if _, err := conn.Exec(ctx, "CREATE TABLE "+in(originals, table)+" AS SELECT * FROM "+in("public", table)); err != nil {
			return err
		}
	}
	return nil
}

// restore gives the database its original rows. It reports whether it has them: not if tables, indexes, rights or the like
// have changed, or if a table has more than mostRows.
func (d pooled) restore(ctx context.Context) (bool, error) {
	conn, err := pgx.Connect(ctx, d.url)
	if err != nil {
		return false, nil // the test has dropped or renamed it
	}
	defer func() { _ = conn.Close(ctx) }()
	shape, err := shapeOf(ctx, conn)
	if err != nil || shape != d.shape {
		return false, err
	}
	filled, err := filledTables(ctx, conn)
	if err != nil {
		return false, err
	}
	for _, rows := range filled {
		if rows > mostRows {
			return false, nil
		}
	}
	kept, err := tablesOf(ctx, conn, originals)
	if err != nil {
		return false, err
	}
	return true, pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var statements []string
		for table := range filled {
			statements = append(statements, "DELETE FROM "+in("public", table))
		}
		for _, table := range kept {
			statements = append(statements, "INSERT INTO "+in("public", table)+" SELECT * FROM "+in(originals, table))
		}
		_, err := tx.Exec(ctx, strings.Join(statements, "; "))
		return err
	})
}

// filledTables returns the number of rows, but mostRows + 1 at most, of each table that has any.
func filledTables(ctx context.Context, conn *pgx.Conn) (map[string]int, error) {
	tables, err := tablesOf(ctx, conn, "public")
	if err != nil || len(tables) == 0 {
		return nil, err
	}
	counts := make([]string, len(tables))
	for i, table := range tables {
		counts[i] = fmt.Sprintf("SELECT %d, count(*) FROM (SELECT 1 FROM %s LIMIT %d) AS t", i, in("public", table), mostRows+1)
	}
	rows, err := conn.Query(ctx, strings.Join(counts, " UNION ALL "))
	if err != nil {
		return nil, err
	}
	type count struct{ Table, Rows int }
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[count])
	filled := map[string]int{}
	for _, c := range all {
		if c.Rows > 0 {
			filled[tables[c.Table]] = c.Rows
		}
	}
	return filled, err
}

func tablesOf(ctx context.Context, conn *pgx.Conn, schema string) ([]string, error) {
	rows, err := conn.Query(ctx, "SELECT tablename::TEXT FROM pg_tables WHERE schemaname = $1 ORDER BY tablename", schema)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// in returns the name of a table in a schema.
func in(schema, table string) string { return pgx.Identifier{schema, table}.Sanitize() }

// shapeQueries read what a database is, apart from its rows.
var shapeQueries = []string{
	`SELECT table_schema::TEXT, table_name::TEXT, column_name::TEXT, data_type::TEXT, is_nullable::TEXT, column_default::TEXT
		FROM information_schema.columns WHERE table_schema IN ('public', '` + originals + `') ORDER BY 1, 2, 3`,
	`SELECT tablename::TEXT, indexname::TEXT FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2`,
	`SELECT proname::TEXT, prosrc::TEXT FROM pg_proc WHERE pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'public') ORDER BY 1,
		2`,
	`SELECT tgname::TEXT FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1`,
	`SELECT grantee::TEXT, table_name::TEXT, privilege_type::TEXT FROM information_schema.role_table_grants WHERE table_schema = 'public'
		ORDER BY 1, 2, 3`,
	`SELECT setrole::TEXT, setconfig::TEXT FROM pg_db_role_setting
		WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY 1, 2`,
}

// shapeOf returns a hash of what a database is, apart from its rows: its tables, indexes, functions, triggers, rights and settings.
func shapeOf(ctx context.Context, conn *pgx.Conn) (string, error) {
	hash := sha256.New()
	for _, query := range shapeQueries {
		rows, err := conn.Query(ctx, query)
		if err != nil {
			return "", err
		}
		_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (struct{}, error) {
			values, err := row.Values()
			_, _ = fmt.Fprintf(hash, "%q\n", values) // a hash returns no error
			return struct{}{}, err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
