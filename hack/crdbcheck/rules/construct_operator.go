package rules

import (
	"regexp"
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treebin"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treecmp"
)

// operatorConstructs are about operators and subscripts.
var operatorConstructs = []Construct{
	{
		Name: "subscript", Why: "a slice of an array, and a second subscript, are not supported", Source: "cockroachdb/cockroach#32551, #32552",
		found: of(func(n *tree.IndirectionExpr, _ place) bool {
			return len(n.Indirection) > 1 || slices.ContainsFunc(n.Indirection, func(s *tree.ArraySubscript) bool { return s.Slice })
		}),
	},
	{
		Name: "bit-precedence", Why: "~, |, # and & bind differently: write parentheses",
		Source: "https://www.cockroachlabs.com/docs/stable/postgresql-compatibility (precedence of bitwise operators)",
		found: func(at place) bool {
			switch n := at.node.(type) {
			case *tree.BinaryExpr:
				return isBitwise(n) && (isOperation(n.Left) || isOperation(n.Right))
			case *tree.UnaryExpr:
				return n.Operator.Symbol == tree.UnaryComplement && isOperation(n.Expr)
			}
			return false
		},
	},
	{
		Name: "bit-shift", Why: "<< and >> do not take the number of bits modulo the width: mask it",
		Source: "https://www.cockroachlabs.com/docs/stable/postgresql-compatibility (shift argument modulo)",
		found: of(func(n *tree.BinaryExpr, _ place) bool {
			return n.Operator.Symbol == treebin.LShift || n.Operator.Symbol == treebin.RShift
		}),
	},
	{
		Name: "pattern", Why: "regular expressions are those of Go: write a constant one that has no back references and no look-around",
		Source: "cockroachdb/cockroach#41645, #108704",
		found: of(func(n *tree.ComparisonExpr, _ place) bool {
			switch n.Operator.Symbol {
			case treecmp.RegMatch, treecmp.NotRegMatch, treecmp.RegIMatch, treecmp.NotRegIMatch, treecmp.SimilarTo, treecmp.NotSimilarTo:
				pattern, ok := stripParens(n.Right).(*tree.StrVal)
				if !ok {
					return true
				}
				_, err := regexp.Compile(pattern.RawString())
				return err != nil
			}
			return false
		}),
	},
	{
		Name:   "text-search",
		Why:    "words of a text in an index key leave their region, and the operators of text search are incomplete: use search_words",
		Source: "https://www.cockroachlabs.com/docs/stable/full-text-search (#41288)",
		found: of(func(n *tree.ComparisonExpr, _ place) bool {
			return n.Operator.Symbol == treecmp.TSMatches
		}),
	},
	{
		Name: "distance", Why: "the distance of trigrams is not supported: order by a column", Source: "cockroachdb/cockroach#41285",
		found: of(func(n *tree.BinaryExpr, _ place) bool {
			return slices.Contains([]treebin.BinaryOperatorSymbol{treebin.Distance, treebin.CosDistance, treebin.NegInnerProduct}, n.Operator.Symbol)
		}),
	},
	{
		Name: "null-in-tuple", Why: "name the columns of ORDER BY one by one: NULL in a tuple sorts differently",
		Source: "cockroachdb/cockroach#93558",
		found: of(func(n *tree.Order, _ place) bool {
			_, ok := stripParens(n.Expr).(*tree.Tuple)
			return ok
		}),
	},
}

func isBitwise(n *tree.BinaryExpr) bool {
	return slices.Contains([]treebin.BinaryOperatorSymbol{treebin.Bitand, treebin.Bitor, treebin.Bitxor}, n.Operator.Symbol)
}

// isOperation reports whether e is a binary operation without parentheses.
func isOperation(e tree.Expr) bool {
	_, ok := e.(*tree.BinaryExpr)
	return ok
}
