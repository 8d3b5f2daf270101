package budget_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/budget"
)

func TestRows(t *testing.T) {
	t.Parallel()
	require.Nil(t, budget.RowsOf(t.Context()))
	ctx, rows := budget.WithRows(t.Context(), 1000)
	require.Same(t, rows, budget.RowsOf(ctx))
	require.NoError(t, rows.Take(600))
	for range 1000 {
		require.NoError(t, rows.Take(256), "small rows do not count")
	}
	require.NoError(t, rows.Take(400), "at the limit")
	require.False(t, rows.Exceeded())
	require.Equal(t, 2, rows.Taken())
	require.ErrorIs(t, rows.Take(257), budget.ErrExceeded)
	require.True(t, rows.Exceeded())
}
