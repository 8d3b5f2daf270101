package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treecmp"
)

// RuleOneHome forbids statements that may access rows of several homes: they would hang if any of those regions is
// unavailable.
const RuleOneHome Rule = "one-home"

const homeColumn = "home"

// homeValue recognizes the expressions for the home of a statement: the parameter $1 or, in migrations, which have no
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

// isHome reports whether e is a column named home, and its table or alias ("" if unqualified).
func isHome(e tree.Expr) (qualifier string, ok bool) {
	name, ok := stripParens(e).(*tree.UnresolvedName)
	if !ok || name.Star || name.Parts[0] != homeColumn {
		return "", false
	}
	return name.Parts[1], true
}

// pin reports whether e is a conjunct `home = $1`, and the qualifier of home.
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

// homeComparisons checks that home is only compared with the statement's home or with another table's.
func (c *check) homeComparisons(ast tree.Statement) {
	walk(ast, func(node any, _ []any) bool {
		switch n := node.(type) {
		case *tree.ComparisonExpr:
			if mentionsHome(n.Left) || mentionsHome(n.Right) {
				c.homeComparison(n)
			}
		case *tree.RangeCond:
			if mentionsHome(n.Left) {
				c.violationf(RuleOneHome, "home must not be compared with a range, only with %s", c.home)
			}
		}
		return true
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
	c.violationf(RuleOneHome, "home is compared in %q: it must only be compared with %s", tree.AsString(comparison), c.home)
}

// mentionsHome reports whether an operand, or an element of a row comparison, is home.
func mentionsHome(e tree.Expr) bool {
	if tuple, ok := stripParens(e).(*tree.Tuple); ok {
		return slices.ContainsFunc(tuple.Exprs, mentionsHome)
	}
	_, ok := isHome(stripCasts(e))
	return ok
}
