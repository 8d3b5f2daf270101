package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treecmp"
)

// lockConstructs are about SELECT … FOR UPDATE.
var lockConstructs = []Construct{
	{
		Name: "lock-without-key", Why: "FOR UPDATE locks every row that is read, also those that a condition drops: name the whole primary key",
		Source: "cockroachdb/cockroach#75457, #114737",
		found:  ofLock(func(n *tree.Select, at place) bool { return !locksByKey(n, at.schema) }),
	},
	{
		Name: "lock-join", Why: "which rows FOR UPDATE locks in a join or through a subquery depends on the plan: lock one table",
		Source: "cockroachdb/cockroach#88262",
		found:  ofLock(func(n *tree.Select, at place) bool { return !isOneTable(n, at.schema) || hasSubquery(n) }),
	},
	{
		Name: "lock-order", Why: "ORDER BY in a subquery with FOR UPDATE is ignored, so that two statements deadlock",
		Source: "cockroachdb/cockroach#121809",
		found: ofLock(func(n *tree.Select, at place) bool {
			return len(n.OrderBy) > 0 && at.isNested()
		}),
	},
	{
		Name: "lock-wait", Why: "NOWAIT fails on rows that the query does not return, and SKIP LOCKED skips rows that are not locked: " +
			"claim rows with UPDATE … RETURNING and a lease",
		Source: "cockroachdb/cockroach#129145, #121917",
		found: ofLock(func(n *tree.Select, _ place) bool {
			return slices.ContainsFunc(n.Locking, func(item *tree.LockingItem) bool { return item.WaitPolicy != tree.LockWaitBlock })
		}),
	},
}

func ofLock(found func(n *tree.Select, at place) bool) func(place) bool {
	return of(func(n *tree.Select, at place) bool { return locksRows(n) && found(n, at) })
}

// locksRows reports whether a query locks rows as the rules permit, see RuleLocking.
func locksRows(n *tree.Select) bool {
	return slices.ContainsFunc(n.Locking, func(item *tree.LockingItem) bool {
		return item.Strength == tree.ForUpdate || item.Strength == tree.ForNoKeyUpdate
	})
}

// isOneTable reports whether a query reads one table of the schema and nothing else.
func isOneTable(n *tree.Select, schema *Schema) bool {
	clause, ok := n.Select.(*tree.SelectClause)
	return ok && len(clause.From.Tables) == 1 && schema.tables[targetName(clause.From.Tables[0])] != nil
}

func hasSubquery(n *tree.Select) bool {
	clause, ok := n.Select.(*tree.SelectClause)
	return ok && clause.Where != nil && contains(clause.Where.Expr, func(*tree.Subquery) bool { return true })
}

// locksByKey reports whether the condition of a query compares every column of its table's primary key with `=` or `= ANY`.
func locksByKey(n *tree.Select, schema *Schema) bool {
	clause, ok := n.Select.(*tree.SelectClause)
	if !ok || clause.Where == nil || !isOneTable(n, schema) {
		return false
	}
	compared := map[string]bool{}
	for _, condition := range conjuncts(clause.Where.Expr) {
		if column, _, ok := equality(condition); ok {
			compared[column] = true
		}
	}
	key := schema.tables[targetName(clause.From.Tables[0])].primary
	return !slices.ContainsFunc(key, func(e tree.IndexElem) bool { return !compared[string(e.Column)] })
}

// equality returns the column and the operand of a comparison with `=` or `= ANY`.
func equality(e tree.Expr) (column string, operand tree.Expr, ok bool) {
	n, ok := e.(*tree.ComparisonExpr)
	if !ok || n.Operator.Symbol != treecmp.EQ && (n.Operator.Symbol != treecmp.Any || n.SubOperator.Symbol != treecmp.EQ) {
		return "", nil, false
	}
	name, ok := stripParens(n.Left).(*tree.UnresolvedName)
	if !ok {
		return "", nil, false
	}
	return name.Parts[0], n.Right, true
}
