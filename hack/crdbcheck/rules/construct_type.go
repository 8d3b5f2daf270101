package rules

import (
	"slices"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treebin"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// typeConstructs are about types that the engines combine differently.
var typeConstructs = []Construct{
	{
		Name: "number-with-float", Why: "an integer, or a decimal such as the sum of integers, and a float have no common operator: cast it",
		Source: "cockroachdb/cockroach#16303, #108162, #123659",
		found: of(func(n *tree.BinaryExpr, at place) bool {
			exact := []types.Family{types.IntFamily, types.DecimalFamily}
			left, right := at.familyOf(n.Left), at.familyOf(n.Right)
			return isArithmetic(n) && (left == types.FloatFamily && slices.Contains(exact, right) ||
				right == types.FloatFamily && slices.Contains(exact, left))
		}),
	},
	{
		Name: "values-of-two-types", Why: "write all numbers of a column of VALUES with a fraction, or none",
		Source: "cockroachdb/cockroach#132165",
		found:  of(func(n *tree.ValuesClause, _ place) bool { return slices.ContainsFunc(valuesColumns(n), mixesNumbers) }),
	},
	{
		Name: "array-of-arrays", Why: "an array of arrays is not supported", Source: "cockroachdb/cockroach#32552, #146717",
		found: func(at place) bool {
			if _, ok := at.node.(*tree.Array); !ok {
				return false
			}
			_, nested := at.parent().(*tree.Array)
			return nested
		},
	},
	{
		Name: "unknown-type", Why: "CockroachDB has no such type: the grammar takes it for a type of the schema",
		Source: "pkg/sql/parser/sql.y, typename",
		found: func(at place) bool {
			name, ok := typeOfNode(at.node).(*tree.UnresolvedObjectName)
			return ok && name.SQLString() != "crdb_internal_region"
		},
	},
	{
		Name: "order-by-json", Why: "JSON has no order on all versions: order by a column of another type",
		Source: "cockroachdb/cockroach#35706",
		found:  of(func(n *tree.Order, at place) bool { return n.Expr != nil && at.familyOf(n.Expr) == types.JsonFamily }),
	},
	{
		Name: "json-as-text", Why: "the keys of JSON as text are in another order: compare JSON, or take its fields",
		Source: "cockroachdb/cockroach#96507",
		found: of(func(n *tree.CastExpr, at place) bool {
			t, ok := n.Type.(*types.T)
			return ok && t.Family() == types.StringFamily && at.familyOf(n.Expr) == types.JsonFamily
		}),
	},
}

// familyOf returns the type of an expression, and AnyFamily if it is not known.
func (p place) familyOf(e tree.Expr) types.Family {
	switch n := stripParens(e).(type) {
	case *tree.CastExpr:
		if t, ok := n.Type.(*types.T); ok {
			return t.Family()
		}
	case *tree.UnresolvedName:
		return p.schema.familyOf(n.Parts[0])
	case *tree.FuncExpr:
		return p.familyOfFunction(n)
	case *tree.BinaryExpr:
		if isArithmetic(n) {
			left, right := p.familyOf(n.Left), p.familyOf(n.Right)
			if left == right {
				return left
			}
		}
	}
	return types.AnyFamily
}

func (p place) familyOfFunction(f *tree.FuncExpr) types.Family {
	switch functionName(f) {
	case "count", "strpos", "array_length", "cardinality", "array_position", "row_number", "rank":
		return types.IntFamily
	case "extract":
		return types.FloatFamily
	case "jsonb_build_object", "jsonb_build_array", "jsonb_object_agg", "to_jsonb":
		return types.JsonFamily
	case "sum":
		if len(f.Exprs) == 1 && p.familyOf(f.Exprs[0]) == types.IntFamily {
			return types.DecimalFamily
		}
	case "min", "max":
		if len(f.Exprs) == 1 {
			return p.familyOf(f.Exprs[0])
		}
	}
	return types.AnyFamily
}

func isArithmetic(n *tree.BinaryExpr) bool {
	switch n.Operator.Symbol {
	case treebin.Plus, treebin.Minus, treebin.Mult, treebin.Div, treebin.Mod, treebin.Pow:
		return true
	}
	return false
}

func mixesNumbers(column tree.Exprs) bool {
	var whole, fraction bool
	for _, e := range column {
		if n, ok := stripParens(e).(*tree.NumVal); ok {
			isFraction := strings.ContainsAny(n.OrigString(), ".eE")
			whole, fraction = whole || !isFraction, fraction || isFraction
		}
	}
	return whole && fraction
}

// typeOfNode returns the type that a column, a cast or a parameter of a function names.
func typeOfNode(node any) tree.ResolvableTypeReference {
	switch n := node.(type) {
	case *tree.ColumnTableDef:
		return n.Type
	case *tree.CastExpr:
		return n.Type
	case *tree.RoutineParam:
		return n.Type
	}
	return nil
}
