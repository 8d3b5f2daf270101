package apptest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// dueColumns are the columns with the time at which something happens to the rows of a table.
var dueColumns = map[string][]string{
	"scheduled_posts": {"scheduled_at", "due_at"},
	"polls":           {"closes_at"},
}

// MakeDue moves the time of rows into the past: a scheduled post is published, and a poll is closed.
func (n *Network) MakeDue(t testing.TB, table string, ids ...string) {
	t.Helper()
	columns, known := dueColumns[table]
	require.True(t, known, "one of %v", slices.Collect(maps.Keys(dueColumns)))
	conn, err := pgx.Connect(t.Context(), n.DatabaseURL)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	sql := `UPDATE ` + table + ` SET ` + strings.Join(columns, ` = $1, `) + ` = $1 WHERE id = ANY($2::text[])`
	changed, err := conn.Exec(t.Context(), sql, time.Now().UTC().Add(-time.Second).Truncate(time.Millisecond), ids)
	require.NoError(t, err)
	require.EqualValues(t, len(ids), changed.RowsAffected())
}
