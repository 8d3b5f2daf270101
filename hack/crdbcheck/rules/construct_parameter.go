package rules

import (
	"cmp"
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treecmp"
)

// parameterConstructs are about parameters whose type is not known.
var parameterConstructs = []Construct{
	{
		Name: "untyped-parameter", Why: "cast a parameter whose type follows from nothing else: CockroachDB does not take it for text",
		Source: "cockroachdb/cockroach#41558, #35646, #82820, #91396, #98122; pkg/sql/sem/tree/type_check.go",
		found:  isUntyped,
	},
	{
		Name:   "parameter-of-two-types",
		Why:    "a parameter that is cast to two types has neither: use two parameters, or cast the cast parameter again",
		Source: "pkg/sql/sem/tree/type_check.go, ProcessPlaceholderAnnotations",
		found:  func(at place) bool { return at.isRoot() && hasTwoTypes(at.node) },
	},
}

// isUntyped reports whether a node has parameters, and nothing that leads to their type.
func isUntyped(at place) bool {
	switch n := at.node.(type) {
	case *tree.SelectExpr:
		return isBare(n.Expr) && !isInserted(at.path)
	case *tree.ValuesClause:
		return !isInserted(at.path) && slices.ContainsFunc(valuesColumns(n), allBare)
	case *tree.IndirectionExpr:
		return isBare(n.Expr)
	case *tree.BinaryExpr:
		return isBare(n.Left) && isBare(n.Right)
	case *tree.ComparisonExpr:
		_, isCast := stripParens(n.Right).(*tree.CastExpr)
		isAny := n.Operator.Symbol == treecmp.Any && !isCast
		return isBare(n.Left) && (isAny || isBare(n.Right) || nullTested(n) != nil)
	case *tree.IsNullExpr, *tree.IsNotNullExpr:
		return isBare(nullTested(n))
	case *tree.CoalesceExpr:
		return allBare(n.Exprs)
	case *tree.NullIfExpr:
		return allBare(tree.Exprs{n.Expr1, n.Expr2})
	case *tree.FuncExpr:
		return slices.Contains([]string{"greatest", "least"}, functionName(n)) && allBare(n.Exprs)
	case *tree.CaseExpr:
		results := tree.Exprs{cmp.Or(n.Else, tree.Expr(tree.DNull))}
		for _, when := range n.Whens {
			results = append(results, when.Val)
		}
		return allBare(results)
	}
	return false
}

// isBare reports whether e is a parameter without a cast.
func isBare(e tree.Expr) bool {
	_, ok := stripParens(e).(*tree.Placeholder)
	return ok
}

// allBare reports whether all expressions are parameters without a cast or NULL, and one is a parameter.
func allBare(all tree.Exprs) bool {
	return slices.ContainsFunc(all, isBare) &&
		!slices.ContainsFunc(all, func(e tree.Expr) bool { return !isBare(e) && stripParens(e) != tree.DNull })
}

// isInserted reports whether the ancestors of a node are the rows of an INSERT, whose columns give parameters their types.
func isInserted(path []any) bool {
	for _, ancestor := range slices.Backward(path) {
		switch ancestor.(type) {
		case *tree.Select, *tree.ParenSelect, *tree.SelectClause, *tree.UnionClause, *tree.ValuesClause:
		case *tree.Insert:
			return true
		default:
			return false
		}
	}
	return false
}

// valuesColumns returns the expressions of each column.
func valuesColumns(n *tree.ValuesClause) []tree.Exprs {
	columns := make([]tree.Exprs, len(slices.Concat(n.Rows[:min(1, len(n.Rows))]...)))
	for _, row := range n.Rows {
		for i := range min(len(row), len(columns)) {
			columns[i] = append(columns[i], row[i])
		}
	}
	return columns
}

func hasTwoTypes(statement any) bool {
	types := map[tree.PlaceholderIdx]string{}
	two := false
	walk(statement, func(node any, _ []any) {
		cast, ok := node.(*tree.CastExpr)
		if !ok {
			return
		}
		if p, ok := stripParens(cast.Expr).(*tree.Placeholder); ok {
			name := cast.Type.SQLString()
			two = two || types[p.Idx] != "" && types[p.Idx] != name
			types[p.Idx] = name
		}
	})
	return two
}
