package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treecmp"
)

// RuleOneHome is broken by a statement that can read or write rows of several homes: it would hang if any of these
// regions was unavailable.
const RuleOneHome Rule = "one-home"

const homeColumn = "home"

// homeValue determines which expressions are the home of a statement: the parameter $1, or in a migration, which has no
// parameters, the same constant everywhere.
type homeValue struct {
	constant bool
	seen     string
}

func (h *homeValue) is(e tree.Expr) bool {
	switch n := stripCasts(e).(type) {
	case *tree.Placeholder:
		return !h.constant && n.Idx == 0
	case *tree.StrVal:
		if !h.constant || (h.seen != "" && h.seen != n.RawString()) {
			return false
		}
		h.seen = n.RawString()
		return true
	}
	return false
}

func (h *homeValue) String() string {
	if h.constant {
		return "one constant"
	}
	return "$1"
}

// isHome reports whether e is a column named home, and returns its table or alias, "" if it is unqualified.
func isHome(e tree.Expr) (qualifier string, ok bool) {
	name, ok := stripParens(e).(*tree.UnresolvedName)
	if !ok || name.Star || name.Parts[0] != homeColumn {
		return "", false
	}
	return name.Parts[1], true
}

// pin is a conjunct `home = $1` that applies to every row of a block.
func (c *check) pin(e tree.Expr) (qualifier string, ok bool) {
	comparison, ok := stripParens(e).(*tree.ComparisonExpr)
	if !ok || comparison.Operator.Symbol != treecmp.EQ {
		return "", false
	}
	if qualifier, ok := isHome(comparison.Left); ok && c.home.is(comparison.Right) {
		return qualifier, true
	}
	if qualifier, ok := isHome(comparison.Right); ok && c.home.is(comparison.Left) {
		return qualifier, true
	}
	return "", false
}

// homeComparisons rejects comparisons of home with anything except the statement's home or another table's home.
func (c *check) homeComparisons(ast tree.Statement) {
	walk(ast, func(node any, _ []any) {
		switch n := node.(type) {
		case *tree.ComparisonExpr:
			if mentionsHome(n.Left) || mentionsHome(n.Right) {
				c.homeComparison(n)
			}
		case *tree.RangeCond:
			if mentionsHome(n.Left) {
				c.brokenf(RuleOneHome, "home is compared with a range: compare it with %s", c.home)
			}
		}
	})
}

func (c *check) homeComparison(comparison *tree.ComparisonExpr) {
	if _, ok := c.pin(comparison); ok {
		return
	}
	_, left := isHome(comparison.Left)
	_, right := isHome(comparison.Right)
	if left && right && comparison.Operator.Symbol == treecmp.EQ {
		return
	}
	c.brokenf(RuleOneHome, "home is compared in %q: compare it with %s only", tree.AsString(comparison), c.home)
}

// mentionsHome reports whether an operand, or an element of a row comparison, is home.
func mentionsHome(e tree.Expr) bool {
	if tuple, ok := stripParens(e).(*tree.Tuple); ok {
		return slices.ContainsFunc(tuple.Exprs, mentionsHome)
	}
	_, ok := isHome(stripCasts(e))
	return ok
}
