package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// withConstructs are about WITH and about functions that return rows.
var withConstructs = []Construct{
	{
		Name: "with-without-columns", Why: "a WITH part that changes rows returns columns: add RETURNING",
		Source:  "pkg/sql/opt/optbuilder/with.go, getCTECols: 0A000 WITH clause does not return any columns",
		Example: `WITH d AS (DELETE FROM posts WHERE home = $1) UPDATE users SET bio = $2 WHERE home = $1`,
		found:   of(func(n *tree.CTE, _ place) bool { return changeTarget(n.Stmt) != nil && !returnsColumns(n.Stmt) }),
	},
	{
		Name: "with-inlined-change", Why: "a WITH part that changes rows must not be NOT MATERIALIZED: it ran once for each row",
		Source:  "cockroachdb/cockroach#95360",
		Example: `WITH i AS NOT MATERIALIZED (DELETE FROM users WHERE home = $1 RETURNING id) SELECT id FROM i`,
		found: of(func(n *tree.CTE, _ place) bool {
			return n.Mtr == tree.CTEMaterializeNever && changeTarget(n.Stmt) != nil
		}),
	},
	{
		Name: "with-change-below", Why: "a WITH part that changes or locks rows must be at the top of the statement",
		Source:  "cockroachdb/cockroach#141961",
		Example: `SELECT c.id FROM (WITH l AS (SELECT id FROM posts WHERE home = $1 FOR UPDATE) SELECT id FROM l) AS c`,
		found: of(func(n *tree.CTE, at place) bool {
			s, isSelect := n.Stmt.(*tree.Select)
			return (changeTarget(n.Stmt) != nil || isSelect && locksRows(s)) && at.isNested()
		}),
	},
	{
		Name: "with-recursive-form", Why: "a recursive WITH part is a UNION ALL without WITH, ORDER BY and LIMIT of its own",
		Source:  "pkg/sql/opt/optbuilder/with.go, splitRecursiveCTE: 42601 does not have the form non-recursive-term UNION ALL recursive-term",
		Example: `WITH RECURSIVE t AS (WITH x AS (SELECT 1 AS n) SELECT n FROM x UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT n FROM t`,
		found: of(func(n *tree.With, _ place) bool {
			return n.Recursive && slices.ContainsFunc(n.CTEList, func(cte *tree.CTE) bool {
				s, ok := cte.Stmt.(*tree.Select)
				return ok && (s.With != nil || len(s.OrderBy) > 0 || s.Limit != nil)
			})
		}),
	},
	{
		Name: "rows-in-rows", Why: "a function that returns rows must not be an argument of another one",
		Source:  "cockroachdb/cockroach#26234",
		Example: `SELECT generate_series(1, unnest($1::bigint[]))`,
		found: of(func(n *tree.FuncExpr, at place) bool {
			return returnsRows(n) && slices.ContainsFunc(at.path, func(ancestor any) bool {
				f, ok := ancestor.(*tree.FuncExpr)
				return ok && functionName(f) != "array"
			})
		}),
	},
	{
		Name: "change-cascades", Why: "a foreign key must not change rows: in one statement with other changes its result differs from PostgreSQL's",
		Source: "https://www.cockroachlabs.com/docs/stable/known-limitations (multiple mutations in one statement, #70731)", Schema: true,
		Example: `ALTER TABLE posts ADD CONSTRAINT posts_of FOREIGN KEY (home, author_id) REFERENCES users (home, id) ON DELETE CASCADE`,
		found: of(func(n *tree.ForeignKeyConstraintTableDef, _ place) bool {
			changes := func(action tree.ReferenceAction) bool { return action != tree.NoAction && action != tree.Restrict }
			return changes(n.Actions.Delete) || changes(n.Actions.Update)
		}),
	},
}

// of adapts a rule about one kind of node.
func of[N any](found func(n N, at place) bool) func(place) bool {
	return func(at place) bool {
		n, ok := at.node.(N)
		return ok && found(n, at)
	}
}

func returnsColumns(statement tree.Statement) bool {
	var returning tree.ReturningClause
	switch n := statement.(type) {
	case *tree.Insert:
		returning = n.Returning
	case *tree.Update:
		returning = n.Returning
	case *tree.Delete:
		returning = n.Returning
	}
	_, ok := returning.(*tree.ReturningExprs)
	return ok
}

var rowFunctions = []string{
	"unnest", "generate_series", "generate_subscripts", "json_array_elements", "json_array_elements_text", "json_each", "json_each_text", "json_object_keys",
	"jsonb_array_elements", "jsonb_array_elements_text", "jsonb_each", "jsonb_each_text", "jsonb_object_keys", "regexp_split_to_table", "string_to_table",
}

func returnsRows(f *tree.FuncExpr) bool { return slices.Contains(rowFunctions, functionName(f)) }
