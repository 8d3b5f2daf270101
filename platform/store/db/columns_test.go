package db

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type lineOfRow struct{ Text string }

type rowOfTest struct {
	lineOfRow
	ID      string
	Count   int64
	IsLast  bool
	Tags    []string
	Data    []byte
	At      time.Time
	EndsAt  *time.Time
	Renamed string `db:"other_name"`
	Skipped string `db:"-"`
}

func TestColumns(t *testing.T) {
	t.Parallel()
	require.Equal(t, "text, id, count, is_last, tags, data, at, ends_at, other_name", Columns[rowOfTest]())
	require.Equal(t, "''::text, ''::text, 0::bigint, false, NULL, NULL, '0001-01-01 00:00:00+00'::timestamptz, NULL, ''::text",
		Zeros[rowOfTest]())
	require.Equal(t, "id, count", Columns[rowOfTest]("text", "is_last", "tags", "data", "at", "ends_at", "other_name"))
	require.Equal(t, "''::text, 0::bigint", Zeros[rowOfTest]("text", "is_last", "tags", "data", "at", "ends_at", "other_name"))
	require.Panics(t, func() { Zeros[struct{ Ratio float64 }]() })
}
