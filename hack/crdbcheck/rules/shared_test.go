package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/hack/crdbcheck/rules"
)

func TestSharedRows(t *testing.T) {
	posts := func(key ...int) *rules.Update { return &rules.Update{Table: "posts", Key: key} }
	const undeclared, anotherKey = "declare which", "does not select them by it"
	for name, c := range map[string]struct {
		sql    string
		update *rules.Update
		want   string
	}{
		"a read":              {`SELECT id FROM posts WHERE home = $1`, nil, ""},
		"a table of one user": {`UPDATE sessions SET n = 1 WHERE home = $1 AND id = $2`, nil, ""},
		"an insert":           {`INSERT INTO posts (home, id) VALUES ($1, $2) ON CONFLICT (home, id) DO NOTHING`, nil, ""},
		"an update":           {`UPDATE posts SET n = 1 WHERE home = $1 AND id = $2`, posts(2), ""},
		"of several":          {`UPDATE posts SET n = 1 WHERE home = $1 AND posts.id = ANY($2::text[])`, posts(2), ""},
		"an upsert":           {`INSERT INTO posts (home, id) VALUES ($1, $2) ON CONFLICT (home, id) DO UPDATE SET n = 1`, posts(2), ""},
		"an exception":        {`DELETE FROM posts WHERE home = $1`, &rules.Update{Table: "posts", Unlocked: true}, ""},
		"not declared":        {`UPDATE posts SET n = 1 WHERE home = $1 AND id = $2`, nil, undeclared},
		"not declared, in a common table expression": {
			`WITH c AS (UPDATE posts SET n = 1 WHERE home = $1 AND id = $2 RETURNING id) SELECT count(*) FROM c`, nil, undeclared,
		},
		"an upsert that is not declared": {
			`INSERT INTO posts (home, id) VALUES ($1, $2) ON CONFLICT (home, id) DO UPDATE SET n = 1`, nil,
			undeclared,
		},
		"another table": {
			`UPDATE posts SET n = 1 WHERE home = $1 AND id = $2`, &rules.Update{Table: "comments", Key: []int{2}},
			undeclared,
		},
		"another parameter":            {`UPDATE posts SET n = $2 WHERE home = $1 AND id = $3`, posts(2), anotherKey},
		"an alternative":               {`UPDATE posts SET n = 1 WHERE home = $1 AND (id = $2 OR n = 1)`, posts(2), anotherKey},
		"a comparison of another kind": {`UPDATE posts SET n = 1 WHERE home = $1 AND id > $2`, posts(2), anotherKey},
		"no change":                    {`SELECT id FROM posts WHERE home = $1`, posts(2), "which it does not change"},
	} {
		t.Run(name, func(t *testing.T) {
			found := rules.SharedRows([]string{"posts", "comments"}, rules.Statement{Where: "here", SQL: c.sql}, c.update)
			if c.want == "" {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, rules.RuleSharedRow, found[0].Rule)
			require.Contains(t, found[0].Message, c.want)
		})
	}
}
