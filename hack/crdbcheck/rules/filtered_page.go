package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treecmp"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// RulePage is broken by a page of a list with many filters whose selectivity the optimizer does not know, unless it names the index
// that has the order of the list.
const RulePage Rule = "filtered-page"

// maxUnknown is how many such filters a page may have without a hint. The optimizer takes each for one that a third of the rows
// satisfy (unknownFilterSelectivity in pkg/sql/opt/memo/statistics_builder.go). With four of them, it expects that one row of 81 is on
// the list, so that reading the rows of the home and sorting those that are left costs less than looking up each row in the order of the
// index.
const maxUnknown = 3

// FilteredPages checks the pages of a table, of which only the home is known.
func FilteredPages(schema *Schema, statement Statement) []Violation {
	return inspect(schema, statement, func(c *check, ast tree.Statement) {
		eachPage(ast, c.filteredPage)
	})
}

func (c *check) filteredPage(clause *tree.SelectClause) {
	if clause.Where == nil || len(clause.From.Tables) != 1 {
		return
	}
	table, ok := clause.From.Tables[0].(*tree.AliasedTableExpr)
	if !ok || table.IndexFlags != nil || c.schema.tables[targetName(table)] == nil {
		return
	}
	if n := unknownFilters(clause.Where.Expr); n > maxUnknown && !selects(clause.Where.Expr) {
		c.brokenf(RulePage, "%d filters of unknown selectivity: name the index of table %s that has this order: %[2]s /*@{FORCE_INDEX=…}*/",
			n, targetName(table))
	}
}

// unknownFilters returns the number of conditions, all of which a row must satisfy, that do not compare a column with a value.
func unknownFilters(e tree.Expr) int {
	n := 0
	for _, condition := range conjuncts(e) {
		if !comparesColumn(condition) {
			n++
		}
	}
	return n
}

func comparesColumn(e tree.Expr) bool {
	n, ok := e.(*tree.ComparisonExpr)
	if !ok {
		return false
	}
	_, isCall := stripCasts(n.Left).(*tree.FuncExpr)
	return !isCall
}

// selects reports whether a condition limits the rows to those with a value, apart from the home and from columns with few values.
func selects(e tree.Expr) bool {
	return slices.ContainsFunc(conjuncts(e), func(condition tree.Expr) bool {
		n, ok := condition.(*tree.ComparisonExpr)
		if !ok {
			return false
		}
		name, ok := stripParens(n.Left).(*tree.UnresolvedName)
		return ok && n.Operator.Symbol == treecmp.EQ && name.Parts[0] != homeColumn && !isBoolean(n.Right)
	})
}

// isBoolean reports whether an operand is a literal or a parameter of type BOOLEAN.
func isBoolean(e tree.Expr) bool {
	switch n := stripParens(e).(type) {
	case *tree.CastExpr:
		t, ok := n.Type.(*types.T)
		return ok && t.Family() == types.BoolFamily
	case *tree.DBool:
		return true
	}
	return false
}
