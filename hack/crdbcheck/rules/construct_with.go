package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// withConstructs are about WITH and about functions that return rows.
var withConstructs = []Construct{
	{
		Name: "with-without-columns", Why: "a WITH part that changes rows returns columns: add RETURNING",
		Source: "pkg/sql/opt/optbuilder/with.go, getCTECols: 0A000 WITH clause does not return any columns",
		found:  of(func(n *tree.CTE, _ place) bool { return changeTarget(n.Stmt) != nil && !returnsColumns(n.Stmt) }),
	},
	{
		Name: "with-inlined-change", Why: "a WITH part that changes rows must not be NOT MATERIALIZED: it ran once for each row",
		Source: "cockroachdb/cockroach#95360",
		found: of(func(n *tree.CTE, _ place) bool {
			return n.Mtr == tree.CTEMaterializeNever && changeTarget(n.Stmt) != nil
		}),
	},
	{
		Name: "with-change-below", Why: "a WITH part that changes or locks rows must be at the top of the statement",
		Source: "cockroachdb/cockroach#141961",
		found: of(func(n *tree.CTE, at place) bool {
			s, isSelect := n.Stmt.(*tree.Select)
			return (changeTarget(n.Stmt) != nil || isSelect && locksRows(s)) && at.isNested()
		}),
	},
	{
		Name: "with-recursive-form", Why: "a recursive WITH part is a UNION ALL without WITH, ORDER BY and LIMIT of its own",
		Source: "pkg/sql/opt/optbuilder/with.go, splitRecursiveCTE: 42601 does not have the form non-recursive-term UNION ALL recursive-term",
		found: of(func(n *tree.With, _ place) bool {
			return n.Recursive && slices.ContainsFunc(n.CTEList, func(cte *tree.CTE) bool {
				s, ok := cte.Stmt.(*tree.Select)
				return ok && (s.With != nil || len(s.OrderBy) > 0 || s.Limit != nil)
			})
		}),
	},
	{
		Name: "rows-in-rows", Why: "a function that returns rows must not be an argument of another one",
		Source: "cockroachdb/cockroach#26234",
		found: of(func(n *tree.FuncExpr, at place) bool {
			rows := []string{"unnest", "generate_series"}
			return slices.Contains(rows, functionName(n)) && inside[*tree.FuncExpr](at.path)
		}),
	},
	{
		Name:   "change-cascades",
		Why:    "a foreign key must not change rows: in one statement with other changes its result differs from PostgreSQL's",
		Source: "https://www.cockroachlabs.com/docs/stable/known-limitations (multiple mutations in one statement, #70731)",
		found: of(func(n *tree.ForeignKeyConstraintTableDef, _ place) bool {
			changes := func(action tree.ReferenceAction) bool { return action != tree.NoAction && action != tree.Restrict }
			return changes(n.Actions.Delete) || changes(n.Actions.Update)
		}),
	},
}

// of adapts a rule about one kind of node.
func of[N any](found func(n N, at place) bool) func(place) bool {
	return func(at place) bool {
		n, ok := at.node.(N)
		return ok && found(n, at)
	}
}

func returnsColumns(statement tree.Statement) bool {
	var returning tree.ReturningClause
	switch n := statement.(type) {
	case *tree.Insert:
		returning = n.Returning
	case *tree.Update:
		returning = n.Returning
	case *tree.Delete:
		returning = n.Returning
	}
	_, ok := returning.(*tree.ReturningExprs)
	return ok
}
