package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/db"
)

// requireEveryTable checks that the database has exactly the given tables and those that match, which are exempt for a reason.
func requireEveryTable(t *testing.T, given []string, match func(table) bool) {
	t.Helper()
	given = append(given, selectTables(match, func(t table) string { return t.name })...)
	require.ElementsMatch(t, db.Tables(), given)
}

// TestEveryTableIsErased checks that every table is either part of an erasure or exempt from it for a reason, so that a
// new table cannot be forgotten.
func TestEveryTableIsErased(t *testing.T) {
	var visited []string
	for _, walk := range ErasureWalks {
		visited = append(visited, walk.Table)
	}
	requireEveryTable(t, visited, func(t table) bool { return t.kept != "" || t.users == "" })
}

// TestEveryTableIsExported checks the same of exports.
func TestEveryTableIsExported(t *testing.T) {
	var exported []string
	for _, table := range ExportTables {
		exported = append(exported, table.Name)
	}
	requireEveryTable(t, exported, func(t table) bool { return t.hidden != "" })
}

// TestEveryTableMoves checks the same of moves.
func TestEveryTableMoves(t *testing.T) {
	var moved []string
	for _, table := range MoveTables {
		moved = append(moved, table.Name)
	}
	requireEveryTable(t, moved, func(t table) bool { return t.stays != "" })
}
