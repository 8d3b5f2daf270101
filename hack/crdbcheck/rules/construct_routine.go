package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// routineConstructs are about functions of the schema and the statements in them. Prefer a statement or a job of the program.
var routineConstructs = []Construct{
	{
		Name: "routine-with", Why: "a function must not use WITH before v25.1", Source: "cockroachdb/cockroach#92961",
		found: of(func(_ *tree.With, at place) bool { return inside[*tree.CreateRoutine](at.path) }),
	},
	{
		Name: "routine-statement", Why: "a function has SELECT, INSERT, UPDATE and DELETE only", Source: "cockroachdb/cockroach#110080",
		found: func(at place) bool {
			if len(at.path) != 1 || !inside[*tree.CreateRoutine](at.path) {
				return false
			}
			switch at.node.(type) {
			case *tree.Select, *tree.Insert, *tree.Update, *tree.Delete:
				return false
			}
			_, ok := at.node.(tree.Statement)
			return ok
		},
	},
	{
		Name: "routine-form", Why: "write CREATE OR REPLACE FUNCTION … LANGUAGE SQL AS $$ … $$: a prepared statement cannot call procedures, " +
			"PL/pgSQL and BEGIN ATOMIC are incomplete, CockroachDB checks IMMUTABLE and STABLE against the body, and has no temporary functions",
		Source: "cockroachdb/cockroach#151529, #105246, #117744, #122306, #104687; pkg/sql/opt/optbuilder/create_function.go",
		found: of(func(n *tree.CreateRoutine, _ place) bool {
			hasLabel := slices.Contains(n.Options, tree.RoutineOption(tree.RoutineImmutable)) ||
				slices.Contains(n.Options, tree.RoutineOption(tree.RoutineStable))
			return n.IsProcedure || n.RoutineBody != nil || language(n) != tree.RoutineLangSQL || hasLabel || n.Name.Schema() == "pg_temp"
		}),
	},
	{
		Name: "routine-parameter",
		Why:  "a function has parameters without a default that are no records, and returns its result: OUT and INOUT have gaps",
		Source: "cockroachdb/cockroach#100405, #121251, #121247, #105713, #123448; " +
			"https://www.cockroachlabs.com/docs/stable/known-limitations (user-defined functions)",
		found: of(func(n *tree.RoutineParam, _ place) bool {
			t, ok := n.Type.(*types.T)
			return tree.IsOutParamClass(n.Class) || n.DefaultVal != nil || ok && t.Family() == types.TupleFamily
		}),
	},
}
