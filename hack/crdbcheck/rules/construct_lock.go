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
		Source:  "cockroachdb/cockroach#75457, #114737",
		Example: `SELECT id FROM posts WHERE home = $1 AND likes > 10 FOR UPDATE`,
		found:   ofLock(func(n *tree.Select, at place) bool { return !locksByKey(n, at.schema) }),
	},
	{
		Name: "lock-join", Why: "which rows FOR UPDATE locks in a join or through a subquery depends on the plan: lock one table",
		Source:  "cockroachdb/cockroach#88262",
		Example: `SELECT id FROM posts WHERE home = $1 AND id = $2 AND author_id IN (SELECT id FROM users WHERE home = $1) FOR UPDATE`,
		found:   ofLock(func(n *tree.Select, _ place) bool { return !isOneTable(n) || hasSubquery(n) }),
	},
	{
		Name: "lock-order", Why: "ORDER BY in a subquery with FOR UPDATE is ignored, so that two statements deadlock",
		Source:  "cockroachdb/cockroach#121809",
		Example: `SELECT count(*) FROM (SELECT id FROM posts WHERE home = $1 AND id = ANY($2::text[]) ORDER BY id FOR UPDATE) AS l`,
		found: ofLock(func(n *tree.Select, at place) bool {
			return len(n.OrderBy) > 0 && at.isNested()
		}),
	},
	{
		Name: "lock-nowait", Why: "NOWAIT fails on rows that the query does not return",
		Source:  "cockroachdb/cockroach#129145",
		Example: `SELECT id FROM posts WHERE home = $1 AND id = $2 FOR UPDATE NOWAIT`,
		found:   ofLock(func(n *tree.Select, _ place) bool { return waits(n, tree.LockWaitError) }),
	},
	{
		Name: "lock-skips", Why: "SKIP LOCKED also skips rows that are not locked: claim rows with UPDATE … RETURNING and a lease",
		Source:  "cockroachdb/cockroach#121917",
		Example: `SELECT id FROM posts WHERE home = $1 AND id = $2 FOR UPDATE SKIP LOCKED`,
		found:   ofLock(func(n *tree.Select, _ place) bool { return waits(n, tree.LockWaitSkipLocked) }),
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

func waits(n *tree.Select, policy tree.LockingWaitPolicy) bool {
	return slices.ContainsFunc(n.Locking, func(item *tree.LockingItem) bool { return item.WaitPolicy == policy })
}

// isOneTable reports whether a query reads one table of the schema and nothing else.
func isOneTable(n *tree.Select) bool {
	clause, ok := n.Select.(*tree.SelectClause)
	return ok && len(clause.From.Tables) == 1 && tableName(clause.From.Tables[0]) != ""
}

// tableName returns the name of a table in FROM, and an empty string for anything else.
func tableName(t tree.TableExpr) string {
	switch n := t.(type) {
	case *tree.AliasedTableExpr:
		return tableName(n.Expr)
	case *tree.TableName:
		return n.Table()
	}
	return ""
}

func hasSubquery(n *tree.Select) bool {
	clause, ok := n.Select.(*tree.SelectClause)
	if !ok || clause.Where == nil {
		return false
	}
	found := false
	walk(clause.Where.Expr, func(node any, _ []any) {
		_, isSubquery := node.(*tree.Subquery)
		found = found || isSubquery
	})
	return found
}

// locksByKey reports whether the condition of a query compares every column of its table's primary key with `=` or `= ANY`.
func locksByKey(n *tree.Select, schema *Schema) bool {
	clause, ok := n.Select.(*tree.SelectClause)
	if !ok || clause.Where == nil || !isOneTable(n) {
		return false
	}
	t := schema.tables[tableName(clause.From.Tables[0])]
	compared := map[string]bool{}
	comparedColumns(clause.Where.Expr, compared)
	return t != nil && !slices.ContainsFunc(t.primary, func(e tree.IndexElem) bool { return !compared[string(e.Column)] })
}

// comparedColumns adds the columns that a conjunct of e compares with `=` or `= ANY`.
func comparedColumns(e tree.Expr, compared map[string]bool) {
	switch e := stripParens(e).(type) {
	case *tree.AndExpr:
		comparedColumns(e.Left, compared)
		comparedColumns(e.Right, compared)
	case *tree.ComparisonExpr:
		isAny := e.Operator.Symbol == treecmp.Any && e.SubOperator.Symbol == treecmp.EQ
		if name, ok := stripParens(e.Left).(*tree.UnresolvedName); ok && (e.Operator.Symbol == treecmp.EQ || isAny) {
			compared[name.Parts[0]] = true
		}
	}
}
