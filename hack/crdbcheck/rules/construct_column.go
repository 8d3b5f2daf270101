package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// maxName is the length of a name in bytes that PostgreSQL keeps.
const maxName = 63

// columnConstructs are about columns, their expressions, and names.
var columnConstructs = []Construct{
	{
		Name: "context-dependent", Why: "a computed column, an index or its condition must not depend on the session, such as by a time zone",
		Source: "pkg/sql/sem/tree/type_check.go, NewContextDependentOpsNotAllowedError",
		found: func(at place) bool {
			return isStoredExpression(at.path) && dependsOnSession(at)
		},
	},
	{
		Name: "long-name", Why: "a name has at most 63 bytes: PostgreSQL cuts it, and errors are identified by the names of constraints",
		Source: "cockroachdb/cockroach#107895, #114866",
		found: func(at place) bool {
			return slices.ContainsFunc(namesOf(at.node), func(name string) bool { return len(name) > maxName })
		},
	},
}

// isStoredExpression reports whether the ancestors of a node make it a part of a computed column, or of an index or its condition.
func isStoredExpression(path []any) bool {
	for i, ancestor := range path {
		switch n := ancestor.(type) {
		case *tree.ColumnTableDef:
			return n.Computed.Computed && i+1 < len(path) && n.Name != regionColumn
		case *tree.CreateIndex, *tree.IndexTableDef:
			return true
		}
	}
	return false
}

// dependsOnSession reports whether the result of an operation depends on the settings of the session or on the time.
func dependsOnSession(at place) bool {
	switch n := at.node.(type) {
	case *tree.FuncExpr:
		return slices.Contains([]string{"now", "clock_timestamp", "extract"}, functionName(n))
	case *tree.CastExpr:
		t, ok := n.Type.(*types.T)
		if !ok {
			return false
		}
		from := at.familyOf(n.Expr)
		return isTime(t.Family()) && !isTime(from) || isTime(from) && t.Family() != from
	}
	return false
}

func isTime(family types.Family) bool {
	return slices.Contains([]types.Family{
		types.DateFamily, types.TimeFamily, types.TimeTZFamily, types.TimestampFamily, types.TimestampTZFamily, types.IntervalFamily,
	}, family)
}

// namesOf returns the names that a node gives.
func namesOf(node any) []string {
	switch n := node.(type) {
	case *tree.CreateTable:
		return []string{n.Table.Table()}
	case *tree.ColumnTableDef:
		return []string{string(n.Name)}
	case *tree.CreateIndex:
		return []string{string(n.Name)}
	case *tree.IndexTableDef:
		return []string{string(n.Name)}
	case *tree.UniqueConstraintTableDef:
		return []string{string(n.Name)}
	case *tree.CheckConstraintTableDef:
		return []string{string(n.Name)}
	case *tree.ForeignKeyConstraintTableDef:
		return []string{string(n.Name)}
	case *tree.CreateRoutine:
		return []string{n.Name.Object()}
	case *tree.AliasClause:
		return []string{string(n.Alias)}
	case *tree.SelectExpr:
		return []string{string(n.As)}
	}
	return nil
}
