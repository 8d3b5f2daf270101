package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/hack/crdbcheck/rules"
)

func TestFullScans(t *testing.T) {
	schema, broken := rules.Migrations(append(base(),
		rules.Statement{Where: "3", SQL: `CREATE INDEX IF NOT EXISTS posts_by_author ON posts (home, author_id, created_at)`},
		rules.Statement{Where: "4", SQL: `CREATE INDEX IF NOT EXISTS posts_by_likes ON posts (home, likes)`},
		rules.Statement{Where: "5", SQL: `DROP INDEX IF EXISTS posts_by_likes`},
	))
	require.Empty(t, broken)
	for _, c := range []sqlCase{
		{"one key", `SELECT id FROM posts WHERE home = $1 AND id = $2`, ""},
		{"a range", `SELECT id FROM posts WHERE home = $1 AND author_id = $2 AND created_at < $3`, ""},
		{"a column without an index", `SELECT id FROM posts WHERE home = $1 AND likes = ANY($2::bigint[])`, ""},
		{"several keys", `SELECT id FROM posts WHERE home = $1 AND id = ANY($2::text[])`, rules.RuleFullScan},
		{"several keys of an index", `SELECT p.id FROM posts AS p WHERE p.home = $1 AND p.author_id IN ($2, $3)`, rules.RuleFullScan},
		{"all keys but one", `SELECT 1 FROM users WHERE home = $1 AND id <> $2`, rules.RuleFullScan},
		{
			"the keys of a subquery", `DELETE FROM posts WHERE home = $1 AND (author_id, likes) IN (SELECT id, 1 FROM users WHERE home = $1)`,
			rules.RuleFullScan,
		},
		{
			"in a subquery", `SELECT 1 / CASE WHEN EXISTS (SELECT 1 FROM users WHERE home = $1 AND handle_slot <> $2) THEN 0 ELSE 1 END`,
			rules.RuleFullScan,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireBroken(t, c.want, rules.FullScans(schema, rules.Statement{Where: c.name, SQL: c.sql}))
		})
	}
}

func TestForbidFullScans(t *testing.T) {
	for name, c := range map[string]struct {
		session []string
		want    bool
	}{
		"no settings":               {nil, false},
		"both":                      {[]string{"SET disallow_full_table_scans = on", "SET large_full_scan_rows = 0"}, true},
		"small tables are excepted": {[]string{"SET disallow_full_table_scans = on"}, false},
		"more rows":                 {[]string{"SET disallow_full_table_scans = on", "SET large_full_scan_rows = 100"}, false},
		"off":                       {[]string{"SET disallow_full_table_scans = off", "SET large_full_scan_rows = 0"}, false},
		"in one transaction":        {[]string{"SET LOCAL disallow_full_table_scans = on", "SET large_full_scan_rows = 0"}, false},
		"the last one counts": {[]string{
			"SET large_full_scan_rows = 0", "SET disallow_full_table_scans = on",
			"SET disallow_full_table_scans = off",
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var session []rules.Statement
			for _, sql := range c.session {
				session = append(session, rules.Statement{Where: name, SQL: sql})
			}
			require.Equal(t, c.want, rules.ForbidFullScans(session))
		})
	}
}

// TestPartialHints checks hints for an index that has only some of the rows.
func TestPartialHints(t *testing.T) {
	schema, broken := rules.Migrations(append(base(), rules.Statement{
		Where: "migrations/3", SQL: `CREATE INDEX IF NOT EXISTS posts_liked ON posts (home, likes) WHERE likes > 0 AND deleted_at IS NULL`,
	}))
	require.Empty(t, broken)
	for _, c := range []sqlCase{
		{"both conditions", `SELECT id FROM posts@{FORCE_INDEX=posts_liked} WHERE home = $1 AND likes > 0 AND deleted_at IS NULL`, ""},
		{
			"both conditions of an alias",
			`SELECT p.id FROM posts@{FORCE_INDEX=posts_liked} AS p WHERE p.home = $1 AND (p.likes > 0 AND p.deleted_at IS NULL)`, "",
		},
		{"one condition", `SELECT id FROM posts@{FORCE_INDEX=posts_liked} WHERE home = $1 AND likes > 0`, rules.RuleHint},
		{
			"one of two", `SELECT id FROM posts@{FORCE_INDEX=posts_liked} WHERE home = $1 AND deleted_at IS NULL AND (likes > 0 OR likes < 9)`,
			rules.RuleHint,
		},
		{"another index", `SELECT id FROM posts@{FORCE_INDEX=posts_pkey} WHERE home = $1`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireBroken(t, c.want, rules.Query(schema, rules.Statement{Where: c.name, SQL: c.sql}))
		})
	}
}
