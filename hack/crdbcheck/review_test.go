package main

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

// TestReviewedStatements holds that the rules find what a review found on a real CockroachDB: statements of an earlier version that it
// refused, or planned badly. testdata/review.txt has each with the rule that it breaks.
func TestReviewedStatements(t *testing.T) {
	raw, err := os.ReadFile("testdata/review.txt")
	require.NoError(t, err)
	text := string(raw)
	heads := reviewed.FindAllStringSubmatchIndex(text, -1)
	require.NotEmpty(t, heads)
	for i, head := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		where, rule := text[head[2]:head[3]], rules.Rule(text[head[4]:head[5]])
		t.Run(where, func(t *testing.T) {
			s := program()
			s.own = nil // the settings that make full scans impossible
			statement := rules.Statement{Where: where, SQL: strings.TrimSpace(text[head[1]:end])}
			if strings.HasPrefix(where, "store/migrations/") {
				s.migrations, s.queries = append(s.migrations, statement), nil
			} else {
				s.queries = []rules.Statement{statement}
			}
			broken, _ := check(s)
			require.True(t, slices.ContainsFunc(broken, func(v rules.Violation) bool { return v.Where == where && v.Rule == rule }), "%v", broken)
		})
	}
}
