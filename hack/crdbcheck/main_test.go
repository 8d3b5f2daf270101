package crdbcheck

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/hack/crdbcheck/rules"
)

func TestTheProgramKeepsTheRules(t *testing.T) {
	s := program()
	require.NotEmpty(t, s.migrations)
	require.NotEmpty(t, s.queries)
	require.NotEmpty(t, s.own)
	require.NotEmpty(t, s.placement)
	require.NotEmpty(t, s.shared)
	broken, tables := check(s)
	for _, v := range broken {
		t.Error(v)
	}
	require.Positive(t, tables)
}

// TestCheck checks that a violation is found in every kind of statement.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		sources sources
		want    string
	}{
		"all good": {sources{queries: []rules.Statement{{Where: "store/ping", SQL: "SELECT 1"}}}, ""},
		"a bad statement": {
			sources{queries: []rules.Statement{{Where: "store/sleep", SQL: "SELECT pg_sleep(1)"}}},
			"store/sleep: function: pg_sleep(): a statement that waits holds its connection",
		},
		"a bad statement of the engine": {
			sources{own: []rules.Statement{{Where: "store/db/1", SQL: "SELECT pg_sleep(1)"}}},
			"store/db/1: function: pg_sleep(): a statement that waits holds its connection",
		},
		"a bad migration": {
			sources{migrations: []rules.Statement{{Where: "store/migrations/1.sql", SQL: "DROP TABLE posts"}}},
			"store/migrations/1.sql: idempotent: write DROP TABLE IF EXISTS",
		},
		"placement of another grammar": {
			sources{placement: []rules.Statement{{Where: "store/placement/1", SQL: `ALTER DATABASE d ADD REGION`}}},
			`store/placement/1: parse: at or near "EOF": syntax error`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			broken, _ := check(c.sources)
			var lines []string
			for _, v := range broken {
				lines = append(lines, v.String())
			}
			require.Equal(t, c.want, strings.Join(lines, "\n"))
		})
	}
}

var homeCondition = regexp.MustCompile(`\b(?:[a-z_]+\.)?home = \$1(?:::text)?`)

// TestNoHomeIsSuperfluous takes the condition on home away, one place at a time, from every statement of the program: the
// rules have to notice each.
func TestNoHomeIsSuperfluous(t *testing.T) {
	s := program()
	schema, _ := rules.Migrations(s.migrations)
	places := 0
	for _, q := range s.queries {
		for _, at := range homeCondition.FindAllStringIndex(q.SQL, -1) {
			places++
			without := rules.Statement{Where: q.Where, SQL: q.SQL[:at[0]] + "true" + q.SQL[at[1]:]}
			require.NotEmpty(t, rules.Query(schema, without), without.SQL)
		}
	}
	require.Positive(t, places)
}

// TestFullScans checks that the program fails the check without the settings of its sessions, and that it has hints.
func TestFullScans(t *testing.T) {
	s := program()
	hints := slices.DeleteFunc(slices.Clone(s.queries), func(q rules.Statement) bool { return !strings.Contains(q.SQL, "@{FORCE_INDEX=") })
	require.NotEmpty(t, hints)
	s.own = nil
	broken, _ := check(s)
	require.True(t, slices.ContainsFunc(broken, func(v rules.Violation) bool { return v.Rule == rules.RuleFullScan }))
}

// TestApplyJoinsAreUsed checks that every accepted apply join still exists.
func TestApplyJoinsAreUsed(t *testing.T) {
	s := program()
	schema, _ := rules.Migrations(s.migrations)
	var joins []rules.Violation
	for _, q := range s.queries {
		joins = append(joins, rules.Query(schema, q)...)
	}
	for _, name := range applyJoins {
		require.True(t, slices.ContainsFunc(joins, func(v rules.Violation) bool {
			return v.Rule == rules.RuleApplyJoin && strings.HasPrefix(v.Where, "store/"+name)
		}), name)
	}
}
