package crdbcheck

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/hack/crdbcheck/rules"
)

var reviewed = regexp.MustCompile(`(?m)^=== (\S+): (\S+)\n`)

// TestReviewedStatements checks that the rules find what a review found on a real CockroachDB: statements of an earlier version that it
// refused, or planned badly. testdata/review.txt has each with the rule that it breaks.
func TestReviewedStatements(t *testing.T) {
	raw, err := os.ReadFile("testdata/review.txt")
	require.NoError(t, err)
	text := string(raw)
	s, want := program(), map[string]rules.Rule{}
	s.own = nil // the settings that make full scans impossible
	s.queries = nil
	heads := reviewed.FindAllStringSubmatchIndex(text, -1)
	for i, head := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		statement := rules.Statement{Where: text[head[2]:head[3]], SQL: strings.TrimSpace(text[head[1]:end])}
		want[statement.Where] = rules.Rule(text[head[4]:head[5]])
		if strings.HasPrefix(statement.Where, "store/migrations/") {
			s.migrations = append(s.migrations, statement)
		} else {
			s.queries = append(s.queries, statement)
		}
	}
	require.NotEmpty(t, want)
	broken, _ := check(s)
	for where, rule := range want {
		require.True(t, slices.ContainsFunc(broken, func(v rules.Violation) bool { return v.Where == where && v.Rule == rule }), "%s: %s",
			where, rule)
	}
}
