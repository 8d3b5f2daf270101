package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/hack/crdbcheck/rules"
)

// constructBase returns the steps of a schema with what the examples of the constructs need.
func constructBase() []rules.Statement {
	return append(base(),
		rules.Statement{Where: "3", SQL: `ALTER TABLE posts ADD COLUMN IF NOT EXISTS tags TEXT[] NOT NULL DEFAULT '{}'`},
		rules.Statement{Where: "4", SQL: `ALTER TABLE posts ADD COLUMN IF NOT EXISTS edited_at TIMESTAMPTZ`},
		rules.Statement{Where: "5", SQL: `CREATE INDEX IF NOT EXISTS posts_edited ON posts (home, id) WHERE edited_at IS NOT NULL`},
		rules.Statement{
			Where: "6",
			SQL:   `CREATE OR REPLACE FUNCTION delete_old(max_likes BIGINT) RETURNS BIGINT LANGUAGE SQL AS $$ SELECT max_likes $$`,
		},
	)
}

// constructCases have an example of each construct. Those that do not begin with SELECT, UPDATE or WITH are migrations.
var constructCases = []sqlCase{
	{
		"with-without-columns", `WITH d AS (DELETE FROM posts WHERE home = $1) UPDATE users SET bio = $2 WHERE home = $1`,
		"with-without-columns",
	},
	{
		"with-inlined-change", `WITH i AS NOT MATERIALIZED (DELETE FROM users WHERE home = $1 RETURNING id) SELECT id FROM i`,
		"with-inlined-change",
	},
	{
		"with-change-below", `SELECT c.id FROM (WITH l AS (SELECT id FROM posts WHERE home = $1 FOR UPDATE) SELECT id FROM l) AS c`,
		"with-change-below",
	},
	{
		"with-recursive-form",
		`WITH RECURSIVE t AS (WITH x AS (SELECT 1 AS n) SELECT n FROM x UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT n FROM t`,
		"with-recursive-form",
	},
	{"rows-in-rows", `SELECT generate_series(1, unnest($1::bigint[]))`, "rows-in-rows"},
	{
		"change-cascades",
		`ALTER TABLE posts ADD CONSTRAINT posts_of FOREIGN KEY (home, author_id) REFERENCES users (home, id) ON DELETE CASCADE`,
		"change-cascades",
	},
	{"lock-without-key", `SELECT id FROM posts WHERE home = $1 AND likes > 10 FOR UPDATE`, "lock-without-key"},
	{
		"lock-join", `SELECT id FROM posts WHERE home = $1 AND id = $2 AND author_id IN (SELECT id FROM users WHERE home = $1) FOR UPDATE`,
		"lock-join",
	},
	{
		"lock-order", `SELECT count(*) FROM (SELECT id FROM posts WHERE home = $1 AND id = ANY($2::text[]) ORDER BY id FOR UPDATE) AS l`,
		"lock-order",
	},
	{"lock-nowait", `SELECT id FROM posts WHERE home = $1 AND id = $2 FOR UPDATE NOWAIT`, "lock-wait"},
	{"lock-skips", `SELECT id FROM posts WHERE home = $1 AND id = $2 FOR UPDATE SKIP LOCKED`, "lock-wait"},
	{"parameter-as-column", `SELECT $1`, "untyped-parameter"},
	{"parameter-with-parameter", `SELECT id FROM posts WHERE home = $1 AND $2 = $3`, "untyped-parameter"},
	{"parameter-is-null", `SELECT id FROM posts WHERE home = $1 AND ($2 IS NULL OR likes > $3)`, "untyped-parameter"},
	{"parameter-coalesce", `SELECT id FROM posts WHERE home = $1 AND likes = COALESCE($2, $3)`, "untyped-parameter"},
	{
		"parameter-case", `UPDATE posts SET likes = likes + CAST((CASE id WHEN 'a' THEN $2 ELSE $3 END) AS bigint) WHERE home = $1`,
		"untyped-parameter",
	},
	{"parameter-values", `SELECT v.a FROM (VALUES ($1), ($2)) AS v(a)`, "untyped-parameter"},
	{"parameter-subscript", `SELECT id FROM posts WHERE home = $1 AND id = $2[1]`, "untyped-parameter"},
	{"parameter-concat", `SELECT concat(handle, $2) FROM users WHERE home = $1`, rules.RuleFunction},
	{"parameter-any", `SELECT id FROM posts WHERE home = $1 AND $2 = ANY(tags)`, "untyped-parameter"},
	{"parameter-of-two-types", `SELECT id FROM posts WHERE home = $1 AND (id = $2::text OR likes = $2::bigint)`, "parameter-of-two-types"},
	{"integer-with-float", `SELECT likes * $2::float8 FROM posts WHERE home = $1`, "number-with-float"},
	{"decimal-with-float", `SELECT sum(likes) * 0.5::float8 FROM posts WHERE home = $1`, "number-with-float"},
	{"values-of-two-types", `SELECT v.n FROM (VALUES (1), (1.5)) AS v(n)`, "values-of-two-types"},
	{"array-of-arrays", `SELECT ARRAY[ARRAY['a']]`, "array-of-arrays"},
	{"an aggregate of arrays", `SELECT array_agg(tags) FROM posts WHERE home = $1`, ""},
	{"unknown-type", `ALTER TABLE users ADD COLUMN IF NOT EXISTS email hstore`, "unknown-type"},
	{"infinity as a time", `SELECT id FROM posts WHERE home = $1 AND created_at < 'infinity'::timestamptz`, ""},
	{"order-by-json", `SELECT id FROM posts WHERE home = $1 ORDER BY body`, "order-by-json"},
	{"json-as-text", `SELECT body::text FROM posts WHERE home = $1`, "json-as-text"},
	{"json-argument", `SELECT jsonb_set(body, '{a}', '1') FROM posts WHERE home = $1`, rules.RuleFunction},
	{"array-slice", `SELECT tags[1:2] FROM posts WHERE home = $1`, "subscript"},
	{"second-subscript", `SELECT tags[1][2] FROM posts WHERE home = $1`, "subscript"},
	{"bit-precedence", `SELECT likes | 2 & 3 FROM posts WHERE home = $1`, "bit-precedence"},
	{"bit-shift", `SELECT likes << 64 FROM posts WHERE home = $1`, "bit-shift"},
	{"pattern", `SELECT id FROM users WHERE home = $1 AND handle ~ '(a).*\1'`, "pattern"},
	{"text-search", `SELECT id FROM posts WHERE home = $1 AND body::text @@ $2::tsquery`, "text-search"},
	{"distance", `SELECT id FROM users WHERE home = $1 ORDER BY handle <-> $2`, "distance"},
	{"null-in-tuple", `SELECT id FROM posts WHERE home = $1 ORDER BY (deleted_at, id)`, "null-in-tuple"},
	{"hash", `SELECT sha256(id::bytea) FROM posts WHERE home = $1`, rules.RuleFunction},
	{"json-path", `SELECT jsonb_path_query(body, '$.a') FROM posts WHERE home = $1`, rules.RuleFunction},
	{"word-function", `SELECT id FROM posts WHERE home = $1 AND websearch_to_tsquery($2::text) IS NOT NULL`, rules.RuleFunction},
	{"similarity", `SELECT word_similarity(handle, $2::text) FROM users WHERE home = $1`, rules.RuleFunction},
	{"unlisted-function", `SELECT date_bin('1 hour', created_at, now()) FROM posts WHERE home = $1`, rules.RuleFunction},
	{
		"routine-with", `CREATE OR REPLACE FUNCTION f() RETURNS bigint LANGUAGE SQL AS $$ WITH t AS (SELECT 1 AS a) SELECT a FROM t $$`,
		"routine-with",
	},
	{
		"a function that changes rows",
		`CREATE OR REPLACE FUNCTION f() RETURNS bigint LANGUAGE SQL AS $$ DELETE FROM posts WHERE home = 'eu' RETURNING likes $$`, "",
	},
	{"routine-statement", `CREATE OR REPLACE FUNCTION f() RETURNS void LANGUAGE SQL AS $$ CREATE TABLE t (a bigint) $$`, "routine-statement"},
	{"SECURITY DEFINER", `CREATE OR REPLACE FUNCTION f() RETURNS bigint LANGUAGE SQL SECURITY DEFINER AS $$ SELECT 1 $$`, ""},
	{"routine-atomic-body", `CREATE OR REPLACE FUNCTION f() RETURNS bigint LANGUAGE SQL BEGIN ATOMIC SELECT 1; END`, "routine-form"},
	{"routine-language", `CREATE OR REPLACE FUNCTION f() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$`, "routine-form"},
	{"routine-volatility", `CREATE OR REPLACE FUNCTION f() RETURNS timestamptz IMMUTABLE LANGUAGE SQL AS $$ SELECT now() $$`, "routine-form"},
	{"routine-calls-routine", `CREATE OR REPLACE FUNCTION f() RETURNS bigint LANGUAGE SQL AS $$ SELECT f() $$`, rules.RuleFunction},
	{"routine-out", `CREATE OR REPLACE FUNCTION f(OUT n bigint) LANGUAGE SQL AS $$ SELECT 1::bigint $$`, "routine-parameter"},
	{"routine-default", `CREATE OR REPLACE FUNCTION f(n bigint DEFAULT 1) RETURNS bigint LANGUAGE SQL AS $$ SELECT n $$`, "routine-parameter"},
	{"routine-record", `CREATE OR REPLACE FUNCTION f(r record) RETURNS bigint LANGUAGE SQL AS $$ SELECT 1 $$`, "routine-parameter"},
	{"routine-temporary", `CREATE OR REPLACE FUNCTION pg_temp.f() RETURNS bigint LANGUAGE SQL AS $$ SELECT 1 $$`, "routine-form"},
	{"procedure", `CREATE OR REPLACE PROCEDURE f() LANGUAGE SQL AS $$ SELECT 1 $$`, "routine-form"},
	{"routine-in-definition", `CREATE INDEX IF NOT EXISTS i ON posts (home, likes) WHERE delete_old(likes)`, rules.RuleFunction},
	{"inverted-index", `CREATE INDEX IF NOT EXISTS i ON posts USING gin (home, body)`, "inverted-index"},
	{"operator-class", `CREATE INDEX IF NOT EXISTS i ON posts (home, id text_pattern_ops)`, "operator-class"},
	{"index-of-computed", `CREATE INDEX IF NOT EXISTS i ON users (home, (lower(handle_slot)))`, "index-of-computed"},
	{"key-of-json", `CREATE INDEX IF NOT EXISTS i ON posts (home, body)`, "key-of-json"},
	{"predicate-column-dropped", `ALTER TABLE posts DROP COLUMN IF EXISTS edited_at`, "predicate-column-dropped"},
	{"unique-index-dropped", `DROP INDEX IF EXISTS users_handle_slot`, "unique-index-dropped"},
	{
		"context-dependent", `ALTER TABLE posts ADD COLUMN IF NOT EXISTS d text GENERATED ALWAYS AS (created_at::text) STORED`,
		"context-dependent",
	},
	{"session-default", `ALTER TABLE posts ADD COLUMN IF NOT EXISTS d date DEFAULT current_date()`, rules.RuleFunction},
	{
		"long-name", `CREATE INDEX IF NOT EXISTS a_name_with_one_byte_more_than_the_sixty_three_that_are_permitted_ ON posts (home, likes)`,
		"long-name",
	},
}

// violationsOf returns the violations of a case, on the schema with what the examples need.
func violationsOf(c sqlCase) []rules.Violation {
	schema, broken := rules.Migrations(append(constructBase(), rules.Statement{Where: c.name, SQL: c.sql}))
	if slices.Contains([]string{"CREATE", "ALTER", "DROP"}, strings.Fields(c.sql)[0]) {
		return broken
	}
	return rules.Query(schema, rules.Statement{Where: c.name, SQL: c.sql})
}

func TestConstructs(t *testing.T) {
	_, broken := rules.Migrations(constructBase())
	require.Empty(t, broken)
	for _, c := range constructCases {
		t.Run(c.name, func(t *testing.T) {
			broken := violationsOf(c)
			if c.want == "" {
				require.Empty(t, broken)
				return
			}
			require.True(t, slices.ContainsFunc(broken, func(v rules.Violation) bool { return v.Rule == c.want }), "%v", broken)
		})
	}
}

func TestEveryConstructHasAnExample(t *testing.T) {
	names := map[rules.Rule]bool{}
	for _, k := range rules.Constructs() {
		require.False(t, names[k.Name], "two constructs have the name")
		names[k.Name] = true
		require.NotEmpty(t, k.Why)
		require.NotEmpty(t, k.Source)
		requireEveryRule(t, []rules.Rule{k.Name}, constructCases)
	}
	require.GreaterOrEqual(t, len(names), 35)
}

// TestConstructsSpareOtherStatements checks that what the tables of the rules permit contains no construct, with more columns as well.
func TestConstructsSpareOtherStatements(t *testing.T) {
	for _, table := range [][]sqlCase{homeCases, insertCases, statementCases, expressionCases} {
		for _, c := range table {
			if c.want == "" {
				require.Empty(t, violationsOf(c), c.sql)
			}
		}
	}
}
