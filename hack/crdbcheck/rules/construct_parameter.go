package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treecmp"
)

// untyped is the issue about parameters whose type CockroachDB does not infer, where PostgreSQL takes text:
// 42P18 could not determine data type of placeholder.
const untyped = "cockroachdb/cockroach#41558"

// parameterConstructs are about parameters whose type is not known.
var parameterConstructs = []Construct{
	{
		Name: "parameter-as-column", Why: "cast a parameter in a list of columns: its type is unknown", Source: untyped + ", #91396",
		Example: `SELECT $1`,
		found:   of(func(n *tree.SelectExpr, at place) bool { return isBare(n.Expr) && !isInserted(at.path) }),
	},
	{
		Name: "parameter-with-parameter", Why: "cast one of two parameters that are compared or combined: their type is unknown", Source: untyped + ", #82820",
		Example: `SELECT id FROM posts WHERE home = $1 AND $2 = $3`,
		found: func(at place) bool {
			switch n := at.node.(type) {
			case *tree.ComparisonExpr:
				return isBare(n.Left) && isBare(n.Right)
			case *tree.BinaryExpr:
				return isBare(n.Left) && isBare(n.Right)
			}
			return false
		},
	},
	{
		Name: "parameter-is-null", Why: "cast a parameter that is tested for NULL: its type is unknown", Source: untyped + "; pkg/sql/sem/tree/type_check.go, IsNullExpr.TypeCheck",
		Example: `SELECT id FROM posts WHERE home = $1 AND ($2 IS NULL OR likes > $3)`,
		found: func(at place) bool {
			switch n := at.node.(type) {
			case *tree.IsNullExpr:
				return isBare(n.Expr)
			case *tree.IsNotNullExpr:
				return isBare(n.Expr)
			case *tree.ComparisonExpr:
				return isNullTest(n) && isBare(n.Left)
			}
			return false
		},
	},
	{
		Name: "parameter-coalesce", Why: "cast a parameter in COALESCE, NULLIF, GREATEST or LEAST of parameters only: their type is unknown",
		Source:  untyped + "; pkg/sql/sem/tree/type_check.go, typeCheckSameTypedPlaceholders",
		Example: `SELECT id FROM posts WHERE home = $1 AND likes = COALESCE($2, $3)`,
		found: func(at place) bool {
			switch n := at.node.(type) {
			case *tree.CoalesceExpr:
				return allBare(n.Exprs)
			case *tree.NullIfExpr:
				return allBare(tree.Exprs{n.Expr1, n.Expr2})
			case *tree.FuncExpr:
				return slices.Contains([]string{"greatest", "least"}, functionName(n)) && allBare(n.Exprs)
			}
			return false
		},
	},
	{
		Name: "parameter-case", Why: "cast a parameter of a CASE whose results are parameters only: their type is unknown", Source: untyped + ", #82820, #91396",
		Example: `UPDATE posts SET likes = likes + CAST((CASE id WHEN 'a' THEN $2 ELSE $3 END) AS bigint) WHERE home = $1`,
		found: of(func(n *tree.CaseExpr, _ place) bool {
			var results tree.Exprs
			for _, when := range n.Whens {
				results = append(results, when.Val)
			}
			if n.Else != nil {
				results = append(results, n.Else)
			}
			return allBare(results)
		}),
	},
	{
		Name: "parameter-values", Why: "cast the parameters of VALUES outside of INSERT: their type is unknown", Source: "cockroachdb/cockroach#98122",
		Example: `SELECT v.a FROM (VALUES ($1), ($2)) AS v(a)`,
		found: of(func(n *tree.ValuesClause, at place) bool {
			if isInserted(at.path) || len(n.Rows) == 0 {
				return false
			}
			for i := range n.Rows[0] {
				if allBare(valuesColumn(n, i)) {
					return true
				}
			}
			return false
		}),
	},
	{
		Name: "parameter-subscript", Why: "cast a parameter that has a subscript: its type is unknown", Source: untyped,
		Example: `SELECT id FROM posts WHERE home = $1 AND id = $2[1]`,
		found:   of(func(n *tree.IndirectionExpr, _ place) bool { return isBare(n.Expr) }),
	},
	{
		Name: "parameter-concat", Why: "cast a parameter of concat, concat_ws or format, or use ||: they take any type", Source: "cockroachdb/cockroach#127098, #143359",
		Example: `SELECT concat(handle, $2) FROM users WHERE home = $1`,
		found: of(func(n *tree.FuncExpr, _ place) bool {
			return slices.Contains([]string{"concat", "concat_ws", "format"}, functionName(n)) && slices.ContainsFunc(n.Exprs, isBare)
		}),
	},
	{
		Name: "parameter-any", Why: "cast a parameter that is compared with the elements of an array: its type is unknown", Source: "cockroachdb/cockroach#35646",
		Example: `SELECT id FROM posts WHERE home = $1 AND $2 = ANY(tags)`,
		found: of(func(n *tree.ComparisonExpr, _ place) bool {
			_, isCast := stripParens(n.Right).(*tree.CastExpr)
			return n.Operator.Symbol == treecmp.Any && isBare(n.Left) && !isCast
		}),
	},
	{
		Name: "parameter-of-two-types", Why: "a parameter that is cast to two types has neither: use two parameters, or cast the cast parameter again",
		Source:  "pkg/sql/sem/tree/type_check.go, ProcessPlaceholderAnnotations",
		Example: `SELECT id FROM posts WHERE home = $1 AND (id = $2::text OR likes = $2::bigint)`,
		found:   func(at place) bool { return at.isRoot() && hasTwoTypes(at.node) },
	},
}

// isBare reports whether e is a parameter without a cast.
func isBare(e tree.Expr) bool {
	_, ok := stripParens(e).(*tree.Placeholder)
	return ok
}

// allBare reports whether all expressions are parameters without a cast or NULL, and one is a parameter.
func allBare(all tree.Exprs) bool {
	return slices.ContainsFunc(all, isBare) && !slices.ContainsFunc(all, func(e tree.Expr) bool { return !isBare(e) && stripParens(e) != tree.DNull })
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

func valuesColumn(n *tree.ValuesClause, i int) tree.Exprs {
	var column tree.Exprs
	for _, row := range n.Rows {
		if i < len(row) {
			column = append(column, row[i])
		}
	}
	return column
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
