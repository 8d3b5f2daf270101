package store_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

// TestEveryTableIsErased checks that every table is either part of an erasure or exempt from it for a reason, so that a
// new table cannot be forgotten.
func TestEveryTableIsErased(t *testing.T) {
	decided := slices.Concat(store.NotErased(), store.TablesOfUser())
	for _, walk := range store.ErasureWalks {
		decided = append(decided, walk.Table)
	}
	require.ElementsMatch(t, db.Tables(), decided)
}

// TestEveryTableIsExported checks the same of exports.
func TestEveryTableIsExported(t *testing.T) {
	decided := store.NotExported()
	for _, table := range store.ExportTables {
		decided = append(decided, table.Name)
	}
	require.ElementsMatch(t, db.Tables(), decided)
}

// TestEveryTableMoves checks the same of moves.
func TestEveryTableMoves(t *testing.T) {
	decided := store.NotMoved()
	for _, table := range store.MoveTables {
		decided = append(decided, table.Name)
	}
	require.ElementsMatch(t, db.Tables(), decided)
}
