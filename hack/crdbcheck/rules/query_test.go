package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/hack/crdbcheck/rules"
)

var homeCases = []sqlCase{
	{"one table", `SELECT id FROM posts WHERE home = $1 AND id = $2`, ""},
	{"a cast and the other way round", `SELECT id FROM posts WHERE $1::text = home`, ""},
	{"an alias", `SELECT p.id FROM posts AS p WHERE (p.home = $1) AND p.id = ANY($2::text[])`, ""},
	{"no table", `SELECT 1`, ""},
	{"rows of a function", `SELECT f.id FROM unnest($1::text[]) AS f(id)`, ""},
	{
		"a join with home on both sides",
		`SELECT p.id FROM posts AS p JOIN users AS u ON u.home = $1 AND u.id = p.author_id WHERE p.home = $1`, "",
	},
	{
		"a left join with home in ON",
		`SELECT p.id FROM posts AS p LEFT JOIN users AS u ON u.home = $1 AND u.id = p.author_id WHERE p.home = $1`, "",
	},
	{
		"tables equated as well",
		`SELECT p.id FROM posts AS p, users AS u WHERE p.home = $1 AND u.home = $1 AND u.home = p.home`, "",
	},
	{
		"a lateral query",
		`SELECT p.id FROM unnest($2::text[]) AS f(author_id) CROSS JOIN LATERAL
		 (SELECT id FROM posts WHERE home = $1 AND author_id = f.author_id) AS p`, "",
	},
	{
		"a lateral query with an order and a limit",
		`SELECT p.id FROM unnest($2::text[]) AS f(author_id) CROSS JOIN LATERAL
		 (SELECT id FROM posts WHERE home = $1 AND author_id = f.author_id ORDER BY id DESC LIMIT 20) AS p`, rules.RuleApplyJoin,
	},
	{
		"one within a lateral query",
		`SELECT p.n FROM unnest($2::text[]) AS f(author_id) CROSS JOIN LATERAL (SELECT count(*) AS n FROM
		 (SELECT id FROM posts WHERE home = $1 AND author_id = f.author_id ORDER BY id DESC LIMIT 20) AS few) AS p`, rules.RuleApplyJoin,
	},
	{
		"a lateral query with a limit of several rows",
		`SELECT p.id FROM unnest($2::text[]) AS f(author_id) CROSS JOIN LATERAL (SELECT id FROM posts WHERE home = $1 AND author_id = f.author_id LIMIT 20) AS p`, rules.RuleApplyJoin,
	},
	{
		"a lateral query with an order and a limit of one row",
		`SELECT p.id FROM unnest($2::text[]) AS f(author_id) CROSS JOIN LATERAL
		 (SELECT id FROM posts WHERE home = $1 AND author_id = f.author_id ORDER BY id LIMIT 1) AS p`, rules.RuleApplyJoin,
	},
	{
		"a lateral query for a single row",
		`SELECT p.id FROM unnest($2::text[]) AS f(id) CROSS JOIN LATERAL (SELECT id FROM posts WHERE home = $1 AND id = f.id LIMIT 1) AS p`, "",
	},
	{
		"the rows of a function of a column",
		`SELECT t FROM posts AS p CROSS JOIN LATERAL unnest(p.tags) AS t WHERE p.home = $1`, rules.RuleApplyJoin,
	},
	{
		"values of a column",
		`SELECT v.ref FROM posts AS p CROSS JOIN LATERAL (VALUES (p.id), ($2)) AS v (ref) WHERE p.home = $1`, rules.RuleApplyJoin,
	},
	{
		"an outer column in the filter of an aggregate",
		`SELECT c.n FROM unnest($2::text[], $3::timestamptz[]) AS f (id, at) CROSS JOIN LATERAL (
		 SELECT count(*) FILTER (WHERE created_at > f.at) FROM posts WHERE home = $1 AND author_id = f.id) AS c (n)`, rules.RuleApplyJoin,
	},
	{
		"a column of its own in the filter of an aggregate",
		`SELECT c.n FROM unnest($2::text[]) AS f (id) CROSS JOIN LATERAL (
		 SELECT count(*) FILTER (WHERE author_id <> '') FROM posts WHERE home = $1 AND author_id = f.id) AS c (n)`, "",
	},
	{"constant values", `SELECT v.n FROM posts AS p CROSS JOIN (VALUES (-1), (1)) AS v (n) WHERE p.home = $1`, ""},
	{
		"a correlated subquery in a branch",
		`SELECT CASE WHEN is_parent THEN true ELSE (SELECT count(*) > 0 FROM users WHERE home = $1 AND id = p.author_id) END FROM posts AS p WHERE p.home = $1`,
		rules.RuleApplyJoin,
	},
	{
		"one in a result",
		`SELECT CASE WHEN is_parent THEN EXISTS (SELECT 1 FROM users WHERE home = $1 AND id = p.author_id) END FROM posts AS p WHERE p.home = $1`, rules.RuleApplyJoin,
	},
	{
		"one in a later argument",
		`SELECT COALESCE(title, (SELECT name FROM users WHERE home = $1 AND id = p.author_id)) FROM posts AS p WHERE p.home = $1`,
		rules.RuleApplyJoin,
	},
	{
		"one in the first argument",
		`SELECT COALESCE((SELECT true FROM users WHERE home = $1 AND id = p.author_id), false) FROM posts AS p WHERE p.home = $1`, "",
	},
	{
		"one in the first condition",
		`SELECT CASE WHEN EXISTS (SELECT 1 FROM users WHERE home = $1 AND id = p.author_id) THEN 1 ELSE 0 END FROM posts AS p WHERE p.home = $1`, "",
	},
	{
		"one in the second condition",
		`SELECT CASE WHEN is_parent THEN 1 WHEN EXISTS (SELECT 1 FROM users WHERE home = $1 AND id = p.author_id) THEN 2 END FROM posts AS p WHERE p.home = $1`,
		rules.RuleApplyJoin,
	},
	{
		"a subquery of its own in a branch",
		`SELECT CASE WHEN is_parent THEN (SELECT count(*) FROM users WHERE home = $1) END FROM posts AS p WHERE p.home = $1`, "",
	},
	{
		"a common table expression",
		`WITH mine AS (SELECT id FROM posts WHERE home = $1) SELECT id FROM mine`, "",
	},
	{
		"a change with a subquery",
		`UPDATE users AS u SET bio = $2 WHERE u.home = $1 AND EXISTS (SELECT 1 FROM posts AS p WHERE p.home = $1 AND p.author_id = u.id)`, "",
	},
	{
		"a change FROM another table",
		`UPDATE users AS u SET bio = $2 FROM posts AS p WHERE u.home = $1 AND p.home = $1 AND p.author_id = u.id`, "",
	},
	{"a deletion", `DELETE FROM posts WHERE home = $1 AND id = $2`, ""},
	{"a catalog of the engine", `SELECT t.table_name FROM information_schema.tables AS t`, ""},

	{"no home", `SELECT id FROM posts WHERE id = $1`, rules.RuleOneHome},
	{"no condition at all", `SELECT id FROM posts`, rules.RuleOneHome},
	{
		"home only of the other table",
		`SELECT p.id FROM posts AS p JOIN users AS u ON u.id = p.author_id WHERE p.home = $1`, rules.RuleOneHome,
	},
	{
		"home only through the other table",
		`SELECT p.id FROM posts AS p JOIN users AS u ON u.home = p.home WHERE p.home = $1`, rules.RuleOneHome,
	},
	{"a join USING home", `SELECT p.id FROM posts AS p JOIN users AS u USING (home) WHERE p.home = $1`, rules.RuleOneHome},
	{
		"the kept side of a left join, in ON",
		`SELECT p.id FROM posts AS p LEFT JOIN users AS u ON u.home = $1 AND p.home = $1`, rules.RuleOneHome,
	},
	{
		"the kept side of a right join, in ON",
		`SELECT p.id FROM posts AS p RIGHT JOIN users AS u ON u.home = $1 AND p.home = $1`, rules.RuleOneHome,
	},
	{"a full join, in ON", `SELECT p.id FROM posts AS p FULL JOIN users AS u ON u.home = $1 AND p.home = $1`, rules.RuleOneHome},
	{"another placeholder", `SELECT id FROM posts WHERE home = $2 AND id = $1`, rules.RuleOneHome},
	{"two homes", `SELECT p.id FROM posts AS p, users AS u WHERE p.home = $1 AND u.home = $2`, rules.RuleOneHome},
	{"a constant", `SELECT id FROM posts WHERE home = 'eu'`, rules.RuleOneHome},
	{"OR", `SELECT id FROM posts WHERE home = $1 OR id = $2`, rules.RuleOneHome},
	{"NOT", `SELECT id FROM posts WHERE NOT (home = $1)`, rules.RuleOneHome},
	{"IN", `SELECT id FROM posts WHERE home IN ($1, $2)`, rules.RuleOneHome},
	{"ANY", `SELECT id FROM posts WHERE home = ANY($1::text[])`, rules.RuleOneHome},
	{"ANY besides", `SELECT id FROM posts WHERE home = $1 AND home = ANY($2::text[])`, rules.RuleOneHome},
	{"a row IN", `SELECT id FROM posts WHERE home = $1 AND (home, id) IN (($2, $3))`, rules.RuleOneHome},
	{"BETWEEN", `SELECT id FROM posts WHERE home = $1 AND home BETWEEN $2 AND $3`, rules.RuleOneHome},
	{"a subquery without", `SELECT id FROM posts WHERE home = $1 AND author_id IN (SELECT id FROM users)`, rules.RuleOneHome},
	{
		"a subquery in the list", `SELECT (SELECT count(*) FROM posts WHERE author_id = u.id) FROM users AS u WHERE u.home = $1`,
		rules.RuleOneHome,
	},
	{"a subquery in FROM", `SELECT p.id FROM (SELECT id FROM posts) AS p`, rules.RuleOneHome},
	{"a common table expression without", `WITH mine AS (SELECT id FROM posts) SELECT id FROM mine`, rules.RuleOneHome},
	{"one half of a union", `SELECT id FROM posts WHERE home = $1 UNION ALL SELECT id FROM users`, rules.RuleOneHome},
	{"UPDATE without", `UPDATE posts SET likes = $1`, rules.RuleOneHome},
	{
		"UPDATE FROM without",
		`UPDATE users AS u SET bio = $2 FROM posts AS p WHERE u.home = $1 AND p.author_id = u.id`, rules.RuleOneHome,
	},
	{
		"UPDATE with a subquery without",
		`UPDATE users SET bio = (SELECT max(id) FROM posts) WHERE home = $1`, rules.RuleOneHome,
	},
	{"DELETE without", `DELETE FROM posts WHERE id = $1`, rules.RuleOneHome},
	{"DELETE USING without", `DELETE FROM posts AS p USING users AS u WHERE p.home = $1 AND u.id = p.author_id`, rules.RuleOneHome},
	{"INSERT without", `INSERT INTO users (id, handle) VALUES ($1, $2)`, rules.RuleOneHome},
	{"INSERT with another placeholder", `INSERT INTO users (id, home, handle) VALUES ($1, $2, $3)`, rules.RuleOneHome},
	{"INSERT with two homes", `INSERT INTO users (home, id, handle) VALUES ($1, $2, $3), ($4, $5, $6)`, rules.RuleOneHome},
	{
		"INSERT of homes of an array",
		`INSERT INTO users (home, id, handle) SELECT unnest($1::text[]), unnest($2::text[]), unnest($3::text[])`, rules.RuleOneHome,
	},
	{
		"a subquery in ON CONFLICT",
		`INSERT INTO users (home, id, handle) VALUES ($1, $2, $3)
		 ON CONFLICT (home, id) DO UPDATE SET bio = (SELECT max(id) FROM posts)`, rules.RuleOneHome,
	},
	{"SET home", `UPDATE users SET home = $2 WHERE home = $1`, rules.RuleMoveHome},
	{"SET home among others", `UPDATE users SET (bio, home) = ($2, $3) WHERE home = $1`, rules.RuleMoveHome},
	{
		"SET home in ON CONFLICT",
		`INSERT INTO users (home, id, handle) VALUES ($1, $2, $3) ON CONFLICT (home, id) DO UPDATE SET home = $1`, rules.RuleMoveHome,
	},
}

var insertCases = []sqlCase{
	{"one row", `INSERT INTO users (home, id, handle) VALUES ($1, $2, $3) RETURNING id`, ""},
	{"home in the middle", `INSERT INTO users (id, home, handle) VALUES ($2, $1, $3)`, ""},
	{"many rows", `INSERT INTO users (home, id, handle) SELECT $1, unnest($2::text[]), unnest($3::text[])`, ""},
	{"many rows of VALUES", `INSERT INTO users (home, id, handle) VALUES ($1, $2, $3), ($1, $4, $5)`, ""},
	{"from a query", `INSERT INTO users (home, id, handle) SELECT $1::text, p.id, $2 FROM posts AS p WHERE p.home = $1`, ""},
	{"DO NOTHING", `INSERT INTO users (home, id, handle) VALUES ($1, $2, $3) ON CONFLICT (home, handle_slot) DO NOTHING`, ""},
	{"DO UPDATE", `INSERT INTO users (home, id, handle) VALUES ($1, $2, $3)
		ON CONFLICT (home, id) DO UPDATE SET handle = excluded.handle WHERE users.deleted_at IS NULL RETURNING id`, ""},

	{"no columns", `INSERT INTO users VALUES ($1, $2, $3)`, rules.RuleInsert},
	{"default values", `INSERT INTO users DEFAULT VALUES`, rules.RuleInsert},
	{"UPSERT", `UPSERT INTO users (home, id, handle) VALUES ($1, $2, $3)`, rules.RuleConflict},
	{"no target", `INSERT INTO users (home, id, handle) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, rules.RuleConflict},
	{
		"a constraint", `INSERT INTO users (home, id, handle) VALUES ($1, $2, $3) ON CONFLICT ON CONSTRAINT users_pkey DO NOTHING`,
		rules.RuleConflict,
	},
	{"not home first", `INSERT INTO users (home, id, handle) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`, rules.RuleConflict},
	{"a partial index", `INSERT INTO users (home, id, handle) VALUES ($1, $2, $3)
		ON CONFLICT (home, handle) WHERE deleted_at IS NULL DO NOTHING`, rules.RuleConflict},
	{
		"two rows", `INSERT INTO users (home, id, handle) VALUES ($1, $2, $3), ($1, $4, $5) ON CONFLICT (home, id) DO NOTHING`,
		rules.RuleConflict,
	},
	{
		"an array", `INSERT INTO users (home, id, handle) SELECT $1, unnest($2::text[]), unnest($3::text[]) ON CONFLICT (home, id) DO NOTHING`,
		rules.RuleConflict,
	},
	{"a common table expression", `WITH r AS (SELECT id FROM posts WHERE home = $1)
		INSERT INTO users (home, id, handle) SELECT $1, r.id, $2 FROM r ON CONFLICT (home, id) DO NOTHING`, rules.RuleConflict},
	{
		"an expression", `INSERT INTO users (home, id, handle) VALUES ($1, $2, $3) ON CONFLICT (home, lower(handle)) DO NOTHING`,
		rules.RuleParse,
	},
	{"an unknown table", `INSERT INTO user (home, id) VALUES ($1, $2)`, rules.RuleParse},
	{"a table that no migration makes", `INSERT INTO people (home, id) VALUES ($1, $2)`, rules.RuleTable},
}

var statementCases = []sqlCase{
	{"FOR UPDATE", `SELECT id FROM posts WHERE home = $1 AND id = ANY($2::text[]) ORDER BY id FOR UPDATE`, ""},
	{"two tables changed", `WITH d AS (DELETE FROM posts WHERE home = $1 RETURNING id) UPDATE users SET bio = $2 WHERE home = $1`, ""},
	{"nullable, with its place said", `SELECT id FROM posts WHERE home = $1 ORDER BY deleted_at IS NULL, deleted_at, id`, ""},
	{"nullable, but not here", `SELECT id FROM posts WHERE home = $1 AND deleted_at IS NOT NULL ORDER BY deleted_at`, ""},

	{"LISTEN", `LISTEN events`, rules.RuleParse},
	{"NOTIFY", `NOTIFY events`, rules.RuleParse},
	{"TABLESAMPLE", `SELECT id FROM posts TABLESAMPLE SYSTEM (1) WHERE home = $1`, rules.RuleParse},
	{"LOCK TABLE", `LOCK TABLE posts`, rules.RuleParse},
	{"MERGE", `MERGE INTO posts USING users ON true WHEN MATCHED THEN DO NOTHING`, rules.RuleParse},
	{"SET CONSTRAINTS", `SET CONSTRAINTS ALL DEFERRED`, rules.RuleParse},
	{"two statements", `SELECT 1; SELECT 2`, rules.RuleParse},
	{"nothing", ``, rules.RuleParse},
	{"a hole of the template", `SELECT 1 -- {{REGION}}`, rules.RuleParse},
	{"SET", `SET statement_timeout = '1s'`, rules.RuleStatement},
	{"DDL", `CREATE INDEX IF NOT EXISTS x ON posts (home, likes)`, rules.RuleStatement},
	{"DO", `DO $$ BEGIN NULL; END $$`, rules.RuleStatement},
	{"an unknown table", `SELECT id FROM people WHERE home = $1`, rules.RuleTable},
	{"a hidden table", `WITH posts AS (SELECT 1 AS id) SELECT id FROM posts`, rules.RuleTable},
	{"a hint", `SELECT p.id FROM posts@{FORCE_INDEX=posts_pkey} AS p WHERE p.home = $1`, ""},
	{"a hint for an index of another table", `SELECT id FROM posts@{FORCE_INDEX=users_pkey} WHERE home = $1`, rules.RuleHint},
	{"a hint without an index", `SELECT id FROM posts@{NO_FULL_SCAN} WHERE home = $1`, rules.RuleHint},
	{"two hints", `SELECT id FROM posts@{FORCE_INDEX=posts_pkey,NO_ZIGZAG_JOIN} WHERE home = $1`, rules.RuleHint},
	{"a join hint", `SELECT p.id FROM posts AS p INNER LOOKUP JOIN users AS u ON u.home = $1 WHERE p.home = $1`, rules.RuleTable},
	{"a statement as a table", `SELECT r.region FROM [SHOW REGIONS] AS r`, rules.RuleTable},
	{"UPDATE LIMIT", `UPDATE posts SET likes = 0 WHERE home = $1 LIMIT 1`, rules.RuleLimit},
	{"DELETE LIMIT", `DELETE FROM posts WHERE home = $1 LIMIT 1`, rules.RuleLimit},
	{"DELETE ORDER BY", `DELETE FROM posts WHERE home = $1 ORDER BY id LIMIT 1`, rules.RuleLimit},
	{"RETURNING NOTHING", `DELETE FROM posts WHERE home = $1 RETURNING NOTHING`, rules.RuleReturning},
	{
		"a deletion in WITH without RETURNING", `WITH d AS (DELETE FROM posts WHERE home = $1) UPDATE users SET bio = $2 WHERE home = $1`,
		"with-without-columns",
	},
	{"an update in WITH without RETURNING", `WITH u AS (UPDATE users SET bio = $2 WHERE home = $1) SELECT 1`, "with-without-columns"},
	{
		"an insert in WITH without RETURNING", `WITH i AS (INSERT INTO users (home, id, handle) VALUES ($1, $2, $3)) SELECT 1`,
		"with-without-columns",
	},
	{"AS OF SYSTEM TIME", `SELECT id FROM posts AS OF SYSTEM TIME '-5s' WHERE home = $1`, rules.RuleAsOf},
	{
		"changed twice", `WITH d AS (DELETE FROM posts WHERE home = $1 AND id = $2 RETURNING id) UPDATE posts SET likes = 0 WHERE home = $1`,
		rules.RuleTwice,
	},
	{"FOR SHARE", `SELECT id FROM posts WHERE home = $1 FOR SHARE`, rules.RuleLocking},
	{"NULLS LAST", `SELECT id FROM posts WHERE home = $1 ORDER BY deleted_at NULLS LAST`, rules.RuleNulls},
	{"nullable", `SELECT id FROM posts WHERE home = $1 ORDER BY deleted_at DESC`, rules.RuleNulls},
	{
		"nullable, of one of two", `SELECT p.id FROM posts AS p JOIN users AS u ON u.home = $1 WHERE p.home = $1 ORDER BY u.bio`,
		rules.RuleNulls,
	},
}

func TestQueries(t *testing.T) {
	schema, broken := rules.Migrations(base())
	require.Empty(t, broken)
	for _, table := range [][]sqlCase{homeCases, insertCases, statementCases, expressionCases} {
		for _, c := range table {
			t.Run(c.name, func(t *testing.T) {
				requireBroken(t, c.want, rules.Query(schema, rules.Statement{Where: c.name, SQL: c.sql}))
			})
		}
	}
}

func TestEveryRuleOfQueriesHasABadExample(t *testing.T) {
	requireEveryRule(t, []rules.Rule{
		rules.RuleParse, rules.RuleOneHome, rules.RuleMoveHome, rules.RuleInsert, rules.RuleConflict, rules.RuleTable,
		rules.RuleStatement, rules.RuleLimit, rules.RuleReturning, rules.RuleAsOf, rules.RuleTwice, rules.RuleLocking,
		rules.RuleNulls, rules.RuleStar, rules.RuleFunction, rules.RuleDivision, rules.RuleSystemColumn, rules.RuleInteger,
		rules.RuleExtract, rules.RuleRounding, rules.RuleCollate, rules.RuleHint,
	}, homeCases, insertCases, statementCases, expressionCases)
}
