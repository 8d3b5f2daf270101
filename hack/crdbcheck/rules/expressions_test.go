package rules_test

import "github.com/plaza-social/plaza/hack/crdbcheck/rules"

// expressionCases run among the queries of query_test.go.
var expressionCases = []sqlCase{
	{"count", `SELECT count(*) FROM posts WHERE home = $1`, ""},
	{"division of fractions", `SELECT count(*)::float8 / $2::float8 FROM posts WHERE home = $1`, ""},
	{"a guard on a count", `SELECT 1 / count(*) FROM posts WHERE home = $1`, ""},
	{"a guard on a case", `SELECT 1 / (CASE WHEN $1::bigint > 0 THEN 1 ELSE 0 END)`, ""},
	{"extract, cast", `SELECT extract(epoch FROM now())::float8`, ""},
	{"extract, rounded and cast", `SELECT floor(extract(epoch FROM now()))::bigint`, ""},
	{"bigint", `SELECT $1::bigint, $2::bigint[]`, ""},
	{"json", `SELECT body->>'a', body @> '{"a":1}'::jsonb FROM posts WHERE home = $1`, ""},

	{"a star", `SELECT * FROM posts WHERE home = $1`, rules.RuleStar},
	{"a star of a table", `SELECT p.* FROM posts AS p WHERE p.home = $1`, rules.RuleStar},
	{"a star in RETURNING", `DELETE FROM posts WHERE home = $1 RETURNING *`, rules.RuleStar},
	{"a star in EXISTS", `SELECT EXISTS (SELECT * FROM posts WHERE home = $1)`, rules.RuleStar},
	{"a star in a function", `SELECT to_jsonb(p.*) FROM posts AS p WHERE p.home = $1`, rules.RuleStar},
	{"an advisory lock", `SELECT pg_advisory_xact_lock(1)`, rules.RuleFunction},
	{"a tried advisory lock", `SELECT pg_try_advisory_lock(1)`, rules.RuleFunction},
	{"a qualified function", `SELECT pg_catalog.pg_sleep(1)`, rules.RuleFunction},
	{"a notification", `SELECT pg_notify('a', 'b')`, rules.RuleFunction},
	{"a transaction id", `SELECT txid_current()`, rules.RuleFunction},
	{"in ORDER BY", `SELECT id FROM posts WHERE home = $1 ORDER BY hashtext(id)`, rules.RuleFunction},
	{"in the SET list of ON CONFLICT", `INSERT INTO users (home, id, handle) VALUES ($1, $2, $3)
		ON CONFLICT (home, id) DO UPDATE SET bio = set_config('app.x', 'y', true)`, rules.RuleFunction},
	{"in a window", `SELECT row_number() OVER (ORDER BY hashtext(id)) FROM posts WHERE home = $1`, rules.RuleFunction},
	{"in LIMIT", `SELECT id FROM posts WHERE home = $1 LIMIT nextval('s')`, rules.RuleFunction},
	{"of CockroachDB", `SELECT crdb_internal.node_id()`, rules.RuleFunction},
	{"division", `SELECT likes / 2 FROM posts WHERE home = $1`, rules.RuleDivision},
	{"division of a count", `SELECT count(*) / 2 FROM posts WHERE home = $1`, rules.RuleDivision},
	{"two as a guard", `SELECT 2 / count(*) FROM posts WHERE home = $1`, rules.RuleDivision},
	{"floor division", `SELECT likes // 2 FROM posts WHERE home = $1`, rules.RuleDivision},
	{"ctid", `SELECT id FROM posts WHERE home = $1 AND ctid = $2`, rules.RuleSystemColumn},
	{"xmax in RETURNING", `INSERT INTO users (home, id, handle) VALUES ($1, $2, $3)
		ON CONFLICT (home, id) DO UPDATE SET bio = $4 RETURNING (users.xmax = 0)`, rules.RuleSystemColumn},
	{"INT", `SELECT $1::int`, rules.RuleInteger},
	{"SMALLINT", `SELECT CAST($1 AS smallint)`, rules.RuleInteger},
	{"an array of INT", `SELECT $1::int[]`, rules.RuleInteger},
	{"extract", `SELECT extract(epoch FROM now())`, rules.RuleExtract},
	{"extract in a sum", `SELECT (extract(epoch FROM now()) + 1.0)::float8`, rules.RuleExtract},
	{"a float to an integer", `SELECT 3.5::float8::bigint`, rules.RuleRounding},
	{"extract to an integer", `SELECT extract(epoch FROM now())::bigint`, rules.RuleRounding},
	{"a quotient to an integer", `SELECT ($1::float8 / 2)::bigint`, rules.RuleRounding},
	{"COLLATE", `SELECT id FROM posts WHERE home = $1 ORDER BY id COLLATE "de"`, rules.RuleCollate},
}
