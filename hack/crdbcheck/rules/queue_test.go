package rules_test

import (
	"testing"

	"github.com/plaza-social/plaza/hack/crdbcheck/rules"
)

func TestQueueReads(t *testing.T) {
	for _, c := range []sqlCase{
		{"with an index", `SELECT id FROM posts@{FORCE_INDEX=posts_pkey} WHERE home = $1 ORDER BY id LIMIT 10`, ""},
		{"all rows", `SELECT id FROM posts WHERE home = $1 ORDER BY id`, ""},
		{"any row", `SELECT id FROM posts WHERE home = $1 LIMIT 1`, ""},
		{"no queue", `SELECT id FROM users WHERE home = $1 ORDER BY id LIMIT 10`, ""},
		{"without an index", `SELECT id FROM posts WHERE home = $1 ORDER BY id LIMIT 10`, rules.RuleQueue},
		{
			"in a subquery", `DELETE FROM posts WHERE home = $1 AND id IN (SELECT p.id FROM posts AS p WHERE p.home = $1 ORDER BY p.id LIMIT 10)`,
			rules.RuleQueue,
		},
		{
			"in a union", `(SELECT id FROM posts WHERE home = $1 ORDER BY id LIMIT 1) UNION ALL (SELECT id FROM users WHERE home = $1)`,
			rules.RuleQueue,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireBroken(t, c.want, rules.QueueReads([]string{"posts"}, rules.Statement{Where: c.name, SQL: c.sql}))
		})
	}
}
