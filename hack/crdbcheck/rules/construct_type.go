package rules

import (
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treebin"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// typeConstructs are about types that the engines combine differently.
var typeConstructs = []Construct{
	{
		Name: "integer-with-float", Why: "an integer and a float have no common operator: cast the integer", Source: "cockroachdb/cockroach#16303, #123659",
		Example: `SELECT likes * $2::float8 FROM posts WHERE home = $1`,
		found:   ofArithmetic(func(left, right types.Family) bool { return pair(left, right, types.IntFamily, types.FloatFamily) }),
	},
	{
		Name: "decimal-with-float", Why: "a decimal, such as the sum of integers, and a float have no common operator: cast the decimal", Source: "cockroachdb/cockroach#108162",
		Example: `SELECT sum(likes) * 0.5::float8 FROM posts WHERE home = $1`,
		found:   ofArithmetic(func(left, right types.Family) bool { return pair(left, right, types.DecimalFamily, types.FloatFamily) }),
	},
	{
		Name: "values-of-two-types", Why: "write all numbers of a column of VALUES with a fraction, or none", Source: "cockroachdb/cockroach#132165",
		Example: `SELECT v.n FROM (VALUES (1), (1.5)) AS v(n)`,
		found: of(func(n *tree.ValuesClause, _ place) bool {
			for i := range n.Rows[0] {
				if mixesNumbers(valuesColumn(n, i)) {
					return true
				}
			}
			return false
		}),
	},
	{
		Name: "array-of-arrays", Why: "an array of arrays is not supported", Source: "cockroachdb/cockroach#32552, #146717",
		Example: `SELECT ARRAY[ARRAY['a']]`,
		found: func(at place) bool {
			if _, ok := at.node.(*tree.Array); !ok {
				return false
			}
			_, nested := at.ancestor(1).(*tree.Array)
			return nested
		},
	},
	{
		Name: "aggregate-of-arrays", Why: "array_agg of arrays is not supported", Source: "cockroachdb/cockroach#117838", Until: release(24, 1),
		Example: `SELECT array_agg(tags) FROM posts WHERE home = $1`,
		found: of(func(n *tree.FuncExpr, at place) bool {
			return functionName(n) == "array_agg" && len(n.Exprs) == 1 && at.familyOf(n.Exprs[0]) == types.ArrayFamily
		}),
	},
	{
		Name: "unknown-type", Why: "CockroachDB has no such type: the grammar takes it for a type of the schema", Source: "pkg/sql/parser/sql.y, typename", Schema: true,
		Example: `ALTER TABLE users ADD COLUMN IF NOT EXISTS email hstore`,
		found: func(at place) bool {
			name, ok := typeOfNode(at.node).(*tree.UnresolvedObjectName)
			return ok && name.SQLString() != "crdb_internal_region"
		},
	},
	{
		Name: "infinite-time", Why: "infinity as a time is an ordinary time before v24.3: use NULL, or the condition that it stands for", Source: "cockroachdb/cockroach#41564, #127141",
		Until: release(24, 3), Example: `SELECT id FROM posts WHERE home = $1 AND created_at < 'infinity'::timestamptz`,
		found: of(func(n *tree.StrVal, _ place) bool { return strings.TrimPrefix(n.RawString(), "-") == "infinity" }),
	},
	{
		Name: "order-by-json", Why: "JSON has no order on all versions: order by a column of another type", Source: "cockroachdb/cockroach#35706",
		Example: `SELECT id FROM posts WHERE home = $1 ORDER BY body`,
		found:   of(func(n *tree.Order, at place) bool { return n.Expr != nil && at.familyOf(n.Expr) == types.JsonFamily }),
	},
	{
		Name: "json-as-text", Why: "the keys of JSON as text are in another order: compare JSON, or take its fields", Source: "cockroachdb/cockroach#96507",
		Example: `SELECT body::text FROM posts WHERE home = $1`,
		found: of(func(n *tree.CastExpr, at place) bool {
			t, ok := n.Type.(*types.T)
			return ok && t.Family() == types.StringFamily && at.familyOf(n.Expr) == types.JsonFamily
		}),
	},
	{
		Name: "json-argument", Why: "cast a literal that is JSON: a function takes it for text", Source: "cockroachdb/cockroach#38965",
		Example: `SELECT jsonb_set(body, '{a}', '1') FROM posts WHERE home = $1`,
		found: of(func(n *tree.FuncExpr, _ place) bool {
			if name := functionName(n); name != "jsonb_set" && name != "jsonb_insert" {
				return false
			}
			return len(n.Exprs) > 2 && (isText(n.Exprs[0]) || isText(n.Exprs[2]))
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
	case "count", "length", "char_length", "octet_length", "strpos", "array_length", "cardinality", "array_position", "row_number", "rank":
		return types.IntFamily
	case "random", "extract", "date_part":
		return types.FloatFamily
	case "jsonb_build_object", "jsonb_build_array", "jsonb_agg", "jsonb_object_agg", "to_jsonb", "jsonb_set":
		return types.JsonFamily
	case "sum", "avg":
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

func ofArithmetic(found func(left, right types.Family) bool) func(place) bool {
	return of(func(n *tree.BinaryExpr, at place) bool {
		return isArithmetic(n) && found(at.familyOf(n.Left), at.familyOf(n.Right))
	})
}

func isArithmetic(n *tree.BinaryExpr) bool {
	switch n.Operator.Symbol {
	case treebin.Plus, treebin.Minus, treebin.Mult, treebin.Div, treebin.Mod, treebin.Pow:
		return true
	}
	return false
}

func pair(left, right, one, other types.Family) bool {
	return left == one && right == other || left == other && right == one
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

func isText(e tree.Expr) bool {
	_, ok := stripParens(e).(*tree.StrVal)
	return ok
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
