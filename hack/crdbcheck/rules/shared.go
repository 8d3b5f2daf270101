package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// RuleSharedRow is broken by a statement that updates rows of a shared table and does not declare which, or declares
// others: its transaction would not lock them before its other statements.
const RuleSharedRow Rule = "shared-row"

// Update is the declaration of which rows of a shared table a statement updates.
type Update struct {
	Table    string
	Key      []int // positions of the parameters with the key
	Unlocked bool
}

// SharedRows checks the declaration of a statement. update is nil if there is none.
func SharedRows(shared []string, statement Statement, update *Update) []Violation {
	return inspect(nil, statement, func(c *check, ast tree.Statement) {
		changed := false
		walk(ast, func(node any, _ []any) {
			target := changeTarget(node)
			if target == nil || !changesRows(node) || !slices.Contains(shared, targetName(target)) {
				return
			}
			changed = true
			c.sharedRow(node, targetName(target), update)
		})
		if update != nil && !changed {
			c.brokenf(RuleSharedRow, "declares an update of %s, which it does not change", update.Table)
		}
	})
}

func (c *check) sharedRow(node any, table string, update *Update) {
	if update == nil || update.Table != table {
		c.brokenf(RuleSharedRow, "changes rows of %s: declare which, with Updates, UpdatesFirst or UpdatesUnlocked", table)
		return
	}
	if update.Unlocked {
		return
	}
	for _, n := range update.Key {
		if !identifies(node, n) {
			c.brokenf(RuleSharedRow, "declares that $%d is the key of the rows of %s, but does not select them by it", n, table)
		}
	}
}

// changesRows reports whether a statement can change rows that exist.
func changesRows(node any) bool {
	insert, ok := node.(*tree.Insert)
	return !ok || insert.OnConflict != nil && !insert.OnConflict.DoNothing
}

// identifies reports whether a statement selects the rows that it changes by the parameter $n: it compares a column with
// it, or inserts it.
func identifies(node any, n int) bool {
	switch s := node.(type) {
	case *tree.Update:
		return s.Where != nil && compares(s.Where.Expr, n)
	case *tree.Delete:
		return s.Where != nil && compares(s.Where.Expr, n)
	case *tree.Insert:
		return inserts(s, n)
	}
	return false
}

// compares reports whether a conjunct of e is `column = $n` or `column = ANY($n)`.
func compares(e tree.Expr, n int) bool {
	return slices.ContainsFunc(conjuncts(e), func(condition tree.Expr) bool {
		_, operand, ok := equality(condition)
		return ok && isParameter(operand, n)
	})
}

// inserts reports whether a row of VALUES has the parameter $n as a value.
func inserts(s *tree.Insert, n int) bool {
	values, ok := s.Rows.Select.(*tree.ValuesClause)
	return ok && slices.ContainsFunc(values.Rows, func(row tree.Exprs) bool {
		return slices.ContainsFunc(row, func(e tree.Expr) bool { return isParameter(e, n) })
	})
}

func isParameter(e tree.Expr, n int) bool {
	p, ok := stripCasts(stripParens(e)).(*tree.Placeholder)
	return ok && int(p.Idx) == n-1
}
