package rules_test

import (
	"testing"

	"github.com/plaza-social/plaza/hack/crdbcheck/rules"
)

func TestFilteredPages(t *testing.T) {
	schema, _ := rules.Migrations(base())
	const three = ` AND (deleted_at IS NULL OR $2::boolean) AND NOT (likes > 3 AND $3::boolean) AND lower(id) LIKE $4`
	const four = three + ` AND (cardinality($5::text[]) = 0 OR id = ANY($5::text[]))`
	const page = ` ORDER BY created_at, id LIMIT 20`
	for _, c := range []sqlCase{
		{"three filters", `SELECT id FROM posts WHERE home = $1` + three + page, ""},
		{"four filters", `SELECT id FROM posts WHERE home = $1` + four + page, rules.RulePage},
		{"four filters in parentheses", `SELECT id FROM posts WHERE (home = $1` + four + `)` + page, rules.RulePage},
		{"in a subquery", `SELECT p.id FROM (SELECT id FROM posts WHERE home = $1` + four + page + `) AS p`, rules.RulePage},
		{"with an index", `SELECT id FROM posts@{FORCE_INDEX=posts_pkey} WHERE home = $1` + four + page, ""},
		{"of an author", `SELECT id FROM posts WHERE home = $1 AND author_id = $6` + four + page, ""},
		{"of a column with two values", `SELECT id FROM posts WHERE home = $1 AND body = $6::boolean` + four + page, rules.RulePage},
		{"of a column that is true", `SELECT id FROM posts WHERE home = $1 AND body = true` + four + page, rules.RulePage},
		{"all rows", `SELECT id FROM posts WHERE home = $1` + four + ` ORDER BY created_at, id`, ""},
		{"any row", `SELECT id FROM posts WHERE home = $1` + four + ` LIMIT 20`, ""},
		{"of a WITH", `WITH own AS (SELECT id, created_at FROM posts WHERE home = $1) SELECT id FROM own WHERE home = $1` + four + page, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireBroken(t, c.want, rules.FilteredPages(schema, rules.Statement{Where: c.name, SQL: c.sql}))
		})
	}
}
