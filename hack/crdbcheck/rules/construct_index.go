package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/idxtype"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// indexConstructs are about indexes.
var indexConstructs = []Construct{
	{
		Name: "inverted-index", Why: "an index on JSON or an array is not portable after home: keep a table of its values",
		Source: "https://www.cockroachlabs.com/docs/stable/inverted-indexes (multi-column), #88278",
		found: func(at place) bool {
			switch n := at.node.(type) {
			case *tree.CreateIndex:
				return n.Type != idxtype.FORWARD
			case *tree.IndexTableDef:
				return n.Type != idxtype.FORWARD
			}
			return false
		},
	},
	{
		Name: "operator-class", Why: "an index must not have an operator class", Source: "cockroachdb/cockroach#81115",
		found: of(func(n *tree.IndexElem, _ place) bool { return n.OpClass != "" }),
	},
	{
		Name: "index-of-computed", Why: "an index must not have an expression with a computed column: store the expression in a column",
		Source: "cockroachdb/cockroach#67900",
		found: of(func(n *tree.IndexElem, at place) bool {
			return n.Expr != nil && slices.ContainsFunc(columnsIn(n.Expr), at.schema.isComputed)
		}),
	},
	{
		Name: "key-of-json", Why: "an index must not have a column of JSON",
		Source: "https://www.cockroachlabs.com/docs/stable/jsonb (limitations)",
		found: of(func(n *tree.IndexElem, at place) bool {
			return n.Column != "" && at.schema.familyOf(string(n.Column)) == types.JsonFamily
		}),
	},
	{
		Name: "predicate-column-dropped", Why: "drop the partial index with the column in its condition before the column",
		Source: "cockroachdb/cockroach#97813",
		found: of(func(n *tree.AlterTableDropColumn, at place) bool {
			for _, t := range at.schema.tables {
				for _, predicate := range t.predicates {
					if slices.Contains(columnsIn(predicate), string(n.Column)) {
						return true
					}
				}
			}
			return false
		}),
	},
	{
		Name: "unique-index-dropped", Why: "keep a unique index: the engines drop it in different ways",
		Source: "https://www.cockroachlabs.com/docs/v24.3/known-limitations (dropping a unique index from CREATE TABLE)",
		found: of(func(n *tree.DropIndex, at place) bool {
			return slices.ContainsFunc(n.IndexList, func(index *tree.TableIndexName) bool { return at.schema.isUnique(string(index.Index)) })
		}),
	},
}
