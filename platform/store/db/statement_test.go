package db_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/db"
)

var hinted = db.Register("test.hinted",
	`SELECT 1 FROM settings /*@{FORCE_INDEX=settings_pkey}*/ AS s JOIN settings /*@{FORCE_INDEX=settings_pkey}*/ ON true
	WHERE s.home = $1 /* not a hint */`)

// TestHints checks that a hint is in the text for CockroachDB only.
func TestHints(t *testing.T) {
	t.Parallel()
	require.Equal(t, `SELECT 1 FROM settings AS s JOIN settings ON true
	WHERE s.home = $1 /* not a hint */`, hinted.SQL)
	require.Equal(t, `SELECT 1 FROM settings@{FORCE_INDEX=settings_pkey} AS s JOIN settings@{FORCE_INDEX=settings_pkey} ON true
	WHERE s.home = $1 /* not a hint */`, hinted.CockroachSQL)
	hint := regexp.MustCompile(`@\{FORCE_INDEX=\w+\}`)
	for _, st := range db.Statements() {
		require.NotContains(t, st.SQL, "@{", st.Name)
		require.NotContains(t, st.CockroachSQL, "/*@", st.Name)
		require.Equal(t, strings.Join(strings.Fields(st.SQL), " "),
			strings.Join(strings.Fields(hint.ReplaceAllString(st.CockroachSQL, "")), " "), st.Name)
	}
}
