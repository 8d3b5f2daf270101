package conformance

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
)

// dueColumns are the columns with the time at which something happens to the rows of a table.
var dueColumns = map[string][]string{
	"scheduled_posts": {"scheduled_at", "due_at"},
	"polls":           {"closes_at"},
}

// makeDue moves the time of rows into the past: a scheduled post is published, and a poll is closed.
func makeDue(t *testing.T, n *apptest.Network, table string, ids ...string) {
	t.Helper()
	columns, known := dueColumns[table]
	require.True(t, known, "one of %v", slices.Collect(maps.Keys(dueColumns)))
	sql := `UPDATE ` + table + ` SET ` + strings.Join(columns, ` = $1, `) + ` = $1 WHERE id = ANY($2::text[])`
	changed, err := connectTo(t, n).Exec(t.Context(), sql, time.Now().UTC().Add(-time.Second).Truncate(time.Millisecond), ids)
	require.NoError(t, err)
	require.EqualValues(t, len(ids), changed.RowsAffected())
}
